//! The boot job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use touchstone_exchange::{Check, Request, Target};

/// What is started and what it must answer. `docs/engine-protocol.md` documents each field.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Job {
    pub argv: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Whether the engine's own environment is passed on, under `env`.
    #[serde(default = "yes")]
    pub inherit_env: bool,
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    pub url: String,
    #[serde(default)]
    pub request: Request,
    #[serde(default = "one")]
    pub repeats: u32,
    #[serde(default = "default_timeout")]
    pub timeout_s: f64,
    #[serde(default = "default_poll")]
    pub poll_interval_s: f64,
    /// CPUs of the server; empty leaves it where the engine is.
    #[serde(default)]
    pub cpus: Vec<usize>,
    #[serde(default)]
    pub cgroup_paths: Vec<PathBuf>,
    /// Where the group of the container may appear that `argv` starts (memory's): it alone is then measured.
    #[serde(default)]
    pub container_groups: Vec<PathBuf>,
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
    #[serde(default = "default_stop")]
    pub stop_timeout_s: f64,
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

/// A job that makes no sense, or an engine that cannot carry it out.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The job is malformed.
    #[error("{0}")]
    Malformed(String),
    /// The engine could not do its part.
    #[error("{0}")]
    Engine(String),
}

/// A job, checked and made ready.
pub(crate) struct Plan {
    pub target: Target,
    pub request: Vec<u8>,
    pub method: String,
    pub check: Check,
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
        let target = Target::parse(&self.url).map_err(|e| malformed(e.to_string()))?;
        let seconds = |name: &str, value: f64| {
            Duration::try_from_secs_f64(value)
                .map_err(|e| malformed(format!("{name} is {value}: {e}")))
        };
        Ok(Plan {
            request: self.request.bytes(&target),
            method: self.request.method.clone(),
            check: Check::new(&self.request.expect).map_err(malformed)?,
            timeout: seconds("timeout_s", self.timeout_s)?,
            poll_interval: seconds("poll_interval_s", self.poll_interval_s)?,
            settle: seconds("settle_s", self.settle_s)?,
            stop_timeout: seconds("stop_timeout_s", self.stop_timeout_s)?,
            target,
        })
    }
}
