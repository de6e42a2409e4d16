//! `touchstone-engine boot`.

use crate::failure::{Failure, Outcome};

/// Flags of `boot`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Result<Outcome, Failure> {
    Err(Failure::Failed("boot is not part of this build".into()))
}
