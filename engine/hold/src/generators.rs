//! Other machines that hold the connections, so that one machine's ports and files are not the end of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A machine that holds a part of the connections.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldNode {
    /// Its name in errors.
    pub name: String,
    /// A Unix socket. Each connection to it reaches standard input and output of a `touchstone-engine hold --worker` there.
    pub link: PathBuf,
    /// Its CPUs to pin the processes to, in turn.
    pub cpus: Vec<usize>,
    /// The limit of open files of one process there.
    pub open_files: u64,
    /// Ports that its connections may have: as many connections as these lead from its address to one server.
    pub ports: u64,
}

impl HoldNode {
    /// How many connections these can hold together, each an equal part.
    #[must_use]
    pub fn room(all: &[Self]) -> Option<u64> {
        let least = all.iter().map(|one| one.ports).min()?;
        Some(least * all.len() as u64)
    }
}
