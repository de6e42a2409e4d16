//! One connection of a client: its frames to the server and its state. Reading is in [`crate::reading`].

use std::collections::VecDeque;

use touchstone_http::Head;

use crate::blocks::Last;
use crate::decode::{Decoder, Scratch};
use crate::fault::Code;
use crate::frame::{self, FrameHead, Kind, MAX_PAYLOAD, flag, setting};
use crate::reading::Reading;
use crate::streams::{Stream, Streams};
use crate::table::DEFAULT_SIZE;

/// The window that the peer gets, for each stream and for all: what comes is taken at once, so that it costs no memory.
pub(crate) const WINDOW: i64 = 1 << 30;

/// Bytes that may be sent where no setting says otherwise (RFC 9113, section 6.9.2).
const DEFAULT_WINDOW: i64 = 65_535;

/// The largest window.
pub(crate) const MAX_WINDOW: i64 = (1 << 31) - 1;

/// The largest number of a stream.
const LAST_STREAM: u32 = (1 << 31) - 1;

/// Streams that were given up, and on which frames may still come, at most.
const MOST_CANCELLED: usize = 256;

/// What bytes of a server mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The server's settings have come, or changed; the first make the connection usable.
    Settings,
    /// The final head of a response.
    Head {
        /// The stream's place.
        at: usize,
        /// The parsed head; its text is in the caller's buffer.
        head: Head,
        /// Whether it is the same as the last that came on this connection; then its text is not put into the room.
        repeated: bool,
        /// Whether the response is complete with it.
        end: bool,
    },
    /// A part of a body.
    Data {
        /// The stream's place.
        at: usize,
        /// The bytes.
        bytes: &'a [u8],
        /// Whether the frame's last byte is among them.
        frame_ends: bool,
        /// Whether the response is complete with it.
        end: bool,
    },
    /// A response is complete, with trailers, whose text is in the caller's buffer: lines and an empty one.
    Trailers {
        /// The stream's place.
        at: usize,
    },
    /// A response is complete, with an empty frame.
    End {
        /// The stream's place.
        at: usize,
    },
    /// The server gave up a stream.
    Reset {
        /// The stream's place.
        at: usize,
        /// Why.
        code: Code,
    },
    /// A response is malformed, and was given up; the connection goes on.
    Malformed {
        /// The stream's place.
        at: usize,
        /// A sentence on it.
        why: &'static str,
    },
    /// The server takes no more streams on this connection.
    GoingAway {
        /// Why.
        code: Code,
    },
}

/// Room for what is read, which the connections of a thread may share.
#[derive(Debug, Default)]
pub struct Room {
    /// The text of the last head, in the form of HTTP/1.1, or of the last trailers.
    pub head: Vec<u8>,
    pub(crate) scratch: Scratch,
    /// The last head that was decoded.
    pub(crate) last: Last,
}

/// What the server has set.
#[derive(Debug)]
pub(crate) struct Peer {
    pub streams: u32,
    pub window: i64,
    pub table: usize,
}

/// A client's connection. `T` is what its owner keeps for each request.
#[derive(Debug)]
pub struct Client<T> {
    pub(crate) streams: Streams<T>,
    pub(crate) decoder: Decoder,
    pub(crate) reading: Reading,
    pub(crate) peer: Peer,
    pub(crate) cancelled: Vec<u32>,
    /// Bytes of bodies that wait for a window.
    unsent: VecDeque<Unsent>,
    pub(crate) send: i64,
    pub(crate) receive: i64,
    /// Streams that are wanted open at once.
    wanted: u32,
    pub(crate) next: u32,
    /// The last stream that the server will process, since it is going away.
    pub(crate) last: Option<u32>,
    retired: bool,
}

#[derive(Debug)]
struct Unsent {
    at: usize,
    stream: u32,
    body: Vec<u8>,
    sent: usize,
}

impl<T> Client<T> {
    /// A connection that has sent nothing, and that wants this many streams open at once.
    #[must_use]
    pub fn new(streams: u32) -> Self {
        Self {
            streams: Streams::new(streams),
            decoder: Decoder::default(),
            reading: Reading::default(),
            peer: Peer {
                streams: u32::MAX,
                window: DEFAULT_WINDOW,
                table: DEFAULT_SIZE,
            },
            cancelled: Vec::new(),
            unsent: VecDeque::new(),
            send: DEFAULT_WINDOW,
            receive: WINDOW,
            wanted: streams,
            next: 1,
            last: None,
            retired: false,
        }
    }

    /// Appends what a client says first: push is refused, and windows are wide.
    pub fn greet(out: &mut Vec<u8>) {
        out.extend_from_slice(frame::PREFACE);
        let settings = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, WINDOW as u32),
        ];
        frame::write_settings(&settings, out);
        frame::write_window_update(0, (WINDOW - DEFAULT_WINDOW) as u32, out);
    }

    /// How many requests may be in flight: those wanted, or fewer if the server says so; none if it ends.
    #[inline]
    #[must_use]
    pub const fn most(&self) -> u32 {
        if self.is_ending() {
            0
        } else if self.wanted < self.peer.streams {
            self.wanted
        } else {
            self.peer.streams
        }
    }

    /// The server's limit of streams, where it is below what is wanted.
    #[must_use]
    pub const fn held_to(&self) -> Option<u32> {
        if self.peer.streams < self.wanted {
            Some(self.peer.streams)
        } else {
            None
        }
    }

    /// Whether it takes no more requests.
    #[inline]
    #[must_use]
    pub const fn is_ending(&self) -> bool {
        self.retired || self.last.is_some() || self.next > LAST_STREAM
    }

    /// Takes no more requests on this connection.
    pub const fn retire(&mut self) {
        self.retired = true;
    }

    /// Whether the server's dynamic table is smaller than an [`Encoder`](crate::Encoder) needs.
    #[inline]
    #[must_use]
    pub const fn has_small_table(&self) -> bool {
        self.peer.table < DEFAULT_SIZE
    }

    /// Opens a stream and appends its request: a header block and a body, as far as the windows let it. The rest follows
    /// with what is read.
    #[inline]
    pub fn start(&mut self, block: &[u8], body: &[u8], to_head: bool, data: T, out: &mut Vec<u8>) {
        let id = self.next;
        self.next += 2;
        self.reading.heard_something();
        let at = self.streams.insert(
            id,
            Stream {
                data,
                left: None,
                send: self.peer.window,
                receive: WINDOW,
                to_head,
                answered: false,
            },
        );
        frame::write_block(id, block, body.is_empty(), out);
        if !body.is_empty() {
            let mut unsent = Unsent {
                at,
                stream: id,
                body: Vec::new(),
                sent: 0,
            };
            unsent.sent = self.send_body(&unsent, body, out);
            if unsent.sent < body.len() {
                unsent.body = body[unsent.sent..].to_vec();
                unsent.sent = 0;
                self.unsent.push_back(unsent);
            }
        }
    }

    /// Appends as much of a body as the windows let; gives how much.
    fn send_body(&mut self, unsent: &Unsent, body: &[u8], out: &mut Vec<u8>) -> usize {
        let Some(stream) = self.streams.get_mut(unsent.at) else {
            return 0;
        };
        let allowed = self.send.min(stream.send).clamp(0, body.len() as i64) as usize;
        let mut from = 0;
        while from < allowed {
            let to = allowed.min(from + MAX_PAYLOAD);
            let last = to == body.len();
            let head = FrameHead {
                length: to - from,
                kind: Kind::DATA,
                flags: if last { flag::END_STREAM } else { 0 },
                stream: unsent.stream,
            };
            head.write(out);
            out.extend_from_slice(&body[from..to]);
            from = to;
        }
        self.send -= allowed as i64;
        stream.send -= allowed as i64;
        allowed
    }

    /// Appends what waited for a window, as far as it may go now.
    pub(crate) fn send_waiting(&mut self, out: &mut Vec<u8>) {
        for _ in 0..self.unsent.len() {
            let Some(mut unsent) = self.unsent.pop_front() else {
                return;
            };
            unsent.sent += self.send_body(&unsent, &unsent.body[unsent.sent..], out);
            if unsent.sent < unsent.body.len() {
                self.unsent.push_back(unsent);
            }
        }
    }

    /// Whether a part of a body waits for a window.
    #[must_use]
    pub fn waits_for_window(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// What is kept for the stream at a place.
    #[inline]
    pub fn data(&mut self, at: usize) -> Option<&mut T> {
        self.streams.get_mut(at).map(|stream| &mut stream.data)
    }

    /// Takes out a stream that is over. Where its request has not been sent whole, it is called off.
    #[inline]
    pub fn take(&mut self, at: usize, out: &mut Vec<u8>) -> Option<T> {
        let (id, stream) = self.streams.remove(at)?;
        if !self.unsent.is_empty() && self.forget_body(id) {
            // Section 8.1: the response was complete without it.
            frame::write_reset(id, Code::NO_ERROR, out);
        }
        Some(stream.data)
    }

    /// Gives up a stream whose response is not wanted any more. The frames that may still come on it are passed over.
    pub fn cancel(&mut self, at: usize, code: Code, out: &mut Vec<u8>) -> Option<T> {
        let (id, stream) = self.streams.remove(at)?;
        self.forget_body(id);
        frame::write_reset(id, code, out);
        self.passed_over(id);
        Some(stream.data)
    }

    /// Passes over what comes on a stream from now on. After too many of them, the connection takes no more requests.
    pub(crate) fn passed_over(&mut self, id: u32) {
        self.cancelled.push(id);
        self.retired |= self.cancelled.len() >= MOST_CANCELLED;
    }

    fn forget_body(&mut self, id: u32) -> bool {
        let before = self.unsent.len();
        self.unsent.retain(|unsent| unsent.stream != id);
        self.unsent.len() < before
    }

    /// The place of the oldest stream.
    #[must_use]
    pub fn oldest(&self) -> Option<usize> {
        let oldest = self.streams.iter().min_by_key(|(_, id, _)| *id);
        oldest.map(|(place, ..)| place)
    }

    /// The place of a stream that the server has said it will not process.
    #[must_use]
    pub fn unprocessed(&self) -> Option<usize> {
        let last = self.last?;
        let mut all = self.streams.iter().filter(|(_, id, _)| *id > last);
        all.next().map(|(place, ..)| place)
    }

    /// What is kept for all streams.
    pub fn all(&self) -> impl Iterator<Item = (usize, &T)> {
        self.streams
            .iter()
            .map(|(place, _, stream)| (place, &stream.data))
    }

    /// Changes the windows of all streams by the difference of two settings; false if one overflows.
    pub(crate) fn shift_windows(&mut self, by: i64) -> bool {
        let mut sound = true;
        for stream in self.streams.iter_mut() {
            stream.send += by;
            sound &= stream.send <= MAX_WINDOW;
        }
        sound
    }
}
