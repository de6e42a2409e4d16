//! Whom to watch, and why that may be impossible.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Whom to watch.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// The root of the tree.
    pub pid: i32,
    /// Directories of the cgroup files to read; with version 1, one for each controller.
    pub cgroup_paths: Vec<PathBuf>,
    /// The CPUs that the tree was given; empty if that is not known, and then nobody looks whether it keeps to them.
    pub allowed_cpus: Vec<usize>,
    /// A process to which the tree's orphans fall (`PR_SET_CHILD_SUBREAPER`), if any.
    pub subreaper: Option<i32>,
    /// Process trees that work for it; their CPU time is separate from that of other processes.
    pub dependencies: Vec<Dependency>,
}

/// Why watching could not begin.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// No such process.
    #[error(
        "process {pid} cannot be watched: it does not exist (any more); start the server before the load"
    )]
    NoProcess {
        /// The pid asked for.
        pid: i32,
    },
    /// No process file system.
    #[error("/proc cannot be read: mount it, or run the engine where it is mounted")]
    NoProc,
    /// No thread could be started.
    #[error("the watching thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// A process tree that works for the server.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependency {
    /// The name for its CPU time; several trees may share a name.
    pub name: String,
    /// The root of its process tree.
    pub pid: i32,
}
