//! Carrying out a boot job.

use crate::container::{Contained, Lookout};
use crate::event::Event;
use crate::job::{Job, Plan};
use crate::poll::{Knocker, Try};
use crate::result::{BootResult, FailureKind, Run, SCHEMA};
use crate::spawn::spawn;
use crate::{cache, listener, stop};
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use touchstone_exchange::JobError;
use touchstone_exchange::Response;
use touchstone_exchange::client::Connection;
use touchstone_exchange::template::Key;
use touchstone_sys::clock::{Nanos, monotonic, seconds};
use touchstone_sys::poll::{Side, ready};
use touchstone_sys::process::{self, Started};
use touchstone_sys::socket::Stream;
use touchstone_watch::{Depth, Phase, Sampler, Snapshot, Target};

/// Starts the server as often as the job says. `adopt` says that orphans of the tree fall to this process
/// (`PR_SET_CHILD_SUBREAPER`) and that it has no other children, so that each orphan belongs to the tree.
///
/// # Errors
/// When the job is malformed or the engine itself fails; a server that fails is in the result.
pub fn boot(job: &Job, interrupt: &AtomicBool, adopt: bool) -> Result<BootResult, JobError> {
    boot_with(job, interrupt, adopt, |_| {})
}

/// As [`boot`], and tells each run when it is done.
///
/// # Errors
/// As [`boot`].
pub fn boot_with(
    job: &Job,
    interrupt: &AtomicBool,
    adopt: bool,
    mut told: impl FnMut(&Event),
) -> Result<BootResult, JobError> {
    let plan = job.plan()?;
    if adopt {
        process::adopt_orphans();
    }
    // The default slack of 50 us would be half a poll interval.
    process::exact_timers();
    let mut result = BootResult {
        schema: SCHEMA.into(),
        job: job.clone(),
        interrupted: false,
        runs: Vec::new(),
    };
    for number in 0..job.repeats {
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        let run = start_once(job, &plan, interrupt, adopt)?;
        told(&Event::of(number, &run));
        result.runs.push(run);
    }
    result.interrupted = interrupt.load(Ordering::Relaxed);
    Ok(result)
}

fn start_once(
    job: &Job,
    plan: &Plan,
    interrupt: &AtomicBool,
    adopt: bool,
) -> Result<Run, JobError> {
    let mut run = Run::default();
    let knockers = plan.addresses.iter().copied().map(Knocker::new);
    let mut knockers = (knockers.collect::<Result<Vec<_>, _>>())
        .map_err(|e| JobError::Engine(format!("a client socket: {e}")))?;
    let taken = |one: &mut Knocker| matches!(one.knock(Duration::from_millis(100)), Try::Open(_));
    if knockers.iter_mut().any(taken) {
        let port = plan.target.address.port();
        let evidence = listener::ownership(port, std::iter::empty()).evidence(port);
        run.failure = Some(FailureKind::ForeignListener);
        run.evidence = Some(format!("before the start: {evidence}"));
        return Ok(run);
    }
    if job.drop_page_cache {
        let dropped = cache::drop_pages(job);
        run.cold_cache = dropped.is_ok();
        run.warm_reason = dropped.err();
    }
    let log_start = job
        .log
        .as_deref()
        .and_then(|log| std::fs::metadata(log).ok())
        .map_or(0, |m| m.len());
    let started = match spawn(job) {
        Ok(started) => started,
        Err(evidence) => {
            run.failure = Some(FailureKind::ExecFailed);
            run.evidence = Some(evidence);
            return Ok(run);
        }
    };
    let target = Target {
        pid: started.pid,
        cgroup_paths: job.cgroup_paths.clone(),
        subreaper: adopt.then(|| std::process::id() as i32),
        ..Target::default()
    };
    // The root has not been reaped, so it is there even if it has ended.
    let mut sampler = Sampler::new(&target).map_err(|e| JobError::Engine(e.to_string()))?;
    let mut lookout = Lookout::new(&job.container_groups);
    let failed = first_response(
        plan,
        started,
        &mut knockers,
        &mut sampler,
        &mut lookout,
        interrupt,
        &mut run,
    )
    .and_then(|()| observe_program(plan, started, &mut lookout, &mut sampler, &mut run))
    .err();
    stop_all(&mut sampler, started, plan, &mut run)?;
    Ok(match failed {
        None => run,
        Some(failure) => without_figures(run, failure, || {
            job.log.as_deref().and_then(|log| tail(log, log_start))
        }),
    })
}

/// Reads the memory of what is measured: in a container its program, for the client and the container's monitor belong
/// to what was started.
fn observe_program(
    plan: &Plan,
    started: Started,
    lookout: &mut Lookout<'_>,
    sampler: &mut Sampler,
    run: &mut Run,
) -> Result<(), Failed> {
    let Some(program) = lookout.look() else {
        return observe(plan, started, sampler, run);
    };
    run.program_s = Some(seconds(program.seen.saturating_sub(started.executed)));
    let mut contained = Sampler::new(&inside(program)).map_err(|error| {
        let ended = format!("the container's program has ended: {error}");
        (FailureKind::Exited, ended)
    })?;
    observe(plan, started, &mut contained, run)
}

fn stop_all(
    sampler: &mut Sampler,
    started: Started,
    plan: &Plan,
    run: &mut Run,
) -> Result<(), JobError> {
    let ending = stop::stop(sampler, started.pid, plan.stop_timeout);
    run.stopped = Some(ending.how);
    run.stop_s = Some(seconds(ending.took));
    run.exit_code = ending.exit.and_then(|e| e.code);
    run.exit_signal = ending.exit.and_then(|e| e.signal);
    if ending.left.is_empty() {
        return Ok(());
    }
    Err(JobError::Engine(format!(
        "processes {:?} do not end, even on SIGKILL",
        ending.left
    )))
}

/// What a start that failed leaves: why, and how it ended; none of the figures.
fn without_figures(
    run: Run,
    (kind, evidence): Failed,
    log_tail: impl FnOnce() -> Option<String>,
) -> Run {
    let how = match (run.exit_code, run.exit_signal) {
        (Some(code), _) if kind == FailureKind::Exited => format!(" with code {code}"),
        (_, Some(signal)) if kind == FailureKind::Exited => format!(" on signal {signal}"),
        _ => String::new(),
    };
    Run {
        failure: Some(kind),
        evidence: Some(evidence + &how),
        log_tail: log_tail(),
        polls: run.polls,
        wrong_responses: run.wrong_responses,
        answered_by_ours: run.answered_by_ours,
        stopped: run.stopped,
        stop_s: run.stop_s,
        exit_code: run.exit_code,
        exit_signal: run.exit_signal,
        cold_cache: run.cold_cache,
        warm_reason: run.warm_reason,
        ..Run::default()
    }
}

fn inside(program: &Contained) -> Target {
    Target {
        pid: program.pid,
        cgroup_paths: vec![program.group.clone()],
        ..Target::default()
    }
}

type Failed = (FailureKind, String);

/// Knocks until a valid response has come: where there are several addresses, at one after the other.
fn first_response(
    plan: &Plan,
    started: Started,
    knockers: &mut [Knocker],
    sampler: &mut Sampler,
    lookout: &mut Lookout<'_>,
    interrupt: &AtomicBool,
    run: &mut Run,
) -> Result<(), Failed> {
    let since = |now: Nanos| seconds(now.saturating_sub(started.executed));
    let deadline = started.executed.saturating_add(plan.timeout.into());
    let root = process::pidfd(started.pid);
    let mut trouble = Trouble::default();
    loop {
        let before = monotonic();
        let left = Duration::from(deadline.saturating_sub(before));
        if left.is_zero() {
            return Err(too_late(plan, run, trouble));
        }
        if interrupt.load(Ordering::Relaxed) {
            return Err((
                FailureKind::Interrupted,
                format!("after {:.3} s", since(before)),
            ));
        }
        run.polls += 1;
        lookout.look();
        let turn = run.polls as usize % knockers.len();
        match knockers[turn].knock(left) {
            Try::Open(socket) => {
                run.port_open_s.get_or_insert_with(|| since(monotonic()));
                match exchange(plan, socket, left) {
                    Ok(response) => {
                        let wrong = plan.request.faults(&response, Key::default());
                        if wrong.is_empty() {
                            run.first_response_s = Some(since(monotonic()));
                            return Ok(());
                        }
                        run.wrong_responses += 1;
                        trouble.wrong_response = Some(wrong.join("; "));
                    }
                    // The end of the wait cut it short: what an earlier exchange ended with says more.
                    Err(why) if why == NOTHING_CAME => {
                        trouble.broken_exchange.get_or_insert(why);
                    }
                    Err(why) => trouble.broken_exchange = Some(why),
                }
            }
            Try::Closed if run.port_open_s.is_none() => run.port_closed_s = Some(since(before)),
            Try::Closed => {}
            Try::Failed(error) => trouble.broken_exchange = Some(format!("connecting: {error}")),
        }
        // The wait ends at once when the root ends; then only its descendants can still answer.
        let ended = match &root {
            Some(root) => ready(root.as_fd(), Side::Read, plan.poll_interval),
            None => {
                std::thread::sleep(plan.poll_interval);
                sampler.sample(Depth::Shallow, Phase::Warmup);
                sampler.exited().is_some()
            }
        };
        if ended {
            if stop::living(sampler).is_empty() {
                let when = since(monotonic());
                return Err((
                    FailureKind::Exited,
                    format!("the process ended {when:.3} s after its start"),
                ));
            }
            std::thread::sleep(plan.poll_interval);
        }
    }
}

/// Why an exchange has no response, where nothing came until the end of its time.
const NOTHING_CAME: &str = "nothing came in time";

/// Sends the request on a socket that is connected, and reads the response to its end.
fn exchange(plan: &Plan, socket: Stream, patience: Duration) -> Result<Response, String> {
    let mut connection = Connection::over(socket, &plan.transport, plan.target.address.into())?;
    let deadline = Instant::now() + patience;
    let answered = match &plan.opening {
        Some(opening) => connection.exchange_message(opening, deadline),
        None => connection.exchange(&plan.bytes, plan.request.is_head, deadline),
    };
    match answered {
        Ok(answered) => Ok(answered.response),
        Err(unanswered) if unanswered.why.is_empty() => Err(NOTHING_CAME.to_owned()),
        Err(unanswered) => Err(unanswered.why),
    }
}

/// What was seen instead of a valid response. The deadline cuts the last exchange short, which says less of the server
/// than a whole response that was wrong.
#[derive(Default)]
struct Trouble {
    wrong_response: Option<String>,
    broken_exchange: Option<String>,
}

fn too_late(plan: &Plan, run: &Run, trouble: Trouble) -> Failed {
    let within = format!("within {} s", plan.timeout.as_secs_f64());
    let open = match run.port_open_s {
        Some(t) => format!("the port opened after {t:.3} s"),
        None => format!("{} was never open", plan.target.address),
    };
    let kind = if run.wrong_responses > 0 {
        FailureKind::WrongResponse
    } else {
        FailureKind::Timeout
    };
    let last = trouble
        .wrong_response
        .or(trouble.broken_exchange)
        .map(|why| format!("; the last answer: {why}"))
        .unwrap_or_default();
    (kind, format!("no valid response {within}: {open}{last}"))
}

/// Reads memory right after the first response, then makes sure who gave it.
fn observe(
    plan: &Plan,
    started: Started,
    sampler: &mut Sampler,
    run: &mut Run,
) -> Result<(), Failed> {
    let sample = sampler.sample(Depth::Deep, Phase::Load);
    let held = sample.resources;
    (run.rss, run.footprint) = (Some(held.rss), held.footprint);
    (run.pss, run.anon) = (held.pss, held.anon);
    (run.vm_peak, run.vm_hwm) = (held.vm_peak, held.vm_hwm);
    (run.threads, run.processes) = (Some(held.threads), Some(held.processes));
    run.cpu_s = Some(seconds(sample.cpu));
    run.major_faults = Some(sample.major_faults);
    let port = plan.target.address.port();
    let owners = listener::ownership(port, sampler.pids());
    run.answered_by_ours = Some(owners.ours());
    if !owners.ours() {
        return Err((FailureKind::ForeignListener, owners.evidence(port)));
    }
    if !plan.settle.is_zero() {
        std::thread::sleep(plan.settle);
        let sample = sampler.sample(Depth::Deep, Phase::Idle);
        run.settled = Some(Snapshot::new(&sample, started.executed));
    }
    Ok(())
}

/// The last 2,000 bytes that a run has added to its log.
fn tail(log: &Path, from: u64) -> Option<String> {
    let mut file = std::fs::File::open(log).ok()?;
    let end = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(from.max(end.saturating_sub(2000))))
        .ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
