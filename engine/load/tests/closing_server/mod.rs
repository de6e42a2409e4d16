//! A server that closes kept connections, as servers may: after a number of responses, or after a rest; with and without
//! saying so.

#![allow(dead_code)] // Each test binary uses a part of this.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use touchstone_sys::socket::reset_on_close;

pub const BODY: &str = "ok";

/// When it closes, and how.
#[derive(Clone, Copy)]
pub enum Closes {
    /// With the response of this number on the connection, which announces it. What was pipelined behind it is lost.
    Announced(u32),
    /// Without a word, as the request behind the response of this number comes.
    Silently(u32),
    /// The same, after a while.
    Late(u32, Duration),
    /// The same by a reset.
    ByReset(u32),
    /// As the request behind this response comes, and on every connection from then on as its first one comes.
    ForGood(u32),
    /// After this rest without a request, by this notice if there is one.
    AtRest(Duration, Option<&'static str>),
    /// By this notice in place of a response to a request that comes after such a rest: as if the two had crossed.
    Crossing(Duration, &'static str),
    /// As a second request comes behind one that has no response yet, for the lack of pipelining.
    Pipelined,
}

#[derive(Default)]
pub struct Seen {
    pub connections: AtomicU64,
    /// Whole requests, those included on which the connection was closed.
    pub requests: AtomicU64,
    pub answered: AtomicU64,
    /// Connections that were closed before the client did.
    pub closed: AtomicU64,
}

pub struct ClosingServer {
    address: SocketAddr,
    pub seen: Arc<Seen>,
    stop: Arc<AtomicBool>,
}

impl ClosingServer {
    pub fn start(closes: Closes) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, stop) = (Arc::<Seen>::default(), Arc::<AtomicBool>::default());
        let (theirs, stopping) = (Arc::clone(&seen), Arc::clone(&stop));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stopping.load(Ordering::Relaxed) {
                    return;
                }
                let seen = Arc::clone(&theirs);
                seen.connections.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || converse(&stream, closes, &seen));
            }
        });
        Self {
            address,
            seen,
            stop,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn count(&self, of: fn(&Seen) -> &AtomicU64) -> u64 {
        of(&self.seen).load(Ordering::SeqCst)
    }
}

impl Drop for ClosingServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

fn converse(mut stream: &TcpStream, closes: Closes, seen: &Seen) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    if let Closes::AtRest(rest, _) = closes {
        stream.set_read_timeout(Some(rest)).ok()?;
    }
    let (mut pending, mut buffer) = (Vec::new(), [0; 8192]);
    let (mut answered, mut last) = (0, Instant::now());
    loop {
        let rested = last.elapsed();
        let whole = |pending: &[u8]| pending.windows(4).position(|part| part == b"\r\n\r\n");
        let Some(end) = whole(&pending) else {
            match stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(got) => pending.extend_from_slice(&buffer[..got]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if let Closes::AtRest(_, Some(notice)) = closes {
                        stream.write_all(notice.as_bytes()).ok()?;
                    }
                    return close(stream, seen);
                }
                Err(_) => return None,
            }
            continue;
        };
        pending.drain(..end + 4);
        // The body of the requests of these tests: none, or this one.
        if pending.starts_with(b"body") {
            pending.drain(..4);
        }
        seen.requests.fetch_add(1, Ordering::SeqCst);
        let refuses = match closes {
            Closes::Silently(most) | Closes::ByReset(most) | Closes::Late(most, _) => {
                answered >= most
            }
            Closes::ForGood(most) => answered >= most || seen.closed.load(Ordering::SeqCst) > 0,
            Closes::Pipelined => whole(&pending).is_some(),
            _ => false,
        };
        if refuses {
            match closes {
                Closes::ByReset(_) => reset_on_close(stream).ok()?,
                Closes::Late(_, time) => std::thread::sleep(time),
                _ => {}
            }
            return close(stream, seen);
        }
        if let Closes::Crossing(rest, notice) = closes
            && rested >= rest
        {
            stream.write_all(notice.as_bytes()).ok()?;
            return close(stream, seen);
        }
        answered += 1;
        let ends = matches!(closes, Closes::Announced(most) if answered >= most);
        let field = if ends { "Connection: close\r\n" } else { "" };
        let response = format!("HTTP/1.1 200 OK\r\n{field}Content-Length: 2\r\n\r\n{BODY}");
        seen.answered.fetch_add(1, Ordering::SeqCst);
        stream.write_all(response.as_bytes()).ok()?;
        last = Instant::now();
        if ends {
            return close(stream, seen);
        }
    }
}

/// Closes its side, and reads on for a moment, so that data from the client does not reset data that it has not read.
fn close(mut stream: &TcpStream, seen: &Seen) -> Option<()> {
    seen.closed.fetch_add(1, Ordering::SeqCst);
    stream.shutdown(Shutdown::Write).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_millis(200)))
        .ok()?;
    while stream.read(&mut [0; 8192]).ok()? > 0 {}
    None
}
