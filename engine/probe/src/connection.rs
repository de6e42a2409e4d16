//! A raw connection that reads while it writes, so that neither side can block the other.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use touchstone_sys::poll::{Side, ready};
use touchstone_tls::Settings;

use crate::channel::Channel;

/// How the server's side ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// FIN.
    Closed,
    /// RST.
    Reset,
}

/// One connection and all that came in on it, unless it was forgotten.
pub struct Connection {
    channel: Channel,
    received: Vec<u8>,
    ended: Option<Ended>,
    last_news: Instant,
}

/// Most that is kept of what a server sends; more is read and dropped.
const KEPT: usize = 8 << 20;

/// Reads in a row before the caller looks at its clock.
const READS: usize = 64;

impl Connection {
    /// Connects, with TLS if there are settings of it, within the time given.
    ///
    /// # Errors
    /// When no connection comes about.
    pub fn open(
        address: SocketAddr,
        tls: Option<&Settings>,
        patience: Duration,
    ) -> io::Result<Connection> {
        Ok(Connection {
            channel: Channel::open(address, tls, patience)?,
            received: Vec::new(),
            ended: None,
            last_news: Instant::now(),
        })
    }

    /// What came in until now.
    pub fn received(&self) -> &[u8] {
        &self.received
    }

    /// Drops what came in until now.
    pub fn forget(&mut self) {
        self.received.clear();
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
            match self.channel.write(&octets[sent..]) {
                Ok(count) => {
                    sent += count;
                    self.last_news = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let now = Instant::now();
                    if now >= deadline {
                        break;
                    }
                    let side = match self.ended {
                        None => Side::Both,
                        Some(_) => Side::Write,
                    };
                    self.wait(side, deadline - now);
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
        // A failure to write shows in the next read.
        let side = match self.channel.flush() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Side::Both,
            _ => Side::Read,
        };
        self.wait(side, limit);
        self.take();
    }

    /// Closes the sending side.
    pub fn half_close(&mut self) {
        // It fails only when the server has gone already, which the next read will tell.
        let _ = self.channel.shutdown(Shutdown::Write);
        self.last_news = Instant::now();
    }

    /// Abandons the connection with a reset.
    pub fn reset(self) {
        // Where it fails, the connection is closed instead.
        let _ = self.channel.reset();
    }

    /// Reads what is there, but not for ever: who sends without end must not keep the caller from its deadline.
    fn take(&mut self) {
        let mut buffer = [0u8; 16 << 10];
        for _ in 0..READS {
            if self.ended.is_some() {
                return;
            }
            match self.channel.read(&mut buffer) {
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

    /// Waits until the socket is ready or the limit is up; after either, the caller looks at both again.
    fn wait(&self, side: Side, limit: Duration) {
        let _ = ready(self.channel.as_fd(), side, limit);
    }
}
