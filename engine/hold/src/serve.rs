//! The life of a process that holds a share of the connections for a crew.

use crate::client::Client;
use crate::order::{Said, Work};
use std::fs::File;
use std::io::Read;
use touchstone_crew::say;
use touchstone_exchange::JobError;
use touchstone_exchange::Target;
use touchstone_sys::{cpus, limits};

/// Follows the orders that come on `input`, the work first, until they end; answers go to `output`.
///
/// # Errors
/// [`JobError`] if its part could not be done; the crew knows it.
pub fn serve(mut input: File, output: File) -> Result<(), JobError> {
    let told = output.try_clone();
    let outcome = work(&mut input).and_then(|work| follow(work, input, output));
    if let (Err(error), Ok(mut told)) = (&outcome, told) {
        let _ = say(&mut told, &Said::Failed(error.to_string()));
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
    let target = Target::resolve(&work.job.url, work.job.connect_to);
    let target = target.map_err(|e| JobError::Malformed(e.to_string()))?;
    let plan = work.job.plan_for(target)?;
    let engine = |e: std::io::Error| JobError::Engine(e.to_string());
    limits::raise_open_files().map_err(engine)?;
    if let Some(cpu) = work.cpu {
        // Where the machine has no such CPU, the process runs where the scheduler puts it.
        let _ = cpus::bind(&[cpu]);
    }
    Client::new(plan, work.first, work.at_once, input, output)
        .and_then(Client::run)
        .map_err(engine)
}
