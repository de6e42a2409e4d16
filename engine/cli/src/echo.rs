//! `touchstone-engine echo`.

use crate::failure::{Failure, Outcome};

/// Flags of `echo`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: Args) -> Result<Outcome, Failure> {
    Err(Failure::Failed("echo is not part of this build".into()))
}
