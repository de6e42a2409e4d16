//! Registers names in an SQLite database and finds them again.

mod config;
mod http;
mod store;

use std::time::Duration;

use anyhow::Context;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::config::Config;
use crate::store::Store;

/// Leaves a second of the five that the start contract grants.
const DRAIN_LIMIT: Duration = Duration::from_secs(4);

fn main() -> anyhow::Result<()> {
    let config = Config::from_env()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // As many blocking threads as connections: a query that has a thread has a connection too.
        .max_blocking_threads(config.database.pool as usize)
        .build()?;
    let served = runtime.block_on(serve(config));
    runtime.shutdown_background();
    served
}

async fn serve(config: Config) -> anyhow::Result<()> {
    let store = Store::open(&config.database)
        .with_context(|| format!("open the database {}", config.database.path.display()))?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;

    let listener = TcpListener::bind((config.host.as_str(), config.port))
        .await
        .with_context(|| format!("listen on {}:{}", config.host, config.port))?;
    eprintln!("listening on {}", listener.local_addr()?);
    // Without TCP_NODELAY a pipelined answer may wait for the acknowledgement of the one before.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });

    let (drain, draining) = oneshot::channel::<()>();
    let server = axum::serve(listener, http::router(store))
        .with_graceful_shutdown(async { draining.await.unwrap_or(()) });
    let server = tokio::spawn(async { server.await });

    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    let _ = drain.send(());
    match tokio::time::timeout(DRAIN_LIMIT, server).await {
        Ok(ended) => ended?.context("serve"),
        Err(_) => {
            eprintln!("closing what is still open after {DRAIN_LIMIT:?}");
            Ok(())
        }
    }
}
