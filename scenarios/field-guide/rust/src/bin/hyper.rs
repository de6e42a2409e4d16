//! hyper with the connection builder that its guide shows, and no setting.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

type Answer = Result<Response<Full<Bytes>>, Infallible>;

async fn answer(request: Request<Incoming>) -> Answer {
    let status = match request.uri().path() {
        "/hello" => 200,
        "/slow" => {
            tokio::time::sleep(Duration::from_secs(1)).await;
            200
        }
        _ => 404,
    };
    let body = if status == 200 { "Hello, world!" } else { "" };
    let response = Response::builder().status(status);
    let response = response.header("content-type", "text/plain");
    Ok(response
        .body(Full::from(body))
        .expect("its parts are valid"))
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind(field_guide::address()).await?;
    let mut stop = signal(SignalKind::terminate())?;
    let graceful = GracefulShutdown::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let io = TokioIo::new(accepted?.0);
                let connection = hyper::server::conn::http1::Builder::new().serve_connection(io, service_fn(answer));
                let connection = graceful.watch(connection);
                tokio::spawn(async move { drop(connection.await) });
            }
            _ = stop.recv() => break,
        }
    }
    drop(listener);
    graceful.shutdown().await;
    Ok(())
}
