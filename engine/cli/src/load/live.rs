//! The view of a run on a terminal: one line, rewritten as the run goes on.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};

use touchstone_load::event::Event;

use super::human::thousands;

/// Rates shown as bars.
const BARS: usize = 24;

/// The progress line and its state.
#[derive(Default)]
pub struct Live {
    shown: bool,
    last: (f64, u64),
    /// How long the interval lasted that the last rate is of.
    interval: f64,
    rates: VecDeque<f64>,
}

impl Live {
    /// A view, if standard error is a terminal.
    pub fn on_terminal() -> Option<Self> {
        std::io::stderr().is_terminal().then(Self::default)
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
                let rate = self.rate_at(*t, *ok);
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

    /// The rate since the last report. A run's last one may come a moment after it, and then says nothing of the rate.
    fn rate_at(&mut self, t: f64, ok: u64) -> f64 {
        let interval = t - self.last.0;
        if let Some(&rate) = self.rates.back()
            && interval < self.interval / 2.0
        {
            return rate;
        }
        let rate = (ok - self.last.1) as f64 / interval.max(1e-9);
        (self.last, self.interval) = ((t, ok), interval);
        self.rates.push_back(rate);
        if self.rates.len() > BARS {
            self.rates.pop_front();
        }
        rate
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
    fn a_last_report_of_a_moment_leaves_the_rate_as_it_was() {
        let mut live = Live::default();
        assert_eq!(live.rate_at(1.0, 1000), 1000.0);
        assert_eq!(live.rate_at(2.0, 3000), 2000.0);
        assert_eq!(live.rate_at(2.003, 3001), 2000.0);
        assert_eq!(live.rates, [1000.0, 2000.0]);
    }

    #[test]
    fn the_highest_rate_is_the_highest_bar() {
        assert_eq!(bars(&VecDeque::from([0.0, 50.0, 100.0])), "▁▅█");
    }
}
