//! `touchstone-engine stop`: end a service under load, and count what is lost.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::JobArgs;
use touchstone_stop::stop;

/// Carries out a stop job.
pub fn run(args: JobArgs) -> Result<Outcome, Failure> {
    args.carry_out(
        |job| stop(job, interrupt::flag()),
        |result| result.interrupted,
    )
}
