//! `touchstone-engine hold`: memory at many connections.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::JobArgs;
use std::time::{Duration, Instant};
use touchstone_hold::{Event, JobError, hold};

/// Between events of progress.
const BETWEEN: Duration = Duration::from_secs(1);

/// Flags of `hold`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    job: JobArgs,
}

/// Carries out a hold job.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    let job = args.job.read()?;
    let mut told = Instant::now();
    let result = hold(&job, interrupt::flag(), |event| {
        if matches!(event, Event::Progress { .. }) {
            if told.elapsed() < BETWEEN {
                return;
            }
            told = Instant::now();
        }
        args.job.event(&event);
    })
    .map_err(|error| match error {
        JobError::Malformed(why) => Failure::Malformed(why),
        JobError::Engine(why) => Failure::Failed(why),
    })?;
    args.job.write(&result)?;
    Ok(if result.interrupted {
        Outcome::Interrupted
    } else {
        Outcome::Done
    })
}
