//! Whole generations of requests: what a short stretch of load says about the rate, without its edges.
//!
//! A turn begins with a burst, since all pipelines are empty, and a server that waits 10 ms for each request answers in
//! waves. A generation has ended when as many requests have been concluded as can be in flight at once. Between the
//! ends of two generations the number of requests in flight is the same, so the responses between them over the time
//! between them are the rate, wherever in a wave the turn began or ended.

use serde::{Deserialize, Serialize};

use crate::clock::Nanos;

/// Counts the generations of one thread's turn.
#[derive(Debug, Clone, Copy)]
pub struct Generations {
    /// Requests still to be concluded in this generation.
    left: u64,
    size: u64,
    /// Requests that were due from then on found the load in its steady state.
    steady_from: Nanos,
    /// When the load began.
    begun: Nanos,
    /// Generations that end later are not whole.
    until: Nanos,
    first: Option<Mark>,
    last: Option<Mark>,
}

/// The end of a generation, and how many right responses had come by then.
#[derive(Debug, Clone, Copy)]
struct Mark {
    at: Nanos,
    ok: u64,
}

/// What lies between the ends of the first and the last whole generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steady {
    /// Right responses.
    pub responses: u64,
    /// How long it took.
    pub took: Nanos,
    /// How long the first generation took, which found the server at rest.
    #[serde(default)]
    pub first: Nanos,
}

impl Generations {
    /// No generations are counted, and every request is in the distributions.
    pub const fn uncounted() -> Self {
        Self {
            left: u64::MAX,
            size: u64::MAX,
            steady_from: Nanos::ZERO,
            begun: Nanos::ZERO,
            until: Nanos::ZERO,
            first: None,
            last: None,
        }
    }

    /// Generations of `size` requests from `begun` on, as far as they end before `until`.
    pub const fn of(size: u64, begun: Nanos, until: Nanos) -> Self {
        Self {
            left: size,
            size,
            steady_from: Nanos::MAX,
            begun,
            until,
            first: None,
            last: None,
        }
    }

    /// Whether a request that was due then is in the distributions: the first generation had ended.
    #[inline]
    pub fn is_steady(&self, intended: Nanos) -> bool {
        intended >= self.steady_from
    }

    /// A request was concluded; `ok` is the number of right responses so far.
    #[inline]
    pub fn concluded(&mut self, ok: u64, now: Nanos) {
        self.left -= 1;
        if self.left == 0 {
            self.end(ok, now);
        }
    }

    #[cold]
    fn end(&mut self, ok: u64, now: Nanos) {
        self.left = self.size;
        if now >= self.until {
            return;
        }
        let mark = Mark { at: now, ok };
        if self.first.is_none() {
            self.first = Some(mark);
            self.steady_from = now;
        } else {
            self.last = Some(mark);
        }
    }

    /// What lies between the first and the last; `None` if fewer than two have ended.
    pub fn steady(&self) -> Option<Steady> {
        let (first, last) = self.first.zip(self.last)?;
        (last.at > first.at).then_some(Steady {
            responses: last.ok - first.ok,
            took: last.at - first.at,
            first: first.at.saturating_sub(self.begun),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that takes 10 ms for each of 8 requests in flight: their responses come in waves.
    fn waves(until: Nanos) -> Option<Steady> {
        let mut generations = Generations::of(8, Nanos(5), until);
        for wave in 1..=20 {
            (0..8).for_each(|place| {
                generations.concluded((wave - 1) * 8 + place + 1, Nanos(wave * 10))
            });
        }
        generations.steady()
    }

    #[test]
    fn the_rate_is_the_same_wherever_in_a_wave_the_turn_ends() {
        for until in 31..=201 {
            let steady = waves(Nanos(until)).unwrap();
            assert_eq!(steady.responses * 10, steady.took.0 * 8, "until {until}");
            assert_eq!(steady.first, Nanos(5));
        }
    }

    #[test]
    fn fewer_than_two_generations_are_no_rate() {
        assert_eq!(waves(Nanos(11)), None);
        assert_eq!(waves(Nanos(20)), None);
        assert!(waves(Nanos(21)).is_some());
    }

    #[test]
    fn wrong_responses_end_generations_and_are_not_in_the_rate() {
        let mut generations = Generations::of(2, Nanos::ZERO, Nanos(1_000));
        for at in 1..=10 {
            generations.concluded(at / 2, Nanos(at * 10));
        }
        assert_eq!(
            generations.steady(),
            Some(Steady {
                responses: 4,
                took: Nanos(80),
                first: Nanos(20)
            })
        );
    }

    #[test]
    fn what_was_due_in_the_first_generation_is_not_steady() {
        let mut generations = Generations::of(2, Nanos::ZERO, Nanos(1_000));
        assert!(!generations.is_steady(Nanos(900)));
        generations.concluded(1, Nanos(10));
        generations.concluded(2, Nanos(20));
        assert!(!generations.is_steady(Nanos(19)) && generations.is_steady(Nanos(20)));
        assert!(Generations::uncounted().is_steady(Nanos::ZERO));
    }
}
