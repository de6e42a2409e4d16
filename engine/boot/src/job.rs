//! The boot job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use touchstone_exchange::template::Key;
use touchstone_exchange::{
    CompiledRequest, JobError, Opening, Protocol, Request, Target, Tls, Transport, seconds,
};

/// A start and the response that it must give. The engine forks and executes the program itself, in a session and process
/// group of its own.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[schemars(example = example())]
pub struct Job {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Added to the engine's environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Whether the engine's environment is passed on; if not, `env` is all that the server gets.
    #[serde(default = "yes")]
    pub inherit_env: bool,
    /// The folder that it is started in; null: the engine's.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// Where it will answer: `http://HOST:PORT` or `https://HOST:PORT`, an address of this machine.
    pub url: String,
    /// What is spoken.
    #[serde(default)]
    pub protocol: Protocol,
    /// How TLS is done when the URL says https.
    #[serde(default)]
    pub tls: Tls,
    /// What is asked until the response is as expected. The whole response counts, by its framing.
    #[serde(default)]
    pub request: Request,
    /// Starts, one after the other.
    #[serde(default = "one")]
    pub repeats: u32,
    /// A start without a correct response after this many seconds has failed.
    #[serde(default = "default_timeout")]
    pub timeout_s: f64,
    /// Seconds between two attempts to connect.
    #[serde(default = "default_poll")]
    pub poll_interval_s: f64,
    /// CPUs of the server; empty leaves it where the engine is.
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// Cgroups that it is in before it executes: `cgroup.procs` of each.
    #[serde(default)]
    pub cgroup_paths: Vec<PathBuf>,
    /// For an `argv` that is a container runtime's client: the folders (of the controller memory) where the container's
    /// group may appear. Memory, CPU and threads are then those of what is in it, without client and monitor.
    #[serde(default)]
    pub container_groups: Vec<PathBuf>,
    /// Whether `artifacts` leave the page cache before each start, by `posix_fadvise`, and the rest by
    /// `/proc/sys/vm/drop_caches`. `mincore` says whether that worked.
    #[serde(default)]
    pub drop_page_cache: bool,
    /// Files and folders whose cached pages are dropped; by default the program and the files among its arguments.
    #[serde(default)]
    pub artifacts: Vec<PathBuf>,
    /// After the first response, wait so long and read the memory once more.
    #[serde(default)]
    pub settle_s: f64,
    /// The server's standard output and standard error are appended here.
    #[serde(default)]
    pub log: Option<PathBuf>,
    /// Seconds after SIGTERM until SIGKILL.
    #[serde(default = "default_stop")]
    pub stop_timeout_s: f64,
}

/// A job as the documentation shows it.
fn example() -> serde_json::Value {
    serde_json::json!({
        "argv": ["./users"],
        "env": {"PORT": "41001"},
        "cwd": "/somewhere",
        "url": "http://127.0.0.1:41001",
        "request": {
            "target": "/ping",
            "expect": {"status": [200], "body": {"kind": "exact", "value": "pong"}}
        },
        "repeats": 20,
        "cpus": [0],
        "log": "/somewhere/boot.log"
    })
}

const fn yes() -> bool {
    true
}
const fn one() -> u32 {
    1
}
const fn default_timeout() -> f64 {
    30.0
}
const fn default_poll() -> f64 {
    100e-6
}
const fn default_stop() -> f64 {
    10.0
}

/// A job, checked and made ready.
pub(crate) struct Plan {
    pub target: Target,
    /// Where it may come to listen, one at least.
    pub addresses: Vec<SocketAddr>,
    pub request: CompiledRequest,
    pub bytes: Vec<u8>,
    /// What opens the WebSocket that carries it, if it is a message.
    pub opening: Option<Opening>,
    pub transport: Transport,
    pub timeout: Duration,
    pub poll_interval: Duration,
    pub settle: Duration,
    pub stop_timeout: Duration,
}

impl Job {
    pub(crate) fn plan(&self) -> Result<Plan, JobError> {
        let malformed = |why: String| JobError::Malformed(why);
        if self.argv.is_empty() {
            return Err(malformed("argv is empty: it must name the program".into()));
        }
        if self.repeats == 0 {
            return Err(malformed("repeats is 0: it must be at least 1".into()));
        }
        let target = Target::parse(&self.url, None).map_err(|e| malformed(e.to_string()))?;
        let addresses = target.own_addresses();
        let timeout = seconds("timeout_s", self.timeout_s)?;
        let once = self.request.once(&target, self.protocol, timeout);
        let (request, bytes) = once.map_err(malformed)?;
        Ok(Plan {
            transport: Transport::to(&target, self.protocol, &self.tls).map_err(malformed)?,
            opening: request.opening(Key::default()),
            request,
            bytes,
            timeout,
            poll_interval: seconds("poll_interval_s", self.poll_interval_s)?,
            settle: seconds("settle_s", self.settle_s)?,
            stop_timeout: seconds("stop_timeout_s", self.stop_timeout_s)?,
            target,
            addresses,
        })
    }
}
