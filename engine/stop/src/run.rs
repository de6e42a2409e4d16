//! Carrying out a stop job.

use crate::client::Client;
use crate::connection::Role;
use crate::handover::{Memory, Relayed, memory_of_both};
use crate::job::{Job, Plan};
use crate::result::{Handover, SCHEMA, StopResult, StreamsResult};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use touchstone_exchange::JobError;
use touchstone_sys::clock::{Nanos, monotonic, nanos, since};
use touchstone_sys::process::{self, Signal};

/// The longest that nothing is looked at but events.
const LOOK: Nanos = Nanos::from_millis(50);
/// Until the first responses have come, one on each connection that is kept.
const READY: Nanos = Nanos::from_millis(10_000);
/// What was on its way when the process ended has come by then.
const LINGER: Nanos = Nanos::from_millis(20);

/// Puts the job's clients on the service, ends it, and counts what becomes of every request.
///
/// # Errors
/// When the job is malformed or the engine itself fails; what the service does wrong is in the result.
pub fn stop(job: &Job, interrupt: &AtomicBool) -> Result<StopResult, JobError> {
    let plan = job.plan()?;
    process::exact_timers();
    let Some(process) = process::pidfd(job.pid) else {
        return Err(JobError::Engine(format!(
            "process {} is not there, or the kernel has no pidfd_open (it needs Linux 5.3)",
            job.pid
        )));
    };
    let relay = Relayed::start(job, plan.target.address)?;
    let client = Client::new(&plan, &process, relay.as_ref().map(|relay| relay.address))?;
    let mut run = Run {
        job,
        plan: &plan,
        interrupt,
        client,
        relay,
        memory: None,
        next_due: Nanos::ZERO,
    };
    let failure = run.carry_out()?;
    Ok(run.result(failure))
}

struct Run<'a> {
    job: &'a Job,
    plan: &'a Plan,
    interrupt: &'a AtomicBool,
    client: Client<'a>,
    relay: Option<Relayed>,
    memory: Option<JoinHandle<Memory>>,
    /// When the next request of the load is due.
    next_due: Nanos,
}

impl Run<'_> {
    /// Returns why the service was not ended, if it was not.
    fn carry_out(&mut self) -> Result<Option<String>, JobError> {
        if let Some(failure) = self.connect() {
            return Ok(Some(failure));
        }
        let begin = monotonic();
        let signal_at = begin + self.plan.before.into();
        self.next_due = begin;
        let hold_at = signal_at.saturating_sub(self.plan.lead.into());
        self.load(hold_at);
        self.memory = memory_of_both(self.job);
        for _ in 0..self.job.held {
            self.client.ask_on_new(Role::Held, monotonic());
        }
        self.load(signal_at);
        if self.client.process_ended.is_some() {
            let seconds = since(monotonic(), begin);
            return Ok(Some(format!(
                "the process ended by itself, {seconds:.3} s after the load began"
            )));
        }
        if self.interrupted() {
            return Ok(None);
        }
        let client = &mut self.client;
        client.streams.found.open = client.streams.open_now();
        client.idle.open = client.open_of(Role::Idle);
        client.silent.open = client.open_of(Role::Silent);
        client.half_sent.open = client.open_of(Role::HalfSent);
        if let (Some(relay), Some(successor)) = (&self.relay, &self.job.successor) {
            relay.lead_to_successor(successor)?;
        }
        let signal = monotonic();
        client.signalled = Some(signal);
        // They are those from the signal on.
        client.tally.losses.clear();
        process::signal(self.job.pid, Signal::Terminate)
            .map_err(|error| JobError::Engine(format!("SIGTERM: {error}")))?;
        self.load(signal.saturating_add(self.plan.timeout.into()));
        let now = monotonic();
        let signalled = self.client.signalled;
        self.client.tally.close_gap(now, signalled);
        let end = match self.plan.after {
            Some(_) => now + self.plan.timeout.into(),
            None => now + LINGER,
        };
        let waits = |client: &Client<'_>| client.under_way() > 0 || client.streams.open_now() > 0;
        while monotonic() < end && waits(&self.client) && !self.interrupted() {
            self.client.turn(end.min(monotonic() + LOOK));
        }
        self.client.give_up();
        Ok(None)
    }

    /// Opens what is kept, with one request on each, and what rests without a request; returns why that failed, if so.
    fn connect(&mut self) -> Option<String> {
        let kept = if self.job.rate > 0.0 {
            self.job.connections
        } else {
            0
        };
        for (role, count) in [(Role::Load, kept), (Role::Idle, self.job.idle)] {
            (0..count).for_each(|_| self.client.ask_on_new(role, monotonic()));
        }
        let deadline = monotonic() + READY;
        while self.client.under_way() > 0 && monotonic() < deadline && !self.interrupted() {
            self.client.turn(deadline.min(monotonic() + LOOK));
        }
        if let Some(failure) = self.streams(deadline) {
            return Some(failure);
        }
        let right = self.client.tally.before.right;
        let asked = u64::from(kept + self.job.idle);
        if right < asked && !self.interrupted() {
            let losses = &self.client.tally.losses;
            let why = losses.first().map_or("no response came", |loss| &loss.3);
            return Some(format!(
                "{right} of {asked} first requests were answered as expected: {why}"
            ));
        }
        for (role, count) in [
            (Role::Silent, self.job.silent),
            (Role::HalfSent, self.job.half_sent),
        ] {
            for _ in 0..count {
                if let Err(error) = self.client.open_without_request(role) {
                    return Some(format!("connecting: {error}"));
                }
            }
        }
        None
    }

    /// Opens the streams, and waits until each has begun; returns why one has not, if so.
    fn streams(&mut self, deadline: Nanos) -> Option<String> {
        for _ in 0..self.job.streams {
            if let Err(error) = self.client.open_stream() {
                return Some(format!("connecting: {error}"));
            }
        }
        let waits = |client: &Client<'_>| !client.streams.all_begun() && monotonic() < deadline;
        while waits(&self.client) && !self.interrupted() {
            self.client.turn(deadline.min(monotonic() + LOOK));
        }
        let streams = &self.client.streams;
        let why = streams.failure.clone();
        let late = || (!streams.all_begun()).then(|| "nothing was streamed in 10 s".to_owned());
        why.or_else(late)
            .map(|why| format!("a stream did not begin: {why}"))
    }

    /// Whether the load is over: the process has ended, and nobody took over, or has had its time.
    fn is_over(&self, now: Nanos) -> bool {
        let after = self.plan.after.unwrap_or_default();
        let ended = self.client.process_ended;
        ended.is_some_and(|at| self.client.signalled.is_none() || now >= at + after.into())
    }

    /// Sends what is due until a time, or until the load is over.
    fn load(&mut self, until: Nanos) {
        let between = if self.job.rate > 0.0 {
            nanos(1.0 / self.job.rate)
        } else {
            Nanos::MAX
        };
        while !self.interrupted() {
            let now = monotonic();
            if self.is_over(now) || now >= until && self.client.process_ended.is_none() {
                // What was due in the meantime is not sent any more, and the client was late for it.
                if between < Nanos::MAX {
                    self.client.notice_lateness(self.next_due);
                }
                return;
            }
            let until = match self.client.process_ended {
                Some(_) => now + LOOK,
                None => until,
            };
            while between < Nanos::MAX && self.next_due <= now {
                self.client.ask(self.next_due);
                self.next_due += between;
            }
            let next = if between < Nanos::MAX {
                self.next_due
            } else {
                until
            };
            self.client.turn(until.min(next).min(now + LOOK));
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn result(mut self, failure: Option<String>) -> StopResult {
        let memory = self.memory.take().and_then(|reading| reading.join().ok());
        let client = &self.client;
        let signal = client.signalled;
        let origin = signal.unwrap_or_else(monotonic);
        let after = |at: Option<Nanos>| at.filter(|at| *at >= origin).map(|at| since(at, origin));
        let tally = &client.tally;
        let listens = |address| TcpStream::connect_timeout(address, Duration::from_millis(100));
        StopResult {
            schema: SCHEMA.into(),
            job: self.job.clone(),
            interrupted: self.interrupted(),
            failure,
            stop_s: signal.and(after(client.process_ended)),
            before: tally.before,
            under_way: tally.under_way,
            after: tally.after,
            last_right_s: after(tally.last_right),
            first_refused_s: after(tally.first_refused),
            announced: tally.announced,
            idle: client.idle.clone(),
            silent: client.silent.clone(),
            half_sent: client.half_sent.clone(),
            streams: StreamsResult {
                left: client.streams.open_now(),
                ..client.streams.found.clone()
            },
            listens_after: client.process_ended.is_some()
                && (self.plan.after.is_none() || self.relay.is_some())
                && listens(&self.plan.target.address).is_ok(),
            handover: signal.and(self.plan.after).map(|_| Handover {
                gap_s: since(tally.gap, Nanos::ZERO),
                memory_bytes: memory.and_then(|memory| memory.one),
                both_bytes: memory.and_then(|memory| memory.both),
            }),
            latest_s: since(tally.latest, Nanos::ZERO),
            losses: tally.losses(origin),
        }
    }
}
