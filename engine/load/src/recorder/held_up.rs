//! Responses that were long in coming while others came.
//!
//! In a closed loop a connection that is served slowly sends few requests, and so few that no percentile shows them. What
//! shows it is the time in which it waited. A wait that all connections shared is not in it: that is silence.

use super::listening::PAUSE;
use crate::clock::Nanos;
use crate::histogram::Histogram;

/// A shorter wait is none: users do not notice it, and a busy machine brings it about.
pub const LEAST: Nanos = Nanos::from_millis(20);

/// Waits of one kind of request.
#[derive(Debug, Default)]
pub struct HeldUp {
    /// How long they were, without the time in which no response came at all.
    pub waits: Histogram,
    /// The longest of each connection, by its number.
    pub longest: Vec<Nanos>,
    /// What half of the responses took at most, as known when one of few last came late; kept over turns.
    usual: Nanos,
    late: u64,
}

impl HeldUp {
    /// A response came late, given the usual latency of its request and the number of connections. Gives how
    /// long a gap between responses must be to be a wait that all share: a service that takes 10 ms answers in waves, which
    /// are its own pace. What is usual is known only from more responses than a stall of all connections can delay.
    pub fn shared_gap(&mut self, latencies: &Histogram, connections: u64) -> Nanos {
        self.late += 1;
        if self.late.is_power_of_two() && latencies.len() > 2 * connections {
            self.usual = latencies.quantile(0.5);
        }
        PAUSE.max(self.usual * 2)
    }

    /// A response came to a connection that had waited so long for it.
    pub fn record(&mut self, slot: u32, waited: Nanos) {
        if waited < LEAST {
            return;
        }
        self.waits.record(waited);
        let place = slot as usize;
        if place >= self.longest.len() {
            self.longest.resize(place + 1, Nanos::ZERO);
        }
        self.longest[place] = self.longest[place].max(waited);
    }

    /// Adds the waits of another turn.
    pub fn absorb(&mut self, other: &Self) {
        self.waits.add(&other.waits);
        if self.longest.len() < other.longest.len() {
            self.longest.resize(other.longest.len(), Nanos::ZERO);
        }
        for (kept, longest) in self.longest.iter_mut().zip(&other.longest) {
            *kept = (*kept).max(*longest);
        }
    }

    /// Forgets them, but not what is usual.
    pub fn clear(&mut self) {
        self.waits.reset();
        self.longest.clear();
        self.late = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_shared_that_is_longer_than_a_wave_of_the_service() {
        let mut latencies = Histogram::default();
        let mut held_up = HeldUp::default();
        assert_eq!(held_up.shared_gap(&latencies, 1), PAUSE);
        for _ in 0..3 {
            latencies.record(Nanos::from_millis(30));
        }
        assert!(held_up.shared_gap(&latencies, 1) >= Nanos::from_millis(60));
        // The next turn has none yet.
        latencies.reset();
        held_up.clear();
        assert!(held_up.shared_gap(&latencies, 1) >= Nanos::from_millis(60));
    }

    #[test]
    fn a_turn_that_begins_with_a_stall_of_all_connections_does_not_make_it_usual() {
        let mut latencies = Histogram::default();
        let mut held_up = HeldUp::default();
        for _ in 0..4 {
            latencies.record(Nanos::from_millis(90));
            assert_eq!(held_up.shared_gap(&latencies, 4), PAUSE);
        }
    }

    #[test]
    fn the_longest_wait_of_each_connection_is_kept_over_turns() {
        let (mut kept, mut turn) = (HeldUp::default(), HeldUp::default());
        for (slot, millis) in [(3, 40), (1, 19), (3, 25)] {
            turn.record(slot, Nanos::from_millis(millis));
        }
        kept.absorb(&turn);
        turn.clear();
        assert!(turn.waits.is_empty() && turn.longest.is_empty());
        turn.record(0, Nanos::from_millis(30));
        kept.absorb(&turn);
        assert_eq!(kept.waits.len(), 3);
        assert_eq!(kept.longest, [30, 0, 0, 40].map(Nanos::from_millis));
    }
}
