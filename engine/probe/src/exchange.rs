//! A single exchange with the server, before any case, and why there may be none.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use thiserror::Error;
use touchstone_h2::frame::{Kind, flag, write};
use touchstone_http::BadUrl;

use crate::channel::NoTls;
use crate::connection::Connection;
use crate::dial::Dial;
use crate::h2::compose::plain_get;
use crate::h2::opening::{Answered, opening};
use crate::response::Reading;
use crate::template::{Values, expand};

/// Why a server cannot be probed.
#[derive(Debug, Error)]
pub enum TargetError {
    /// The URL is not of the form that the probe takes.
    #[error("{0}; the probe takes one such as http://127.0.0.1:8080/hello")]
    Url(#[from] BadUrl),
    /// The name does not resolve.
    #[error("the name in {0} has no address ({1}): check the host in the URL")]
    Resolve(String, std::io::Error),
    /// The server is not on this machine.
    #[error(
        "{0} is not on this machine; probing sends malformed requests, so allow it by --allow-host {0}"
    )]
    NotLoopback(String),
    /// Nobody listens.
    #[error("cannot connect to {0} ({1}): start the server, or check the address and the port")]
    Connect(SocketAddr, std::io::Error),
    /// The scheme and the protocol do not fit, or the job's TLS cannot be had.
    #[error("{0}")]
    Tls(String),
    /// The handshake failed.
    #[error("{0}: {1}")]
    Handshake(SocketAddr, String),
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
    #[error("{0} {1}")]
    Foreign(SocketAddr, &'static str),
    /// It says nothing that can be read.
    #[error("{0} gives a plain GET no response ({1}); is it an {2} server?")]
    Silent(SocketAddr, String, &'static str),
}

/// Sends a request on a connection of its own, and reads until a response has come or the patience is over.
pub(crate) fn exchange(
    dial: &Dial,
    request: &[u8],
    patience: Duration,
) -> Result<Reading, TargetError> {
    let deadline = Instant::now() + patience;
    let mut connection = connect(dial, patience)?;
    let mut answered = Answered::default();
    connection.send(request, deadline);
    loop {
        let reading = dial.read(connection.received(), &[], connection.ended().is_some());
        connection.send(&answered.answer(&reading.signals), deadline);
        let now = Instant::now();
        if !reading.finals.is_empty() || connection.ended().is_some() || now >= deadline {
            return Ok(reading);
        }
        connection.listen(deadline - now);
    }
}

/// A connection, or why there is none.
pub(crate) fn connect(dial: &Dial, patience: Duration) -> Result<Connection, TargetError> {
    dial.open(patience).map_err(|error| {
        let no_tls = error
            .get_ref()
            .and_then(|error| error.downcast_ref::<NoTls>());
        match no_tls {
            Some(why) => TargetError::Handshake(dial.address, why.to_string()),
            None => TargetError::Connect(dial.address, error),
        }
    })
}

/// The octets of a plain GET on a fresh connection. `last` says that no other request follows it.
pub(crate) fn get(dial: &Dial, values: &Values, last: bool) -> Vec<u8> {
    if dial.protocol.is_h2() {
        return [opening(), plain_get(1, values)].concat();
    }
    let Values {
        path, fields, host, ..
    } = values;
    let close = if last { "Connection: close\r\n" } else { "" };
    format!("GET {path} HTTP/1.1\r\n{fields}Host: {host}\r\n{close}\r\n").into_bytes()
}

/// The octets of a POST of this body on a fresh connection.
pub(crate) fn post(dial: &Dial, values: &Values, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    if dial.protocol.is_h2() {
        let text =
            format!("{{frame:headers:h:1:{{carrier-block}}{{field:content-length={length}}}}}");
        let mut out = opening();
        out.extend(expand(&text, values).expect("the template is well formed"));
        // A frame holds the largest body that --post-body allows.
        write(Kind::DATA, flag::END_STREAM, 1, body, &mut out);
        return out;
    }
    let post = values.post.as_deref().unwrap_or_default();
    let Values {
        fields,
        post_fields,
        host,
        ..
    } = values;
    let mut out = format!(
        "POST {post} HTTP/1.1\r\n{fields}{post_fields}Host: {host}\r\nContent-Length: {length}\r\n\r\n"
    )
    .into_bytes();
    out.extend_from_slice(body);
    out
}
