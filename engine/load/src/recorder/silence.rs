//! Stretches of a window in which no response came.

use serde::{Deserialize, Serialize};

use crate::clock::Nanos;

/// A shorter gap between two responses is none: a collector's pause, or a service that takes its time.
pub const LEAST: Nanos = Nanos::from_millis(50);

/// What one thread heard nothing of.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Silence {
    /// When the last response came, or the window began.
    since: Nanos,
    /// Whether a response came at all.
    pub heard: bool,
    /// All gaps of at least [`LEAST`].
    pub total: Nanos,
    /// The longest of them.
    pub longest: Nanos,
}

impl Silence {
    /// The window, or the turn, begins.
    pub const fn begin(&mut self, at: Nanos) {
        self.since = at;
    }

    /// A response came. A gap counts if it began before `end`.
    #[inline]
    pub fn heard(&mut self, now: Nanos, end: Nanos) {
        let gap = now.saturating_sub(self.since);
        if gap >= LEAST && self.since < end {
            self.total += gap;
            self.longest = self.longest.max(gap);
        }
        self.since = now.max(self.since);
        self.heard = true;
    }

    /// Adds what was heard in another turn.
    pub fn absorb(&mut self, other: &Self) {
        self.heard |= other.heard;
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
    }

    /// Forgets it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    #[test]
    fn gaps_from_fifty_milliseconds_on_count_from_the_windows_begin_on() {
        let mut silence = Silence::default();
        silence.begin(ms(1_000));
        // Of the gap before it only what lies in the window counts.
        for at in [900, 1_060, 1_109, 1_159, 1_559] {
            silence.heard(ms(at), ms(1_500));
        }
        assert_eq!(silence.total, ms(60 + 50 + 400));
        assert_eq!(silence.longest, ms(400));
    }

    #[test]
    fn what_begins_after_sending_has_ended_is_no_silence() {
        let mut silence = Silence::default();
        silence.begin(Nanos::ZERO);
        silence.heard(ms(10), ms(10));
        silence.heard(ms(500), ms(10));
        assert_eq!(silence.total, Nanos::ZERO);
    }
}
