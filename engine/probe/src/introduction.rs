//! What the probe learns of a server before the first case: whether it takes content, and its
//! protocol if not HTTP/1.1.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::exchange::{TargetError, exchange};
use crate::response::{Reading, Response};
use crate::template::{SAMPLE, Values};

/// How the resource that takes a body takes it.
pub(crate) struct Posting {
    /// Whether it answers with the body that it was sent.
    pub echo: bool,
    /// Whether it takes other content than the body that was given for it.
    pub takes_anything: bool,
    /// Why it cannot be used, if it cannot.
    pub refused: Option<String>,
}

impl Posting {
    /// Posts the given body, and then other content.
    pub fn try_out(
        address: SocketAddr,
        values: &Values,
        patience: Duration,
    ) -> Result<Posting, TargetError> {
        let mut posting = Posting {
            echo: false,
            takes_anything: false,
            refused: None,
        };
        let Some(target) = &values.post else {
            return Ok(posting);
        };
        let own = post(address, values, &values.body, patience)?;
        match own {
            Some(response) if response.status / 100 == 2 => {
                posting.echo = response.body == values.body;
            }
            Some(response) => {
                let status = response.status;
                posting.refused = Some(format!("POST {target} was answered {status}"));
                return Ok(posting);
            }
            None => {
                posting.refused = Some(format!("POST {target} was not answered"));
                return Ok(posting);
            }
        }
        posting.takes_anything = values.body == SAMPLE.as_bytes()
            || post(address, values, SAMPLE.as_bytes(), patience)?
                .is_some_and(|response| response.status / 100 == 2);
        Ok(posting)
    }
}

fn post(
    address: SocketAddr,
    values: &Values,
    body: &[u8],
    patience: Duration,
) -> Result<Option<Response>, TargetError> {
    let mut request = format!(
        "POST {} HTTP/1.1\r\n{}{}Host: {}\r\nContent-Length: {}\r\n\r\n",
        values.post.as_deref().unwrap_or_default(),
        values.fields,
        values.post_fields,
        values.host,
        body.len()
    )
    .into_bytes();
    request.extend_from_slice(body);
    Ok(exchange(address, &request, patience)?
        .finals
        .into_iter()
        .next())
}

/// Why a plain GET got no response: the server speaks something else, or nothing.
pub(crate) fn silence(address: SocketAddr, reading: &Reading, patience: Duration) -> TargetError {
    match foreign(address, patience) {
        Some(what) => TargetError::Foreign(address, what),
        None => TargetError::Silent(address, format!("{:?}", reading.tail)),
    }
}

/// The connection preface of HTTP/2 (RFC 9113 3.4) with an empty SETTINGS frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// What else the server speaks.
fn foreign(address: SocketAddr, patience: Duration) -> Option<&'static str> {
    let answer = octets(address, PREFACE, patience);
    // A frame's header: length (3 octets), type (4 is SETTINGS), flags, stream 0.
    if answer.len() >= 9 && answer[0] == 0 && answer[3] == 4 && answer[5..9] == [0, 0, 0, 0] {
        return Some(
            "speaks HTTP/2 only (it answered the preface of HTTP/2, and no HTTP/1.1 request)",
        );
    }
    // A TLS server answers what is not a handshake with an alert (21), version 3.x.
    if answer.len() >= 3 && answer[0] == 0x15 && answer[1] == 3 {
        return Some("speaks TLS (it answered with a TLS alert)");
    }
    None
}

fn octets(address: SocketAddr, request: &[u8], patience: Duration) -> Vec<u8> {
    let deadline = Instant::now() + patience;
    let Ok(mut connection) = Connection::open(address, patience) else {
        return Vec::new();
    };
    connection.send(request, deadline);
    while connection.received().len() < 9 && connection.ended().is_none() {
        let now = Instant::now();
        if now >= deadline {
            break;
        }
        connection.listen(deadline - now);
    }
    connection.received().to_vec()
}
