//! Other machines that hold the connections, so that one machine's ports and files are not the end of it.

use crate::job::JobError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
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
    /// Reaches a new process there: what it reads, and what it says.
    ///
    /// # Errors
    /// [`JobError::Engine`] that names it.
    pub fn reach(&self) -> Result<(File, File), JobError> {
        let reached = || -> io::Result<_> {
            let socket = UnixStream::connect(&self.link)?;
            let orders = OwnedFd::from(socket.try_clone()?);
            Ok((File::from(orders), File::from(OwnedFd::from(socket))))
        };
        reached().map_err(|e| {
            JobError::Engine(format!("generator {} cannot be reached: {e}", self.name))
        })
    }

    /// How many connections these can hold together, each an equal part.
    #[must_use]
    pub fn room(all: &[Self]) -> Option<u64> {
        let least = all.iter().map(|one| one.ports).min()?;
        Some(least * all.len() as u64)
    }
}
