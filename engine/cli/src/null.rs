//! `touchstone-engine null`: the tare's server.

use crate::failure::{Failure, Outcome};
use crate::serving::{self, PlaceArgs};
use serde_json::json;
use touchstone_serve::{Route, Routes, null::Server};
use touchstone_sys::signal::block_termination;

/// Flags of `null`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    place: PlaceArgs,
    /// The body of every answer, when there is no --route.
    #[arg(long, default_value = "ok", value_name = "TEXT")]
    body: String,
    /// The status of every answer.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(200..600))]
    status: u16,
    /// The content type of every answer.
    #[arg(long, default_value = "text/plain", value_name = "TYPE")]
    content_type: String,
    /// What a method and path get; {query.NAME} stands for a query parameter. Anything else then gets 404.
    #[arg(long = "route", value_name = "METHOD /path=BODY")]
    routes: Vec<Route>,
}

/// Serves until a signal.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    let place = args.place.place()?;
    let signals = block_termination();
    let routes = Routes::new(args.status, &args.content_type, &args.body, &args.routes);
    let server = Server::start(&place, routes)
        .map_err(|e| Failure::Failed(format!("{} cannot be served on: {e}", place.address)))?;
    serving::announce(
        &json!({"listening": server.address().to_string(), "pid": std::process::id()}),
    )?;
    signals.wait();
    Ok(Outcome::Done)
}
