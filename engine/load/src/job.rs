//! The load job: what `docs/engine-protocol.md` calls the load job, as types.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
/// What a response must be: the same words in every job of the engine.
pub use touchstone_exchange::{
    BodyEncoding, Capture, Expect, ExpectBody, Grpc, Stream, StreamKind, WebSocket, WebSocketKind,
};
pub use touchstone_tls::{Protocol, Tls};
use touchstone_watch::Dependency;

use crate::error::Error;

/// One load: what is sent where, when, and for how long. More connections than one process may open files are spread
/// over several processes, which share CPUs, rates and counts.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
pub struct Job {
    /// `http://HOST:PORT` or `https://HOST:PORT`; its path is used where a request names no target.
    pub url: String,
    /// Hosts outside this machine that may be loaded.
    #[serde(default)]
    pub allow_hosts: Vec<String>,
    /// `HOST:PORT` to connect to in place of the URL's. `Host` field, SNI and the certificate's name stay those of the URL.
    #[serde(default)]
    pub connect_to: Option<String>,
    /// When requests are sent.
    #[serde(rename = "loop", default)]
    pub arrival: Loop,
    /// Connections over all threads and processes.
    #[serde(default = "default_connections")]
    pub connections: u32,
    /// Threads, each with its own sockets.
    #[serde(default = "one")]
    pub threads: u32,
    /// CPUs to pin the threads to, in turn; empty or absent: not pinned.
    #[serde(default)]
    pub cpus: Option<Vec<u32>>,
    /// Seconds of load before the measured window: at the first step's rate, or at a ramp's `from`.
    #[serde(default)]
    pub warmup_s: f64,
    /// Seconds of the measured window. With steps, their sum counts instead.
    #[serde(default = "default_duration")]
    pub duration_s: f64,
    /// Ends the measured window after this many requests, if the duration has not ended it before. Warm-up comes on
    /// top.
    #[serde(default)]
    pub max_requests: Option<u64>,
    /// What is spoken. HTTP/2 begins with its own preface over `http://` (`h2c`, prior knowledge), and is agreed on by ALPN
    /// over `https://` (`h2`).
    #[serde(default)]
    pub protocol: Protocol,
    /// HTTP/2: requests in flight on one connection, each on a stream of its own. A server may allow fewer; `http2` in the
    /// result says so.
    #[serde(default = "one")]
    pub streams: u32,
    /// HTTP/1.1: requests in flight on one connection.
    #[serde(default = "one")]
    pub pipeline: u32,
    /// False: a connection for each request. It says `Connection: close`, and is closed with a reset, as all closing is
    /// done.
    #[serde(default = "yes")]
    pub keepalive: bool,
    /// HTTP/1.1: requests that a connection carries; the next one then goes out on a new connection. Its handshakes are
    /// part of the latency in a closed loop. Null: any number.
    #[serde(default)]
    pub requests_per_connection: Option<u32>,
    /// Whether an idempotent request is sent once more, on a new connection, where the server closed a kept connection
    /// under it without a byte of a response (RFC 9112 section 9.3.1). It counts as sent once, and as `repeated`.
    #[serde(default = "yes")]
    pub repeat: bool,
    /// A request without a complete response after this many seconds is given up; so is a connection attempt.
    #[serde(default = "default_timeout")]
    pub timeout_s: f64,
    /// Whether a request of an open loop that has waited for a connection for `timeout_s` is not sent any more: its
    /// client has given up. It counts as `unsent`.
    #[serde(default)]
    pub give_up: bool,
    /// Which kernel interface moves the bytes.
    #[serde(default)]
    pub backend: BackendChoice,
    /// An IPv4 network such as `127.0.0.0/8` over whose addresses the connections' sources are spread, 10,000 to each.
    /// Null: a loopback target of more than 10,000 connections gets as many of `127.0.0.0/8` as it needs, because the
    /// search for a free port turns quadratic.
    #[serde(default)]
    pub sources: Option<String>,
    /// Seed of all randomness in the job.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Where the numbers of requests begin: a later load on the same service goes on where an earlier one ended.
    #[serde(default)]
    pub first_counter: u64,
    /// Length of one interval of the series.
    #[serde(default = "default_interval")]
    pub series_interval_s: f64,
    /// Open loop: requests are sent at multiples of this many seconds, never early and at most one slot late, which
    /// saves wake-ups. 0 sends each when it is due. Null: 250 microseconds where more than one request is due in them,
    /// 0 where fewer are.
    #[serde(default)]
    pub pacing_slot_s: Option<f64>,
    /// How TLS is done when the URL says https.
    #[serde(default)]
    pub tls: Tls,
    /// A CSV or JSON lines file whose rows `{row.NAME}` takes values from.
    #[serde(default)]
    pub rows: Option<String>,
    /// The text of `{fresh}`; absent: one that follows from the seed.
    #[serde(default)]
    pub fresh: Option<String>,
    /// What was captured before the load, by name: `{capture.NAME}` stands for it, unless a step of the journey captures
    /// a value of that name.
    #[serde(default)]
    pub captured: BTreeMap<String, String>,
    /// The requests of the mix. If there are none, and no journeys: one GET of the URL's path that expects 200 to 299.
    #[serde(default)]
    pub requests: Vec<Request>,
    /// Requests in order, in place of `requests`. They need a `pipeline` of 1.
    #[serde(default)]
    pub journeys: Vec<Journey>,
    /// The server's process tree, sampled on the clock of the latencies.
    #[serde(default)]
    pub watch: Option<Watch>,
    /// Keeps the stamps of the slowest requests and of some at random, and what the server did meanwhile; needs `watch`.
    #[serde(default)]
    pub tail: Option<Tail>,
    /// Machines that put the load on in place of this one, each an equal part of it. This engine leads: it divides
    /// connections, rates and counters exactly, fixes the first send on a common instant half a second ahead, moves
    /// every time by the distance of the two clocks, watches the server, and adds histograms and series. The job's
    /// `cpus` are then those of leading and watching. A generator that is lost ends the job with an error that names
    /// it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generators: Vec<GeneratorNode>,
}

/// A machine that puts a part of the load on.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorNode {
    /// Its name in the result and in errors.
    pub name: String,
    /// A Unix socket. Each connection to it reaches standard input and output of a `touchstone-engine load --worker` there.
    pub link: PathBuf,
    /// Its CPUs to pin the threads to, in turn.
    pub cpus: Vec<u32>,
    /// Its limit of open files.
    pub open_files: u64,
    /// How far its `CLOCK_MONOTONIC` is ahead of this machine's, in seconds.
    pub clock_ahead_s: f64,
    /// How far off that may be, in seconds.
    pub clock_residual_s: f64,
}

/// When requests are sent.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Loop {
    /// A connection sends its next request when the response to the last one has come.
    #[default]
    Closed,
    /// Requests are due at a constant rate whatever the server does.
    Open {
        /// Requests per second.
        rate: f64,
        /// How the arrivals lie around the rate.
        #[serde(default)]
        arrivals: Arrivals,
    },
    /// One rate after another.
    Steps {
        /// The steps, in order. Warm-up runs at the first one's rate.
        steps: Vec<Step>,
        /// How the arrivals lie around the rate.
        #[serde(default)]
        arrivals: Arrivals,
    },
    /// A rate that changes linearly over the window. Warm-up runs at `from`.
    Ramp {
        /// Requests per second at the window's start.
        from: f64,
        /// Requests per second at its end.
        to: f64,
        /// How the arrivals lie around the rate.
        #[serde(default)]
        arrivals: Arrivals,
    },
}

/// How arrivals lie around their rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Equal gaps.
    #[default]
    Uniform,
    /// A Poisson process: independent users.
    Poisson,
}

/// One step of a stepped load.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Requests per second.
    pub rate: f64,
    /// How long, in seconds.
    pub seconds: f64,
}

/// Which kernel interface moves the bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackendChoice {
    /// `io_uring` where the kernel allows it and it pays, else epoll.
    #[default]
    Auto,
    /// Edge-triggered epoll.
    Epoll,
    /// `io_uring` with multishot receive.
    IoUring,
}

/// One request of the mix.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name in the result; by default method and target.
    #[serde(default)]
    pub name: Option<String>,
    /// The share of this request in the mix.
    #[serde(default = "one")]
    pub weight: u32,
    /// The method.
    #[serde(default = "default_method")]
    pub method: String,
    /// The request target, a template; by default the URL's path.
    #[serde(default)]
    pub target: Option<String>,
    /// Names and values of fields; the values are templates (docs/templates.md). `Content-Length` and
    /// `Transfer-Encoding` are refused, since the engine frames the body; `Host` takes the place of the URL's.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body, a template.
    #[serde(default)]
    pub body: Option<String>,
    /// How the body's text becomes bytes.
    #[serde(default)]
    pub encoding: BodyEncoding,
    /// The gRPC method that is called; null: plain HTTP.
    #[serde(default)]
    pub grpc: Option<Grpc>,
    /// The request is the handshake of a WebSocket, and its body a message; null: plain HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websocket: Option<WebSocket>,
    /// What the response must be.
    #[serde(default)]
    pub expect: Expect,
    /// The response is a stream of events; null: it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
}

impl Request {
    /// What is sent and what must come back, without name and weight.
    pub(crate) fn bare(&self) -> touchstone_exchange::Request {
        touchstone_exchange::Request {
            method: self.method.clone(),
            target: self.target.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
            encoding: self.encoding,
            grpc: self.grpc.clone(),
            websocket: self.websocket.clone(),
            expect: self.expect.clone(),
        }
    }
}

/// A user's way through the service: requests one after the other on the same connection.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journey {
    /// The name in the result.
    pub name: String,
    /// The share of this journey in the mix.
    #[serde(default = "one")]
    pub weight: u32,
    /// What is sent, in order.
    pub steps: Vec<JourneyStep>,
}

/// One step of a journey.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JourneyStep {
    /// What is sent, and what must come back. Its weight is not looked at.
    pub request: Request,
    /// Values taken from the response, by name, for `{capture.NAME}` in later steps.
    #[serde(default)]
    pub captures: BTreeMap<String, Capture>,
    /// Seconds between the response and the next request on the connection.
    #[serde(default)]
    pub think_s: f64,
}

/// Which process tree to sample, and how.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// The root of the process tree.
    pub pid: i32,
    /// Control-group directories whose memory and throttling are read.
    #[serde(default)]
    pub cgroup_paths: Vec<String>,
    /// The CPUs that the tree was given; empty: nobody looks whether it keeps to them.
    #[serde(default)]
    pub allowed_cpus: Vec<usize>,
    /// Process trees that work for it: databases, brokers. Their CPU is reported by name, and not as other processes' CPU.
    #[serde(default)]
    pub dependencies: Vec<Dependency>,
    /// Seconds between two samples.
    #[serde(default = "default_watch_interval")]
    pub interval_s: f64,
    /// Seconds of sampling after the load has ended.
    #[serde(default)]
    pub after_s: f64,
}

/// Which requests' stamps are kept, and how the server is looked at meanwhile.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    /// How many of the slowest requests are kept.
    #[serde(default = "default_kept")]
    pub slowest: u32,
    /// How many are drawn at random from all.
    #[serde(default = "default_kept")]
    pub sampled: u32,
    /// Seconds between two looks at the server.
    #[serde(default = "default_look_interval")]
    pub interval_s: f64,
    /// Where the server's dependencies listen, as `IP:PORT`: its requests to them are timed from outside.
    #[serde(default)]
    pub addresses: Vec<SocketAddr>,
}

impl Tail {
    fn validate(&self) -> Result<(), Error> {
        let wrong = |what: &str| Err(Error::Job(what.to_owned()));
        if self.interval_s < 0.0005 || !length(self.interval_s) {
            return wrong("tail.interval_s must be 0.0005 to 604800");
        }
        if self.slowest > 100_000 || self.sampled > 100_000 {
            return wrong("tail.slowest and tail.sampled must be at most 100000");
        }
        Ok(())
    }
}

/// A job as the documentation shows it.
fn example() -> serde_json::Value {
    serde_json::json!({
        "url": "http://127.0.0.1:8080",
        "loop": {"kind": "open", "rate": 1000.0},
        "connections": 64,
        "cpus": [1],
        "warmup_s": 2.0,
        "duration_s": 10.0,
        "requests": [{
            "name": "lookup",
            "target": "/?name=bench-{counter}",
            "headers": [["Accept", "text/plain"]],
            "expect": {
                "status": [200],
                "body": {"kind": "exact", "value": "Boom! We found you: bench-{counter}"}
            }
        }],
        "watch": {
            "pid": 4711,
            "allowed_cpus": [0],
            "dependencies": [{"name": "database", "pid": 4700}],
            "after_s": 5.0
        }
    })
}

/// A week, in seconds: nothing in a job takes longer.
pub(crate) const MOST_S: f64 = 604_800.0;
/// Requests per second that no machine sends.
const MOST_RATE: f64 = 1e8;

/// Refuses what does not hold, in words.
type Must<'a> = &'a dyn Fn(bool, &str) -> Result<(), Error>;

/// Whether a field of this name must not be sent over HTTP/2 (RFC 9113, section 8.2.2).
fn belongs_to_http_1(name: &str) -> bool {
    const NAMES: [&str; 4] = ["connection", "keep-alive", "proxy-connection", "upgrade"];
    NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn positive(seconds: f64) -> bool {
    seconds > 0.0 && seconds <= MOST_S
}

fn length(seconds: f64) -> bool {
    (0.0..=MOST_S).contains(&seconds)
}

fn rate(per_second: f64) -> bool {
    (0.0..=MOST_RATE).contains(&per_second)
}

pub(crate) const fn one() -> u32 {
    1
}
pub(crate) const fn yes() -> bool {
    true
}
pub(crate) const fn default_connections() -> u32 {
    64
}
const fn default_duration() -> f64 {
    10.0
}
pub(crate) const fn default_timeout() -> f64 {
    5.0
}
pub(crate) const fn default_seed() -> u64 {
    1
}
const fn default_interval() -> f64 {
    1.0
}
const fn default_watch_interval() -> f64 {
    0.1
}
const fn default_kept() -> u32 {
    1000
}
const fn default_look_interval() -> f64 {
    0.001
}
fn default_method() -> String {
    "GET".to_owned()
}

impl Job {
    /// Reads a job from JSON and checks it.
    ///
    /// # Errors
    /// [`Error::Job`] with the place and the reason.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let job: Self =
            serde_json::from_str(text).map_err(|error| Error::Job(error.to_string()))?;
        job.validate()?;
        Ok(job)
    }

    /// A job with every default, for one GET of the URL.
    #[must_use]
    pub fn for_url(url: &str) -> Self {
        let text = serde_json::json!({ "url": url });
        serde_json::from_value(text).expect("every other field has a default")
    }

    /// The measured window's length in seconds: the steps' sum, or the duration.
    #[must_use]
    pub fn window_s(&self) -> f64 {
        match &self.arrival {
            Loop::Steps { steps, .. } => steps.iter().map(|step| step.seconds).sum(),
            _ => self.duration_s,
        }
    }

    /// Whether requests are due by a schedule.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !matches!(self.arrival, Loop::Closed)
    }

    /// Checks what the types alone do not.
    ///
    /// # Errors
    /// [`Error::Job`] with the field and the reason.
    pub fn validate(&self) -> Result<(), Error> {
        let must = |holds: bool, what: &str| {
            if holds {
                Ok(())
            } else {
                Err(Error::Job(what.to_owned()))
            }
        };
        if let Some(tail) = &self.tail {
            let watched = self.watch.is_some();
            must(watched, "tail needs watch: the server's processes")?;
            tail.validate()?;
        }
        must(self.connections >= 1, "connections must be at least 1")?;
        must(
            self.threads >= 1 && self.threads <= 1024,
            "threads must be 1 to 1024",
        )?;
        must(
            self.pipeline >= 1 && self.pipeline <= 4096,
            "pipeline must be 1 to 4096",
        )?;
        must(length(self.warmup_s), "warmup_s must be 0 to 604800")?;
        must(
            positive(self.duration_s),
            "duration_s must be above 0 and at most 604800: every run is bounded",
        )?;
        must(
            positive(self.timeout_s),
            "timeout_s must be above 0 and at most 604800",
        )?;
        must(
            self.series_interval_s >= 0.01 && length(self.series_interval_s),
            "series_interval_s must be 0.01 to 604800",
        )?;
        must(
            self.pacing_slot_s
                .is_none_or(|slot| length(slot) && slot <= 0.1),
            "pacing_slot_s must be 0 to 0.1, or null",
        )?;
        must(
            self.max_requests != Some(0),
            "max_requests must be at least 1, or null",
        )?;
        must(
            self.keepalive || self.pipeline == 1,
            "pipeline above 1 needs keepalive",
        )?;
        must(
            self.pipeline == 1 || self.all_requests().all(|request| request.stream.is_none()),
            "a stream needs a pipeline of 1: what is behind it would wait for its end",
        )?;
        must(
            self.requests.is_empty() || self.requests.iter().any(|request| request.weight > 0),
            "at least one request must have a weight above 0",
        )?;
        must(
            self.requests.len() <= usize::from(u16::MAX),
            "at most 65535 requests in a mix",
        )?;
        self.validate_protocol(&must)?;
        self.validate_websocket(&must)?;
        self.validate_journeys(must)?;
        self.validate_arrival(must)?;
        self.validate_machines(must)
    }
}

impl Job {
    fn validate_protocol(&self, must: Must<'_>) -> Result<(), Error> {
        let tls = self.url.starts_with("https://");
        let misfit = self.protocol.misfit(tls).or(self.tls.misfit(tls));
        must(misfit.is_none(), misfit.unwrap_or_default())?;
        must(
            self.requests_per_connection != Some(0),
            "requests_per_connection must be at least 1, or null",
        )?;
        must(
            self.requests_per_connection.is_none()
                || (self.keepalive
                    && self.depth() == 1
                    && self.journeys.is_empty()
                    && !self.protocol.is_h2()),
            "requests_per_connection needs HTTP/1.1, keepalive, a pipeline of 1 and no journeys",
        )?;
        must(
            (1..=4096).contains(&self.streams),
            "streams must be 1 to 4096",
        )?;
        if !self.protocol.is_h2() {
            return must(
                self.streams == 1,
                "streams are HTTP/2's: give protocol h2c or h2, or pipeline for HTTP/1.1",
            );
        }
        must(
            self.pipeline == 1,
            "pipeline is HTTP/1.1's: over HTTP/2 give streams",
        )?;
        must(
            self.keepalive || self.streams == 1,
            "streams above 1 need keepalive",
        )?;
        must(
            self.journeys.is_empty() || self.streams == 1,
            "journeys need streams of 1: a request waits for what the one before it captures",
        )?;
        for request in self.all_requests() {
            must(
                request.method != "CONNECT",
                "the method CONNECT is not sent over HTTP/2",
            )?;
            let mut names = request.headers.iter().map(|(name, _)| name);
            if let Some(name) = names.find(|name| belongs_to_http_1(name)) {
                return Err(Error::Job(format!(
                    "{name} belongs to HTTP/1.1 alone (RFC 9113, section 8.2.2): leave it out over HTTP/2"
                )));
            }
            let te = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("te");
            must(
                request
                    .headers
                    .iter()
                    .filter(te)
                    .all(|(_, value)| value.trim().eq_ignore_ascii_case("trailers")),
                "TE has no other value than trailers over HTTP/2 (RFC 9113, section 8.2.2): give that one, or leave TE out",
            )?;
        }
        Ok(())
    }

    fn validate_websocket(&self, must: Must<'_>) -> Result<(), Error> {
        if !self.is_websocket() {
            return Ok(());
        }
        must(
            self.journeys.is_empty() && self.requests.iter().all(|one| one.websocket.is_some()),
            "websocket: a load sends messages over WebSockets, or requests: not both, and no journeys",
        )?;
        must(
            self.protocol == Protocol::H1,
            "websocket: a WebSocket is opened over HTTP/1.1: set protocol to h1",
        )?;
        must(
            self.requests.iter().all(|one| one.stream.is_none()),
            "websocket: a message has one echo, and is not a stream: leave stream out",
        )?;
        let handshake = |request: &Request| {
            let greetings = request.websocket.as_ref().map(|socket| socket.greetings);
            (request.target.clone(), request.headers.clone(), greetings)
        };
        let first = handshake(&self.requests[0]);
        must(
            self.requests.iter().all(|one| handshake(one) == first),
            "websocket: the messages of a load go over the same connections: their target, headers and greetings must be equal",
        )
    }

    /// Whether messages over WebSockets are sent.
    #[must_use]
    pub fn is_websocket(&self) -> bool {
        self.all_requests().any(|one| one.websocket.is_some())
    }

    /// Every request of the job, in its mix or in a journey.
    pub fn all_requests(&self) -> impl Iterator<Item = &Request> {
        let steps = self.journeys.iter().flat_map(|journey| &journey.steps);
        self.requests.iter().chain(steps.map(|step| &step.request))
    }

    /// Seconds after which the last request sent has its response, or has timed out: of a stream each event may take as
    /// long as another response.
    #[must_use]
    pub fn patience_s(&self) -> f64 {
        let streams = self
            .all_requests()
            .filter_map(|request| request.stream.as_ref());
        let events = streams.map(|stream| stream.events).max().unwrap_or(0);
        (self.timeout_s * f64::from(events.saturating_add(1))).min(MOST_S)
    }

    /// How many requests are in flight on one connection.
    #[must_use]
    pub(crate) fn depth(&self) -> u16 {
        let depth = if self.protocol.is_h2() {
            self.streams
        } else {
            self.pipeline
        };
        depth as u16
    }

    fn validate_arrival(
        &self,
        must: impl Fn(bool, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match &self.arrival {
            Loop::Closed => {}
            Loop::Open { rate: wanted, .. } => must(
                rate(*wanted) && *wanted > 0.0,
                "loop.rate must be above 0 and at most 1e8 per second",
            )?,
            Loop::Steps { steps, .. } => {
                must(!steps.is_empty(), "loop.steps must not be empty")?;
                must(
                    steps
                        .iter()
                        .all(|step| step.rate > 0.0 && rate(step.rate) && positive(step.seconds)),
                    "every step needs a rate above 0 and at most 1e8, and seconds above 0 and at most 604800",
                )?;
            }
            Loop::Ramp { from, to, .. } => {
                must(
                    rate(*from) && rate(*to) && from + to > 0.0,
                    "loop.from and loop.to must be 0 to 1e8 per second, one above 0",
                )?;
            }
        }
        Ok(())
    }

    fn validate_machines(
        &self,
        must: impl Fn(bool, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for node in &self.generators {
            must(!node.cpus.is_empty(), "a generator needs cpus")?;
            must(
                node.clock_ahead_s.is_finite() && length(node.clock_residual_s),
                "a generator's clock_ahead_s and clock_residual_s must be seconds",
            )?;
        }
        must(
            self.generators.len() <= self.connections as usize,
            "connections must be as many as the generators, at least",
        )?;
        if let Some(watch) = &self.watch {
            must(
                watch.interval_s >= 0.001 && length(watch.interval_s),
                "watch.interval_s must be 0.001 to 604800",
            )?;
            must(length(watch.after_s), "watch.after_s must be 0 to 604800")?;
        }
        Ok(())
    }

    fn validate_journeys(
        &self,
        must: impl Fn(bool, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.journeys.is_empty() {
            return Ok(());
        }
        let steps = || self.journeys.iter().flat_map(|journey| &journey.steps);
        must(
            self.requests.is_empty(),
            "a load has requests or journeys, not both",
        )?;
        must(
            self.pipeline == 1,
            "journeys need a pipeline of 1: a request waits for what the one before it captures",
        )?;
        must(
            self.journeys.iter().any(|journey| journey.weight > 0),
            "at least one journey must have a weight above 0",
        )?;
        must(
            self.journeys
                .iter()
                .all(|journey| !journey.steps.is_empty()),
            "every journey needs a step",
        )?;
        must(
            steps().count() <= usize::from(u16::MAX),
            "at most 65535 steps in all journeys",
        )?;
        must(
            steps().all(|step| (0.0..=3600.0).contains(&step.think_s)),
            "think_s must be 0 to 3600",
        )
    }

    /// The request of a job that lists none: a GET of the URL's path.
    pub(crate) fn implied_request() -> Request {
        Request {
            name: None,
            weight: 1,
            method: default_method(),
            target: None,
            headers: Vec::new(),
            body: None,
            encoding: BodyEncoding::Text,
            grpc: None,
            websocket: None,
            expect: Expect::default(),
            stream: None,
        }
    }
}
