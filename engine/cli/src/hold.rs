//! `touchstone-engine hold`: memory at many connections.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::{Output, parse};
use crate::worker;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use touchstone_hold::{Event, hold, serve};

/// Between events of progress.
const BETWEEN: Duration = Duration::from_secs(1);

/// Flags of `hold`.
#[derive(clap::Args)]
pub struct Args {
    /// Hold the share of the connections that standard input orders, for an engine on another machine.
    #[arg(long, hide = true, exclusive = true)]
    worker: bool,
    /// The job as JSON, or - for standard input.
    #[arg(long, value_name = "FILE|-", required_unless_present = "worker")]
    job: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

/// Carries out a hold job.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    let (false, Some(path)) = (args.worker, args.job) else {
        let ours = std::io::stdin().as_fd().try_clone_to_owned();
        let theirs = std::io::stdout().as_fd().try_clone_to_owned();
        let (input, output) = (
            ours.map_err(Failure::failed)?,
            theirs.map_err(Failure::failed)?,
        );
        serve(input.into(), output.into())?;
        return Ok(Outcome::Done);
    };
    let job = parse(&path)?;
    let mut told = Instant::now();
    let result = hold(&job, &worker::command("hold"), interrupt::flag(), |event| {
        if matches!(event, Event::Progress { .. }) {
            if told.elapsed() < BETWEEN {
                return;
            }
            told = Instant::now();
        }
        args.output.event(&event);
    })?;
    args.output.write(&result)?;
    Ok(Outcome::after(result.interrupted))
}
