//! One worker: a current-thread runtime that accepts and serves until its stop signal.

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::config::Config;
use crate::service::answer;
use crate::timed_stream::TimedStream;

/// After the signal, for requests under way.
const DRAIN: Duration = Duration::from_secs(10);
/// Without descriptors or memory another accept is pointless until something has closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

pub fn run(
    config: &Config,
    listener: TcpListener,
    stopped: watch::Receiver<bool>,
) -> io::Result<()> {
    runtime()?.block_on(accept_until(config, listener, stopped))
}

/// The same, and turns SIGTERM and SIGINT into the stop of all workers.
pub fn run_until_signal(
    config: &Config,
    listener: TcpListener,
    stop: watch::Sender<bool>,
    stopped: watch::Receiver<bool>,
) -> io::Result<()> {
    runtime()?.block_on(async move {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            let _ = stop.send(true);
        });
        accept_until(config, listener, stopped).await
    })
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

async fn accept_until(
    config: &Config,
    listener: TcpListener,
    mut stopped: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut http = http1::Builder::new();
    http.header_read_timeout(None)
        .pipeline_flush(config.pipeline_flush);
    let graceful = GracefulShutdown::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let stream = TimedStream::new(stream, config.timeouts);
                    let connection = http.serve_connection(TokioIo::new(stream), service_fn(answer));
                    let watched = graceful.watch(connection);
                    // A connection's failure is its client's affair.
                    tokio::spawn(async move { drop(watched.await) });
                }
                Err(error) if is_exhaustion(&error) => tokio::time::sleep(ACCEPT_PAUSE).await,
                Err(_) => {}
            },
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
    Ok(())
}

fn is_exhaustion(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)
    )
}
