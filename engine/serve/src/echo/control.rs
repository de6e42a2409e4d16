//! The control endpoint: `/_stats`, `/_log`, `/_reset`, `/_fail`, on the echo's own port and on one that stays reachable
//! while the echo refuses connections.

use crate::echo::Shared;
use crate::echo::settings::Fault;
use crate::head::{Parse, Request, parse};
use crate::response::write;
use crate::route::{parameter, split};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use touchstone_sys::clock::seconds;

/// Entries of the log in one answer.
const PAGE: usize = 10_000;

/// The answer to a control request.
pub fn answer(shared: &Shared, request: &Request<'_>) -> Vec<u8> {
    let (path, query) = split(request.target);
    let (status, body) = match (request.method, path) {
        (b"GET", b"/_stats") => (200, stats(shared)),
        (b"GET", b"/_log") => {
            let from = parameter(query, b"from")
                .map_or(Some(0), |v| std::str::from_utf8(v).ok()?.parse().ok());
            match from {
                Some(from) => (200, shared.stats.log(from, PAGE)),
                None => (400, json!({"error": "from is not a number"})),
            }
        }
        (b"POST", b"/_reset") => {
            shared.stats.reset();
            (200, json!({"reset": true}))
        }
        (b"POST", b"/_fail") => match Fault::parse(&String::from_utf8_lossy(query)) {
            Ok(fault) => {
                shared.fault.set(fault);
                shared.ring();
                (200, fault.describe())
            }
            Err(error) => (400, json!({"error": error.to_string()})),
        },
        (_, b"/_stats" | b"/_log" | b"/_reset" | b"/_fail") => (
            405,
            json!({"error": "GET /_stats, GET /_log?from=N, POST /_reset, POST /_fail?mode=..."}),
        ),
        _ => (
            404,
            json!({"error": "there are /_stats, /_log, /_reset and /_fail"}),
        ),
    };
    let connection = if request.keep_alive {
        ""
    } else {
        "Connection: close\r\n"
    };
    write(
        status,
        "application/json",
        connection,
        body.to_string().as_bytes(),
    )
}

fn stats(shared: &Shared) -> Value {
    let mut value = shared.stats.describe();
    value["delay_s"] = json!(seconds(shared.settings.delay));
    value["workers"] = json!(shared.stats.workers.len());
    value["fault"] = shared.fault.get().describe();
    value
}

/// Serves control requests, one connection after another, until the server stops (which connects once more).
pub fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::Acquire) {
            return;
        }
        if let Ok(stream) = stream {
            // A silent client must not keep others waiting for long.
            let patience = Some(Duration::from_secs(2));
            let _ = stream
                .set_read_timeout(patience)
                .and_then(|()| stream.set_write_timeout(patience));
            let _ = converse(stream, shared);
        }
    }
}

fn converse(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        received.extend_from_slice(&buffer[..n]);
        match parse(&received) {
            Parse::Partial => {}
            // One answer a connection: a kept one would block the next client.
            Parse::Complete(request) => {
                return stream.write_all(&answer(
                    shared,
                    &Request {
                        keep_alive: false,
                        upgrades: false,
                        ..request
                    },
                ));
            }
            Parse::Bad(status) => return stream.write_all(&crate::response::refusal(status)),
        }
    }
}
