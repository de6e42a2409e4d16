//! `touchstone-engine null`.

use crate::failure::{Failure, Outcome};

/// Flags of `null`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Result<Outcome, Failure> {
    Err(Failure::Failed("null is not part of this build".into()))
}
