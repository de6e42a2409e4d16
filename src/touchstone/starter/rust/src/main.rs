//! A service to begin from. HOST and PORT come from the environment; it ends on SIGTERM.

use std::time::Duration;

use axum::{http::StatusCode, routing::get, Router};
use tokio::net::TcpListener;
use tokio::signal::unix::{signal, SignalKind};
use tokio::time::sleep;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let app = Router::new()
        .route("/ping", get(|| async { "pong" }))
        .fallback(|| async { (StatusCode::NOT_FOUND, "not found") });
    let port: u16 = std::env::var("PORT")?.parse()?;
    let listener = TcpListener::bind((std::env::var("HOST")?, port)).await?;
    let (mut ending, mut bound) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::terminate())?,
    );
    let serving = axum::serve(listener, app).with_graceful_shutdown(async move {
        ending.recv().await;
    });
    tokio::select! {
        served = serving => served?,
        // A client that has sent half a request would keep the process for good.
        () = async { bound.recv().await; sleep(Duration::from_secs(5)).await } => {}
    }
    Ok(())
}
