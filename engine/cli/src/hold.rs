//! `touchstone-engine hold`.

use crate::failure::{Failure, Outcome};

/// Flags of `hold`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Result<Outcome, Failure> {
    Err(Failure::Failed("hold is not part of this build".into()))
}
