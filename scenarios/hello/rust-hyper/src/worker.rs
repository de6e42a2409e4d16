//! One worker: a current-thread runtime that accepts and serves until its stop signal.

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::config::Config;
use crate::service::answer;
use crate::timed_stream::TimedStream;

/// After the signal, for requests under way; a client with half a request gets no longer.
const DRAIN: Duration = Duration::from_secs(5);
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
    let mut http = Builder::new(TokioExecutor::new());
    http.http1()
        .header_read_timeout(None)
        .pipeline_flush(config.pipeline_flush);
    let graceful = GracefulShutdown::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let stream = TimedStream::new(stream, config.timeouts);
                    serve(stream, http.clone(), config.tls.clone(), graceful.watcher());
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

/// Serves a connection to its end, over TLS where that is on. Its failure is its client's affair.
fn serve(
    stream: TimedStream,
    http: Builder<TokioExecutor>,
    tls: Option<TlsAcceptor>,
    watcher: Watcher,
) {
    let Some(tls) = tls else {
        let connection = http.serve_connection(TokioIo::new(stream), service_fn(answer));
        let watched = watcher.watch(connection.into_owned());
        tokio::spawn(async move { drop(watched.await) });
        return;
    };
    tokio::spawn(async move {
        if let Ok(stream) = tls.accept(stream).await {
            let connection = http.serve_connection(TokioIo::new(stream), service_fn(answer));
            drop(watcher.watch(connection.into_owned()).await);
        }
    });
}

fn is_exhaustion(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)
    )
}
