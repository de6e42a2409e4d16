//! Who was held up while others were served, over all threads.

use crate::clock::{Nanos, seconds};
use crate::error::Error;
use crate::histogram::Histogram;
use crate::recorder::LEAST_WAIT;
use crate::report::ThreadReport;
use crate::result::HeldUp;

/// A response is slow if it took this many times the median of its request.
const TIMES: u64 = 10;

/// Waits that were long for their request, whose latencies stand in `latencies` in the mix's order.
///
/// # Errors
/// [`Error::Worker`] if a histogram does not hold together.
pub fn held_up(
    threads: &[&ThreadReport],
    latencies: &[Histogram],
    lasting: bool,
) -> Result<HeldUp, Error> {
    let mut found = HeldUp::default();
    // What no request of its kind is known to take usually is not known to be long.
    let long: Vec<Nanos> = latencies
        .iter()
        .map(|latency| {
            if latency.is_empty() {
                Nanos::MAX
            } else {
                LEAST_WAIT.max(latency.quantile(0.5) * TIMES)
            }
        })
        .collect();
    for (index, long) in long.iter().enumerate() {
        let mut waits = Histogram::default();
        let kinds = threads.iter().filter_map(|thread| thread.kinds.get(index));
        waits.add_packed(kinds.map(|kind| &kind.waits))?;
        let (answers, waited) = waits.at_least(*long);
        if answers > 0 {
            found.answers += answers;
            found.seconds += waited * 1e-9;
            found.longest_s = found.longest_s.max(seconds(waits.max()));
        }
    }
    found.connections = lasting.then(|| {
        let held = threads.iter().map(|thread| connections(thread, &long));
        held.sum()
    });
    Ok(found)
}

/// How many of a thread's connections had such a wait.
fn connections(thread: &ThreadReport, long: &[Nanos]) -> u64 {
    let most = thread.kinds.iter().map(|kind| kind.longest_waits.len());
    let waited = |slot: usize| {
        thread.kinds.iter().zip(long).any(|(kind, long)| {
            kind.longest_waits
                .get(slot)
                .is_some_and(|longest| longest >= long)
        })
    };
    let slots = 0..most.max().unwrap_or(0);
    slots.filter(|slot| waited(*slot)).count() as u64
}
