//! The hold job.

use crate::generators::HoldNode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use touchstone_crew::Sources;
use touchstone_exchange::{
    CompiledRequest, JobError, Protocol, Request, Target, Tls, Transport, seconds,
};

/// What is held, and on whom. Each connection carries one request when it opens, and its response is checked whole. The
/// connections are held by child processes of the engine, each with source addresses of its own, 10,000 connections to
/// each.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
pub struct Job {
    /// The server's URL, an address of this machine. Handshakes of TLS are a part of opening.
    pub url: String,
    /// What is spoken.
    #[serde(default)]
    pub protocol: Protocol,
    /// How TLS is done when the URL says https.
    #[serde(default)]
    pub tls: Tls,
    /// The address that is connected to, `IP:PORT`; null: of the host's addresses the first that takes a connection.
    #[serde(default)]
    pub connect_to: Option<SocketAddr>,
    /// What each connection asks when it opens.
    #[serde(default)]
    pub request: Request,
    /// Connections to be held at each level, ascending; those of a level stay for the next.
    pub levels: Vec<u64>,
    /// What happens on held connections.
    #[serde(default)]
    pub mode: Mode,
    /// Root pids of the server's process trees; several may share the port by SO_REUSEPORT.
    pub watch: Vec<i32>,
    /// Cgroups whose memory is read.
    #[serde(default)]
    pub cgroup_paths: Vec<PathBuf>,
    /// Network over whose addresses the connections' sources are spread.
    #[serde(default = "default_sources")]
    pub sources: Option<String>,
    /// Connections opened a second, over all processes.
    #[serde(default = "default_open_rate")]
    pub open_rate: f64,
    /// Processes that hold the connections; by default as many as the limit of open files asks for.
    #[serde(default)]
    pub processes: Option<u32>,
    /// CPUs of those processes; empty leaves them where the engine is.
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// Wait so long at each level before memory is read.
    #[serde(default = "default_settle")]
    pub settle_s: f64,
    /// A connection without a whole response after this long has failed.
    #[serde(default = "default_timeout")]
    pub timeout_s: f64,
    /// Mode `traffic`: how long requests go over the held connections at each level.
    #[serde(default = "default_traffic")]
    pub traffic_s: f64,
    /// Mode `traffic`: requests a second over all connections; by default each connection gets about one, at most 20,000/s.
    #[serde(default)]
    pub traffic_rate: Option<f64>,
    /// Wait so long after all connections are closed before memory is read.
    #[serde(default = "default_after_close")]
    pub after_close_s: f64,
    /// Share of the machine's memory that must stay available. A level is refused before it is tried when the bytes per
    /// connection so far (server, clients, slabs and TCP buffers, with a margin of 15 %) would leave less, or when
    /// limits of open files do not allow it. It is approached in steps without an entry of their own, each weighed: by
    /// 2,000 connections where no level of at least 1,000 has been read (48 KiB per connection are assumed), and by as
    /// many as half of the free memory holds where the level seems to take too much. It is refused when a step would
    /// lead less than 5 % of the way; `held` is then how far the steps led. Should memory run short while connections
    /// are opened, opening stops, and the level says so.
    #[serde(default = "default_reserve")]
    pub reserve: f64,
    /// Machines that hold the connections, an equal part each; if there are none, this one does. `client` is then this
    /// engine alone, and `kernel` the server's end alone. A machine that is lost, or says nothing for 20 s, ends the
    /// job with an error that names it.
    #[serde(default)]
    pub generators: Vec<HoldNode>,
}

/// What happens on held connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// One request each when they open, then nothing.
    #[default]
    Idle,
    /// And requests over them at each level.
    Traffic,
}

/// A job as the documentation shows it.
fn example() -> serde_json::Value {
    serde_json::json!({
        "url": "http://127.0.0.1:8080/hello",
        "request": {"expect": {"status": [200], "body": {"kind": "exact", "value": "Hello, world!"}}},
        "levels": [0, 1000, 5000, 10000, 19000],
        "watch": [4711, 4712]
    })
}

#[allow(clippy::unnecessary_wraps)] // The field may be null.
fn default_sources() -> Option<String> {
    Some("127.0.0.0/8".into())
}
const fn default_open_rate() -> f64 {
    50_000.0
}
const fn default_settle() -> f64 {
    2.0
}
const fn default_timeout() -> f64 {
    10.0
}
const fn default_traffic() -> f64 {
    5.0
}
const fn default_after_close() -> f64 {
    5.0
}
const fn default_reserve() -> f64 {
    0.15
}

/// A job, checked and made ready.
#[derive(Clone)]
pub(crate) struct Plan {
    pub target: Target,
    pub request: CompiledRequest,
    pub bytes: Vec<u8>,
    pub transport: Transport,
    pub sources: Option<Sources>,
    pub settle: Duration,
    pub timeout: Duration,
    pub traffic: Duration,
    pub after_close: Duration,
}

/// Connections or requests per second that no machine reaches.
const MOST_RATE: f64 = 1e8;

impl Job {
    /// The plan for a server on this machine.
    pub(crate) fn plan(&self) -> Result<Plan, JobError> {
        let target = Target::parse(&self.url, self.connect_to);
        let target = target.map_err(|e| JobError::Malformed(e.to_string()))?;
        self.plan_for(target)
    }

    pub(crate) fn plan_for(&self, target: Target) -> Result<Plan, JobError> {
        let malformed = JobError::Malformed;
        if self.levels.is_empty() || !self.levels.is_sorted() {
            return Err(malformed(format!(
                "levels is {:?}: it must hold ascending numbers",
                self.levels
            )));
        }
        if self.watch.is_empty() {
            return Err(malformed(
                "watch is empty: it must hold the server's root pids".into(),
            ));
        }
        if !(0.0..1.0).contains(&self.reserve) {
            return Err(malformed(format!(
                "reserve is {}: it is a share between 0 and 1",
                self.reserve
            )));
        }
        let is_rate = |rate: f64| rate > 0.0 && rate <= MOST_RATE;
        if !(is_rate(self.open_rate) && self.traffic_rate.is_none_or(is_rate)) {
            return Err(malformed(
                "open_rate and traffic_rate must be above 0 and at most 1e8 per second".into(),
            ));
        }
        if self.generators.iter().any(|one| one.cpus.is_empty()) {
            return Err(malformed("a generator needs cpus".into()));
        }
        let sources = self.sources.as_deref().filter(|_| target.address.is_ipv4());
        let timeout = seconds("timeout_s", self.timeout_s)?;
        let over_websocket = self.request.websocket.is_some();
        if over_websocket && (self.protocol != Protocol::H1 || target.url.tls) {
            return Err(malformed(
                "request.websocket: WebSockets are held over HTTP/1.1 without TLS: set protocol to h1, and write http://".into(),
            ));
        }
        let once = if over_websocket {
            // The handshake is another on each connection.
            let compiled = self.request.compiled(&target, self.protocol, timeout);
            compiled.map(|compiled| (compiled, Vec::new()))
        } else {
            self.request.once(&target, self.protocol, timeout)
        };
        let (request, bytes) = once.map_err(malformed)?;
        Ok(Plan {
            transport: Transport::to(&target, self.protocol, &self.tls).map_err(malformed)?,
            request,
            bytes,
            sources: sources.map(Sources::parse).transpose().map_err(malformed)?,
            settle: seconds("settle_s", self.settle_s)?,
            timeout,
            traffic: seconds("traffic_s", self.traffic_s)?,
            after_close: seconds("after_close_s", self.after_close_s)?,
            target,
        })
    }
}
