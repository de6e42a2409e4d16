//! A raw connection that reads while it writes, so that neither side can block the other.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// How the server's side ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// FIN.
    Closed,
    /// RST.
    Reset,
}

/// One connection and all that came in on it.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
    ended: Option<Ended>,
    last_news: Instant,
}

/// Most that is kept of what a server sends; more is read and dropped.
const KEPT: usize = 8 << 20;

/// Reads in a row before the caller looks at its clock.
const READS: usize = 64;

impl Connection {
    /// Connects within the time given.
    pub fn open(address: SocketAddr, patience: Duration) -> io::Result<Connection> {
        let stream = TcpStream::connect_timeout(&address, patience)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Connection {
            stream,
            received: Vec::new(),
            ended: None,
            last_news: Instant::now(),
        })
    }

    /// What came in until now.
    pub fn received(&self) -> &[u8] {
        &self.received
    }

    /// How the server's side ended, if it did.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// How long nothing was sent, received or closed.
    pub fn quiet(&self) -> Duration {
        self.last_news.elapsed()
    }

    /// Sends the octets, reading meanwhile. Stops at the deadline, or when the connection fails.
    /// Returns how many went out.
    pub fn send(&mut self, octets: &[u8], deadline: Instant) -> usize {
        let mut sent = 0;
        while sent < octets.len() && self.ended != Some(Ended::Reset) {
            match self.stream.write(&octets[sent..]) {
                Ok(count) => {
                    sent += count;
                    self.last_news = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let now = Instant::now();
                    if now >= deadline {
                        break;
                    }
                    self.ready(self.ended.is_none(), true, deadline - now);
                    self.take();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    // What the server said before it closed may still be in the buffer.
                    self.take();
                    self.ended.get_or_insert(Ended::Reset);
                    break;
                }
            }
        }
        sent
    }

    /// Reads what comes in, for at most so long; returns early when something came.
    pub fn listen(&mut self, limit: Duration) {
        if self.ended.is_some() {
            return;
        }
        self.ready(true, false, limit);
        self.take();
    }

    /// Closes the sending side.
    pub fn half_close(&mut self) {
        // It fails only when the server has gone already, which the next read will tell.
        let _ = self.stream.shutdown(Shutdown::Write);
        self.last_news = Instant::now();
    }

    /// Abandons the connection with a reset.
    pub fn reset(self) {
        let linger = libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        let size = libc::socklen_t::try_from(size_of::<libc::linger>()).expect("a small size");
        // SAFETY: the descriptor is open for as long as `self`, and the option's value is a
        // `linger` of the stated size that outlives the call.
        unsafe {
            libc::setsockopt(
                self.stream.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                (&raw const linger).cast(),
                size,
            );
        }
    }

    /// Reads what is there, but not for ever: who sends without end must not keep the caller from its deadline.
    fn take(&mut self) {
        let mut buffer = [0u8; 16 << 10];
        for _ in 0..READS {
            if self.ended.is_some() {
                return;
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => self.ended = Some(Ended::Closed),
                Ok(count) => {
                    let room = KEPT.saturating_sub(self.received.len()).min(count);
                    self.received.extend_from_slice(&buffer[..room]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => self.ended = Some(Ended::Reset),
            }
            self.last_news = Instant::now();
        }
    }

    fn ready(&self, read: bool, write: bool, limit: Duration) {
        let mut events = 0;
        if read {
            events |= libc::POLLIN;
        }
        if write {
            events |= libc::POLLOUT;
        }
        let mut entry = libc::pollfd {
            fd: self.stream.as_raw_fd(),
            events,
            revents: 0,
        };
        // Rounded up, or a wait of less than a millisecond would spin.
        let millis = i32::try_from(limit.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        // SAFETY: `entry` is one valid pollfd that outlives the call; the descriptor is open.
        // A failure (a signal) is the same as a time-out: the caller looks at the clock again.
        unsafe {
            libc::poll(&raw mut entry, 1, millis);
        }
    }
}
