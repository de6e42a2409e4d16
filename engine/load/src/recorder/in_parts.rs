//! Responses that came in parts, and whether their rest waited for an acknowledgement.
//!
//! A server that sends a response with several writes, and leaves Nagle's algorithm on (RFC 9293 section 3.7.4), holds
//! the rest back until the client has acknowledged the first part. The client's kernel puts that off for a while, in the
//! hope of something to send along (section 3.8.6.3): Linux for 40 ms. Meanwhile neither end works, as if the server
//! slept. A trial tells the two apart: the first part of a response is acknowledged at once now and then, and its rest
//! comes at once, or it does not.

use serde::{Deserialize, Serialize};

use crate::clock::Nanos;

/// A rest that took less did not wait: that is half of the shortest time for which Linux puts an acknowledgement off.
pub const LONG: Nanos = Nanos::from_millis(20);

/// Trials of one kind of request, by one thread. They change what is measured, and sixteen are too few to show.
const MOST_TRIALS: u32 = 16;

/// Responses of one kind of request that came in parts.
#[derive(Debug, Default)]
pub struct InParts {
    /// Those of the window that were left alone.
    pub parts: Parts,
    /// Those whose first part was acknowledged at once; the warm-up's, too.
    pub trials: Trials,
    /// Trials begun so far.
    begun: u32,
    /// Long rests since the last trial.
    waited: u32,
}

/// Responses that came in parts.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Parts {
    /// How many.
    pub responses: u64,
    /// Those whose rest took [`LONG`] and more.
    pub long: u64,
    /// How long those rests took, summed.
    pub waited: Nanos,
}

/// Responses whose first part was acknowledged at once.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Trials {
    /// How many.
    pub responses: u64,
    /// Those whose rest took [`LONG`] and more all the same.
    pub long: u64,
}

impl InParts {
    /// A response has come in part: whether that part is to be acknowledged at once. Trials lie between rests that took
    /// long, first one and then ever more of them, so that they are compared with their own time, and are soon rare.
    pub fn tries(&mut self) -> bool {
        let tries = self.waited > self.begun && self.begun < MOST_TRIALS;
        if tries {
            self.begun += 1;
            self.waited = 0;
        }
        tries
    }

    /// A response is whole, its rest so long after its first part. Those that do not count may still lead to trials.
    pub fn came(&mut self, rest: Nanos, acknowledged: bool, counts: bool) {
        let long = u64::from(rest >= LONG);
        if acknowledged {
            self.trials.responses += 1;
            self.trials.long += long;
            return;
        }
        self.waited = self.waited.saturating_add(long as u32);
        if counts {
            self.parts.responses += 1;
            self.parts.long += long;
            self.parts.waited += if long > 0 { rest } else { Nanos::ZERO };
        }
    }
}

impl Parts {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.responses += other.responses;
        self.long += other.long;
        self.waited += other.waited;
    }
}

impl Trials {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.responses += other.responses;
        self.long += other.long;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAYED: Nanos = Nanos::from_millis(41);

    /// A number of responses whose rest waits unless the first part is acknowledged.
    fn nagles(in_parts: &mut InParts, responses: u32) {
        for _ in 0..responses {
            let tries = in_parts.tries();
            in_parts.came(if tries { Nanos(9) } else { DELAYED }, tries, true);
        }
    }

    #[test]
    fn trials_are_rare_and_not_counted_with_the_others() {
        let mut in_parts = InParts::default();
        nagles(&mut in_parts, 1_000);
        assert_eq!(in_parts.trials.responses, u64::from(MOST_TRIALS));
        assert_eq!(in_parts.trials.long, 0);
        assert_eq!(in_parts.parts.long, 1_000 - u64::from(MOST_TRIALS));
        assert_eq!(in_parts.parts.waited, DELAYED * in_parts.parts.long);
    }

    #[test]
    fn a_rest_that_comes_at_once_leads_to_no_trial() {
        let mut in_parts = InParts::default();
        for _ in 0..1_000 {
            assert!(!in_parts.tries());
            in_parts.came(Nanos::from_millis(2), false, true);
        }
        assert_eq!((in_parts.parts.responses, in_parts.parts.long), (1_000, 0));
        assert_eq!(in_parts.parts.waited, Nanos::ZERO);
    }

    #[test]
    fn the_warm_up_leads_to_trials_and_counts_nothing_else() {
        let mut in_parts = InParts::default();
        in_parts.came(DELAYED, false, false);
        assert!(in_parts.tries() && !in_parts.tries());
        in_parts.came(DELAYED, true, false);
        assert_eq!(in_parts.parts.responses, 0);
        assert_eq!((in_parts.trials.responses, in_parts.trials.long), (1, 1));
    }
}
