//! The server's process tree, sampled next to the load.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use touchstone_sys::socket::Address;
use touchstone_watch::timeline::{Flights, TimelineSampler, TimelineSettings};
use touchstone_watch::{Dependency, Phase, Target, WatchError, Watcher, WatcherSettings};

use crate::clock::{nanos, now};
use crate::control::{Control, POLL};
use crate::error::Error;
use crate::event::Event;
use crate::job::{Job, Watch};
use crate::threads::THREAD_NAME;

/// Starts sampling, on the generator's CPUs; with these dependencies of it, unless somebody else reads them.
///
/// # Errors
/// [`Error::System`] if the process cannot be watched.
pub fn start(job: &Job, watch: &Watch, dependencies: &[Dependency]) -> Result<Watcher, Error> {
    let target = Target {
        pid: watch.pid,
        cgroup_paths: watch.cgroup_paths.iter().map(Into::into).collect(),
        allowed_cpus: watch.allowed_cpus.clone(),
        subreaper: None,
        dependencies: dependencies.to_vec(),
    };
    let settings = WatcherSettings {
        interval: Duration::from_secs_f64(watch.interval_s),
        cpus: job.cpus.iter().flatten().map(|cpu| *cpu as usize).collect(),
        ..WatcherSettings::default()
    };
    Watcher::start(&target, settings).map_err(|error| unwatched(watch, &error))
}

/// Starts looking at the server for its slowest requests, if the job asks for that.
///
/// # Errors
/// [`Error::System`] if the process cannot be watched.
pub fn timeline(
    job: &Job,
    server: Address,
    flights: &[Arc<Flights>],
) -> Result<Option<TimelineSampler>, Error> {
    let (Some(tail), Some(watch)) = (&job.tail, &job.watch) else {
        return Ok(None);
    };
    let Address::Ip(server) = server else {
        return Err(Error::Job(
            "tail follows requests by their TCP ports, and the url is a Unix socket: give http://HOST:PORT".to_owned(),
        ));
    };
    let settings = TimelineSettings {
        pid: watch.pid,
        server,
        cgroup_paths: watch.cgroup_paths.iter().map(Into::into).collect(),
        dependencies: watch.dependencies.clone(),
        addresses: tail.addresses.clone(),
        generators: THREAD_NAME,
        cpus: job.cpus.iter().flatten().map(|cpu| *cpu as usize).collect(),
        interval: Duration::from_secs_f64(tail.interval_s),
    };
    let started = TimelineSampler::start(settings, flights.to_vec());
    started.map(Some).map_err(|error| unwatched(watch, &error))
}

fn unwatched(watch: &Watch, error: &WatchError) -> Error {
    Error::System {
        what: format!("watching process {}", watch.pid),
        source: std::io::Error::other(error.to_string()),
    }
}

/// Goes on sampling after the load for as long as the job asks.
pub fn idle(job: &Job, watcher: &Watcher, control: &mut Control<'_>) {
    watcher.set_phase(Phase::Idle);
    (control.on_event)(Event::Phase { name: "idle" });
    let until = now() + nanos(job.watch.as_ref().map_or(0.0, |watch| watch.after_s));
    while now() < until && !control.interrupt.load(Ordering::Relaxed) {
        std::thread::sleep(POLL.min(until.saturating_sub(now()).into()));
    }
}
