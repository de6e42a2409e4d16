//! The view of a run on a terminal: one line, rewritten as the run goes on.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};

use touchstone_load::event::Event;

use super::human::thousands;

/// Rates shown as bars.
const BARS: usize = 24;

/// The line, and what it needs to remember.
pub struct Live {
    shown: bool,
    last: (f64, u64),
    rates: VecDeque<f64>,
}

impl Live {
    /// A view, if standard error is a terminal.
    pub fn on_terminal() -> Option<Self> {
        let live = Self {
            shown: false,
            last: (0.0, 0),
            rates: VecDeque::new(),
        };
        std::io::stderr().is_terminal().then_some(live)
    }

    /// Shows an event.
    pub fn show(&mut self, event: &Event) {
        match event {
            Event::Connected {
                established,
                asked,
                seconds,
            } => {
                self.write(&format!(
                    "{established} of {asked} connections in {seconds:.2} s"
                ));
            }
            Event::Phase { name } => self.write(name),
            Event::Progress {
                t,
                ok,
                errors,
                connections,
                queue,
                ..
            } => {
                let rate = (ok - self.last.1) as f64 / (t - self.last.0).max(1e-9);
                self.last = (*t, *ok);
                self.rates.push_back(rate);
                if self.rates.len() > BARS {
                    self.rates.pop_front();
                }
                let waiting = if *queue > 0 {
                    format!("  {queue} waiting")
                } else {
                    String::new()
                };
                self.write(&format!(
                    "{t:6.1} s  {} {:>10} requests/s  {errors} errors  {connections} connections{waiting}",
                    bars(&self.rates),
                    thousands(rate.round())
                ));
            }
        }
    }

    /// Removes the line.
    pub fn clear(&mut self) {
        if self.shown {
            eprint!("\r\x1b[K");
            self.shown = false;
        }
    }

    fn write(&mut self, line: &str) {
        self.shown = true;
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "\r\x1b[K{line}").and_then(|()| out.flush());
    }
}

fn bars(rates: &VecDeque<f64>) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let top = rates.iter().copied().fold(1.0, f64::max);
    rates
        .iter()
        .map(|rate| LEVELS[((rate / top * 7.0).round() as usize).min(7)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_rate_is_the_highest_bar() {
        assert_eq!(bars(&VecDeque::from([0.0, 50.0, 100.0])), "▁▅█");
    }
}
