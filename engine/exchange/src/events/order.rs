//! The order of a stream's events, by a counter that rises by one.

/// Runs of missing numbers that are remembered; of more, the events that come late are taken for doubled ones.
const MOST_RUNS: usize = 256;

/// What a number says of its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It is the next, or events before it are missing so far.
    Forward,
    /// It was missing before: it came after one with a higher number.
    Late,
    /// Its number had come.
    Doubled,
    /// Its number is none that this stream can have reached.
    Astray,
}

/// Which numbers have come.
#[derive(Debug, Default)]
pub struct Order {
    lowest: i64,
    /// The number that comes next; none before the first event.
    next: Option<i64>,
    /// Missing numbers, as runs from a first to a last one.
    missing: Vec<(i64, i64)>,
    /// Numbers in runs that were forgotten.
    forgotten: u64,
}

impl Order {
    /// A stream whose first number is known, or is that of its first event.
    #[must_use]
    pub fn from(first: Option<i64>) -> Self {
        Self {
            lowest: first.unwrap_or_default(),
            next: first,
            ..Self::default()
        }
    }

    /// Takes the number of the next event. One that is further ahead than `most` is not of this stream.
    pub fn take(&mut self, number: i64, most: u32) -> Step {
        let next = *self.next.get_or_insert_with(|| {
            self.lowest = number;
            number
        });
        let ahead = number.saturating_sub(next);
        if ahead > i64::from(most) || number == i64::MAX {
            return Step::Astray;
        }
        if ahead >= 0 {
            if ahead > 0 {
                self.miss((next, number - 1));
            }
            self.next = Some(number + 1);
            return Step::Forward;
        }
        if self.find(number) {
            return Step::Late;
        }
        if number >= self.lowest {
            Step::Doubled
        } else {
            Step::Astray
        }
    }

    fn miss(&mut self, run: (i64, i64)) {
        if self.missing.len() == MOST_RUNS {
            let (first, last) = self.missing.remove(0);
            self.forgotten += first.abs_diff(last) + 1;
        }
        self.missing.push(run);
    }

    /// Whether a number is missing.
    #[must_use]
    pub fn lacks(&self, number: i64) -> bool {
        let mut runs = self.missing.iter();
        runs.any(|(first, last)| (*first..=*last).contains(&number))
    }

    /// Whether a number was missing; it is no longer.
    fn find(&mut self, number: i64) -> bool {
        let holds = |run: &&mut (i64, i64)| run.0 <= number && number <= run.1;
        let Some(run) = self.missing.iter_mut().find(holds) else {
            return false;
        };
        let (first, last) = *run;
        if first == last {
            self.missing.retain(|run| run.0 != number);
        } else if number == first {
            run.0 += 1;
        } else {
            run.1 = number - 1;
            if number < last {
                self.miss((number + 1, last));
            }
        }
        true
    }

    /// How many numbers between the first and the highest have not come.
    #[must_use]
    pub fn missing(&self) -> u64 {
        let runs = self.missing.iter();
        self.forgotten
            + runs
                .map(|(first, last)| first.abs_diff(*last) + 1)
                .sum::<u64>()
    }

    /// The lowest number that has not come.
    #[must_use]
    pub fn first_missing(&self) -> Option<i64> {
        self.missing.iter().map(|run| run.0).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(first: Option<i64>, numbers: &[i64]) -> (Vec<Step>, u64) {
        let mut order = Order::from(first);
        let steps = numbers.iter().map(|number| order.take(*number, 20));
        (steps.collect(), order.missing())
    }

    #[test]
    fn each_disorder_has_its_name() {
        use Step::{Astray, Doubled, Forward, Late};
        for (first, numbers, wanted, missing) in [
            (None, &[7, 8, 9][..], &[Forward, Forward, Forward][..], 0),
            (None, &[0, 1, 3], &[Forward, Forward, Forward], 1),
            (Some(0), &[1, 2], &[Forward, Forward], 1),
            (
                None,
                &[0, 1, 1, 2],
                &[Forward, Forward, Doubled, Forward],
                0,
            ),
            (None, &[0, 2, 1, 3], &[Forward, Forward, Late, Forward], 0),
            (
                None,
                &[0, 4, 2, 1, 3, 3],
                &[Forward, Forward, Late, Late, Late, Doubled],
                0,
            ),
            (None, &[0, 900, 1], &[Forward, Astray, Forward], 0),
            (None, &[5, 3, 6], &[Forward, Astray, Forward], 0),
            (
                None,
                &[0, i64::MAX, i64::MIN],
                &[Forward, Astray, Astray],
                0,
            ),
        ] {
            assert_eq!(
                steps(first, numbers),
                (wanted.to_vec(), missing),
                "{numbers:?}"
            );
        }
    }

    #[test]
    fn memory_is_bounded_and_nothing_is_lost_from_the_count() {
        let mut order = Order::from(Some(0));
        (0..2_000).for_each(|number| assert_eq!(order.take(number * 2, 20), Step::Forward));
        assert_eq!(order.missing(), 1_999);
        assert!(order.missing.len() <= MOST_RUNS);
    }
}
