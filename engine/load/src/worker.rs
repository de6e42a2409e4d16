//! One thread's load: which connection sends what when, and what comes of it. The bytes are moved by a backend.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::backend::Wire;
use crate::clock::{SECOND, nanos};
use crate::connection::{Connection, EVIDENCE, InFlight, Partial, State};
use crate::job::Job;
use crate::known::KnownResponse;
use crate::random::Random;
use crate::recorder::{ErrorClass, FirstError, Recorder, Window};
use crate::request::Mix;
use crate::schedule::quantise;
use crate::shared::Shared;
use crate::template::Key;
use crate::usage::Usage;

/// Connection attempts of one thread that are under way at once while the run is prepared.
const CONNECTING_AT_ONCE: u32 = 128;

/// Preparation ends after this many seconds even if connections are missing.
const PREPARATION_LIMIT_S: f64 = 60.0;

/// An interrupted run waits this long for responses under way.
const INTERRUPT_GRACE: u64 = SECOND / 5;

/// Which part of the job a worker does.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// The thread's number in this process.
    pub index: u32,
    /// Threads in this process.
    pub threads: u32,
    /// The thread's number in the whole run.
    pub global_index: u32,
    /// Threads in the whole run.
    pub global_threads: u32,
    /// Connections of this thread.
    pub connections: u32,
}

/// Where the run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Preparing,
    Waiting,
    Warmup,
    Load,
    Draining,
    Over,
}

/// One thread's load.
pub struct Worker {
    /// What was counted and measured.
    pub recorder: Recorder,
    /// Own CPU time in the window.
    pub usage: Usage,
    /// System calls in the window.
    pub syscalls: u64,
    /// Established now.
    pub established: u32,
    /// Established when preparation ended.
    pub established_first: u32,
    /// Sockets opened in all.
    pub opened: u64,
    /// Connections established again after they were lost.
    pub reconnects: u64,
    /// Established at the window's end.
    pub held: u32,
    /// In flight in the window at the end, never answered.
    pub unanswered: u64,
    /// Assigned to a connection that was never established.
    pub unsent: u64,
    connections: Vec<Connection>,
    mix: Mix,
    known: Vec<KnownResponse>,
    shared: Arc<Shared>,
    idle: VecDeque<u32>,
    due: Vec<u64>,
    backlog: bool,
    random: Random,
    counter: u64,
    part: Part,
    phase: Phase,
    open_loop: bool,
    keep_alive: bool,
    bounded: bool,
    pipeline: u16,
    seed: u64,
    timeout: u64,
    slot: u64,
    warmup: u64,
    length: u64,
    next_unopened: u32,
    connecting: u32,
    in_flight: u64,
    /// Requests that wait for their connection to be established.
    assigned: u64,
    prepared_by: u64,
    drain_until: u64,
    next_scan: u64,
    scan_every: u64,
    out: Vec<u8>,
    scratch: Vec<u8>,
    spare: Option<Box<Partial>>,
}

impl Worker {
    /// A worker for its part of a job.
    #[must_use]
    pub fn new(job: &Job, mix: Mix, shared: Arc<Shared>, part: Part, now: u64) -> Self {
        let timeout = nanos(job.timeout_s);
        let kinds = mix.requests().len();
        Self {
            recorder: Recorder::new(job, kinds),
            usage: Usage::default(),
            syscalls: 0,
            established: 0,
            established_first: 0,
            opened: 0,
            reconnects: 0,
            held: 0,
            unanswered: 0,
            unsent: 0,
            connections: (0..part.connections)
                .map(|_| Connection::default())
                .collect(),
            known: (0..kinds).map(|_| KnownResponse::default()).collect(),
            mix,
            shared,
            idle: VecDeque::new(),
            due: Vec::new(),
            backlog: false,
            random: Random::new(job.seed.wrapping_add(u64::from(part.global_index) << 40)),
            counter: u64::from(part.global_index),
            part,
            phase: Phase::Preparing,
            open_loop: job.is_open(),
            keep_alive: job.keepalive,
            bounded: job.max_requests.is_some() && !job.is_open(),
            pipeline: job.pipeline as u16,
            seed: job.seed,
            timeout,
            slot: nanos(job.pacing_slot_s),
            warmup: nanos(job.warmup_s),
            length: nanos(job.window_s()),
            next_unopened: 0,
            connecting: 0,
            in_flight: 0,
            assigned: 0,
            prepared_by: now + nanos(PREPARATION_LIMIT_S).max(timeout),
            drain_until: u64::MAX,
            next_scan: 0,
            scan_every: (timeout / 50).clamp(SECOND / 1000, SECOND / 10),
            out: Vec::new(),
            scratch: Vec::new(),
            spare: None,
        }
    }

    /// Whether the run is over and the backend may stop.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// How many connections this worker has places for.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        self.part.connections
    }

    /// The generation of a slot's socket.
    #[inline]
    #[must_use]
    pub fn generation(&self, slot: u32) -> u32 {
        self.connections[slot as usize].generation
    }

    /// A slot's connection.
    #[inline]
    #[must_use]
    pub fn connection(&self, slot: u32) -> &Connection {
        &self.connections[slot as usize]
    }

    /// When the worker wants to be called again even if nothing happens.
    #[must_use]
    pub fn next_wake(&self, now: u64) -> u64 {
        match self.phase {
            Phase::Preparing => now + SECOND / 100,
            Phase::Waiting => {
                let start = self.shared.start.load(Ordering::Acquire);
                if start == 0 {
                    now + SECOND / 1000
                } else {
                    start.min(now + SECOND / 10)
                }
            }
            Phase::Over => now,
            Phase::Warmup | Phase::Load | Phase::Draining => {
                let window = self.recorder.window;
                let mut wake = self.next_scan;
                wake = wake.min(match self.phase {
                    Phase::Warmup => window.begin,
                    Phase::Load => window.end,
                    _ => self.drain_until,
                });
                if !self.idle.is_empty()
                    && let Some(due) = self
                        .shared
                        .with_schedule(|schedule| schedule.next_due())
                        .flatten()
                {
                    let stagger =
                        self.slot * u64::from(self.part.index) / u64::from(self.part.threads);
                    wake = wake.min(quantise(due, window.start + stagger, self.slot));
                }
                wake
            }
        }
    }

    /// Does what time demands. Called after each batch of events.
    pub fn tick<W: Wire>(&mut self, wire: &mut W, now: u64) {
        match self.phase {
            Phase::Preparing => self.prepare(wire, now),
            Phase::Waiting => {
                let start = self.shared.start.load(Ordering::Acquire);
                if start == Shared::NEVER {
                    self.phase = Phase::Over;
                } else if start != 0 && now >= start {
                    self.begin(wire, start, now);
                }
            }
            Phase::Warmup | Phase::Load | Phase::Draining => self.advance(wire, now),
            Phase::Over => {}
        }
    }

    fn prepare<W: Wire>(&mut self, wire: &mut W, now: u64) {
        let total = self.part.connections;
        let wanted = if self.keep_alive { total } else { 0 };
        while self.next_unopened < wanted && self.connecting < CONNECTING_AT_ONCE {
            let slot = self.next_unopened;
            self.next_unopened += 1;
            self.open(wire, slot, now);
        }
        if now >= self.next_scan {
            self.scan(wire, now);
        }
        let all_tried = self.next_unopened >= wanted && self.connecting == 0;
        let called_off = self.shared.interrupted.load(Ordering::Relaxed);
        if all_tried || now >= self.prepared_by || called_off {
            self.established_first = self.established;
            self.phase = Phase::Waiting;
            self.shared
                .established
                .fetch_add(self.established, Ordering::Relaxed);
            self.shared.ready.fetch_add(1, Ordering::Release);
        }
    }

    fn begin<W: Wire>(&mut self, wire: &mut W, start: u64, now: u64) {
        let begin = start + self.warmup;
        self.recorder.begin(Window {
            start,
            begin,
            end: begin + self.length,
        });
        self.phase = Phase::Warmup;
        self.next_scan = now;
        if self.warmup == 0 {
            self.begin_window(wire, now);
        }
        for slot in 0..self.part.connections {
            let state = self.connections[slot as usize].state;
            let usable = state == State::Open || (!self.keep_alive && state == State::Closed);
            if !usable {
                continue;
            }
            if self.open_loop {
                self.list(slot);
            } else {
                self.fill(wire, slot, now);
            }
        }
        self.advance(wire, now);
    }

    fn begin_window<W: Wire>(&mut self, wire: &W, now: u64) {
        self.phase = Phase::Load;
        self.usage.begin();
        self.syscalls = wire.syscalls();
        if self.part.index == 0 {
            self.shared
                .with_schedule(|schedule| schedule.begin_window(now));
        }
    }

    fn advance<W: Wire>(&mut self, wire: &mut W, now: u64) {
        if self.recorder.interval_is_over(now) && self.phase != Phase::Draining {
            let queue = self.shared.progress[self.part.index as usize]
                .queue
                .load(Ordering::Relaxed);
            self.recorder
                .end_interval(now, u64::from(self.established), queue);
        }
        if self.phase == Phase::Warmup && now >= self.recorder.window.begin {
            self.begin_window(wire, now);
        }
        if self.phase == Phase::Load && self.load_is_over(now) {
            self.end_window(wire);
            self.phase = Phase::Draining;
            self.drain_until = now + self.timeout + 2 * self.scan_every;
        }
        if now >= self.next_scan {
            self.next_scan = now + self.scan_every;
            self.scan(wire, now);
            if self.shared.interrupted.load(Ordering::Relaxed) && self.phase != Phase::Over {
                self.interrupt(wire, now);
            }
        }
        if self.open_loop {
            self.dispatch(wire, now);
        }
        self.report_progress();
        if self.phase == Phase::Draining && (now >= self.drain_until || self.nothing_left(now)) {
            self.finish(wire, now);
        }
    }

    fn load_is_over(&self, now: u64) -> bool {
        now >= self.recorder.window.end
            || (self.bounded && self.shared.used_up())
            || (self.open_loop
                && self
                    .shared
                    .with_schedule(|schedule| schedule.next_due().is_none())
                    == Some(true))
    }

    fn nothing_left(&self, now: u64) -> bool {
        let queued = self
            .shared
            .with_schedule(|schedule| schedule.next_due().is_some_and(|due| due <= now));
        self.in_flight + self.assigned == 0 && queued != Some(true)
    }

    fn end_window<W: Wire>(&mut self, wire: &W) {
        self.usage.end();
        self.syscalls = wire.syscalls() - self.syscalls;
        self.held = self.established;
    }

    fn interrupt<W: Wire>(&mut self, wire: &W, now: u64) {
        if self.phase == Phase::Warmup {
            self.begin_window(wire, now);
        }
        if self.phase != Phase::Draining {
            self.end_window(wire);
        }
        self.recorder.window.end = self.recorder.window.end.min(now);
        self.phase = Phase::Draining;
        self.drain_until = self.drain_until.min(now + INTERRUPT_GRACE);
    }

    fn finish<W: Wire>(&mut self, wire: &mut W, now: u64) {
        for slot in 0..self.part.connections {
            let connection = &self.connections[slot as usize];
            let behind = connection.behind.iter().flat_map(|behind| behind.iter());
            let first = (connection.in_flight > 0).then_some(&connection.first);
            let counted = first
                .into_iter()
                .chain(behind)
                .filter(|request| self.recorder.counts(request.intended));
            self.unanswered += counted.count() as u64;
            if self.open_loop
                && connection.assigned
                && self.recorder.counts(connection.first.intended)
            {
                self.unsent += 1;
            }
            if matches!(connection.state, State::Open | State::Connecting) {
                wire.close(slot, connection.fd);
            }
        }
        let queue = self
            .shared
            .with_schedule(|schedule| schedule.observe(now))
            .unwrap_or(0);
        self.recorder.finish(u64::from(self.held), queue);
        self.phase = Phase::Over;
    }

    fn report_progress(&self) {
        let progress = &self.shared.progress[self.part.index as usize];
        let totals = self.recorder.totals();
        progress.sent.store(totals.sent, Ordering::Relaxed);
        progress.ok.store(totals.ok, Ordering::Relaxed);
        progress.errors.store(totals.errors, Ordering::Relaxed);
        progress
            .connections
            .store(u64::from(self.established), Ordering::Relaxed);
    }

    /// Requests may be sent that nobody has asked for yet: a closed loop inside its time and count.
    fn is_sending(&self) -> bool {
        matches!(self.phase, Phase::Warmup | Phase::Load)
    }

    // ---- sending ----------------------------------------------------------------------------------------------

    /// Open loop: gives the requests that are due to the connections that are free.
    fn dispatch<W: Wire>(&mut self, wire: &mut W, now: u64) {
        if self.phase == Phase::Draining && self.shared.interrupted.load(Ordering::Relaxed) {
            return;
        }
        let free = self.idle.len();
        let due = &mut self.due;
        let waiting = self.shared.with_schedule(|schedule| {
            while due.len() < free {
                let Some(intended) = schedule.take(now) else {
                    break;
                };
                due.push(intended);
            }
            schedule.observe(now)
        });
        let waiting = waiting.unwrap_or(0);
        self.backlog = waiting > 0;
        self.shared.progress[self.part.index as usize]
            .queue
            .store(waiting, Ordering::Relaxed);
        let mut due = std::mem::take(&mut self.due);
        for intended in due.drain(..) {
            match self.take_idle() {
                Some(slot) => self.start(wire, slot, intended, now),
                // Every listed place turned out to be lost: the request goes to the first connection that comes up.
                None => self.park(intended),
            }
        }
        self.due = due;
    }

    fn take_idle(&mut self) -> Option<u32> {
        while let Some(slot) = self.idle.pop_front() {
            let connection = &mut self.connections[slot as usize];
            connection.listed -= 1;
            let usable = match connection.state {
                State::Open => connection.in_flight < self.pipeline,
                State::Closed => !self.keep_alive && !connection.assigned,
                _ => false,
            };
            if usable {
                return Some(slot);
            }
        }
        None
    }

    /// Keeps a request that was taken from the schedule for a connection that is not up.
    fn park(&mut self, intended: u64) {
        let counter = self.next_counter();
        let kind = self.mix.pick(&mut self.random);
        let place = self
            .connections
            .iter_mut()
            .find(|connection| connection.state != State::Open && !connection.assigned);
        match place {
            Some(connection) => {
                connection.first = InFlight {
                    intended,
                    sent: 0,
                    counter,
                    kind,
                };
                connection.assigned = true;
                self.assigned += 1;
            }
            None => self.unsent += u64::from(self.recorder.counts(intended)),
        }
    }

    /// Puts a connection on the list of the free, once for each request that it could take.
    fn list(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let held = connection.in_flight + connection.listed + u16::from(connection.assigned);
        for _ in held..self.pipeline {
            connection.listed += 1;
            self.idle.push_back(slot);
        }
    }

    /// Closed loop: sends as many requests as the pipeline holds.
    fn fill<W: Wire>(&mut self, wire: &mut W, slot: u32, now: u64) {
        while self.is_sending() && self.connections[slot as usize].in_flight < self.pipeline {
            if self.connections[slot as usize].assigned || (self.bounded && !self.may_send(now)) {
                break;
            }
            self.start(wire, slot, now, now);
            if self.connections[slot as usize].state != State::Open {
                return;
            }
        }
        self.flush(wire, slot, now);
    }

    fn may_send(&self, now: u64) -> bool {
        now < self.recorder.window.begin || self.shared.may_send()
    }

    const fn next_counter(&mut self) -> u64 {
        let counter = self.counter;
        self.counter += self.part.global_threads as u64;
        counter
    }

    /// Starts one request on a slot: sends it, or opens the connection that it waits for.
    fn start<W: Wire>(&mut self, wire: &mut W, slot: u32, intended: u64, now: u64) {
        let counter = self.next_counter();
        let kind = self.mix.pick(&mut self.random);
        let request = InFlight {
            intended,
            sent: now,
            counter,
            kind,
        };
        let connection = &mut self.connections[slot as usize];
        if connection.state == State::Open {
            if self.open_loop {
                let late = now - intended.max(connection.since);
                if self.recorder.counts(intended) {
                    self.recorder.lateness.record(late);
                }
            }
            self.transmit(wire, slot, request, now);
            if self.open_loop && self.pipeline > 1 {
                self.flush(wire, slot, now);
            }
        } else {
            connection.first = request;
            connection.assigned = true;
            self.assigned += 1;
            if connection.state == State::Closed {
                self.open(wire, slot, now);
            }
        }
    }

    /// Sends one request on an established connection. With pipelining the bytes are gathered until [`Self::flush`].
    #[inline]
    fn transmit<W: Wire>(&mut self, wire: &mut W, slot: u32, request: InFlight, now: u64) {
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        let key = Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
        };
        let connection = &mut self.connections[slot as usize];
        let length = if self.pipeline == 1 && connection.unsent.is_none() {
            let (bytes, lasting) = match compiled.fixed() {
                Some(bytes) => (bytes, true),
                None => {
                    self.out.clear();
                    compiled.render(key, &mut self.out, &mut self.scratch);
                    (self.out.as_slice(), false)
                }
            };
            let length = bytes.len();
            match wire.send(slot, connection.fd, bytes, lasting) {
                Ok(sent) if sent == length => {}
                Ok(sent) => connection.unsent = Some(Box::new(bytes[sent..].to_vec())),
                Err(_) => return self.lost_before_send(wire, slot, request, now),
            }
            if !lasting {
                self.out.clear();
            }
            length
        } else {
            let before = self.out.len();
            compiled.render(key, &mut self.out, &mut self.scratch);
            self.out.len() - before
        };
        self.in_flight += 1;
        self.recorder.sent(request.kind, request.intended, length);
        self.connections[slot as usize].push(request);
    }

    /// Sends what pipelining has gathered.
    fn flush<W: Wire>(&mut self, wire: &mut W, slot: u32, now: u64) {
        if self.out.is_empty() {
            return;
        }
        let connection = &mut self.connections[slot as usize];
        let mut failed = None;
        if let Some(unsent) = &mut connection.unsent {
            unsent.extend_from_slice(&self.out);
        } else {
            match wire.send(slot, connection.fd, &self.out, false) {
                Ok(sent) if sent == self.out.len() => {}
                Ok(sent) => connection.unsent = Some(Box::new(self.out[sent..].to_vec())),
                Err(error) => failed = error.raw_os_error(),
            }
        }
        self.out.clear();
        if let Some(error) = failed {
            self.ended(wire, slot, error, now);
        }
    }

    /// The socket takes bytes again.
    pub fn writable<W: Wire>(&mut self, wire: &mut W, slot: u32, now: u64) {
        let connection = &mut self.connections[slot as usize];
        let Some(mut unsent) = connection.unsent.take() else {
            return;
        };
        match wire.send(slot, connection.fd, &unsent, false) {
            Ok(sent) if sent == unsent.len() => {}
            Ok(sent) => {
                unsent.drain(..sent);
                connection.unsent = Some(unsent);
            }
            Err(error) => self.ended(wire, slot, error.raw_os_error().unwrap_or(libc::EIO), now),
        }
    }

    /// The kernel knew already that the connection is gone: the request was never sent, and goes on a new one.
    fn lost_before_send<W: Wire>(&mut self, wire: &mut W, slot: u32, request: InFlight, now: u64) {
        self.note(
            ErrorClass::ClosedIdle,
            None,
            None,
            &[],
            "the connection was gone when a request was to be sent",
            now,
        );
        self.recorder.connection_failed(ErrorClass::ClosedIdle, now);
        self.drop_connection(wire, slot);
        let connection = &mut self.connections[slot as usize];
        connection.first = request;
        connection.assigned = true;
        self.assigned += 1;
        self.open(wire, slot, now);
    }

    // ---- connections ------------------------------------------------------------------------------------------

    fn open<W: Wire>(&mut self, wire: &mut W, slot: u32, now: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.generation = connection.generation.wrapping_add(1);
        connection.since = now;
        self.opened += 1;
        match wire.open(slot, connection.generation) {
            Ok((fd, established)) => {
                connection.fd = fd;
                connection.state = State::Connecting;
                self.connecting += 1;
                if established {
                    self.opened(wire, slot, now);
                }
            }
            Err(error) => {
                connection.state = State::Closed;
                self.attempt_failed(slot, error.raw_os_error().unwrap_or(libc::EIO), now);
            }
        }
    }

    /// A handshake is complete.
    pub fn opened<W: Wire>(&mut self, wire: &mut W, slot: u32, now: u64) {
        let connection = &mut self.connections[slot as usize];
        let took = now - connection.since;
        connection.state = State::Open;
        connection.failures = 0;
        connection.since = now;
        let again = std::mem::replace(&mut connection.used, true);
        self.reconnects += u64::from(again && self.keep_alive);
        self.connecting -= 1;
        self.established += 1;
        self.recorder.connect.record(took);
        if std::mem::take(&mut connection.assigned) {
            self.assigned -= 1;
            let mut request = connection.first;
            request.sent = now;
            self.transmit(wire, slot, request, now);
            self.flush(wire, slot, now);
        }
        match self.phase {
            Phase::Preparing | Phase::Waiting | Phase::Over => {}
            Phase::Warmup | Phase::Load | Phase::Draining if self.open_loop => self.list(slot),
            Phase::Warmup | Phase::Load => self.fill(wire, slot, now),
            Phase::Draining => {}
        }
    }

    /// A connection attempt failed; the next one waits, longer each time.
    fn attempt_failed(&mut self, slot: u32, error: i32, now: u64) {
        let class = if error == libc::ECONNREFUSED {
            ErrorClass::Refused
        } else {
            ErrorClass::ConnectFailed
        };
        let why = std::io::Error::from_raw_os_error(error).to_string();
        self.note(
            class,
            None,
            None,
            &[],
            &format!("the connection attempt failed: {why}"),
            now,
        );
        self.recorder.connection_failed(class, now);
        self.shared
            .connect_error
            .store(error as u32, Ordering::Relaxed);
        let connection = &mut self.connections[slot as usize];
        let pause = (SECOND / 100) << connection.failures.min(6);
        connection.failures = connection.failures.saturating_add(1);
        connection.state = State::Resting;
        connection.since = now + pause;
    }

    fn drop_connection<W: Wire>(&mut self, wire: &mut W, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        match connection.state {
            State::Open => self.established -= 1,
            State::Connecting => self.connecting -= 1,
            State::Closed | State::Resting => return,
        }
        wire.close(slot, connection.fd);
        connection.state = State::Closed;
        connection.generation = connection.generation.wrapping_add(1);
        connection.unsent = None;
        if let Some(partial) = connection.partial.take() {
            self.spare = Some(partial);
        }
    }

    /// What follows when a connection is gone: the next one, if there is something to send.
    fn replace<W: Wire>(&mut self, wire: &mut W, slot: u32, now: u64) {
        if self.connections[slot as usize].assigned {
            return self.open(wire, slot, now);
        }
        match self.phase {
            Phase::Preparing | Phase::Waiting => self.open(wire, slot, now),
            Phase::Warmup | Phase::Load if self.open_loop => {
                if self.keep_alive {
                    self.open(wire, slot, now);
                } else {
                    self.list(slot);
                }
            }
            // The time of connecting is part of the latency: the user would wait for it too.
            Phase::Warmup | Phase::Load => self.fill(wire, slot, now),
            Phase::Draining if self.open_loop && self.backlog => {
                if self.keep_alive {
                    self.open(wire, slot, now);
                } else {
                    self.list(slot);
                }
            }
            Phase::Draining | Phase::Over => {}
        }
    }

    /// The connection ended: closed by the server (`error` 0), or with an error number.
    pub fn ended<W: Wire>(&mut self, wire: &mut W, slot: u32, error: i32, now: u64) {
        let connection = &mut self.connections[slot as usize];
        match connection.state {
            State::Closed | State::Resting => return,
            State::Connecting => {
                self.drop_connection(wire, slot);
                return self.attempt_failed(
                    slot,
                    if error == 0 { libc::ECONNRESET } else { error },
                    now,
                );
            }
            State::Open => {}
        }
        if connection.in_flight == 0 {
            self.note(
                ErrorClass::ClosedIdle,
                None,
                None,
                &[],
                "the server closed a connection that carried no request",
                now,
            );
            self.recorder.connection_failed(ErrorClass::ClosedIdle, now);
            self.drop_connection(wire, slot);
            return self.replace(wire, slot, now);
        }
        if error == 0
            && let Some(mut partial) = connection.partial.take()
        {
            if partial.response.close() {
                return self.conclude(wire, slot, partial, false, now);
            }
            connection.partial = Some(partial);
        }
        let begun = connection
            .partial
            .as_ref()
            .is_some_and(|partial| partial.response.begun());
        let why = std::io::Error::from_raw_os_error(error).to_string();
        let (class, why) = match (error, begun) {
            (libc::EPROTO, _) => (ErrorClass::Malformed, "bytes that are not TLS"),
            (0, true) => (
                ErrorClass::ClosedMidResponse,
                "the server closed inside the response",
            ),
            (0, false) => (
                ErrorClass::ClosedBeforeResponse,
                "the server closed before the first byte of the response",
            ),
            _ => (ErrorClass::Reset, why.as_str()),
        };
        self.fail_all(wire, slot, class, why, now);
    }

    /// Fails the oldest request with a class, and those behind it as that class demands; then replaces the connection.
    fn fail_all<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        class: ErrorClass,
        why: &str,
        now: u64,
    ) {
        let behind_class = match class {
            ErrorClass::Timeout | ErrorClass::Reset => class,
            _ => ErrorClass::ClosedBeforeResponse,
        };
        let received = self.connections[slot as usize]
            .partial
            .as_ref()
            .map(|partial| partial.beginning.clone());
        let received = received.unwrap_or_default();
        let mut class = class;
        while self.connections[slot as usize].in_flight > 0 {
            let request = self.connections[slot as usize].first;
            self.note(class, Some(request), Some(slot), &received, why, now);
            self.recorder
                .failed(class, request.kind, request.intended, request.sent, now);
            self.connections[slot as usize].pop();
            self.in_flight -= 1;
            class = behind_class;
        }
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }

    /// Looks for requests and attempts that have waited too long, and for attempts whose pause is over.
    fn scan<W: Wire>(&mut self, wire: &mut W, now: u64) {
        for slot in 0..self.part.connections {
            let connection = &self.connections[slot as usize];
            match connection.state {
                State::Open
                    if connection.in_flight > 0
                        && now.saturating_sub(connection.first.sent) >= self.timeout =>
                {
                    self.fail_all(
                        wire,
                        slot,
                        ErrorClass::Timeout,
                        "no complete response within the limit",
                        now,
                    );
                }
                State::Connecting if now.saturating_sub(connection.since) >= self.timeout => {
                    self.drop_connection(wire, slot);
                    self.attempt_failed(slot, libc::ETIMEDOUT, now);
                }
                State::Resting
                    if now >= connection.since && !matches!(self.phase, Phase::Preparing) =>
                {
                    self.connections[slot as usize].state = State::Closed;
                    self.replace(wire, slot, now);
                }
                _ => {}
            }
        }
    }

    // ---- responses --------------------------------------------------------------------------------------------

    /// Bytes came on a slot.
    pub fn received<W: Wire>(&mut self, wire: &mut W, slot: u32, mut data: &[u8], now: u64) {
        while !data.is_empty() {
            let connection = &mut self.connections[slot as usize];
            if connection.in_flight == 0 {
                if connection.state == State::Open {
                    self.stray(wire, slot, data, now);
                }
                return;
            }
            let request = connection.first;
            let compiled = &self.mix.requests()[usize::from(request.kind)];
            if connection.partial.is_none()
                && let Some(body) = self.known[usize::from(request.kind)].body_of(data)
            {
                let known = &self.known[usize::from(request.kind)];
                let total = known.head_len() + body.len();
                let key = Key {
                    counter: request.counter,
                    seed: self.seed,
                    thread: self.part.global_index,
                };
                let right = known.accepted(body)
                    || compiled
                        .check
                        .body_is_right(body, key, &mut self.scratch)
                        .is_ok();
                if right && (total == data.len() || connection.in_flight > 1) {
                    self.recorder.response(
                        request.intended,
                        known.status(),
                        total as u64,
                        body.len() as u64,
                        now,
                    );
                    self.recorder
                        .ok(request.kind, request.intended, request.sent, now);
                    data = &data[total..];
                    connection.pop();
                    self.in_flight -= 1;
                    self.answered(wire, slot, now);
                    continue;
                }
            }
            match self.received_part(wire, slot, data, now) {
                Some(consumed) => data = &data[consumed..],
                None => return,
            }
        }
        if self.pipeline > 1 {
            self.flush(wire, slot, now);
        }
    }

    /// The way of a response that is new, wrong, or not whole. Gives the bytes consumed if there may be more to do.
    #[cold]
    fn received_part<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        data: &[u8],
        now: u64,
    ) -> Option<usize> {
        let connection = &mut self.connections[slot as usize];
        let request = connection.first;
        let kind = usize::from(request.kind);
        let compiled = &self.mix.requests()[kind];
        let key = Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
        };
        let mut partial = connection.partial.take().unwrap_or_else(|| {
            let mut partial = self.spare.take().unwrap_or_default();
            partial.reset(compiled.is_head);
            partial
        });
        let fed = match partial.feed(data, &compiled.check, key, &mut self.scratch) {
            Ok(fed) => fed,
            Err(malformed) => {
                connection.partial = Some(partial);
                self.fail_all(wire, slot, ErrorClass::Malformed, malformed.0, now);
                return None;
            }
        };
        if !fed.done {
            connection.partial = Some(partial);
            return None;
        }
        if fed.consumed < data.len() && connection.in_flight == 1 {
            connection.partial = Some(partial);
            self.fail_all(
                wire,
                slot,
                ErrorClass::Malformed,
                "bytes after the end of the response",
                now,
            );
            return None;
        }
        let whole = fed.consumed as u64 == partial.wire_len;
        let generation = connection.generation;
        if whole {
            self.known[kind].learn(&partial, compiled, &data[..fed.consumed]);
        }
        let keep_alive = partial.response.head().is_some_and(|head| head.keep_alive);
        self.conclude(wire, slot, partial, keep_alive, now);
        (self.connections[slot as usize].generation == generation).then_some(fed.consumed)
    }

    /// A response is complete: checks it, counts it, and goes on.
    fn conclude<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        partial: Box<Partial>,
        keep_alive: bool,
        now: u64,
    ) {
        let request = self.connections[slot as usize].first;
        let check = &self.mix.requests()[usize::from(request.kind)].check;
        let is_head = self.mix.requests()[usize::from(request.kind)].is_head;
        let key = Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
        };
        let status = partial.response.head().map_or(0, |head| head.status);
        self.recorder.response(
            request.intended,
            status,
            partial.wire_len,
            partial.body_len,
            now,
        );
        let bodiless = is_head || status == 204 || status == 304;
        let failure = if !check.status_is_right(status) {
            Some((
                ErrorClass::WrongStatus,
                format!("status {status}, expected {}", check.statuses_in_words()),
            ))
        } else if bodiless {
            None
        } else {
            let verdict = partial.body_is_right(check, key, &mut self.scratch);
            verdict.err().map(|why| (ErrorClass::WrongBody, why))
        };
        match failure {
            None => self
                .recorder
                .ok(request.kind, request.intended, request.sent, now),
            Some((class, why)) => {
                self.note(
                    class,
                    Some(request),
                    Some(slot),
                    &partial.beginning,
                    &why,
                    now,
                );
                self.recorder
                    .failed(class, request.kind, request.intended, request.sent, now);
            }
        }
        self.spare = Some(partial);
        self.connections[slot as usize].pop();
        self.in_flight -= 1;
        if keep_alive {
            self.answered(wire, slot, now);
        } else if self.connections[slot as usize].in_flight > 0 {
            let why = "the server closed after an earlier response on the connection";
            self.fail_all(wire, slot, ErrorClass::ClosedBeforeResponse, why, now);
        } else {
            self.drop_connection(wire, slot);
            self.replace(wire, slot, now);
        }
    }

    /// The oldest request of an open connection was answered: what it does next.
    #[inline]
    fn answered<W: Wire>(&mut self, wire: &mut W, slot: u32, now: u64) {
        if !self.keep_alive {
            self.drop_connection(wire, slot);
            self.replace(wire, slot, now);
        } else if self.open_loop {
            self.connections[slot as usize].since = now;
            self.list(slot);
            if self.backlog {
                self.dispatch(wire, now);
            }
        } else if self.is_sending() && (!self.bounded || self.may_send(now)) {
            self.start(wire, slot, now, now);
        }
    }

    /// Bytes came on a connection that carries no request.
    fn stray<W: Wire>(&mut self, wire: &mut W, slot: u32, data: &[u8], now: u64) {
        self.note(
            ErrorClass::Malformed,
            None,
            None,
            data,
            "bytes on a connection that carried no request",
            now,
        );
        self.recorder.connection_failed(ErrorClass::Malformed, now);
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }

    // ---- evidence ---------------------------------------------------------------------------------------------

    fn note(
        &mut self,
        class: ErrorClass,
        request: Option<InFlight>,
        slot: Option<u32>,
        received: &[u8],
        why: &str,
        now: u64,
    ) {
        let when = request.map_or(now, |request| request.intended);
        if !self.recorder.counts(when) || !self.recorder.wants_evidence(class) {
            return;
        }
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(&bytes[..bytes.len().min(EVIDENCE)]).into_owned()
        };
        let compiled = request.map(|request| &self.mix.requests()[usize::from(request.kind)]);
        let sent = request.zip(compiled).map(|(request, compiled)| {
            let key = Key {
                counter: request.counter,
                seed: self.seed,
                thread: self.part.global_index,
            };
            let mut bytes = Vec::new();
            compiled.render(key, &mut bytes, &mut Vec::new());
            text(&bytes)
        });
        let place = slot.map_or(String::new(), |slot| format!(" (connection {slot})"));
        self.recorder.first_errors.push(FirstError {
            class,
            t: self.recorder.offset_s(now),
            request: compiled.map(|compiled| compiled.name.clone()),
            sent,
            received: (!received.is_empty()).then(|| text(received)),
            why: format!("{why}{place}"),
        });
    }
}
