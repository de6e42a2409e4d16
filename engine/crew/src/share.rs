//! How much of a job is whose.

/// Files of a process that are not connections.
const OTHER_FILES: u64 = 100;

/// Connections of one process under a limit of open files.
#[must_use]
pub fn room(files: u64) -> u64 {
    files.saturating_sub(OTHER_FILES).max(1)
}

/// The n-th part of a total, split as evenly as possible; the first parts are the larger ones.
#[must_use]
pub fn part(total: u64, parts: u64, n: u64) -> u64 {
    total / parts + u64::from(n < total % parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_up_the_total_and_differ_by_one_at_most() {
        for (total, parts) in [(0, 3), (2, 3), (1001, 7), (100_000, 6)] {
            let all: Vec<u64> = (0..parts).map(|n| part(total, parts, n)).collect();
            assert_eq!(all.iter().sum::<u64>(), total);
            assert!(all[0] - all[all.len() - 1] <= 1);
        }
        assert_eq!((room(20_000), room(50)), (19_900, 1));
    }
}
