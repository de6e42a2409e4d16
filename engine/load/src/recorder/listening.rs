//! Stretches in which no response came to a thread.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::clock::Nanos;

/// A shorter gap between two responses is not a silence: a collector's pause, or a service that takes its time.
pub const SILENT: Nanos = Nanos::from_millis(50);

/// Classes of silence by length, each half as long again as the one before: the last is nine minutes.
const LENGTHS: usize = 24;

/// A shorter gap is not remembered. A thread that hears nothing looks up this often.
pub const PAUSE: Nanos = Nanos::from_millis(10);

/// Gaps that are remembered, the latest: those of a response that takes seconds, and more.
const REMEMBERED: usize = 256;

/// What one thread heard nothing of, in gaps of at least [`SILENT`].
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Silence {
    /// Whether a response came at all.
    pub heard: bool,
    /// All gaps, without the time in them in which the thread waited for a CPU.
    pub total: Nanos,
    /// The longest of them, without that time.
    pub longest: Nanos,
    /// Those that are at least so long, for each [`Silence::length`].
    longer: [Nanos; LENGTHS],
    /// That time; `None` if the kernel does not tell it.
    pub deaf: Option<Nanos>,
}

/// Notices where no response comes.
///
/// A thread that waits for a CPU hears no answer. How long it has waited costs a read of a kernel file, so it
/// is read only where a wait for responses ended without any, and after a gap: what was waited since the last such look
/// is at least the wait within the gap, and no more than that if the thread could look up during the gap.
#[derive(Debug, Default)]
pub struct Listening {
    /// The sum.
    pub silence: Silence,
    /// When the last response came, or the window began.
    since: Nanos,
    /// How long the thread had waited for a CPU when it last looked up, and when that was.
    waited: Option<Nanos>,
    looked: Nanos,
    /// Begin and end of gaps of at least [`PAUSE`].
    gaps: VecDeque<(Nanos, Nanos)>,
}

impl Listening {
    /// The window, or the turn, begins. `waited` is how long the thread has waited for a CPU so far.
    pub fn begin(&mut self, at: Nanos, waited: Option<Nanos>) {
        (self.since, self.looked, self.waited) = (at, at, waited);
        self.silence.deaf = self.silence.deaf.or(waited.map(|_| Nanos::ZERO));
        self.gaps.clear();
    }

    /// A wait for responses has ended without any: the thread had a CPU, and there was nothing to hear.
    pub fn nothing_came(&mut self, now: Nanos, waited: impl FnOnce() -> Option<Nanos>) {
        if now.saturating_sub(self.looked) >= PAUSE {
            (self.looked, self.waited) = (now, waited());
        }
    }

    /// A response came. A gap counts as silence if it began before `end`.
    #[inline]
    pub fn heard(&mut self, now: Nanos, end: Nanos, waited: impl FnOnce() -> Option<Nanos>) {
        if now.saturating_sub(self.since) >= PAUSE {
            self.end_gap(now, end, waited);
        }
        self.since = now.max(self.since);
        self.silence.heard = true;
    }

    #[cold]
    fn end_gap(&mut self, now: Nanos, end: Nanos, waited: impl FnOnce() -> Option<Nanos>) {
        self.gaps.truncate(REMEMBERED - 1);
        self.gaps.push_front((self.since, now));
        let gap = now - self.since;
        if gap < SILENT || self.since >= end {
            return;
        }
        let waited = waited();
        let deaf = waited
            .zip(self.waited)
            .map(|(to, from)| to.saturating_sub(from).min(gap));
        (self.looked, self.waited) = (now, waited);
        let silent = gap - deaf.unwrap_or_default();
        self.silence.deaf = self.silence.deaf.zip(deaf).map(|(sum, deaf)| sum + deaf);
        if silent >= SILENT {
            self.silence.add(silent);
        }
    }

    /// For how long, between these moments, no response came at all, in gaps that are at least so long.
    #[must_use]
    pub fn silent_between(&self, from: Nanos, to: Nanos, least: Nanos) -> Nanos {
        self.gaps
            .iter()
            .take_while(|(_, end)| *end > from)
            .filter(|(begin, end)| *end - *begin >= least)
            .map(|(begin, end)| (*end).min(to).saturating_sub((*begin).max(from)))
            .sum()
    }
}

impl Silence {
    /// The length of a class of silence, the first of which is [`SILENT`].
    const fn length(place: usize) -> Nanos {
        Nanos((SILENT.0 * 3u64.pow(place as u32)) >> place)
    }

    fn add(&mut self, gap: Nanos) {
        self.total += gap;
        self.longest = self.longest.max(gap);
        for (place, sum) in self.longer.iter_mut().enumerate() {
            if gap >= Self::length(place) {
                *sum += gap;
            }
        }
    }

    /// Lengths, and how long all gaps of at least that length were together; as far as there were any.
    pub fn longer(&self) -> impl Iterator<Item = (Nanos, Nanos)> {
        let sums = self.longer.iter().enumerate();
        sums.map(|(place, sum)| (Self::length(place), *sum))
            .take_while(|(_, sum)| *sum > Nanos::ZERO)
    }

    /// Adds what was heard in another turn.
    pub fn absorb(&mut self, other: &Self) {
        self.heard |= other.heard;
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
        for (sum, other) in self.longer.iter_mut().zip(&other.longer) {
            *sum += *other;
        }
        if let Some(deaf) = other.deaf {
            *self.deaf.get_or_insert_default() += deaf;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    fn listening(at: u64) -> Listening {
        let mut listening = Listening::default();
        listening.begin(ms(at), Some(ms(100)));
        listening
    }

    /// Responses at these times, while the thread has waited for a CPU for so long.
    fn hear(listening: &mut Listening, at: &[u64], end: u64, waited: u64) {
        for at in at {
            listening.heard(ms(*at), ms(end), || Some(ms(waited)));
        }
    }

    #[test]
    fn gaps_from_fifty_milliseconds_on_count_from_the_windows_begin_on() {
        let mut listening = listening(1_000);
        // Only the part of the gap inside the window counts.
        hear(
            &mut listening,
            &[900, 1_060, 1_109, 1_159, 1_559],
            1_500,
            100,
        );
        assert_eq!(listening.silence.total, ms(60 + 50 + 400));
        assert_eq!(listening.silence.longest, ms(400));
        assert_eq!(listening.silence.deaf, Some(Nanos::ZERO));
    }

    #[test]
    fn silence_is_told_apart_by_the_length_of_its_gaps() {
        let mut listening = listening(0);
        hear(&mut listening, &[60, 135, 335], 1_000, 100);
        let once = listening.silence;
        listening.silence.absorb(&once);
        let longer: Vec<_> = listening.silence.longer().collect();
        let lengths = [50_000, 75_000, 112_500, 168_750].map(|micros| Nanos(micros * 1_000));
        let sums = [ms(670), ms(550), ms(400), ms(400)];
        assert_eq!(longer, lengths.into_iter().zip(sums).collect::<Vec<_>>());
    }

    #[test]
    fn the_longest_length_can_be_told() {
        assert!(Silence::length(LENGTHS - 1) > Nanos::SECOND * 500);
    }

    #[test]
    fn what_begins_after_sending_has_ended_is_no_silence() {
        let mut listening = listening(0);
        hear(&mut listening, &[10, 500], 10, 100);
        assert_eq!(listening.silence.total, Nanos::ZERO);
    }

    #[test]
    fn a_gap_in_which_the_thread_had_no_cpu_is_none() {
        let mut listening = listening(0);
        hear(&mut listening, &[5, 85], 1_000, 160);
        assert_eq!(
            (listening.silence.total, listening.silence.deaf),
            (Nanos::ZERO, Some(ms(60)))
        );
    }

    #[test]
    fn waiting_before_the_thread_looked_up_is_not_taken_off() {
        let mut listening = listening(0);
        hear(&mut listening, &[5], 1_000, 100);
        // It has waited 400 ms by now, all of it while responses came.
        listening.nothing_came(ms(15), || Some(ms(500)));
        hear(&mut listening, &[105], 1_000, 507);
        assert_eq!(
            (listening.silence.total, listening.silence.deaf),
            (ms(93), Some(ms(7)))
        );
    }

    #[test]
    fn a_kernel_that_does_not_tell_leaves_the_gaps_whole() {
        let mut listening = Listening::default();
        listening.begin(Nanos::ZERO, None);
        listening.heard(ms(80), ms(1_000), || None);
        assert_eq!(
            (listening.silence.total, listening.silence.deaf),
            (ms(80), None)
        );
    }

    #[test]
    fn pauses_are_remembered_with_their_times() {
        let mut listening = listening(0);
        hear(&mut listening, &[30, 31, 40, 52, 60], 1_000, 100);
        let silent = |from, to| listening.silent_between(ms(from), ms(to), PAUSE);
        assert_eq!(silent(0, 60), ms(30 + 12));
        assert_eq!(silent(20, 45), ms(10 + 5));
        assert_eq!(silent(31, 40), Nanos::ZERO);
        assert_eq!(listening.silent_between(ms(0), ms(60), ms(13)), ms(30));
        (10..1_000).for_each(|step| hear(&mut listening, &[10 * step], 1_000, 100));
        assert_eq!(listening.gaps.len(), REMEMBERED);
    }
}
