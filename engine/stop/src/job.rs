//! The stop job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use touchstone_exchange::rows::Rows;
use touchstone_exchange::template::Scope;
use touchstone_exchange::{
    CompiledRequest, JobError, Origin, Protocol, Request, Target, Tls, Transport, seconds,
};

/// A service that is ended with SIGTERM, and the clients that it has at that moment.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StopJob", example = example())]
pub struct Job {
    /// The service's URL, an address of this machine; TLS if it says https.
    pub url: String,
    /// The protocol of the requests. Over HTTP/2, too, a connection carries one request at a time.
    #[serde(default)]
    pub protocol: Protocol,
    /// How TLS is done when the URL says https.
    #[serde(default)]
    pub tls: Tls,
    /// The address that is connected to, `IP:PORT`; null: of the host's addresses the first that takes a connection.
    #[serde(default)]
    pub connect_to: Option<SocketAddr>,
    /// The process that gets SIGTERM. The job ends when this process has ended.
    pub pid: i32,
    /// What is sent: the requests come in turn.
    pub requests: Vec<Request>,
    /// A CSV or JSON lines file whose rows `{row.NAME}` takes values from.
    #[serde(default)]
    pub rows: Option<String>,
    /// The text of `{fresh}`.
    #[serde(default)]
    pub fresh: String,
    /// What was captured before, by name: `{capture.NAME}` stands for it.
    #[serde(default)]
    pub captured: BTreeMap<String, String>,
    /// The seed of what requests draw.
    #[serde(default)]
    pub seed: u64,
    /// Requests per second, at even distances, whether or not earlier ones were answered; 0 for none.
    #[serde(default)]
    pub rate: f64,
    /// Kept connections that these requests use in turn, each opened and used once before. A request that finds none
    /// at rest opens one more.
    #[serde(default)]
    pub connections: u32,
    /// Requests that are under way when the signal comes, each on a connection of its own.
    #[serde(default)]
    pub held: u32,
    /// What is sent on these; null: the next of `requests`.
    #[serde(default)]
    pub held_request: Option<Request>,
    /// How many seconds before the signal these are sent. Each must take longer than that.
    #[serde(default = "default_lead")]
    pub lead_s: f64,
    /// Connections at rest, each after one response.
    #[serde(default)]
    pub idle: u32,
    /// Connections on which nothing is sent.
    #[serde(default)]
    pub silent: u32,
    /// Connections on which the first half of a request is sent, and no more.
    #[serde(default)]
    pub half_sent: u32,
    /// Streams that are open at the signal, each on a connection of its own: responses that go on, and WebSockets on which
    /// nothing is sent. With them, `requests` are theirs.
    #[serde(default)]
    pub streams: u32,
    /// Seconds of load before the signal.
    #[serde(default = "default_before")]
    pub before_s: f64,
    /// A service that has not ended this many seconds after SIGTERM counts as one that does not end.
    #[serde(default = "default_timeout")]
    pub timeout_s: f64,
    /// The process that takes over, with which the load goes on; null: nobody does.
    #[serde(default)]
    pub successor: Option<Successor>,
}

/// A process that runs beside the one that is ended, and takes its place.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Successor {
    /// Its process.
    pub pid: i32,
    /// Where it listens, `IP:PORT`: clients connect to a relay of the job, which leads new connections to it from just
    /// before the signal. Null: it listens at the same address as the process that is ended.
    #[serde(default)]
    pub address: Option<SocketAddr>,
    /// Seconds of load after the other process has ended.
    #[serde(default = "default_after")]
    pub after_s: f64,
}

/// A job as the documentation shows it.
fn example() -> serde_json::Value {
    serde_json::json!({
        "url": "http://127.0.0.1:41001",
        "pid": 4711,
        "requests": [{"target": "/hello", "expect": {"body": {"kind": "exact", "value": "Hello, world!"}}}],
        "rate": 200.0,
        "connections": 16
    })
}

const fn default_lead() -> f64 {
    0.1
}
const fn default_before() -> f64 {
    1.0
}
const fn default_after() -> f64 {
    1.0
}
const fn default_timeout() -> f64 {
    30.0
}

/// The highest rate: one thread keeps it, with a log of every loss.
const MOST_RATE: f64 = 20_000.0;

/// A job, checked and made ready.
pub(crate) struct Plan {
    pub target: Target,
    pub transport: Transport,
    pub requests: Vec<CompiledRequest>,
    /// The place among these of the request that is held, if it has one of its own. It is not sent in turn.
    pub held: Option<usize>,
    pub seed: u64,
    pub lead: Duration,
    pub before: Duration,
    pub timeout: Duration,
    /// How long the load goes on after the process has ended; `None` if nobody takes over.
    pub after: Option<Duration>,
}

impl Job {
    pub(crate) fn plan(&self) -> Result<Plan, JobError> {
        let malformed = JobError::Malformed;
        let target = Target::parse(&self.url, self.connect_to);
        let target = target.map_err(|e| malformed(e.to_string()))?;
        if !(0.0..=MOST_RATE).contains(&self.rate) {
            return Err(malformed(format!(
                "rate is {}: it must be from 0 to {MOST_RATE} requests per second",
                self.rate
            )));
        }
        let successor = self.successor.iter().map(|one| ("successor.pid", one.pid));
        for (key, pid) in [("pid", self.pid)].into_iter().chain(successor) {
            if pid <= 1 {
                return Err(malformed(format!(
                    "{key} is {pid}: it must be the id of the service's process"
                )));
            }
        }
        let after = self.successor.as_ref();
        let after = after.map(|one| seconds("successor.after_s", one.after_s));
        if self.streams > 0 && (target.url.tls || self.protocol.is_h2()) {
            return Err(malformed(
                "streams: they are stopped over HTTP/1.1 without TLS: give the http:// URL, and no protocol".into(),
            ));
        }
        if self.streams > 0 && (self.rate > 0.0 || self.idle + self.held + self.half_sent > 0) {
            return Err(malformed(
                "streams: `requests` open them, so no others can be sent: leave rate, idle, held and half_sent out".into(),
            ));
        }
        Ok(Plan {
            after: after.transpose()?,
            transport: Transport::to(&target, self.protocol, &self.tls).map_err(malformed)?,
            requests: self.compile(&target).map_err(malformed)?,
            held: self.held_request.as_ref().map(|_| self.requests.len()),
            seed: self.seed,
            lead: seconds("lead_s", self.lead_s)?,
            before: seconds("before_s", self.before_s.max(self.lead_s))?,
            timeout: seconds("timeout_s", self.timeout_s)?,
            target,
        })
    }

    fn compile(&self, target: &Target) -> Result<Vec<CompiledRequest>, String> {
        if self.requests.is_empty() {
            return Err("requests is empty: it must hold what is sent".into());
        }
        let rows = self.rows.as_deref().map(Rows::read).transpose()?;
        let rows = rows.map(Arc::new);
        let scope = Scope {
            fresh: &self.fresh,
            rows: rows.as_ref(),
            captured: Some(&self.captured),
            ..Scope::default()
        };
        let origin = Origin {
            url: &target.url,
            closes: false,
            is_h2: self.protocol.is_h2(),
            timeout: seconds("timeout_s", self.timeout_s).map_err(|why| why.to_string())?,
        };
        let held = self
            .held_request
            .iter()
            .map(|one| ("held_request".to_owned(), one));
        let usual = self.requests.iter().enumerate();
        let usual = usual.map(|(number, one)| (format!("requests[{number}]"), one));
        let one = |(place, request): (String, &Request)| {
            let compiled = CompiledRequest::compile(request, origin, scope);
            let compiled = if self.streams > 0 {
                compiled
            } else {
                compiled.and_then(CompiledRequest::without_message)
            };
            compiled.map_err(|why| format!("{place}.{why}"))
        };
        usual.chain(held).map(one).collect()
    }
}
