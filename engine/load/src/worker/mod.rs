//! One thread's load: which connection sends what when, and what comes of it. The bytes are moved by a [`Wire`].
//!
//! [`Wire`]: crate::wire::Wire

mod between;
mod connecting;
mod ending;
mod events;
mod evidence;
mod journeys;
mod messages;
mod phases;
mod receiving;
mod repeating;
mod sending;
mod streams;
mod supply;
mod turns;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::clock::{Nanos, nanos};
use crate::closes::ClosedByServer;
use crate::connection::{Connection, Partial};
use crate::h2::{Http2Use, Multiplexer};
use crate::job::Job;
use crate::known::KnownResponse;
use crate::mix::Mix;
use crate::random::Random;
use crate::recorder::Recorder;
use crate::schedule::slot_s;
use crate::shared::Shared;
use crate::usage::Usage;
use crate::websocket::{Links, links};
use between::UnderWay;
use journeys::Journeys;
use touchstone_tls::TlsUse;
use touchstone_watch::timeline::Flights;
use turns::Turns;

/// Preparation ends after this many seconds even if connections are missing.
const PREPARATION_LIMIT_S: f64 = 60.0;

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

impl Part {
    /// The thread's own draws of a seed.
    const fn random(&self, seed: u64) -> Random {
        Random::new(seed.wrapping_add((self.global_index as u64) << 40))
    }
}

/// Where the run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Preparing,
    Waiting,
    /// Looking at what happened since the last turn.
    Settling,
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
    /// Kept connections that the server closed.
    pub closed: ClosedByServer,
    /// Requests of the warm-up that were under way when the window began.
    pub outstanding: u64,
    /// When it began to send; zero if it has not.
    pub begun: Nanos,
    /// Established at the window's end.
    pub held: u32,
    /// In flight in the window at the end, never answered.
    pub unanswered: u64,
    /// Assigned to a connection that was never established.
    pub unsent: u64,
    /// Due when sending ended, and waiting for a free connection.
    pub queued: u64,
    /// Handshakes, if the load went over TLS and is over.
    pub tls: Option<TlsUse>,
    connections: Vec<Connection>,
    mix: Mix,
    known: Vec<KnownResponse>,
    shared: Arc<Shared>,
    /// What is under way, for the thread that looks at the server; over HTTP/1.1 without pipelining.
    flights: Option<Arc<Flights>>,
    idle: VecDeque<u32>,
    due: Vec<Nanos>,
    backlog: bool,
    random: Random,
    counter: u64,
    part: Part,
    phase: Phase,
    open_loop: bool,
    keep_alive: bool,
    /// Requests that a connection carries.
    per_connection: u32,
    repeat: bool,
    /// Requests that have waited for a connection for as long as the time limit are not sent any more.
    gives_up: bool,
    bounded: bool,
    /// Requests in flight on one connection, if the server lets it.
    depth: u16,
    seed: u64,
    timeout: Nanos,
    slot: Nanos,
    warmup: Nanos,
    length: Nanos,
    next_unopened: u32,
    connecting: u32,
    in_flight: u64,
    /// Requests that wait for their connection to be established.
    assigned: u64,
    prepared_by: Nanos,
    drain_until: Nanos,
    next_scan: Nanos,
    scan_every: Nanos,
    out: Vec<u8>,
    /// Frames that answer the frames of a connection.
    control: Vec<u8>,
    /// What HTTP/2 needs, if that is spoken.
    h2: Option<Box<Multiplexer>>,
    /// The WebSockets of the connections, if messages are sent over those.
    sockets: Option<Links>,
    scratch: Vec<u8>,
    spare: Option<Box<Partial>>,
    /// The users of the connections, if the load is one of journeys.
    journeys: Option<Box<Journeys>>,
    /// What is kept from turn to turn, if the load comes in turns.
    turns: Option<Box<Turns>>,
    /// What the lab asks that is under way.
    under_way: Vec<UnderWay>,
    /// Whether a response of the mix is a stream.
    streams: bool,
    /// By kind: whether a stream went on for long after its last event.
    endless: Vec<bool>,
    /// How long responses under way are waited for once sending has ended.
    patience: Nanos,
}

/// Whether any request of the mix is answered by a stream.
fn has_stream(mix: &Mix) -> bool {
    let mut requests = mix.requests().iter();
    requests.any(|request| request.stream.is_some())
}

impl Worker {
    /// A worker for its part of a job.
    #[must_use]
    pub fn new(job: &Job, mix: Mix, shared: Arc<Shared>, part: Part, now: Nanos) -> Self {
        let timeout = nanos(job.timeout_s);
        let kinds = mix.requests().len();
        let streams = has_stream(&mix);
        Self {
            recorder: Recorder::new(job, kinds),
            usage: Usage::default(),
            syscalls: 0,
            established: 0,
            established_first: 0,
            opened: 0,
            reconnects: 0,
            closed: ClosedByServer::default(),
            outstanding: 0,
            begun: Nanos::ZERO,
            held: 0,
            unanswered: 0,
            unsent: 0,
            queued: 0,
            tls: None,
            connections: (0..part.connections)
                .map(|_| Connection::default())
                .collect(),
            known: (0..kinds).map(|_| KnownResponse::default()).collect(),
            journeys: Journeys::of(&mix, part.connections),
            h2: Multiplexer::of(job, &mix, part.connections),
            sockets: links(job, part.connections),
            mix,
            flights: shared.flights_of(part.index, job),
            shared,
            idle: VecDeque::new(),
            due: Vec::new(),
            backlog: false,
            random: part.random(job.seed),
            counter: job.first_counter + u64::from(part.global_index),
            part,
            phase: Phase::Preparing,
            open_loop: job.is_open(),
            keep_alive: job.keepalive,
            per_connection: job.requests_per_connection.unwrap_or(u32::MAX),
            repeat: job.repeat,
            gives_up: job.give_up,
            bounded: job.max_requests.is_some() && !job.is_open(),
            depth: job.depth(),
            seed: job.seed,
            timeout,
            slot: nanos(slot_s(job)),
            warmup: nanos(job.warmup_s),
            length: nanos(job.window_s()),
            next_unopened: 0,
            connecting: 0,
            in_flight: 0,
            assigned: 0,
            prepared_by: now + nanos(PREPARATION_LIMIT_S).max(timeout),
            drain_until: Nanos::MAX,
            next_scan: Nanos::ZERO,
            scan_every: (timeout / 50).clamp(Nanos::from_millis(1), Nanos::from_millis(100)),
            out: Vec::new(),
            control: Vec::new(),
            scratch: Vec::new(),
            spare: None,
            turns: None,
            under_way: Vec::new(),
            streams,
            endless: vec![false; kinds],
            patience: nanos(job.patience_s()),
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

    /// What was done over HTTP/2, if that was spoken.
    #[must_use]
    pub fn http2(&self) -> Option<Http2Use> {
        self.h2.as_ref().map(|h2| h2.used.clone())
    }

    /// Whether requests on one connection are gathered and sent together.
    const fn gathers(&self) -> bool {
        self.depth > 1 || self.h2.is_some()
    }

    /// How many requests may be in flight in a slot.
    #[inline]
    fn room(&self, slot: u32) -> u16 {
        self.link(slot).map_or(self.depth, |link| link.room())
    }

    /// When the oldest request in flight in a slot was sent.
    fn oldest_sent(&self, slot: u32) -> Nanos {
        match self.link(slot) {
            None => self.connections[slot as usize].first.sent,
            Some(link) => link.oldest_sent(),
        }
    }

    /// A slot's connection.
    #[inline]
    #[must_use]
    pub fn connection(&self, slot: u32) -> &Connection {
        &self.connections[slot as usize]
    }
}
