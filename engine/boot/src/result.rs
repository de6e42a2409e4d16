//! The boot result.

use crate::job::Job;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_watch::Snapshot;

/// Schema name of [`BootResult`].
pub const SCHEMA: &str = "touchstone.boot/1";

/// One job's outcome.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
pub struct BootResult {
    /// `touchstone.boot/1`.
    pub schema: String,
    /// The job as it was understood, defaults filled in.
    pub job: Job,
    /// Whether a signal ended the job before all repeats.
    pub interrupted: bool,
    /// One for each repeat.
    pub runs: Vec<Run>,
}

/// One start. Seconds count from the reading of CLOCK_MONOTONIC in the child right before `execve`.
#[derive(Debug, Clone, Default, JsonSchema, Serialize, Deserialize)]
pub struct Run {
    /// Until the last byte of the first response that is as expected.
    pub first_response_s: Option<f64>,
    /// Until the container's program was executed in place of the runtime: the runtime's own share, at most one poll
    /// late. Null where there is no container, or its group was not found.
    pub program_s: Option<f64>,
    /// Until the first connection was accepted by the kernel.
    pub port_open_s: Option<f64>,
    /// The last moment at which a connection was refused: the port opened between this and `port_open_s`.
    pub port_closed_s: Option<f64>,
    /// Connections tried.
    pub polls: u64,
    /// Valid HTTP responses that were not the expected one, before the first that was.
    pub wrong_responses: u64,
    /// Resident bytes of the tree right after the first valid response, as all other figures of memory.
    pub rss: Option<u64>,
    /// What the tree holds with shared pages counted once.
    pub footprint: Option<u64>,
    /// Proportional resident bytes.
    pub pss: Option<u64>,
    /// Anonymous resident bytes.
    pub anon: Option<u64>,
    /// Peak virtual size.
    pub vm_peak: Option<u64>,
    /// Peak resident size.
    pub vm_hwm: Option<u64>,
    /// Threads.
    pub threads: Option<u32>,
    /// Processes.
    pub processes: Option<u32>,
    /// CPU seconds of the tree up to then.
    pub cpu_s: Option<f64>,
    /// Page faults that needed I/O up to then.
    pub major_faults: Option<u64>,
    /// Memory after `settle_s`, when that was asked for.
    pub settled: Option<Snapshot>,
    /// Whether every socket that listens on the port belongs to the started tree, by inode; null when nobody answered.
    pub answered_by_ours: Option<bool>,
    /// How it ended. Nothing of the tree is left then, orphans that left its session included.
    pub stopped: Option<Stopped>,
    /// From the first signal until nothing was left.
    pub stop_s: Option<f64>,
    /// Exit code of the root, when it ended by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended the root.
    pub exit_signal: Option<i32>,
    /// What went wrong; then the figures are null.
    pub failure: Option<FailureKind>,
    /// What was seen of it.
    pub evidence: Option<String>,
    /// The end of the server's log, after a failure.
    pub log_tail: Option<String>,
    /// Whether no page of the artifacts was cached, and the machine's caches were dropped.
    pub cold_cache: bool,
    /// Why it was not cold although that was asked for.
    pub warm_reason: Option<String>,
}

/// How a server was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stopped {
    /// All processes ended on SIGTERM.
    Sigterm,
    /// SIGKILL was needed.
    Sigkill,
    /// They had ended already.
    Exited,
}

/// Classes of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The program could not be executed.
    ExecFailed,
    /// No valid response in time.
    Timeout,
    /// The process tree ended before it answered.
    Exited,
    /// Responses came in time, none of them as expected.
    WrongResponse,
    /// A socket that listens on the port does not belong to the started tree.
    ForeignListener,
    /// A signal ended the job.
    Interrupted,
}
