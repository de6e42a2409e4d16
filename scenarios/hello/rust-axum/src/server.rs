//! Serves a router with timeouts, which `axum::serve` has none of: hyper-util's connections around the same router.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;

use crate::config::Config;

const BACKLOG: i32 = 4096;
/// After the signal, for requests under way.
const DRAIN: Duration = Duration::from_secs(9);
/// Without descriptors or memory another accept is pointless until something has closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Accepts and serves until `stop` is ready, then drains.
pub async fn serve(
    config: &Config,
    router: Router,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let listener = bind(config.address)?;
    eprintln!("hello: listening on {}", config.address);

    let mut http = http1::Builder::new();
    // hyper's clock for a request's head runs between requests as well, so it is the longer of the two.
    http.timer(TokioTimer::new())
        .header_read_timeout(config.request_timeout.max(config.idle_timeout))
        .pipeline_flush(true);
    let service = TowerToHyperService::new(router);
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = stream else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let stream = Box::pin(timed(stream, config.write_timeout));
        let connection = http.serve_connection(TokioIo::new(stream), service.clone());
        let watched = graceful.watch(connection);
        // A connection's failure is its client's affair.
        tokio::spawn(async move { drop(watched.await) });
    }
    drop(listener);
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
    Ok(())
}

fn timed(stream: TcpStream, write_timeout: Duration) -> TimeoutStream<TcpStream> {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(write_timeout));
    stream
}

/// Binds with `SO_REUSEPORT`, so that processes share the port.
fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    // Accepted sockets inherit it on Linux.
    socket.set_tcp_nodelay(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(StdListener::from(socket))
}
