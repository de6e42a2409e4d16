//! `touchstone-engine bounds`: look for the bounds of a service.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::{Output, parse};
use std::path::PathBuf;
use touchstone_bounds::bounds;

/// Flags of `bounds`.
#[derive(clap::Args)]
pub struct Args {
    /// The job as JSON, or - for standard input.
    #[arg(long, value_name = "FILE|-")]
    job: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// Carries out a bounds job.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    let job = parse(&args.job)?;
    let result = bounds(&job, interrupt::flag())?;
    args.output.write(&result)?;
    Ok(Outcome::after(result.interrupted))
}
