//! `touchstone-engine boot`: start a server and time its first valid response.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::JobArgs;
use touchstone_boot::{JobError, boot_with};

/// Flags of `boot`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    job: JobArgs,
}

/// Carries out a boot job.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    let job = args.job.read()?;
    // This process starts nothing else, so every orphan that falls to it is the server's.
    let result = boot_with(&job, interrupt::flag(), true, |event| args.job.event(event)).map_err(
        |error| match error {
            JobError::Malformed(why) => Failure::Malformed(why),
            JobError::Engine(why) => Failure::Failed(why),
        },
    )?;
    args.job.write(&result)?;
    Ok(if result.interrupted {
        Outcome::Interrupted
    } else {
        Outcome::Done
    })
}
