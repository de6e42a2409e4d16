//! The hold result.

use crate::job::Job;
use crate::kernel::Kernel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use touchstone_exchange::closes::ClosedByServer;
use touchstone_sys::clock;
use touchstone_watch::{Exit, Resources, Sample};

/// Schema name of [`HoldResult`].
pub const SCHEMA: &str = "touchstone.hold/1";

/// One job's outcome.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct HoldResult {
    /// `touchstone.hold/1`.
    pub schema: String,
    /// The job as it was understood, defaults filled in.
    pub job: Job,
    /// Whether a signal ended the job before its last level.
    pub interrupted: bool,
    /// Processes that held the connections.
    pub processes: u64,
    /// Connections that one of them may hold at most, by its limit of open files.
    pub connections_per_process: u64,
    /// One for each level that was tried, the refused one last. When more than 10 held connections, or one in a hundred
    /// of a larger level, end by themselves while others are opened, opening stops: that level is the last one.
    pub levels: Vec<Level>,
    /// After all connections were reset.
    pub after_close: Option<Reading>,
    /// How a root of the server ended, if one did.
    pub server_exited: Option<Exit>,
}

/// Memory on all sides at one moment.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Reading {
    /// The server's process trees.
    pub server: Memory,
    /// The engine and the processes that hold the connections.
    pub client: Memory,
    /// The whole machine's: on loopback both ends of a connection are in it.
    pub kernel: Kernel,
}

/// A number of connections and what they took.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Level {
    /// Connections asked for.
    pub connections: u64,
    /// Connections held when memory was read.
    pub held: u64,
    /// Connections established since the job began.
    pub established: u64,
    /// Those on which the first request was answered as expected.
    pub answered: u64,
    /// Connections that could not be opened or were not answered as expected, since the job began, by reason: `refused`,
    /// `reset`, `timeout`, `wrong_response`, `not_kept`, `no_free_port` and others.
    pub failed: BTreeMap<String, u64>,
    /// Held connections that ended by themselves, since the job began, by reason; without those of `closed`.
    pub lost: BTreeMap<String, u64>,
    /// Held connections that the server closed as it may, since the job began: at rest, with a notice, or with a correct
    /// response that announced it. No failure of the server.
    #[serde(default, skip_serializing_if = "ClosedByServer::is_empty")]
    pub closed: ClosedByServer,
    /// The first thing that went wrong.
    pub evidence: Option<String>,
    /// Seconds of the last step to the level, until its last connection was answered.
    pub open_s: Option<f64>,
    /// Connections opened and answered per second in that step.
    pub open_rate: Option<f64>,
    /// Slowest connection of that step, with its response.
    pub slowest_s: Option<f64>,
    /// Memory after settling, without traffic.
    pub idle: Option<Reading>,
    /// Mode `traffic`: requests over the held connections.
    pub traffic: Option<Traffic>,
    /// Why the level was not reached, when it was not even tried or was given up.
    pub refused: Option<Refusal>,
}

/// Requests over held connections.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "HeldTraffic")]
pub struct Traffic {
    /// Requests sent.
    pub requests: u64,
    /// Those answered as expected.
    pub ok: u64,
    /// Different connections that carried one.
    pub connections_used: u64,
    /// Seconds.
    pub seconds: f64,
    /// Slowest response.
    pub slowest_s: f64,
    /// Highest resident bytes of the server in the meantime.
    pub server_rss_peak: u64,
    /// CPU seconds of the server.
    pub server_cpu_s: f64,
    /// Memory while requests were still under way or had just ended.
    pub reading: Reading,
}

/// Why a level was not reached.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Refusal {
    /// A sentence.
    pub reason: String,
    /// Bytes that the level was predicted to take beyond what is held.
    pub predicted: Option<u64>,
    /// Bytes of the machine's memory a connection, from the levels so far, both ends and kernel.
    pub bytes_per_connection: Option<f64>,
    /// Bytes available when it was refused.
    pub available: Option<u64>,
    /// Bytes that must stay available.
    pub reserve: Option<u64>,
}

/// Sums over process trees.
#[derive(Debug, Clone, Copy, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Memory {
    /// What the trees hold.
    #[serde(flatten)]
    pub resources: Resources,
    /// CPU seconds since they began.
    pub cpu_s: f64,
    /// Bytes charged to their cgroup.
    pub cgroup_memory: Option<u64>,
}

impl Memory {
    /// Adds samples of several trees.
    #[must_use]
    pub fn sum(samples: &[Sample]) -> Self {
        let trees: Vec<_> = samples.iter().map(|sample| sample.resources).collect();
        Self {
            resources: Resources::sum(&trees),
            cpu_s: samples.iter().map(|s| clock::seconds(s.cpu)).sum(),
            cgroup_memory: samples.iter().find_map(|s| s.cgroup.memory),
        }
    }
}
