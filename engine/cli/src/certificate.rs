//! `touchstone-engine certificate`: a certificate for a run.

use crate::failure::{Failure, Outcome};
use std::path::PathBuf;
use touchstone_serve::make_certificate;

/// Flags of `certificate`.
#[derive(clap::Args)]
pub struct Args {
    /// The file for the certificate, in PEM.
    #[arg(long, value_name = "FILE")]
    cert: PathBuf,
    /// The file for its key, in PEM (PKCS#8).
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Names and addresses that it is for.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

/// Writes both files.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    make_certificate(args.names, &args.cert, &args.key).map_err(Failure::Failed)?;
    Ok(Outcome::Done)
}
