//! `touchstone-engine boot`: start a server and time its first valid response.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::{Output, parse};
use std::path::PathBuf;
use touchstone_boot::boot_with;

/// Flags of `boot`.
#[derive(clap::Args)]
pub struct Args {
    /// The job as JSON, or - for standard input.
    #[arg(long, value_name = "FILE|-")]
    job: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// Carries out a boot job.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    let job = parse(&args.job)?;
    // This process starts nothing else, so every orphan that falls to it is the server's.
    let result = boot_with(&job, interrupt::flag(), true, |event| {
        args.output.event(event)
    })?;
    args.output.write(&result)?;
    Ok(Outcome::after(result.interrupted))
}
