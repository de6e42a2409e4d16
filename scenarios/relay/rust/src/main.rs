//! Calls a downstream for each request that comes by HTTP and for each message that comes by Kafka.

mod config;
mod consumer;
mod downstream;
mod http;
mod stats;
mod worker;

use anyhow::{Context, Result};
use config::Config;
use downstream::Downstream;
use stats::Stats;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

fn main() -> Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let runtime = tokio::runtime::Runtime::new()?;
    let ended = runtime.block_on(run());
    // A commit that the broker never answers must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(500));
    ended
}

async fn run() -> Result<()> {
    let config = Config::from_env()?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let downstream = Arc::new(Downstream::new(&config.downstream)?);
    let stats = Arc::new(Stats::default());
    let listener = TcpListener::bind(config.address)
        .await
        .with_context(|| format!("listen on {}", config.address))?;
    tracing::info!(address = %listener.local_addr()?, "listening");

    let (stop, stopped) = watch::channel(false);
    let app = http::App {
        downstream: Arc::clone(&downstream),
        stats: Arc::clone(&stats),
    };
    let mut serving = tokio::spawn(http::serve(
        listener,
        Arc::new(app),
        config.idle_timeout,
        stopped.clone(),
    ));
    let mut consuming = tokio::spawn(consumer::consume(config.kafka, downstream, stats, stopped));
    tokio::select! {
        ended = &mut serving => return ended?.context("serving ended by itself"),
        ended = &mut consuming => return ended?.context("consuming ended by itself"),
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    stop.send_replace(true);
    serving.await??;
    consuming.await?
}
