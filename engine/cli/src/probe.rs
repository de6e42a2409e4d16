//! `touchstone-engine probe`.

use crate::failure::{Failure, Outcome};

/// Flags of `probe`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Result<Outcome, Failure> {
    Err(Failure::Failed("probe is not part of this build".into()))
}
