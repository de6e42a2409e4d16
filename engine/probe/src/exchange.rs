//! A single exchange with the server, before any case, and why there may be none.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use thiserror::Error;
use touchstone_http::BadUrl;

use crate::connection::Connection;
use crate::response::{self, Reading};

/// Why a server cannot be probed.
#[derive(Debug, Error)]
pub enum TargetError {
    /// The URL is not of the form that the probe takes.
    #[error("{0}; the probe takes one such as http://127.0.0.1:8080/hello")]
    Url(#[from] BadUrl),
    /// The name does not resolve.
    #[error("cannot resolve {0}: {1}")]
    Resolve(String, std::io::Error),
    /// The server is not on this machine.
    #[error(
        "{0} is not on this machine; probing sends malformed requests, so allow it by --allow-host {0}"
    )]
    NotLoopback(String),
    /// Nobody listens.
    #[error("cannot connect to {0}: {1}; is the server up?")]
    Connect(SocketAddr, std::io::Error),
    /// The scheme is not http.
    #[error("{0:?}: the probe speaks HTTP/1.1 over TCP; give the http:// URL behind the TLS")]
    Tls(String),
    /// A plain request does not get a plain answer.
    #[error(
        "a plain {0} got {1}; the probe needs a resource that answers 2xx: name it in the URL, such as http://127.0.0.1:8080/hello"
    )]
    Unfit(String, String),
    /// A plain request is not allowed.
    #[error(
        "a plain {0} got status {1}; give what lets the probe in by --header, such as --header 'Authorization: Bearer ...'"
    )]
    Credentials(String, u16),
    /// The server speaks something else.
    #[error("{0} {1}; the probe is about HTTP/1.1 over TCP")]
    Foreign(SocketAddr, &'static str),
    /// It says nothing that can be read.
    #[error("{0} gives a plain GET no response ({1}); is it an HTTP/1.1 server?")]
    Silent(SocketAddr, String),
}

/// Sends a request on a connection of its own, and reads until a response has come or the patience is over.
pub(crate) fn exchange(
    address: SocketAddr,
    request: &[u8],
    patience: Duration,
) -> Result<Reading, TargetError> {
    let deadline = Instant::now() + patience;
    let mut connection = Connection::open(address, patience)
        .map_err(|error| TargetError::Connect(address, error))?;
    connection.send(request, deadline);
    loop {
        let reading = response::read(connection.received(), &[], connection.ended().is_some());
        let now = Instant::now();
        if !reading.finals.is_empty() || connection.ended().is_some() || now >= deadline {
            return Ok(reading);
        }
        connection.listen(deadline - now);
    }
}
