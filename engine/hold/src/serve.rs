//! The life of a process that holds connections for a crew on another machine.

use crate::client::Client;
use crate::job::{Job, JobError};
use crate::order::{Failed, Work};
use std::fs::File;
use std::io::{Read, Write};
use touchstone_exchange::Target;
use touchstone_sys::{cpus, limits};

/// Follows the orders that come on `input`, the work first, until they end; answers go to `output`.
///
/// # Errors
/// [`JobError`] if its part could not be done; the crew has been told.
pub fn serve(mut input: File, output: File) -> Result<(), JobError> {
    let told = output.try_clone();
    let outcome = work(&mut input).and_then(|work| follow(work, input, output));
    if let (Err(error), Ok(mut told)) = (&outcome, told) {
        let why = Failed {
            why: error.to_string(),
        };
        let line = serde_json::to_string(&why).unwrap_or_default();
        let _ = writeln!(told, "{line}");
    }
    outcome
}

/// The first line, and not a byte of the next.
fn work(input: &mut File) -> Result<Work, JobError> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while input.read(&mut byte).is_ok_and(|read| read == 1) && byte != *b"\n" {
        line.push(byte[0]);
    }
    serde_json::from_slice(&line)
        .map_err(|e| JobError::Malformed(format!("the work cannot be read: {e}")))
}

fn follow(work: Work, input: File, output: File) -> Result<(), JobError> {
    let job = Job {
        // Sources of loopback lead nowhere from here.
        sources: None,
        ..*work.job
    };
    let target = Target::resolve(&job.url).map_err(|e| JobError::Malformed(e.to_string()))?;
    let plan = job.plan_for(target)?;
    let engine = |e: std::io::Error| JobError::Engine(e.to_string());
    limits::raise_open_files().map_err(engine)?;
    if let Some(cpu) = work.cpu {
        let _ = cpus::bind(&[cpu]);
    }
    Client::new(plan, 0, work.at_once, input, output)
        .and_then(Client::run)
        .map_err(engine)
}
