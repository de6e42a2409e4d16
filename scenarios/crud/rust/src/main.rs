//! Stores a user in PostgreSQL, reads it back, deletes it and answers with it.

mod config;
mod http;
mod store;
mod user;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};

use crate::config::Config;
use crate::http::Service;
use crate::store::Store;

/// Leaves a second of the five that the start contract grants.
const DRAIN_LIMIT: Duration = Duration::from_secs(4);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crud cannot go on: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::from_env()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(serve(config));
    runtime.shutdown_background();
    served
}

async fn serve(config: Config) -> Result<(), Box<dyn std::error::Error>> {
    let service = Arc::new(Service {
        store: Arc::new(Store::open(&config.database)?),
        read_timeout: config.read_timeout,
    });
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let listener = TcpListener::bind((config.host.as_str(), config.port)).await?;
    eprintln!("listening on {}", listener.local_addr()?);

    let mut http = http1::Builder::new();
    // hyper starts this clock when it begins to wait for a head, so it bounds idle connections too.
    http.timer(TokioTimer::new())
        .header_read_timeout(config.idle_timeout);
    let connections = GracefulShutdown::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of descriptors, most likely: those in use must be given time to end.
                    eprintln!("accept failed: {error}");
                    sleep(Duration::from_millis(10)).await;
                    continue;
                }
            },
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
        };
        // Without TCP_NODELAY a pipelined answer may wait for the acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
        let service = Arc::clone(&service);
        let served = http.serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| {
                let service = Arc::clone(&service);
                async move { service.answer(request).await }
            }),
        );
        // An error here is a client that broke off: its own affair.
        tokio::spawn(connections.watch(served));
    }
    drop(listener);
    if timeout(DRAIN_LIMIT, connections.shutdown()).await.is_err() {
        eprintln!("closing what is still open after {DRAIN_LIMIT:?}");
    }
    Ok(())
}
