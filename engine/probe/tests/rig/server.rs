//! Connections and responses.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::body::{self, Chunked};
use super::fault::Fault;
use super::head::{self, Framing, Head};

/// A listening server that stops when it is dropped.
pub struct Rig {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Rig {
    /// Starts a server with this fault, or a right one. It answers GET /hello and POST /echo.
    pub fn start(fault: Option<Fault>) -> Rig {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if flag.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let flag = Arc::clone(&flag);
                thread::spawn(move || serve(stream, fault, &flag));
            }
        });
        Rig { address, stop }
    }

    /// The address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it sees the flag and gives the port back.
        let _ = TcpStream::connect(self.address);
    }
}

struct Session<'a> {
    stream: TcpStream,
    buffer: Vec<u8>,
    fault: Option<Fault>,
    stop: &'a AtomicBool,
}

/// Longest wait for a client's next octet.
const PATIENCE: Duration = Duration::from_secs(8);

fn serve(stream: TcpStream, fault: Option<Fault>, stop: &AtomicBool) {
    let _ = stream.set_nodelay(true);
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let mut session = Session {
        stream,
        buffer: Vec::new(),
        fault,
        stop,
    };
    // An error is a client that went away.
    let _ = session.run();
}

impl Session<'_> {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn run(&mut self) -> std::io::Result<()> {
        loop {
            let fault = self.fault;
            let has = move |other: Fault| fault == Some(other);
            let Some((used, parsed)) = head::take(&self.buffer, &has) else {
                if self.has(Fault::NoReassembly) {
                    self.buffer.clear();
                }
                if !self.more()? {
                    return Ok(());
                }
                continue;
            };
            self.buffer.drain(..used);
            let keep = match parsed {
                Err(status) => {
                    self.respond(status, b"refused", true, false, 1)?;
                    false
                }
                Ok(head) => self.exchange(&head)?,
            };
            if !keep {
                return self.end();
            }
            if self.has(Fault::OneRequestASegment) {
                self.buffer.clear();
            }
        }
    }

    /// Reads more; false at the client's end or after too long.
    fn more(&mut self) -> std::io::Result<bool> {
        let mut part = [0u8; 16 << 10];
        match self.stream.read(&mut part) {
            Ok(0) if self.has(Fault::StaysAfterEnd) => {
                thread::sleep(PATIENCE);
                Ok(false)
            }
            Ok(0) => Ok(false),
            Ok(count) => {
                self.buffer.extend_from_slice(&part[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if !self.buffer.is_empty() {
                    self.respond(408, b"too slow", true, false, 1)?;
                }
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn exchange(&mut self, head: &Head) -> std::io::Result<bool> {
        if head.expects
            && self.buffer.is_empty()
            && !self.has(Fault::NoContinue)
            && head.verdict.is_none()
        {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let refused = !matches!(head.path.as_str(), "/hello" | "/echo");
        let skips = self.has(Fault::GetHasNoBody) && head.method == "GET"
            || self.has(Fault::ErrorsLeaveBody) && refused
            || self.has(Fault::BodilessMethods) && head.method != "POST";
        if self.has(Fault::ExpectsAnyBody)
            && head.expects
            && head.framing == Framing::Length(0)
            && !self.more()?
        {
            return Ok(false);
        }
        let content = if skips {
            Ok((Vec::new(), false))
        } else {
            self.content(head.framing)?
        };
        let (content, trailer_close) = match content {
            Ok(content) => content,
            Err(0) => return Ok(false),
            Err(status) => {
                self.respond(status, b"refused", true, false, 1)?;
                return Ok(false);
            }
        };
        if self.has(Fault::DiesOfChunks) && head.framing == Framing::Chunked {
            self.stop.store(true, Ordering::SeqCst);
            let _ = TcpStream::connect(self.stream.local_addr()?);
            return Ok(false);
        }
        if self.has(Fault::HalfCloseIsGone) {
            // Looks for the client's end before it answers, as a server does that polls for hang-up.
            thread::sleep(Duration::from_millis(3));
            self.stream.set_nonblocking(true)?;
            let gone = matches!(self.stream.peek(&mut [0u8; 1]), Ok(0));
            self.stream.set_nonblocking(false)?;
            if gone {
                return Ok(false);
            }
        }
        let keep = head.keep && !trailer_close;
        let (status, body) = self.answer(head, &content);
        self.respond(status, body, !keep, head.method == "HEAD", head.minor)?;
        Ok(keep)
    }

    fn answer<'c>(&self, head: &Head, content: &'c [u8]) -> (u16, &'c [u8]) {
        let known = matches!(
            head.method.as_str(),
            "GET" | "HEAD" | "POST" | "PUT" | "CONNECT" | "DELETE" | "PATCH" | "OPTIONS"
        );
        let reads = matches!(head.method.as_str(), "GET" | "HEAD")
            || (!known && self.has(Fault::AnyMethod));
        let (status, body): (u16, &'c [u8]) = match (head.path.as_str(), head.method.as_str()) {
            _ if head.verdict.is_some() => (head.verdict.unwrap_or(500), b"refused"),
            (_, _) if !known && !self.has(Fault::AnyMethod) => (501, b"unknown method"),
            ("*", _) => (204, b""),
            (_, "OPTIONS") => (204, b""),
            ("/hello", "CONNECT") => (200, b""),
            (path, _) if self.has(Fault::PrefixRoutes) && path.starts_with("/hello") && reads => {
                (200, b"Hello, world!")
            }
            ("/hello", _) if reads => (200, b"Hello, world!"),
            ("/hello", _) => (405, b"not allowed"),
            ("/echo", "POST") => (200, content),
            ("/echo", _) => (405, b"not allowed"),
            _ => (404, b"not found"),
        };
        let named = |name: &str| head.names.iter().any(|other| other == name);
        let status = match status {
            200 if self.has(Fault::AlwaysPartial) && named("range") => 206,
            200 if self.has(Fault::AlwaysPartial) && named("if-modified-since") => 304,
            200 if self.has(Fault::AlwaysPartial) && named("if-unmodified-since") => 412,
            200 if self.has(Fault::SwitchesAlways) && named("upgrade") => 101,
            status => status,
        };
        (status, body)
    }

    /// The content and whether a trailer closes; `Err(0)` when the client went away.
    fn content(&mut self, framing: Framing) -> std::io::Result<Result<(Vec<u8>, bool), u16>> {
        let fault = self.fault;
        let has = move |other: Fault| fault == Some(other);
        loop {
            match framing {
                Framing::Length(length) => {
                    let length = usize::try_from(length).expect("limited to 1 MiB");
                    if self.buffer.len() >= length {
                        return Ok(Ok((self.buffer.drain(..length).collect(), false)));
                    }
                }
                Framing::Chunked => match body::chunked(&self.buffer, &has) {
                    Chunked::Whole(content, used, close) => {
                        self.buffer.drain(..used);
                        return Ok(Ok((content, close)));
                    }
                    Chunked::Bad(status) => return Ok(Err(status)),
                    Chunked::More => {}
                },
            }
            if self.has(Fault::NoReassembly) {
                self.buffer.clear();
            }
            if !self.more()? {
                let part = std::mem::take(&mut self.buffer);
                return Ok(if self.has(Fault::PartialIsWhole) {
                    Ok((part, true))
                } else {
                    Err(0)
                });
            }
        }
    }

    fn respond(
        &mut self,
        status: u16,
        body: &[u8],
        close: bool,
        head: bool,
        minor: u8,
    ) -> std::io::Result<()> {
        let mut out = format!("HTTP/1.1 {status} {}\r\n", reason(status));
        if !self.has(Fault::NoDate) {
            out += &format!("Date: {}\r\n", now());
        }
        if (status == 405 || status == 204) && !self.has(Fault::NoAllow) {
            out += "Allow: GET, HEAD, OPTIONS\r\n";
        }
        if self.has(Fault::BadFields) {
            out += "Bad Field: x\r\n";
        }
        let quiet = self.has(Fault::IgnoresClose) || self.has(Fault::NeverKeeps);
        if close && !quiet {
            out += "Connection: close\r\n";
        }
        let chunks = minor == 0 && self.has(Fault::ChunksTo10) && !head;
        if chunks {
            out += "Transfer-Encoding: chunked\r\n";
        } else if status != 204 {
            out += "Content-Type: text/plain\r\n";
            if !self.has(Fault::CloseDelimited) {
                out += &format!("Content-Length: {}\r\n", body.len());
            }
        }
        out += "\r\n";
        let mut octets = out.into_bytes();
        if chunks {
            octets.extend(format!("{:x}\r\n", body.len()).bytes());
            octets.extend(body);
            octets.extend(b"\r\n0\r\n\r\n");
        } else if !head || self.has(Fault::HeadHasBody) {
            octets.extend(body);
        }
        self.stream.write_all(&octets)
    }

    /// Closes in stages, so that no reset erases the last response (RFC 9112 9.6).
    fn end(&mut self) -> std::io::Result<()> {
        self.stream.shutdown(Shutdown::Write)?;
        self.stream
            .set_read_timeout(Some(Duration::from_millis(500)))?;
        let mut part = [0u8; 64 << 10];
        while self.stream.read(&mut part)? > 0 {}
        Ok(())
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        414 => "URI Too Long",
        417 => "Expectation Failed",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        505 => "HTTP Version Not Supported",
        _ => "Status",
    }
}

fn now() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        [usize::try_from(days % 7).expect("below 7")];
    let (mut year, mut left) = (1970, days);
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let months = [
        ("Jan", 31),
        ("Feb", 28 + u64::from(leap(year))),
        ("Mar", 31),
        ("Apr", 30),
        ("May", 31),
        ("Jun", 30),
        ("Jul", 31),
        ("Aug", 31),
        ("Sep", 30),
        ("Oct", 31),
        ("Nov", 30),
        ("Dec", 31),
    ];
    let mut month = "Jan";
    for (name, length) in months {
        month = name;
        if left < length {
            break;
        }
        left -= length;
    }
    format!(
        "{weekday}, {:02} {month} {year} {:02}:{:02}:{:02} GMT",
        left + 1,
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}
