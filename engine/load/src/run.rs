//! One run: a crew, its common start, the events, the watch, and the result.

use std::sync::atomic::Ordering;

use crate::clock::{self, Nanos, nanos, now, seconds};
use crate::control::{Control, POLL};
use crate::crew::{Crew, await_ready};
use crate::error::Error;
use crate::event::Event;
use crate::job::Job;
use crate::merge::{Reports, merge};
use crate::mix::Mix;
use crate::processes::{self, Processes};
use crate::report::ProcessReport;
use crate::result::LoadResult;
use crate::shared::Shared;
use crate::target::{Target, permitted};
use crate::threads::Threads;
use crate::usage;
use crate::watch;

/// Carries out a load job.
///
/// # Errors
/// [`Error`] if the job could not be carried out; what the server does wrong is in the result.
pub fn run(job: &Job, control: &mut Control<'_>) -> Result<LoadResult, Error> {
    job.validate()?;
    let target = permitted(job)?;
    // Each process that carries a part of the load connects where this one does.
    let job = &Job {
        connect_to: Some(target.address.to_string()),
        ..job.clone()
    };
    let mix = Mix::compile(job, &target)?;
    if let Some(cpus) = job.cpus.as_deref().filter(|cpus| !cpus.is_empty()) {
        usage::restrict(cpus)?;
    }
    let watcher = job
        .watch
        .as_ref()
        .map(|watch| watch::start(job, watch, &watch.dependencies))
        .transpose()?;
    let begun = now();
    let mut crew = assemble(job, &target, &mix, control)?;
    let ready = await_ready(crew.as_mut(), control.interrupt);
    let asked = u64::from(job.connections);
    let took = seconds(now() - begun);
    (control.on_event)(Event::Connected {
        established: ready.established,
        asked,
        seconds: took,
    });
    if ready.established == 0 && job.keepalive {
        crew.begin(Shared::NEVER);
        // What kept the crew from connecting may be its own failure.
        crew.reports()?;
        return Err(Error::unconnected(target.address, ready.unconnected));
    }
    // Far enough ahead that processes learn of it before it comes.
    let start = now() + lead(job);
    let start_unix_s = clock::unix_seconds() + seconds(start - now());
    crew.begin(start);
    let processes = follow(crew, job, start, watcher.as_ref(), control)?;
    let watch = watcher.map(|watcher| {
        watch::idle(job, &watcher, control);
        watcher.finish(start)
    });
    merge(
        job,
        &mix,
        Reports {
            processes,
            start_unix_s,
            watch,
        },
    )
}

/// How long before the first send it is fixed.
fn lead(job: &Job) -> Nanos {
    if !job.generators.is_empty() {
        return Nanos::from_millis(500);
    }
    Nanos::from_millis(if job.connections > 10_000 { 200 } else { 2 })
}

fn assemble(
    job: &Job,
    target: &Target,
    mix: &Mix,
    control: &Control<'_>,
) -> Result<Box<dyn Crew>, Error> {
    let shares = processes::shares(job, processes::file_limit()?);
    match shares.as_slice() {
        _ if job.tail.is_some() && (shares.len() > 1 || !job.generators.is_empty()) => {
            let why =
                "tail: stamps are kept in one process of this machine; ask for fewer connections";
            Err(Error::Job(why.to_owned()))
        }
        [whole] if job.generators.is_empty() => {
            Ok(Box::new(Threads::start(job, target, mix, *whole, None)?))
        }
        several => Ok(Box::new(Processes::start(
            job,
            several,
            control.process_command,
        )?)),
    }
}

fn follow(
    mut crew: Box<dyn Crew>,
    job: &Job,
    start: Nanos,
    watcher: Option<&touchstone_watch::Watcher>,
    control: &mut Control<'_>,
) -> Result<Vec<ProcessReport>, Error> {
    let begin = start + nanos(job.warmup_s);
    let end = begin + nanos(job.window_s());
    let mut phases = [(start, "warmup"), (begin, "load"), (end, "drain")]
        .into_iter()
        .peekable();
    if job.warmup_s == 0.0 {
        phases.next();
    }
    let every = nanos(job.series_interval_s);
    let mut next_progress = start + every;
    let mut interrupted = false;
    while !crew.is_finished() {
        let clock = now();
        while let Some((_, name)) = phases.next_if(|(at, _)| *at <= clock) {
            if let Some(watcher) = watcher.filter(|_| name == "load") {
                watcher.set_phase(touchstone_watch::Phase::Load);
            }
            (control.on_event)(Event::Phase { name });
        }
        if clock >= next_progress {
            next_progress += every;
            (control.on_event)(progress(crew.as_ref(), seconds(clock - start)));
        }
        if !interrupted && control.interrupt.load(Ordering::Relaxed) {
            interrupted = true;
            crew.interrupt();
        }
        let wake = phases
            .peek()
            .map_or(next_progress, |(at, _)| (*at).min(next_progress));
        let rest = wake.saturating_sub(clock).max(Nanos::from_micros(100));
        std::thread::sleep(POLL.min(rest.into()));
    }
    (control.on_event)(progress(
        crew.as_ref(),
        seconds(now().saturating_sub(start)),
    ));
    crew.reports()
}

fn progress(crew: &dyn Crew, t: f64) -> Event {
    let crate::crew::Progress {
        sent,
        ok,
        errors,
        connections,
        queue,
    } = crew.progress();
    Event::Progress {
        t,
        sent,
        ok,
        errors,
        connections,
        queue,
    }
}
