//! Stretches of a window in which no response came.

use serde::{Deserialize, Serialize};

/// A shorter gap between two responses is none: a collector's pause, or a service that takes its time.
pub const LEAST: u64 = 50_000_000;

/// What one thread heard nothing of, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Silence {
    /// When the last response came, or the window began.
    since: u64,
    /// Whether a response came at all.
    pub heard: bool,
    /// All gaps of at least [`LEAST`].
    pub total: u64,
    /// The longest of them.
    pub longest: u64,
}

impl Silence {
    /// The window, or the turn, begins.
    pub const fn begin(&mut self, at: u64) {
        self.since = at;
    }

    /// A response came. A gap counts if it began before `end`.
    #[inline]
    pub fn heard(&mut self, now: u64, end: u64) {
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

    const MS: u64 = 1_000_000;

    #[test]
    fn gaps_from_fifty_milliseconds_on_count_from_the_windows_begin_on() {
        let mut silence = Silence::default();
        silence.begin(1_000 * MS);
        // Of the gap before it only what lies in the window counts.
        for at in [900, 1_060, 1_109, 1_159, 1_559] {
            silence.heard(at * MS, 1_500 * MS);
        }
        assert_eq!(silence.total, (60 + 50 + 400) * MS);
        assert_eq!(silence.longest, 400 * MS);
    }

    #[test]
    fn what_begins_after_sending_has_ended_is_no_silence() {
        let mut silence = Silence::default();
        silence.begin(0);
        silence.heard(10 * MS, 10 * MS);
        silence.heard(500 * MS, 10 * MS);
        assert_eq!(silence.total, 0);
    }
}
