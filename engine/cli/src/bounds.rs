//! `touchstone-engine bounds`: look for the bounds of a service.

use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::job::JobArgs;
use touchstone_bounds::bounds;

/// Carries out a bounds job.
pub fn run(args: JobArgs) -> Result<Outcome, Failure> {
    args.carry_out(
        |job| bounds(job, interrupt::flag()),
        |result| result.interrupted,
    )
}
