//! What the probe learns of a server before the first case: whether it takes content, and its
//! protocol if not HTTP/1.1.

use std::time::{Duration, Instant};

use touchstone_tls::Protocol;

use crate::dial::Dial;
use crate::exchange::{self, TargetError, exchange};
use crate::h2::opening::opening;
use crate::response::{Reading, Response, Tail};
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
        dial: &Dial,
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
        let own = post(dial, values, &values.body, patience)?;
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
            || post(dial, values, SAMPLE.as_bytes(), patience)?
                .is_some_and(|response| response.status / 100 == 2);
        Ok(posting)
    }
}

fn post(
    dial: &Dial,
    values: &Values,
    body: &[u8],
    patience: Duration,
) -> Result<Option<Response>, TargetError> {
    let request = exchange::post(dial, values, body);
    Ok(exchange(dial, &request, patience)?
        .finals
        .into_iter()
        .next())
}

/// Why a plain GET got no response: the server speaks something else, or nothing.
pub(crate) fn silence(dial: &Dial, reading: &Reading, patience: Duration) -> TargetError {
    if let Some(what) = foreign(dial, reading, patience) {
        return TargetError::Foreign(dial.address, what);
    }
    let name = if dial.protocol.is_h2() {
        "HTTP/2"
    } else {
        "HTTP/1.1"
    };
    TargetError::Silent(dial.address, format!("{:?}", reading.tail), name)
}

/// What else the server speaks. Over TLS it has agreed on a protocol.
fn foreign(dial: &Dial, reading: &Reading, patience: Duration) -> Option<&'static str> {
    match dial.protocol {
        Protocol::H2 => None,
        Protocol::H2c => match &reading.tail {
            Tail::Garbled(why) if why.contains("HTTP/1.1") => {
                Some("answers HTTP/1.1 to the preface of HTTP/2: probe it by --protocol h1")
            }
            _ => None,
        },
        Protocol::H1 => {
            let answer = octets(dial, &opening(), patience);
            // A frame's header: length (3 octets), type (4 is SETTINGS), flags, stream 0.
            if answer.len() >= 9 && answer[0] == 0 && answer[3] == 4 && answer[5..9] == [0; 4] {
                return Some(
                    "speaks HTTP/2 only (it answered the preface of HTTP/2, and no HTTP/1.1 request): probe it by --protocol h2c",
                );
            }
            // A TLS server answers what is not a handshake with an alert (21), version 3.x.
            if answer.len() >= 3 && answer[0] == 0x15 && answer[1] == 3 {
                return Some("speaks TLS (it answered with a TLS alert): give the https:// URL");
            }
            None
        }
    }
}

fn octets(dial: &Dial, request: &[u8], patience: Duration) -> Vec<u8> {
    let deadline = Instant::now() + patience;
    let Ok(mut connection) = dial.open(patience) else {
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
