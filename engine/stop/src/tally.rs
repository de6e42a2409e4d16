//! Requests by what became of them, before and after the signal.

use crate::outcome::{Outcome, Outcomes};
use crate::result::Loss;
use touchstone_sys::clock::{Nanos, monotonic, since};

/// Losses that are kept, each with its evidence.
const LOSSES: usize = 100;

/// The counts, and when something was first or last seen.
#[derive(Default)]
pub(crate) struct Tally {
    pub before: Outcomes,
    pub under_way: Outcomes,
    pub after: Outcomes,
    pub last_right: Option<Nanos>,
    /// The longest time between two right responses, or the signal and one, that ended after the signal.
    pub gap: Nanos,
    /// From the signal on.
    pub first_refused: Option<Nanos>,
    pub announced: u64,
    pub losses: Vec<(Nanos, Nanos, Outcome, String)>,
    pub latest: Nanos,
}

impl Tally {
    /// Counts a request that was due then.
    pub fn settle(
        &mut self,
        due: Nanos,
        signalled: Option<Nanos>,
        outcome: Outcome,
        evidence: String,
    ) {
        let now = monotonic();
        match signalled {
            None => self.before.add(outcome),
            Some(at) if due < at => self.under_way.add(outcome),
            Some(_) => self.after.add(outcome),
        }
        if outcome == Outcome::Right {
            self.close_gap(now, signalled);
            self.last_right = Some(now);
        }
        if signalled.is_some() && outcome.is_refusal() {
            self.first_refused.get_or_insert(now);
        }
        if outcome != Outcome::Right && self.losses.len() < LOSSES {
            self.losses.push((due, now, outcome, evidence));
        }
    }

    /// Takes the time since the last right response, or the signal, as one without a right response.
    pub fn close_gap(&mut self, now: Nanos, signalled: Option<Nanos>) {
        if let Some(signal) = signalled {
            let since = self.last_right.map_or(signal, |at| at.max(signal));
            self.gap = self.gap.max(now.saturating_sub(since));
        }
    }

    /// The losses, with times from the signal.
    pub fn losses(&self, signal: Nanos) -> Vec<Loss> {
        let losses = self.losses.iter();
        losses
            .map(|(due, ended, outcome, evidence)| Loss {
                due_s: since(*due, signal),
                ended_s: since(*ended, signal),
                outcome: *outcome,
                evidence: evidence.clone(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_before_the_signal_is_not_the_first_after_it() {
        let mut tally = Tally::default();
        tally.settle(Nanos::ZERO, None, Outcome::Unavailable, String::new());
        assert_eq!(tally.first_refused, None);
        let signal = monotonic();
        tally.settle(signal, Some(signal), Outcome::Refused, String::new());
        assert!(tally.first_refused >= Some(signal));
    }
}
