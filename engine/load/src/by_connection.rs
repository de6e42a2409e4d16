//! Who got fewer responses than the others, over all threads.

use crate::clock::Nanos;
use crate::error::Error;
use crate::histogram::Histogram;
use crate::job::Job;
use crate::report::ThreadReport;
use crate::result::ByConnection;

/// Right responses of all connections of a closed loop; none where each request has a connection of its own.
///
/// # Errors
/// [`Error::Worker`] if a histogram does not hold together.
pub fn by_connection(job: &Job, threads: &[&ThreadReport]) -> Result<Option<ByConnection>, Error> {
    if job.is_open() || !job.keepalive {
        return Ok(None);
    }
    let mut numbers = Histogram::default();
    numbers.add_packed(threads.iter().map(|thread| &thread.by_connection))?;
    if numbers.is_empty() {
        return Ok(None);
    }
    // If two halves are served differently, the faster half is the measure.
    let connections = numbers.len();
    let median = numbers.quantile((connections / 2 + 1) as f64 / connections as f64);
    let (all, answers) = numbers.at_least(Nanos::ZERO);
    let (others, theirs) = numbers.at_least(Nanos(median.0 / 2));
    Ok(Some(ByConnection {
        median: median.0,
        fewest: numbers.min().0,
        behind: all - others,
        share: if answers > 0.0 {
            (1.0 - theirs / answers).max(0.0)
        } else {
            0.0
        },
    }))
}
