//! `touchstone-engine null`: the tare's server.

use crate::failure::{Failure, Outcome};
use crate::serving::{self, PlaceArgs};
use serde_json::json;
use std::path::PathBuf;
use touchstone_serve::{Route, Routes, null::Server, server_config};
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
    /// Speak TLS, with this certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

/// Serves until a signal.
pub fn run(args: Args) -> Result<Outcome, Failure> {
    let place = args.place.place()?;
    let signals = block_termination();
    let routes = Routes::new(args.status, &args.content_type, &args.body, &args.routes);
    let tls = args.tls_cert.as_deref().zip(args.tls_key.as_deref());
    let tls = tls.map(|(cert, key)| server_config(cert, key)).transpose();
    let server = Server::start(&place, routes, tls.map_err(Failure::Failed)?)
        .map_err(|e| Failure::Failed(format!("{} cannot be served on: {e}", place.address)))?;
    serving::announce(
        &json!({"listening": server.address().to_string(), "pid": std::process::id()}),
    )?;
    signals.wait();
    Ok(Outcome::Done)
}
