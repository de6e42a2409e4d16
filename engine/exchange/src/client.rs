//! One request over one connection, whose bytes come from a [`Dial`]: TCP as it is, or what wraps it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::response::{Progress, Reader, Response};
use crate::target::Target;

/// A connected stream of bytes.
pub trait Stream: Read + Write + Send {
    /// Has a read or a write give up after so long.
    ///
    /// # Errors
    /// What the operating system says.
    fn give_up_after(&self, limit: Duration) -> io::Result<()>;

    /// Whether the peer has sent nothing and has not closed, so that a request may follow.
    fn is_at_rest(&self) -> bool;
}

/// Opens connections.
pub trait Dial: Sync {
    /// A connection to the target's address.
    ///
    /// # Errors
    /// Why there is none.
    fn dial(&self, target: &Target, within: Duration) -> io::Result<Box<dyn Stream>>;
}

/// Opens connections without TLS.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl Dial for Plain {
    fn dial(&self, target: &Target, within: Duration) -> io::Result<Box<dyn Stream>> {
        let stream = TcpStream::connect_timeout(&target.address, within)?;
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }
}

impl Stream for TcpStream {
    fn give_up_after(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))?;
        self.set_write_timeout(Some(limit))
    }

    fn is_at_rest(&self) -> bool {
        let quiet = |stream: &Self| -> io::Result<bool> {
            stream.set_nonblocking(true)?;
            let peeked = stream.peek(&mut [0]);
            stream.set_nonblocking(false)?;
            Ok(peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock))
        };
        quiet(self).unwrap_or(false)
    }
}

/// An open connection.
pub struct Connection {
    stream: Box<dyn Stream>,
    /// Where it leads.
    pub address: SocketAddr,
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
    /// Whether not a byte came before the connection ended, so that the request may never have been seen.
    pub unseen: bool,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// Why it could not.
    pub fn open(dial: &dyn Dial, target: &Target, within: Duration) -> io::Result<Self> {
        Ok(Self {
            stream: dial.dial(target, within)?,
            address: target.address,
        })
    }

    /// Whether a further request may be sent on it.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.stream.is_at_rest()
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
        // A server may answer before it has read all, and then read no more: its answer counts.
        let sent = self.send(request, deadline);
        let mut reader = Reader::new(to_head);
        let mut first_byte = None;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = self.receive(&mut buffer, deadline);
            let progress = match read {
                Ok(0) => reader.close().map(Progress::Complete),
                Ok(count) => {
                    first_byte.get_or_insert_with(Instant::now);
                    reader.push(&buffer[..count])
                }
                Err(error) => Err(match &sent {
                    Err(error) => format!("sending: {error}"),
                    Ok(()) => format!("receiving: {error}"),
                }),
            };
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
                        why: if late { reader.so_far() } else { why },
                        late,
                        unseen: !reader.begun() && !late,
                    });
                }
            }
        }
    }

    /// Sends bytes, and gives the first ones that come, `count` at least; none if fewer come by the deadline.
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

    fn send(&mut self, mut rest: &[u8], deadline: Instant) -> io::Result<()> {
        while !rest.is_empty() {
            self.stream.give_up_after(left(deadline)?)?;
            match self.stream.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.stream.flush()
    }

    fn receive(&mut self, buffer: &mut [u8], deadline: Instant) -> io::Result<usize> {
        loop {
            self.stream.give_up_after(left(deadline)?)?;
            match self.stream.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// The time until a deadline.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}
