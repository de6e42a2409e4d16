//! Quotes over JSON, server-sent events and gRPC, all on one port: axum and tonic share hyper and a router.

mod http;
mod quote;
mod rpc;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::str::FromStr;

use axum::Router;
use axum::routing::get;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tonic::server::NamedService as _;

use rpc::{Service, pb::quotes_server::QuotesServer};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quotes: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let host: IpAddr = variable("HOST", Ipv4Addr::LOCALHOST.into())?;
    let address = SocketAddr::new(host, variable("PORT", 8080)?);
    let workers = match variable("WORKERS", 0)? {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        count => count,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        let listener = TcpListener::bind(address).await?;
        eprintln!("quotes: listening on {}", listener.local_addr()?);
        // An event is written when it is made: without this it would wait for the acknowledgement of the one before.
        let listener = listener.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        axum::serve(listener, router())
            .with_graceful_shutdown(stop)
            .await
    })?;
    Ok(())
}

fn router() -> Router {
    Router::new()
        .route_service(
            &format!("/{}/{{*method}}", QuotesServer::<Service>::NAME),
            QuotesServer::new(Service),
        )
        .route("/quotes/{symbol}", get(http::quote))
        .route("/quotes/{symbol}/events", get(http::events))
}

fn variable<T: FromStr>(name: &str, default: T) -> Result<T, String> {
    match std::env::var(name) {
        Ok(text) if !text.is_empty() => text
            .parse()
            .map_err(|_| format!("{name}={text} is not a valid value")),
        _ => Ok(default),
    }
}
