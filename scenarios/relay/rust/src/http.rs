//! The HTTP side.

use crate::downstream::{Downstream, Failure};
use crate::stats::Stats;
use anyhow::Result;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What requests under way get of the ten seconds that the start contract grants.
const DRAIN_LIMIT: Duration = Duration::from_secs(8);

pub struct App {
    pub downstream: Arc<Downstream>,
    pub stats: Arc<Stats>,
}

/// Serves until `stop`, then lets requests under way end.
pub async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    idle_timeout: Duration,
    mut stop: watch::Receiver<bool>,
) -> Result<()> {
    let graceful = GracefulShutdown::new();
    let mut builder = http1::Builder::new();
    // hyper starts this clock when it begins to wait for a head, so it bounds idle connections too.
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(idle_timeout);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stopping| *stopping) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, most likely: without a pause this would spin until one is free.
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let app = Arc::clone(&app);
        let service = service_fn(move |request| {
            let app = Arc::clone(&app);
            async move { Ok::<_, Infallible>(app.answer(&request).await) }
        });
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), service));
        // An error here is a client that went away or sent nonsense: nobody is left to tell.
        tokio::spawn(async move { connection.await.ok() });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_LIMIT, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("closing what is still open");
    }
    Ok(())
}

#[derive(Serialize)]
struct Processed {
    status: &'static str,
    elapsed_ms: u64,
}

#[derive(Serialize)]
struct Error {
    error: &'static str,
}

impl App {
    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path();
        if !matches!(path, "/api/process" | "/stats" | "/ping") {
            return json(StatusCode::NOT_FOUND, &Error { error: "not found" });
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let error = Error {
                error: "method not allowed",
            };
            let mut response = json(StatusCode::METHOD_NOT_ALLOWED, &error);
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match path {
            "/api/process" => self.process().await,
            "/stats" => json(StatusCode::OK, &self.stats.snapshot()),
            _ => respond(
                StatusCode::OK,
                "text/plain; charset=utf-8",
                Bytes::from_static(b"pong"),
            ),
        }
    }

    async fn process(&self) -> Response<Full<Bytes>> {
        let begin = Instant::now();
        match self.downstream.call().await {
            Ok(()) => {
                let elapsed_ms = begin.elapsed().as_millis() as u64;
                let status = "ok";
                json(StatusCode::OK, &Processed { status, elapsed_ms })
            }
            Err(Failure::TooSlow) => {
                let error = "the downstream did not answer in time";
                json(StatusCode::GATEWAY_TIMEOUT, &Error { error })
            }
            Err(Failure::Failed(_)) => {
                let error = "the downstream failed";
                json(StatusCode::SERVICE_UNAVAILABLE, &Error { error })
            }
        }
    }
}

fn json(status: StatusCode, value: &impl Serialize) -> Response<Full<Bytes>> {
    // Maps with number keys and plain fields: serde_json has no way to fail on them.
    let body = serde_json::to_vec(value).unwrap_or_default();
    respond(status, "application/json", body.into())
}

fn respond(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
