//! One connection: at most 96 bytes, whatever it has carried.

use std::collections::VecDeque;
use std::io;

use touchstone_http::{Fed, Head, Malformed, ResponseParser};
use touchstone_sys::socket::Stream;

use touchstone_exchange::{Fault, Wrong};

use crate::check::{BodyCheck, Check, difference};
use crate::clock::Nanos;
use crate::request::CompiledRequest;
use crate::streaming::Streaming;
use crate::template::Key;
use crate::wire::Wire;

/// Where a connection stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// No socket.
    #[default]
    Closed,
    /// No socket; the next attempt waits, because the last one failed.
    Resting,
    /// The handshake is under way.
    Connecting,
    /// HTTP/2: connected and greeted; the server's settings have not come. WebSocket: the handshake is not answered.
    Greeting,
    /// Established.
    Open,
}

/// What has become of a request so far. It counts as sent once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Attempt {
    /// It is sent for the first time, and counts as sent from then on.
    #[default]
    First,
    /// It counts as sent, but its connection was lost before a byte of it left: it waits for another.
    Moved,
    /// It was sent before, on a kept connection that the server closed without a byte of a response, and waits to be sent
    /// once more.
    Again,
    /// It was sent once more.
    Repeated,
}

impl Attempt {
    /// What has become of a request that is sent now.
    #[inline]
    #[must_use]
    pub const fn once_sent(self) -> Self {
        match self {
            Self::Again => Self::Repeated,
            other => other,
        }
    }
}

/// A request on its way.
#[derive(Debug, Clone, Copy, Default)]
pub struct InFlight {
    /// When it was due.
    pub intended: Nanos,
    /// When it was sent, for the first time if it was repeated.
    pub sent: Nanos,
    /// Its number, from which its text can be rendered again.
    pub counter: u64,
    /// Its index in the mix.
    pub kind: u16,
    /// Whether it was on another connection before.
    pub attempt: Attempt,
    /// Whether a message that was sent later over the same WebSocket had its echo before.
    pub overtaken: bool,
    /// How late it was sent although a place was free, in nanoseconds: that is the engine's doing, up to 4.3 s.
    pub late: u32,
}

impl InFlight {
    /// From when it was due to now, less what the engine was late.
    #[inline]
    #[must_use]
    pub const fn latency(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.intended)
            .saturating_sub(Nanos(self.late as u64))
    }

    /// Since when its response is waited for, of which `partial` has come; of a stream the next event.
    #[must_use]
    pub fn waits_since(&self, partial: Option<&Partial>) -> Nanos {
        let stream = partial.and_then(|partial| partial.stream.as_deref());
        stream.map_or(self.sent, |stream| self.sent.max(stream.last))
    }

    /// How long its response has been waited for.
    #[inline]
    #[must_use]
    pub const fn waited(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.sent)
    }
}

/// A connection's state. What is rare (a partial response, pipelined requests, unsent bytes) is boxed. Over HTTP/2 the
/// requests in flight are in the connection's [`Link`](crate::h2::Link); `first`, `behind` and `partial` are HTTP/1.1's.
#[derive(Debug, Default)]
pub struct Connection {
    /// The oldest request in flight, or the one that waits for the connection if `assigned`.
    pub first: InFlight,
    /// The response that has come in part.
    pub partial: Option<Box<Partial>>,
    /// Requests in flight behind the first.
    pub behind: Option<Box<VecDeque<InFlight>>>,
    /// Requests of an earlier connection in this place that are sent again on this one, each when the one before it has
    /// its response (RFC 9112 section 9.3.2); behind `first` if that is `assigned`.
    pub again: Option<Box<VecDeque<InFlight>>>,
    /// What the socket would not take yet.
    pub unsent: Option<Box<Unsent>>,
    /// When the present state began, or the last response came; in `Resting`, when it ends.
    pub since: Nanos,
    /// The socket, while it is connecting or open.
    pub socket: Option<Stream>,
    /// Counts sockets in this place, so that a late event of an old one is known as such.
    pub generation: u32,
    /// Requests in flight.
    pub in_flight: u16,
    /// Places that this connection holds in the list of the free.
    pub listed: u16,
    /// Requests that the present socket has done with.
    pub responses: u32,
    /// Where it stands.
    pub state: State,
    /// Whether `first` waits for the connection to be established.
    pub assigned: bool,
    /// Attempts in a row that failed, or gave a connection that was closed at once.
    pub failures: u8,
    /// Whether the socket was ever established in this run.
    pub used: bool,
}

const _: () = assert!(std::mem::size_of::<Connection>() <= 96);

/// Bytes that a socket would not take.
#[derive(Debug, Default)]
pub struct Unsent {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The error number with which sending failed, or 0. What came before is read all the same, and then it is said.
    pub broken: i32,
}

impl Unsent {
    /// The bytes that remain after `n` were taken.
    #[must_use]
    pub fn rest(bytes: &[u8], taken: usize) -> Box<Self> {
        Box::new(Self {
            bytes: bytes[taken..].to_vec(),
            broken: 0,
        })
    }
}

impl Connection {
    /// Notes a request as sent.
    #[inline]
    pub fn push(&mut self, request: InFlight) {
        if self.in_flight == 0 {
            self.first = request;
        } else {
            self.behind.get_or_insert_default().push_back(request);
        }
        self.in_flight += 1;
    }

    /// What has gone wrong on its socket since it was last asked.
    #[must_use]
    pub fn take_error(&self) -> Option<io::Error> {
        self.socket.as_ref().and_then(Stream::take_error)
    }

    /// Sends on its socket, as far as that takes the bytes.
    ///
    /// # Errors
    /// As [`Wire::send`]; `NotConnected` where it has no socket.
    #[inline]
    pub fn send<W: Wire>(
        &self,
        wire: &mut W,
        slot: u32,
        bytes: &[u8],
        lasting: bool,
    ) -> io::Result<usize> {
        match &self.socket {
            Some(socket) => wire.send(slot, socket, bytes, lasting),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Acknowledges what came on its socket now, and not when there is something to send along; says whether it could.
    #[must_use]
    pub fn acknowledge(&self) -> bool {
        let socket = self.socket.as_ref();
        socket.is_some_and(|socket| socket.acknowledge().is_ok())
    }

    /// Whether its oldest request came on a kept connection: one that had served others, or had rested before it. Only
    /// there may a close by the server cross a request.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.responses > 0 || self.rested() > Nanos::ZERO
    }

    /// Whether its oldest request may be sent once more, by when it was sent: one that was repeated has had its fresh
    /// connection, unless others were repeated on that before.
    #[must_use]
    pub fn has_a_try_left(&self) -> bool {
        self.is_kept() && (self.first.attempt != Attempt::Repeated || self.responses > 0)
    }

    /// How long it had rested when its oldest request was sent.
    #[must_use]
    pub const fn rested(&self) -> Nanos {
        self.first.sent.saturating_sub(self.since)
    }

    /// Takes out a message in flight at a place behind the oldest, which it and those between have overtaken.
    pub fn take_behind(&mut self, place: usize) -> Option<InFlight> {
        let behind = self.behind.as_mut()?;
        let taken = behind.remove(place - 1)?;
        for request in behind.iter_mut().take(place - 1).chain([&mut self.first]) {
            request.overtaken = true;
        }
        self.in_flight -= 1;
        self.responses += 1;
        Some(taken)
    }

    /// Forgets the oldest request in flight.
    #[inline]
    pub fn pop(&mut self) {
        self.in_flight -= 1;
        self.responses += 1;
        if self.in_flight > 0
            && let Some(next) = self.behind.as_mut().and_then(|behind| behind.pop_front())
        {
            self.first = next;
        }
    }
}

/// A response that has come in part, and what its check needs to remember.
#[derive(Debug, Default)]
pub struct Partial {
    /// The parser's state.
    pub response: ResponseParser,
    /// The body so far, where the check needs it whole.
    body: Vec<u8>,
    /// Bytes of body so far.
    pub body_len: u64,
    /// Bytes on the wire so far.
    pub wire_len: u64,
    mismatch: bool,
    /// Whether the body is kept whole, because something is to be captured from it.
    keep_whole: bool,
    /// The first bytes, kept as evidence.
    pub beginning: Vec<u8>,
    /// When the first of several parts came; none if it came whole.
    pub first_part: Option<Nanos>,
    /// Whether that part was acknowledged at once, as a trial.
    pub acknowledged: bool,
    /// Whether all of it has come.
    pub ended: bool,
    /// The events so far, if it is a stream.
    pub stream: Option<Box<Streaming>>,
}

/// What a response is fed.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// Bytes of HTTP/1.1 as they came.
    Wire(&'a [u8]),
    /// Bytes of the body alone.
    Body(&'a [u8]),
}

/// Bytes of a request or response that are kept as evidence.
pub const EVIDENCE: usize = 4096;

/// A body that must be seen whole (pattern, JSON) is kept up to this size.
const MAX_KEPT_BODY: usize = 64 << 20;

impl Partial {
    /// Makes it that of a response not begun, to a request of this kind.
    pub fn reset(&mut self, compiled: &CompiledRequest) {
        self.response.reset(compiled.is_head);
        if compiled.needs_head() {
            self.response.keep_head();
        }
        self.keep_whole = compiled.captures_from_body();
        self.body.clear();
        if self.body.capacity() > 1 << 16 {
            self.body = Vec::new();
        }
        self.body_len = 0;
        self.wire_len = 0;
        self.mismatch = false;
        self.beginning.clear();
        (self.first_part, self.acknowledged, self.ended) = (None, false, false);
        let stream = compiled.stream.as_deref();
        self.stream = stream.map(|check| Box::new(Streaming::new(check)));
    }

    /// Takes out the bytes of a stream's body that came last.
    pub fn take_body(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.body)
    }

    /// Gives their memory back; the bytes have been taken.
    pub fn put_body(&mut self, mut bytes: Vec<u8>) {
        bytes.clear();
        self.body = bytes;
    }

    /// Notes bytes of a body whose events are taken as they come, so that it is not kept.
    pub fn pass(&mut self, bytes: &[u8]) {
        self.keep_evidence(bytes);
        self.body_len += bytes.len() as u64;
    }

    fn keep_evidence(&mut self, bytes: &[u8]) {
        let room = EVIDENCE.saturating_sub(self.beginning.len());
        self.beginning
            .extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    /// Takes bytes; an exact body is compared as it comes, so that a large one needs no memory.
    ///
    /// # Errors
    /// [`Malformed`] when the bytes break the format, or the body is too large to be checked.
    pub fn feed(
        &mut self,
        input: Input<'_>,
        check: &Check,
        key: Key<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        let (Input::Wire(bytes) | Input::Body(bytes)) = input;
        self.keep_evidence(bytes);
        let expected = match check.body() {
            BodyCheck::Exact(template) if !check.decodes() => {
                Some(template.fixed().unwrap_or_else(|| {
                    scratch.clear();
                    template.render(key, scratch);
                    scratch
                }))
            }
            _ => None,
        };
        let whole =
            check.decodes() || matches!(check.body(), BodyCheck::Pattern(_) | BodyCheck::Json(_));
        let keep = self.keep_whole || whole || self.stream.is_some();
        let Self {
            response,
            body,
            body_len,
            mismatch,
            stream,
            ..
        } = self;
        let mut too_large = false;
        let mut take = |bytes: &[u8]| {
            if let Some(expected) = expected {
                let from = *body_len as usize;
                *mismatch |= expected.get(from..from + bytes.len()) != Some(bytes);
            }
            if keep {
                too_large |= body.len() + bytes.len() > MAX_KEPT_BODY;
                if !too_large {
                    body.extend_from_slice(bytes);
                }
            }
            // The beginning of an exact body is kept as evidence of a difference.
            if expected.is_some() && !keep && body.len() < EVIDENCE {
                body.extend_from_slice(&bytes[..bytes.len().min(EVIDENCE - body.len())]);
            }
            if bytes.is_empty()
                && let Some(stream) = stream
            {
                stream.ends.push(body.len());
            }
            *body_len += bytes.len() as u64;
        };
        let fed = match input {
            Input::Wire(bytes) => response.feed(bytes, take)?,
            Input::Body(bytes) => {
                take(bytes);
                Fed {
                    consumed: bytes.len(),
                    done: false,
                }
            }
        };
        self.wire_len += fed.consumed as u64;
        if too_large {
            return Err(Malformed(
                "the body is larger than 64 MiB, too large to check",
            ));
        }
        Ok(fed)
    }

    /// Takes a final head that was parsed already, and its text.
    pub fn take_head(&mut self, head: Head, text: &[u8]) {
        self.keep_evidence(text);
        self.response.take_parsed(head, text);
    }

    /// Checks the body of a complete response.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn body_is_right(
        &self,
        check: &Check,
        key: Key<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let template = match check.body() {
            BodyCheck::Exact(template) if !check.decodes() => template,
            _ => return check.body_is_right(self.response.head_bytes(), &self.body, key, scratch),
        };
        scratch.clear();
        template.render(key, scratch);
        if !self.mismatch && self.body_len == scratch.len() as u64 {
            return Ok(());
        }
        if self.body_len <= EVIDENCE as u64 {
            return Err((Wrong::Body, difference(scratch, &self.body)));
        }
        let why = format!(
            "expected {} bytes, received {}, and they differ",
            scratch.len(),
            self.body_len
        );
        Err((Wrong::Body, why))
    }

    /// Takes the trailers of a response of HTTP/2, in the form of lines.
    pub fn take_trailers(&mut self, text: &[u8]) {
        self.keep_evidence(text);
        self.response.take_trailers(text);
    }

    /// The final head, as far as it was kept, if only as evidence.
    #[must_use]
    pub fn head_seen(&self) -> &[u8] {
        let length = self.response.head().map_or(0, |head| head.len);
        match self.response.head_bytes() {
            [] => &self.beginning[..length.min(self.beginning.len())],
            kept => kept,
        }
    }

    /// The body, if all of it was kept.
    #[must_use]
    pub fn whole_body(&self) -> Option<&[u8]> {
        (self.body.len() as u64 == self.body_len).then_some(&self.body)
    }
}
