//! `touchstone-engine boot`: start a server and time its first valid response.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::JobArgs;
use touchstone_boot::boot_with;

/// Carries out a boot job.
pub fn run(args: JobArgs) -> Result<Outcome, Failure> {
    let tell = |event: &_| args.output.event(event);
    // This process starts nothing else, so every orphan that falls to it is the server's.
    args.carry_out(
        |job| boot_with(job, interrupt::flag(), true, tell),
        |result| result.interrupted,
    )
}
