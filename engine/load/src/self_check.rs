//! Whether a result stands: what the generator itself may have spoilt.

use crate::job::{Arrivals, Loop};
use crate::limits::{ANSWERED, DEVIATIONS, GENERATOR_FULL, LATE_S, THROTTLED};
use crate::result::{LoadResult, SeriesPoint};
use crate::schedule::slot_s;

/// A thread that waited for a CPU longer than this share of the window measured its neighbours.
const DELAYED: f64 = 0.10;

/// Why the result does not stand; empty if it does. Each reason says what to do.
#[must_use]
pub fn reasons(result: &LoadResult) -> Vec<String> {
    let mut reasons = Vec::new();
    if result.interrupted {
        reasons.push("the run was interrupted before its end: run it again".to_owned());
    }
    let throttled = throttled(result);
    reasons.extend(throttled.clone());
    // A generator that has used up its quota is late and waits, however many CPUs it has.
    let short_of_cpus = throttled.is_none();
    for (index, thread) in result
        .generator
        .threads
        .iter()
        .enumerate()
        .filter(|_| short_of_cpus)
    {
        let place = thread.generator.as_ref();
        let thread_name = place.map_or(format!("generator thread {index}"), |name| {
            format!("thread {index}, on generator {name},")
        });
        if thread.busy > GENERATOR_FULL {
            reasons.push(format!(
                "{thread_name} was busy {:.0} % of the time: the rate is the generator's ceiling; give it more threads and CPUs",
                thread.busy * 100.0
            ));
        }
        if let Some(delayed) = thread.delayed_s
            && delayed > DELAYED * result.window.measured_s
        {
            reasons.push(format!(
                "{thread_name} waited {delayed:.2} s of {:.2} s for a CPU: give the generator CPUs of its own",
                result.window.measured_s
            ));
        }
    }
    if let Some(lateness) = &result.lateness
        && short_of_cpus
        && lateness.p99 > slot_s(&result.job) + LATE_S
    {
        reasons.push(format!(
            "1 % of the sends left {:.2} ms late or later although a connection was free: give the generator CPUs of its own",
            lateness.p99 * 1e3
        ));
    }
    if let Some(offered) = result.rate.offered
        && !reached(result, offered)
    {
        reasons.push(format!(
            "{:.1} requests/s were answered rightly of {offered:.1} offered: lower the rate, or look at the errors and the queue",
            result.rate.achieved
        ));
    }
    let connections = &result.connections;
    if result.job.keepalive && connections.established < connections.asked {
        reasons.push(format!(
            "{} of {} connections were established: raise the server's limit of descriptors or its backlog",
            connections.established, connections.asked
        ));
    }
    if result.counts.completed == 0 {
        reasons.push("no response came".to_owned());
    }
    reasons
}

/// That a CPU quota kept the generator from running; `None` if none did, or hardly.
fn throttled(result: &LoadResult) -> Option<String> {
    let generator = &result.generator;
    let threads = generator.threads.iter();
    let throttled_s = threads
        .filter_map(|thread| thread.throttled_s)
        .fold(0.0, f64::max);
    let measured_s = result.window.measured_s;
    let groups = if generator.quotas.is_empty() {
        "a generator's cgroup".to_owned()
    } else {
        generator.quotas.join(" and ")
    };
    (throttled_s > THROTTLED * measured_s).then(|| {
        format!(
            "the generator was throttled for {throttled_s:.2} s of {measured_s:.2} s by the CPU quota of {groups}: raise the quota; more CPUs do not help"
        )
    })
}

/// Whether that rate was answered: over the whole window, or by one that still had answers under way at its end.
#[must_use]
pub fn reached(result: &LoadResult, offered: f64) -> bool {
    answered(result, offered) || keeps_up(result, offered)
}

/// Whether the window's answers are as many as the rate says. A short window of Poisson arrivals holds fewer as often
/// as more, which is not a fault of the server's nor of the generator's.
fn answered(result: &LoadResult, offered: f64) -> bool {
    let chance = match &result.job.arrival {
        Loop::Open { arrivals, .. }
        | Loop::Steps { arrivals, .. }
        | Loop::Ramp { arrivals, .. }
            if *arrivals == Arrivals::Poisson =>
        {
            DEVIATIONS / (offered * result.window.measured_s).sqrt()
        }
        _ => 0.0,
    };
    result.rate.achieved >= offered * ANSWERED.min(1.0 - chance)
}

/// Whether all that was due in the window's second half came, and was answered in it. A service that takes 50 ms has
/// answered nothing in the first 50 ms, and leaves as much under way at the end: of a short window that is a share, and
/// no queue. One that cannot keep up falls behind in the second half as well. By chance the number under way differs by
/// its root, and so does that of random arrivals.
#[allow(clippy::cast_precision_loss)]
fn keeps_up(result: &LoadResult, offered: f64) -> bool {
    let window: Vec<&SeriesPoint> = result
        .series
        .iter()
        .filter(|point| point.phase == "load")
        .collect();
    let (first, second) = window.split_at(window.len() / 2);
    let (Some(before), Some(last), Some(latency)) = (first.last(), second.last(), &result.latency)
    else {
        return false;
    };
    let sent: u64 = second.iter().map(|point| point.sent).sum();
    let answered: u64 = second.iter().map(|point| point.ok).sum();
    let came = sent as f64 + last.queue as f64 - before.queue as f64;
    let due = offered * (last.t - before.t);
    came >= ANSWERED * due - DEVIATIONS * due.sqrt()
        && answered as f64 >= ANSWERED * came - 2.0 * (offered * latency.mean).sqrt()
}
