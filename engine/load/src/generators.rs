//! Other machines that put the load on: each does a share of the job, and this engine merges what they report.
//!
//! The coordinator stays next to the server, whose process tree it watches on its own clock. Every time that goes to a
//! generator or comes from it is moved by the distance of the two clocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::{Nanos, nanos, seconds};
use crate::job::GeneratorNode;
use crate::report::{ProcessReport, ThreadReport};
use crate::slices::part::ProcessTurn;

/// A clock that moves by more between two comparisons has stepped: quartz drifts by some 50 us per second at most.
const STEP_S: f64 = 0.005;

/// One generator's part in a result.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct GeneratorUse {
    /// As in the job.
    pub name: String,
    /// Its processes that put the load on.
    pub processes: u32,
    /// Connections that they established.
    pub connections: u64,
    /// How long after the common start its last thread began.
    pub began_s: f64,
    /// As in the job, corrected by what was seen since.
    pub clock_ahead_s: f64,
    /// How far off that may be.
    pub clock_residual_s: f64,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub ok: u64,
    /// Errors of any class.
    pub errors: u64,
    /// CPU seconds of its threads.
    pub cpu_s: f64,
    /// The share of the window that its busiest thread worked.
    pub busiest: f64,
}

impl GeneratorNode {
    /// A time of this machine on the generator's clock.
    #[must_use]
    pub fn there(&self, here: Nanos) -> Nanos {
        shifted(here, self.clock_ahead_s)
    }

    /// Moves every time of a report from the generator's clock to this machine's.
    pub fn bring_home(&self, report: &mut ProcessReport) {
        report.generator = Some(self.name.clone());
        for thread in &mut report.threads {
            for time in [
                &mut thread.start,
                &mut thread.begun,
                &mut thread.begin,
                &mut thread.end,
                &mut thread.finished,
                &mut thread.last_completion,
            ] {
                *time = shifted(*time, -self.clock_ahead_s);
            }
        }
    }

    /// Moves the times of a turn from the generator's clock to this machine's.
    pub fn bring_turn_home(&self, turn: &mut ProcessTurn) {
        for part in &mut turn.threads {
            for time in [&mut part.began, &mut part.ended] {
                *time = shifted(*time, -self.clock_ahead_s);
            }
        }
    }

    /// Corrects the distance of the clocks by what the generator's said between two times of this machine's, where it
    /// cannot be as believed.
    ///
    /// # Errors
    /// Says by how much the clock has moved, if that is more than a clock drifts.
    pub fn correct_clock(&mut self, asked: Nanos, said: Nanos, heard: Nanos) -> Result<(), String> {
        let ahead = |here: Nanos| {
            if said >= here {
                seconds(said - here)
            } else {
                -seconds(here - said)
            }
        };
        let known = self
            .clock_ahead_s
            .clamp(ahead(heard), ahead(asked.min(heard)));
        let moved = known - self.clock_ahead_s;
        self.clock_ahead_s = known;
        if moved.abs() > STEP_S + self.clock_residual_s {
            return Err(format!(
                "its clock has moved by {:.1} ms against this machine's since they were compared",
                moved * 1e3
            ));
        }
        Ok(())
    }

    /// What this generator did, from the reports of its processes.
    #[must_use]
    pub fn part(&self, processes: &[ProcessReport]) -> GeneratorUse {
        let own: Vec<&ProcessReport> = processes
            .iter()
            .filter(|process| process.generator.as_ref() == Some(&self.name))
            .collect();
        let threads: Vec<&ThreadReport> = own.iter().flat_map(|process| &process.threads).collect();
        let sum =
            |field: fn(&ThreadReport) -> u64| threads.iter().map(|thread| field(thread)).sum();
        GeneratorUse {
            name: self.name.clone(),
            processes: own.len() as u32,
            connections: sum(|thread| thread.established),
            began_s: threads
                .iter()
                .map(|thread| seconds(thread.begun) - seconds(thread.start))
                .fold(0.0, f64::max),
            clock_ahead_s: self.clock_ahead_s,
            clock_residual_s: self.clock_residual_s,
            sent: sum(|thread| thread.sent),
            ok: sum(|thread| thread.ok),
            errors: sum(|thread| thread.errors.iter().sum()),
            cpu_s: threads
                .iter()
                .map(|thread| thread.usage.user_s + thread.usage.system_s)
                .sum(),
            busiest: threads
                .iter()
                .map(|thread| thread.usage.busy())
                .fold(0.0, f64::max),
        }
    }
}

/// A time moved by some seconds. Zero and the end of time stand for no time, and stay.
fn shifted(time: Nanos, by_s: f64) -> Nanos {
    match time {
        Nanos::ZERO | Nanos::MAX => time,
        _ if by_s < 0.0 => time.saturating_sub(nanos(-by_s)),
        _ => time.saturating_add(nanos(by_s)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const fn s(seconds: u64) -> Nanos {
        Nanos::from_millis(seconds * 1_000)
    }

    const fn ms(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }
    fn node(ahead: f64) -> GeneratorNode {
        GeneratorNode {
            name: "one".to_owned(),
            link: PathBuf::new(),
            cpus: vec![0],
            open_files: 1024,
            clock_ahead_s: ahead,
            clock_residual_s: 0.000_5,
        }
    }

    #[test]
    fn a_clock_is_believed_where_it_can_be_and_follows_where_it_drifts() {
        let (asked, heard) = (s(10), s(10) + ms(2));
        let mut node = node(100.0);
        // Within the trip: nothing is known better.
        node.correct_clock(asked, asked + s(100) + ms(1), heard)
            .unwrap();
        assert!((node.clock_ahead_s - 100.0).abs() < 1e-9);
        // It was asked, and said a time that it has reached only if it is further ahead than believed.
        node.correct_clock(asked, heard + s(100) + ms(3), heard)
            .unwrap();
        assert!(
            (node.clock_ahead_s - 100.003).abs() < 1e-9,
            "{}",
            node.clock_ahead_s
        );
    }

    #[test]
    fn a_clock_that_steps_is_told_by_how_much() {
        for (said, moved) in [(s(130), "20000.0 ms"), (s(90), "-20000.0 ms")] {
            let why = node(100.0).correct_clock(s(10), said, s(10)).unwrap_err();
            assert!(why.contains(moved), "{why}");
        }
    }

    #[test]
    fn times_go_there_and_come_back() {
        for ahead in [-12_345.678_901_234, 0.0, 0.000_000_5, 987_654.321] {
            let node = node(ahead);
            let here = Nanos(20_000_000_000_000);
            let back = shifted(node.there(here), -ahead);
            assert_eq!(back, here, "{ahead}");
            assert_eq!(
                (node.there(Nanos::ZERO), node.there(Nanos::MAX)),
                (Nanos::ZERO, Nanos::MAX)
            );
        }
    }
}
