//! One request over one connection, whose time is limited.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use touchstone_sys::poll::{Side, ready};
use touchstone_sys::socket::{Address, Stream};

use crate::conversation::Conversation;
use crate::response::{Progress, Response, SoFar};
use crate::socket::Opening;
use crate::target::Target;
use crate::transport::Transport;

/// An open connection.
pub struct Connection {
    socket: Stream,
    conversation: Conversation,
    /// Where it leads.
    pub address: Address,
}

/// A whole response, and when its first byte came.
#[derive(Debug)]
pub struct Answered {
    /// The response.
    pub response: Response,
    /// When its first byte came.
    pub first_byte: Instant,
}

/// Why a request got no whole response.
#[derive(Debug)]
pub struct Unanswered {
    /// A sentence; of a late one, what came of the response until then, or nothing.
    pub why: String,
    /// Whether the time was over.
    pub late: bool,
    /// Whether the server was seen to speak something else than it is asked in.
    pub mismatch: bool,
    /// Whether not a byte came before the connection ended, so that the request may never have been seen.
    pub unseen: bool,
}

impl Unanswered {
    /// For a reason that is none of the others.
    #[must_use]
    pub const fn because(why: String) -> Self {
        Self {
            why,
            late: false,
            mismatch: false,
            unseen: false,
        }
    }
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// Why it could not.
    pub fn open(
        transport: &Transport,
        target: &Target<Address>,
        within: Duration,
    ) -> Result<Self, String> {
        let socket = connect(target.address, within).map_err(|error| error.to_string())?;
        Self::over(socket, transport, target.address)
    }

    /// A connection over a socket that is connected.
    ///
    /// # Errors
    /// A sentence on TLS settings that do not hold together.
    pub fn over(socket: Stream, transport: &Transport, address: Address) -> Result<Self, String> {
        Ok(Self {
            socket,
            conversation: Conversation::new(transport)?,
            address,
        })
    }

    /// Whether a further request may be sent on it: the server has not closed, and sent nothing that belongs to no request.
    #[must_use]
    pub fn is_at_rest(&mut self) -> bool {
        let (mut buffer, mut out) = ([0; 16 * 1024], Vec::new());
        loop {
            match self.socket.receive(&mut buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    if self.conversation.take(&buffer[..count], &mut out).is_err() {
                        return false;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return false,
            }
        }
        let sent = self.send(&out, Instant::now() + Duration::from_millis(100));
        sent.is_ok() && self.conversation.is_open()
    }

    /// Sends a request and reads its response to the end. The service has until `deadline` for all of it, so that one that
    /// sends a byte now and then does not hold anybody up.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub fn exchange(
        &mut self,
        request: &[u8],
        to_head: bool,
        deadline: Instant,
    ) -> Result<Answered, Unanswered> {
        self.exchange_until(request, to_head, deadline, |_| Some(deadline))
    }

    /// The same, until nothing more is waited for: `waits` says of what has come until when the rest is.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub fn exchange_until(
        &mut self,
        request: &[u8],
        to_head: bool,
        deadline: Instant,
        waits: impl FnMut(&SoFar<'_>) -> Option<Instant>,
    ) -> Result<Answered, Unanswered> {
        let mut out = Vec::new();
        self.conversation.ask(request, to_head, &mut out);
        self.finish(out, deadline, waits)
    }

    /// Opens a WebSocket, sends its message, and reads the one that comes back.
    ///
    /// # Errors
    /// [`Unanswered`].
    pub fn exchange_message(
        &mut self,
        opening: &Opening,
        deadline: Instant,
    ) -> Result<Answered, Unanswered> {
        let mut out = Vec::new();
        self.conversation.open(opening, &mut out);
        self.finish(out, deadline, |_| Some(deadline))
    }

    /// Sends what the conversation has to send, and reads the response to its end.
    fn finish(
        &mut self,
        mut out: Vec<u8>,
        mut deadline: Instant,
        mut waits: impl FnMut(&SoFar<'_>) -> Option<Instant>,
    ) -> Result<Answered, Unanswered> {
        // A server may answer before it has read all, and then read no more: its answer counts.
        let mut sent = self.send(&out, deadline);
        let mut first_byte = None;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let mut progress = match self.receive(&mut buffer, deadline) {
                Ok(0) => self.conversation.close().map(Progress::Complete),
                Ok(count) => {
                    out.clear();
                    let progress = self.conversation.take(&buffer[..count], &mut out);
                    if self.conversation.begun() || matches!(progress, Ok(Progress::Complete(_))) {
                        first_byte.get_or_insert_with(Instant::now);
                    }
                    sent = sent.and_then(|()| self.send(&out, deadline));
                    progress
                }
                Err(error) => Err(match &sent {
                    Err(error) => format!("sending: {error}"),
                    Ok(()) => (error.raw_os_error())
                        .and_then(|number| self.conversation.ended(number))
                        .unwrap_or_else(|| format!("receiving: {error}")),
                }),
            };
            if matches!(progress, Ok(Progress::Partial))
                && let Some(so_far) = self.conversation.seen()
            {
                match waits(&so_far) {
                    Some(until) => deadline = until,
                    None => progress = Ok(Progress::Complete(so_far.left())),
                }
            }
            match progress {
                Ok(Progress::Partial) => {}
                Ok(Progress::Complete(response)) => {
                    return Ok(Answered {
                        response,
                        first_byte: first_byte.unwrap_or_else(Instant::now),
                    });
                }
                Err(why) => {
                    let late = Instant::now() >= deadline;
                    return Err(Unanswered {
                        why: if late {
                            self.conversation.so_far()
                        } else {
                            why
                        },
                        late,
                        mismatch: self.conversation.is_mismatch(),
                        unseen: !self.conversation.begun() && !late,
                    });
                }
            }
        }
    }

    /// Sends bytes as they are, and gives the first ones that come, `count` at least; none if fewer come by the deadline.
    pub fn first_bytes(
        &mut self,
        bytes: &[u8],
        count: usize,
        deadline: Instant,
    ) -> Option<Vec<u8>> {
        self.send(bytes, deadline).ok()?;
        let (mut found, mut buffer) = (Vec::new(), [0; 1024]);
        while found.len() < count {
            match self.receive(&mut buffer, deadline) {
                Ok(0) | Err(_) => return None,
                Ok(read) => found.extend_from_slice(&buffer[..read]),
            }
        }
        Some(found)
    }

    fn send(&self, mut rest: &[u8], deadline: Instant) -> io::Result<()> {
        while !rest.is_empty() {
            match self.socket.send(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) => self.wait(error, Side::Write, deadline)?,
            }
        }
        Ok(())
    }

    fn receive(&self, buffer: &mut [u8], deadline: Instant) -> io::Result<usize> {
        loop {
            match self.socket.receive(buffer) {
                Ok(count) => return Ok(count),
                Err(error) => self.wait(error, Side::Read, deadline)?,
            }
        }
    }

    /// After a call that could not go on: waits if it would have blocked, else gives its error.
    fn wait(&self, error: io::Error, side: Side, deadline: Instant) -> io::Result<()> {
        match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            io::ErrorKind::WouldBlock => {
                let left = deadline.saturating_duration_since(Instant::now());
                if !left.is_zero() && ready(self.socket.as_fd(), side, left) {
                    return Ok(());
                }
                Err(io::ErrorKind::TimedOut.into())
            }
            _ => Err(error),
        }
    }
}

fn connect(address: Address, within: Duration) -> io::Result<Stream> {
    let address = match address {
        Address::Ip(address) => address,
        Address::Unix(path) => return Stream::to_unix(path),
    };
    let socket = Stream::new(&address)?;
    socket.no_delay()?;
    if !socket.connect(&address)? {
        if !ready(socket.as_fd(), Side::Write, within) {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "connection timed out",
            ));
        }
        if let Some(error) = socket.take_error() {
            return Err(error);
        }
    }
    Ok(socket)
}
