//! Streams that are open when the service ends: responses that go on, and WebSockets.
//!
//! A response has its end where its framing says so (RFC 9112, section 6.3), a WebSocket in a close frame (RFC 6455,
//! section 5.5.1). A connection that ends before has cut its stream.

use crate::result::StreamsResult;
use std::io;
use std::net::SocketAddr;
use touchstone_exchange::template::Key;
use touchstone_exchange::{CompiledRequest, Progress, Reader};
use touchstone_sys::clock::{Nanos, monotonic, since};
use touchstone_sys::poll::Epoll;
use touchstone_sys::socket::Stream;
use touchstone_websocket as websocket;
use touchstone_websocket::{Event, Handshake, Opcode};

/// In an epoll event: the tokens of streams begin here.
pub(crate) const FIRST: u64 = 1 << 32;
/// A fixed key: the content of these frames needs no protection.
const MASK: [u8; 4] = [0x5a, 0xa5, 0x3c, 0xc3];

/// What is read of a stream.
enum Inbound {
    Response(Reader),
    /// The response to a handshake, and the frames behind it.
    Handshake(Handshake),
    Frames(websocket::Reader),
}

/// What a stream's bytes have shown.
enum Shown {
    Nothing,
    /// Its end, with the code of a close frame.
    End(Option<u16>),
    /// Its connection ended, or its bytes are wrong.
    Cut(String),
}

struct OpenStream {
    socket: Stream,
    inbound: Inbound,
    unsent: Vec<u8>,
    /// Whether its response or its WebSocket has begun, as expected.
    begun: bool,
    request: usize,
    key: Key<'static>,
}

/// All streams, by number.
#[derive(Default)]
pub(crate) struct Streams {
    streams: Vec<Option<OpenStream>>,
    pub found: StreamsResult,
    /// Why the first that did not begin did not.
    pub failure: Option<String>,
}

impl Streams {
    /// Opens one more by the request of this number, whose bytes or handshake are made by the key.
    ///
    /// # Errors
    /// When there can be no connection.
    pub fn open(
        &mut self,
        epoll: &Epoll,
        address: &SocketAddr,
        (request, compiled): (usize, &CompiledRequest),
        key: Key<'static>,
    ) -> io::Result<()> {
        let socket = Stream::new(address)?;
        socket.no_delay()?;
        socket.connect(address)?;
        let mut unsent = Vec::new();
        let inbound = if compiled.message.is_some() {
            Inbound::Handshake(compiled.handshake(key, &mut unsent))
        } else {
            compiled.render(key, &mut unsent, &mut Vec::new());
            Inbound::Response(Reader::new(compiled.is_head))
        };
        epoll.add_connection(&socket, FIRST + self.streams.len() as u64)?;
        self.streams.push(Some(OpenStream {
            socket,
            inbound,
            unsent,
            begun: false,
            request,
            key,
        }));
        Ok(())
    }

    /// Whether each has begun or failed.
    pub fn all_begun(&self) -> bool {
        self.failure.is_some() || self.streams.iter().flatten().all(|one| one.begun)
    }

    /// Those that are open.
    pub fn open_now(&self) -> u64 {
        self.streams.iter().flatten().count() as u64
    }

    /// Takes what has come on the stream of an event; `signalled` is when the service got SIGTERM, if it has.
    pub fn hear(&mut self, token: u64, requests: &[CompiledRequest], signalled: Option<Nanos>) {
        let Some(place) = self.streams.get_mut((token - FIRST) as usize) else {
            return;
        };
        let Some(one) = place else {
            return;
        };
        let shown = one.read(&requests[one.request]);
        let begun = one.begun;
        let (end, cut) = match shown {
            Shown::Nothing => return,
            Shown::End(code) => (Some(code), None),
            Shown::Cut(why) => (None, Some(why)),
        };
        *place = None;
        let Some(signal) = signalled else {
            self.found.ended_before += 1;
            if !begun {
                let why = cut.unwrap_or_else(|| "the response ended at once".into());
                self.failure.get_or_insert(why);
            }
            return;
        };
        self.found.last_ended_s = Some(since(monotonic(), signal));
        match end {
            Some(code) => {
                self.found.ended += 1;
                if let Some(code) = code {
                    *self.found.close_codes.entry(code).or_default() += 1;
                }
            }
            None => self.found.cut += 1,
        }
    }
}

impl OpenStream {
    fn flush(&mut self) {
        // What cannot be sent shows when the connection is read.
        let _ = self.socket.send_waiting(&mut self.unsent);
    }

    fn read(&mut self, request: &CompiledRequest) -> Shown {
        self.flush();
        let mut buffer = [0; 16 * 1024];
        loop {
            match self.socket.receive(&mut buffer) {
                Ok(0) => {
                    return match &mut self.inbound {
                        Inbound::Response(reader) => match reader.close() {
                            Ok(_) => Shown::End(None),
                            Err(why) => Shown::Cut(why),
                        },
                        _ => Shown::Cut("the connection ended without a close frame".into()),
                    };
                }
                Ok(count) => match self.take(&buffer[..count], request) {
                    Shown::Nothing => {}
                    shown => return shown,
                },
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => return Shown::Nothing,
                    _ => return Shown::Cut(error.to_string()),
                },
            }
        }
    }

    fn take(&mut self, mut bytes: &[u8], request: &CompiledRequest) -> Shown {
        match &mut self.inbound {
            Inbound::Response(reader) => {
                let progress = match reader.push(bytes) {
                    Ok(progress) => progress,
                    Err(why) => return Shown::Cut(why),
                };
                let whole = matches!(progress, Progress::Complete(_));
                let response = match progress {
                    Progress::Complete(response) => Some(response),
                    // What has come of a stream that has begun is not copied again.
                    Progress::Partial if self.begun => None,
                    Progress::Partial => reader.seen().map(|seen| seen.left()),
                };
                if let Some(response) = response.filter(|_| !self.begun) {
                    let faults = request.faults(&response, self.key);
                    if !faults.is_empty() {
                        return Shown::Cut(faults.join("; "));
                    }
                    // The head alone may come long before anything is streamed.
                    self.begun = !response.body.is_empty() || whole;
                }
                if whole {
                    Shown::End(None)
                } else {
                    Shown::Nothing
                }
            }
            Inbound::Handshake(handshake) => match handshake.read(&mut bytes) {
                Ok(true) => {
                    self.begun = true;
                    self.inbound = Inbound::Frames(websocket::Reader::new(websocket::Role::Server));
                    self.frames(bytes)
                }
                Ok(false) => Shown::Nothing,
                Err(why) => Shown::Cut(why),
            },
            Inbound::Frames(_) => self.frames(bytes),
        }
    }

    /// Answers pings, and the close frame by the same code.
    fn frames(&mut self, mut bytes: &[u8]) -> Shown {
        let Inbound::Frames(reader) = &mut self.inbound else {
            return Shown::Nothing;
        };
        loop {
            match reader.read(&mut bytes) {
                Ok(Some(Event::Ping(payload))) => {
                    websocket::write(Opcode::Pong, Some(MASK), &payload, &mut self.unsent);
                }
                Ok(Some(Event::Close(close))) => {
                    let code = close
                        .code
                        .map_or(Vec::new(), |code| code.to_be_bytes().to_vec());
                    websocket::write(Opcode::Close, Some(MASK), &code, &mut self.unsent);
                    self.flush();
                    return Shown::End(close.code);
                }
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.flush();
                    return Shown::Nothing;
                }
                Err(fault) => return Shown::Cut(fault.to_string()),
            }
        }
    }
}
