//! Servers that lie, each in one way, and that count what they did.

// Each test binary uses a part of this.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use touchstone_sys::socket::reset_on_close;

/// The body of a right response.
pub const BODY: &str = "Boom! We found you: bench-1207";

/// What the server does instead of answering rightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is wrong.
    None,
    /// Status 500 with the right body.
    Status500,
    /// Another body of the same length.
    ChangedBody,
    /// The right body under another media type.
    ChangedType,
    /// A body that ends too early, followed by a close.
    Truncated,
    /// A close before the first byte.
    SilentClose,
    /// A reset before the first byte.
    Reset,
    /// A right response with `Connection: close`, and the close.
    ConnectionClose,
    /// Bytes that are not HTTP.
    Garbage,
    /// A right body in chunks, and its length as well: readers may differ on where it ends.
    TwoEnds,
    /// A body longer than `Content-Length` says.
    TooLong,
    /// No answer at all; the connection stays open.
    Never,
    /// The same, for the requests whose target has a query, each of them.
    NeverForQueries,
    /// The right response, a byte at a time.
    Drip,
    /// The right response, later.
    Delay(Duration),
    /// The same, on every `every`-th connection and not for every `every`-th request.
    DelayOn(Duration),
    /// A reset, for a request on a connection that has rested so long.
    ResetAfterRest(Duration),
    /// The right response in two writes, the second after a delay.
    TwoWrites {
        /// Whether the kernel may hold the second back until the first is acknowledged.
        nagle: bool,
        /// The time between them.
        apart: Duration,
    },
    /// A right response, and a close while the connection is idle.
    CloseIdle,
    /// The same after a delay.
    CloseIdleAfter(Duration),
    /// The right response in chunks with a trailer.
    Chunked,
    /// The right response, its end marked by the close.
    CloseDelimited,
    /// Interim responses before the right one.
    Interim,
    /// 204.
    NoContent,
    /// A large body of 1 MiB of `x`.
    Large,
    /// A body that goes on for as long as anybody takes it.
    Endless,
    /// For `for_`, nobody is answered; then everybody is for `every - for_`.
    Stall {
        /// The period.
        every: Duration,
        /// The stall in it, at its start.
        for_: Duration,
    },
}

/// What the server has counted.
#[derive(Debug, Default)]
pub struct Counters {
    /// Connections accepted.
    pub connections: AtomicU64,
    /// Requests that came whole.
    pub requests: AtomicU64,
    /// Requests answered as they should be.
    pub right: AtomicU64,
    /// Requests on which the fault was done.
    pub faults: AtomicU64,
    /// Bytes of responses.
    pub bytes: AtomicU64,
}

/// A running server. Its threads end with their connections.
pub struct FaultServer {
    pub address: SocketAddr,
    pub counters: Arc<Counters>,
    stop: Arc<AtomicBool>,
}

impl FaultServer {
    /// Does the fault on every `every`-th request, counted over all connections.
    pub fn start(fault: Fault, every: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (counters, stop) = (
            Arc::new(Counters::default()),
            Arc::new(AtomicBool::new(false)),
        );
        let (theirs, stopping) = (Arc::clone(&counters), Arc::clone(&stop));
        let begun = Instant::now();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stopping.load(Ordering::Relaxed) {
                    return;
                }
                let counters = Arc::clone(&theirs);
                let place = counters.connections.fetch_add(1, Ordering::Relaxed) + 1;
                std::thread::spawn(move || {
                    let _ = converse(stream, (fault, every), place, &counters, begun);
                });
            }
        });
        Self {
            address,
            counters,
            stop,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn count(&self, of: fn(&Counters) -> &AtomicU64) -> u64 {
        of(&self.counters).load(Ordering::SeqCst)
    }
}

impl Drop for FaultServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// One thread for all connections, which answers a list of numbers at once: quicker than anybody can check it.
pub struct QuickServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl QuickServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        std::thread::spawn(move || {
            let numbers: Vec<String> = (0..60).map(|number| number.to_string()).collect();
            let body = format!("{{\"numbers\": [{}], \"last\": 1}}", numbers.join(","));
            let (response, mut buffer) = (right("", &body), [0u8; 4096]);
            let mut open: Vec<TcpStream> = Vec::new();
            while !stopping.load(Ordering::Relaxed) {
                while let Ok((stream, _)) = listener.accept() {
                    stream.set_nonblocking(true).unwrap();
                    open.push(stream);
                }
                for stream in &mut open {
                    if matches!(stream.read(&mut buffer), Ok(1..)) {
                        let _ = stream.write_all(response.as_bytes());
                    }
                }
            }
        });
        Self { address, stop }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for QuickServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn right(extra: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{extra}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn converse(
    mut stream: TcpStream,
    (fault, every): (Fault, u64),
    place: u64,
    counters: &Counters,
    begun: Instant,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut pending: Vec<u8> = Vec::new();
    let mut buffer = [0u8; 8192];
    let mut last = Instant::now();
    loop {
        let got = stream.read(&mut buffer)?;
        let rested = last.elapsed();
        last = Instant::now();
        if got == 0 {
            return Ok(());
        }
        pending.extend_from_slice(&buffer[..got]);
        while let Some(end) = pending.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&pending[..end]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            if pending.len() < end + 4 + length {
                break;
            }
            let is_head = head.starts_with("head ");
            let echo = String::from_utf8_lossy(&pending[end + 4..end + 4 + length]).into_owned();
            pending.drain(..end + 4 + length);
            let number = counters.requests.fetch_add(1, Ordering::SeqCst) + 1;
            let due = match fault {
                Fault::None => false,
                Fault::DelayOn(_) => place.is_multiple_of(every),
                Fault::ResetAfterRest(least) => rested >= least,
                Fault::NeverForQueries => {
                    head.lines().next().is_some_and(|first| first.contains('?'))
                }
                _ => number.is_multiple_of(every),
            };
            if due {
                counters.faults.fetch_add(1, Ordering::SeqCst);
                if !misbehave(&mut stream, fault, counters, begun)? {
                    return Ok(());
                }
                continue;
            }
            let body = if echo.is_empty() { BODY } else { &echo };
            let mut text = right("", body);
            if is_head {
                text.truncate(text.len() - body.len());
            }
            say(&mut stream, counters, text.as_bytes())?;
            counters.right.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn say(stream: &mut TcpStream, counters: &Counters, bytes: &[u8]) -> std::io::Result<()> {
    counters
        .bytes
        .fetch_add(bytes.len() as u64, Ordering::SeqCst);
    stream.write_all(bytes)
}

/// Does a fault after which the connection is over; false if the fault is another.
fn ends_connection(
    stream: &mut TcpStream,
    fault: Fault,
    counters: &Counters,
) -> std::io::Result<bool> {
    let whole = right("", BODY);
    match fault {
        Fault::Truncated => {
            say(stream, counters, &whole.as_bytes()[..whole.len() - 7])?;
            stream.shutdown(Shutdown::Write)?;
        }
        Fault::SilentClose => {
            stream.shutdown(Shutdown::Write)?;
        }
        Fault::Reset | Fault::ResetAfterRest(_) => {
            reset_on_close(stream)?;
        }
        Fault::ConnectionClose => {
            say(
                stream,
                counters,
                right("Connection: close\r\n", BODY).as_bytes(),
            )?;
            stream.shutdown(Shutdown::Write)?;
        }
        Fault::CloseIdle | Fault::CloseIdleAfter(_) => {
            say(stream, counters, whole.as_bytes())?;
            std::thread::sleep(match fault {
                Fault::CloseIdleAfter(time) => time,
                _ => Duration::from_millis(5),
            });
            stream.shutdown(Shutdown::Write)?;
        }
        Fault::CloseDelimited => {
            say(
                stream,
                counters,
                format!("HTTP/1.1 200 OK\r\n\r\n{BODY}").as_bytes(),
            )?;
            stream.shutdown(Shutdown::Write)?;
        }
        // Reads on, and never answers again.
        Fault::Never | Fault::NeverForQueries => {
            std::io::copy(stream, &mut std::io::sink())?;
        }
        Fault::Endless => {
            let part = [b'x'; 64 * 1024];
            say(
                stream,
                counters,
                b"HTTP/1.1 200 OK\r\nContent-Length: 9000000000000\r\n\r\n",
            )?;
            loop {
                say(stream, counters, &part)?;
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Does the fault; false if the connection is over.
fn misbehave(
    stream: &mut TcpStream,
    fault: Fault,
    counters: &Counters,
    begun: Instant,
) -> std::io::Result<bool> {
    if ends_connection(stream, fault, counters)? {
        return Ok(false);
    }
    let whole = right("", BODY);
    let text = match fault {
        Fault::None => whole,
        Fault::Status500 => whole.replace("200 OK", "500 Internal Server Error"),
        Fault::ChangedBody => whole.replace("bench-1207", "bench-1208"),
        Fault::ChangedType => whole.replace("text/plain", "text/html"),
        Fault::Garbage => "\x16\x03\x01 this is not HTTP\r\n\r\n".to_owned(),
        Fault::TwoEnds => {
            let chunk = format!("{:x}\r\n{BODY}\r\n0\r\n\r\n", BODY.len());
            right("Transfer-Encoding: chunked\r\n", &chunk)
        }
        Fault::TooLong => format!("{whole}and more"),
        Fault::Drip => {
            for byte in whole.as_bytes() {
                say(stream, counters, &[*byte])?;
                std::thread::sleep(Duration::from_micros(100));
            }
            return Ok(true);
        }
        Fault::TwoWrites { nagle, apart } => {
            stream.set_nodelay(!nagle)?;
            let (head, body) = whole.split_at(whole.len() - BODY.len());
            say(stream, counters, head.as_bytes())?;
            std::thread::sleep(apart);
            say(stream, counters, body.as_bytes())?;
            return Ok(true);
        }
        Fault::Delay(time) | Fault::DelayOn(time) => {
            std::thread::sleep(time);
            whole
        }
        Fault::Stall { every, for_ } => {
            let within =
                Duration::from_nanos((begun.elapsed().as_nanos() % every.as_nanos()) as u64);
            std::thread::sleep(for_.saturating_sub(within));
            whole
        }
        Fault::Chunked => {
            let (left, rest) = BODY.split_at(11);
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n";
            format!(
                "{head}{:x};q=1\r\n{left}\r\n{:X}\r\n{rest}\r\n0\r\nX-Sum: 1\r\n\r\n",
                left.len(),
                rest.len()
            )
        }
        Fault::Interim => format!(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n{whole}"
        ),
        Fault::NoContent => "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
        Fault::Large => right("", &"x".repeat(1 << 20)),
        _ => return Ok(false),
    };
    say(stream, counters, text.as_bytes())?;
    Ok(true)
}
