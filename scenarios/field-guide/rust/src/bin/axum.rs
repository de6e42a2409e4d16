//! axum with `axum::serve`, and the stop that its documentation shows.

use axum::{Router, routing::get};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

async fn slow() -> &'static str {
    tokio::time::sleep(Duration::from_secs(1)).await;
    "Hello, world!"
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let app = Router::new()
        .route("/hello", get(async || "Hello, world!"))
        .route("/slow", get(slow));
    let listener = tokio::net::TcpListener::bind(field_guide::address()).await?;
    let mut stop = signal(SignalKind::terminate())?;
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            stop.recv().await;
        })
        .await
}
