//! `touchstone-engine load`.

use crate::failure::{Failure, Outcome};

/// Flags of `load`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Result<Outcome, Failure> {
    Err(Failure::Failed("load is not part of this build".into()))
}
