//! `touchstone-engine stop`: end a service under load, and count what is lost.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::{Output, parse};
use std::path::PathBuf;
use touchstone_stop::stop;

/// Flags of `stop`.
#[derive(clap::Args)]
pub struct Args {
    /// The job as JSON, or - for standard input.
    #[arg(long, value_name = "FILE|-")]
    job: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// Carries out a stop job.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    let job = parse(&args.job)?;
    let result = stop(&job, interrupt::flag())?;
    args.output.write(&result)?;
    Ok(Outcome::after(result.interrupted))
}
