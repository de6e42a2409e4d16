//! How connections to a server come about: its address, the protocol, and TLS.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use touchstone_tls::{Protocol, Settings};

use crate::connection::Connection;
use crate::h2::frames;
use crate::response::{self, Reading};

/// How connections to a server come about.
#[derive(Clone)]
pub struct Dial {
    /// Where it listens.
    pub address: SocketAddr,
    /// What is spoken.
    pub protocol: Protocol,
    /// TLS, where it is spoken.
    pub tls: Option<Arc<Settings>>,
}

impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} to {}", self.protocol, self.address)
    }
}

impl Dial {
    /// A connection, with TLS where it is spoken, within the time given.
    ///
    /// # Errors
    /// When none comes about. Where TLS is the reason, [`crate::connection::no_tls`] has the words.
    pub fn open(&self, patience: Duration) -> io::Result<Connection> {
        Connection::open(self.address, self.tls.as_deref(), patience)
    }

    /// Reads what a server sent on a connection; `ended` says that nothing will follow.
    pub fn read(&self, bytes: &[u8], methods: &[String], ended: bool) -> Reading {
        if self.protocol.is_h2() {
            frames::read(bytes)
        } else {
            response::read(bytes, methods, ended)
        }
    }
}
