//! `touchstone-engine relay`: between a service and its dependency.

use crate::failure::{Failure, Outcome};
use crate::serving;
use serde_json::json;
use std::io::{BufReader, stdin, stdout};
use std::net::SocketAddr;
use std::sync::Arc;
use touchstone_relay::{Relay, run as relay};
use touchstone_sys::cpus::bind;
use touchstone_sys::limits;
use touchstone_sys::poll::Bell;

/// Flags of `relay`.
#[derive(clap::Args)]
pub struct Args {
    /// Where the service connects to; port 0 lets the kernel choose.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "IP:PORT")]
    listen: SocketAddr,
    /// CPUs that it may run on.
    #[arg(long, value_delimiter = ',', value_name = "N,N")]
    cpus: Vec<usize>,
}

/// Relays until standard input ends.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    // Where the limit cannot be read, the one that there is must do.
    let _ = limits::raise_open_files();
    if !args.cpus.is_empty() {
        bind(&args.cpus).map_err(|e| Failure::Failed(format!("--cpus {:?}: {e}", args.cpus)))?;
    }
    let failed = |e| Failure::Failed(format!("{} cannot be listened on: {e}", args.listen));
    let bell = Arc::new(Bell::new().map_err(failed)?);
    let started = Relay::listen(&args.listen, &bell).map_err(failed)?;
    serving::announce(&json!({
        "listening": started.address().map_err(failed)?.to_string(),
        "pid": std::process::id(),
    }))?;
    relay(started, bell, BufReader::new(stdin()), stdout()).map_err(Failure::failed)?;
    Ok(Outcome::Done)
}
