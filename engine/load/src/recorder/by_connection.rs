//! How many right responses each connection got.
//!
//! In a closed loop a connection that is served slowly asks seldom, and its responses are too few for a percentile. Their
//! number shows it.

use crate::clock::Nanos;
use crate::histogram::Histogram;

/// Right responses by the connection's number.
#[derive(Debug, Default)]
pub struct ByConnection(Vec<u32>);

impl ByConnection {
    /// One came.
    #[inline]
    pub fn record(&mut self, slot: u32) {
        if let Some(number) = self.0.get_mut(slot as usize) {
            *number = number.saturating_add(1);
        } else {
            self.record_first(slot);
        }
    }

    #[cold]
    fn record_first(&mut self, slot: u32) {
        self.0.resize(slot as usize + 1, 0);
        self.0[slot as usize] = 1;
    }

    /// How many connections are known to have got one, in this turn or before.
    #[must_use]
    pub const fn known(&self) -> u64 {
        self.0.len() as u64
    }

    /// How many connections got how many: a histogram of numbers, not of times. There are `connections`.
    #[must_use]
    pub fn histogram(&self, connections: usize) -> Histogram {
        let mut numbers = Histogram::default();
        let silent = connections.saturating_sub(self.0.len());
        for number in self.0.iter().copied().chain(std::iter::repeat_n(0, silent)) {
            numbers.record(Nanos(u64::from(number)));
        }
        numbers
    }

    /// Adds those of another turn.
    pub fn absorb(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (kept, number) in self.0.iter_mut().zip(&other.0) {
            *kept = kept.saturating_add(*number);
        }
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_over_turns_and_silent_connections_count() {
        let (mut kept, mut turn) = (ByConnection::default(), ByConnection::default());
        for slot in [2, 0, 2] {
            turn.record(slot);
        }
        kept.absorb(&turn);
        turn.clear();
        turn.record(0);
        kept.absorb(&turn);
        let numbers = kept.histogram(5);
        assert_eq!(numbers.len(), 5);
        assert_eq!(numbers.at_least(Nanos(1)), (2, 4.0));
        assert_eq!(numbers.max(), Nanos(2));
    }
}
