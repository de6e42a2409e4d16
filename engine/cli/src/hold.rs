//! `touchstone-engine hold`: memory at many connections.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::JobArgs;
use crate::worker;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};
use touchstone_hold::{Event, JobError, hold, serve};

/// Between events of progress.
const BETWEEN: Duration = Duration::from_secs(1);

/// Flags of `hold`.
#[derive(clap::Args)]
pub struct Args {
    /// Hold the share of the connections that standard input orders, for an engine on another machine.
    #[arg(long, hide = true, exclusive = true)]
    worker: bool,
    #[command(flatten)]
    job: Option<JobArgs>,
}

/// Carries out a hold job.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    let failure = |error| match error {
        JobError::Malformed(why) => Failure::Malformed(why),
        JobError::Engine(why) => Failure::Failed(why),
    };
    let Some(given) = args.job.filter(|_| !args.worker) else {
        let ours = std::io::stdin().as_fd().try_clone_to_owned();
        let theirs = std::io::stdout().as_fd().try_clone_to_owned();
        let (input, output) = (
            ours.map_err(Failure::failed)?,
            theirs.map_err(Failure::failed)?,
        );
        return serve(input.into(), output.into())
            .map(|()| Outcome::Done)
            .map_err(failure);
    };
    let job = given.read()?;
    let mut told = Instant::now();
    let result = hold(&job, &worker::command("hold"), interrupt::flag(), |event| {
        if matches!(event, Event::Progress { .. }) {
            if told.elapsed() < BETWEEN {
                return;
            }
            told = Instant::now();
        }
        given.event(&event);
    })
    .map_err(failure)?;
    given.write(&result)?;
    Ok(if result.interrupted {
        Outcome::Interrupted
    } else {
        Outcome::Done
    })
}
