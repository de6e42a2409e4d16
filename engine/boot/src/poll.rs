//! Finding the moment at which the port opens.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Duration;
use touchstone_sys::poll::{Side, ready};
use touchstone_sys::socket::Stream;

/// A try to connect.
pub enum Try {
    /// Connected.
    Open(Stream),
    /// Nobody listens.
    Closed,
    /// Something else, such as a full queue.
    Failed(io::Error),
}

/// Connects again and again to one address from one source port.
///
/// The source port is chosen once. With the kernel's choice at each try, sooner or later it would be the server's own
/// port: the try would connect to itself, and the server would find its port in use.
pub struct Knocker {
    address: SocketAddr,
    source: u16,
}

impl Knocker {
    pub fn new(address: SocketAddr) -> io::Result<Self> {
        let mut knocker = Self { address, source: 0 };
        knocker.choose_source()?;
        Ok(knocker)
    }

    /// Tries once; takes some 10 microseconds when nobody listens.
    pub fn knock(&mut self, patience: Duration) -> Try {
        match self.connect(patience) {
            Ok(socket) => Try::Open(socket),
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => Try::Closed,
            Err(e) => {
                if matches!(
                    e.kind(),
                    io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable
                ) {
                    let _ = self.choose_source();
                }
                Try::Failed(e)
            }
        }
    }

    fn connect(&self, patience: Duration) -> io::Result<Stream> {
        let socket = Stream::new(&self.address)?;
        socket.reuse_address()?;
        socket.reset_on_close()?;
        socket.bind(&self.own(self.source))?;
        if socket.connect(&self.address)? {
            return Ok(socket);
        }
        if !ready(socket.as_fd(), Side::Write, patience) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.take_error().map_or(Ok(socket), Err)
    }

    /// The client's address: the target's own, with another port.
    fn own(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address.ip(), port)
    }

    /// Lets the kernel choose a free port that is not the target's.
    fn choose_source(&mut self) -> io::Result<()> {
        for _ in 0..16 {
            let socket = Stream::new(&self.address)?;
            socket.bind(&self.own(0))?;
            self.source = socket.local_address()?.port();
            if self.source != self.address.port() {
                break;
            }
        }
        Ok(())
    }
}
