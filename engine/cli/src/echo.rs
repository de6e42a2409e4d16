//! `touchstone-engine echo`: the downstream.

use crate::failure::{Failure, Outcome};
use crate::serving::{self, PlaceArgs};
use serde_json::json;
use touchstone_serve::echo::{Server, Settings};
use touchstone_sys::clock::nanos;
use touchstone_sys::signal::block_termination;

/// Flags of `echo`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    place: PlaceArgs,
    /// From a request's arrival to its answer.
    #[arg(long, default_value_t = 10.0, value_name = "MILLISECONDS")]
    delay_ms: f64,
    /// The body of every answer.
    #[arg(long, default_value = "ok", value_name = "TEXT")]
    body: String,
    /// The content type of every answer.
    #[arg(long, default_value = "text/plain", value_name = "TYPE")]
    content_type: String,
    /// Port on which /_stats, /_log, /_reset and /_fail stay reachable while the echo refuses connections.
    #[arg(long, default_value_t = 0)]
    control_port: u16,
}

/// Serves until a signal.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    if !(0.0..=3_600_000.0).contains(&args.delay_ms) {
        return Err(Failure::Malformed(format!(
            "--delay-ms {} is not between 0 and an hour",
            args.delay_ms
        )));
    }
    let place = args.place.place()?;
    let signals = block_termination();
    let settings = Settings {
        delay: nanos(args.delay_ms / 1e3),
        body: args.body,
        content_type: args.content_type,
    };
    let server = Server::start(&place, args.control_port, settings)
        .map_err(|e| Failure::Failed(format!("{} cannot be served on: {e}", place.address)))?;
    serving::announce(&json!({
        "listening": server.address().to_string(),
        "control": server.control().to_string(),
        "pid": std::process::id(),
    }))?;
    signals.wait();
    Ok(Outcome::Done)
}
