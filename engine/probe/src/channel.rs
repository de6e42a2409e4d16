//! A TCP connection that does not block, with TLS or without.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustls::ClientConnection;
use touchstone_sys::socket::reset_on_close;
use touchstone_tls::{Settings, explain};

/// Octets that are kept of what a server answers to a handshake: another protocol shows there.
const BEGINNING: usize = 64;

/// The connection.
pub(crate) struct Channel {
    stream: TcpStream,
    tls: Option<Box<ClientConnection>>,
}

impl Channel {
    /// Connects, and shakes hands if there are settings of TLS.
    pub fn open(
        address: SocketAddr,
        tls: Option<&Settings>,
        patience: Duration,
    ) -> io::Result<Channel> {
        let stream = TcpStream::connect_timeout(&address, patience)?;
        stream.set_nodelay(true)?;
        let tls = match tls {
            Some(settings) => Some(Box::new(shake_hands(&stream, settings, patience)?)),
            None => None,
        };
        stream.set_nonblocking(true)?;
        Ok(Channel { stream, tls })
    }

    /// Closes one side.
    pub fn shutdown(&mut self, side: Shutdown) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            self.flush()?;
        }
        self.stream.shutdown(side)
    }

    /// Abandons it with a reset.
    pub fn reset(self) -> io::Result<()> {
        reset_on_close(&self.stream)
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.stream.read(buffer);
        };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // Closed without close_notify, which many servers leave out.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                done => return done,
            }
            tls.read_tls(&mut self.stream)?;
            tls.process_new_packets().map_err(io::Error::other)?;
        }
    }
}

impl Write for Channel {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.stream.write(octets);
        };
        let count = tls.writer().write(octets)?;
        match self.flush() {
            Ok(()) => Ok(count),
            Err(error) if error.kind() == ErrorKind::WouldBlock && count > 0 => Ok(count),
            Err(error) => Err(error),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                tls.write_tls(&mut self.stream)?;
            }
        }
        Ok(())
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// Keeps the first octets that are read.
struct Tee<'a> {
    stream: &'a TcpStream,
    beginning: Vec<u8>,
}

impl Read for Tee<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        let room = BEGINNING.saturating_sub(self.beginning.len()).min(count);
        self.beginning.extend_from_slice(&buffer[..room]);
        Ok(count)
    }
}

impl Write for Tee<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.stream.write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// A handshake that failed, in the words of [`explain`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NoTls(String);

fn shake_hands(
    stream: &TcpStream,
    settings: &Settings,
    patience: Duration,
) -> io::Result<ClientConnection> {
    let no_tls = |why: String| io::Error::new(ErrorKind::InvalidData, NoTls(why));
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    let session = ClientConnection::new(Arc::clone(&settings.config), settings.name.clone());
    let mut session = session.map_err(|error| no_tls(error.to_string()))?;
    let mut tee = Tee {
        stream,
        beginning: Vec::new(),
    };
    let handshake = &settings.handshake;
    if let Err(error) = session.complete_io(&mut tee) {
        let asked = settings.asked.load(Ordering::Relaxed);
        let tls = error
            .get_ref()
            .and_then(|e| e.downcast_ref::<rustls::Error>());
        let number = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => libc::ETIMEDOUT,
            _ => error.raw_os_error().unwrap_or(0),
        };
        let why = match tls {
            Some(error) => Some(explain::failure(error, handshake, asked, &tee.beginning)),
            None => explain::end(number, true, asked, handshake),
        };
        return Err(no_tls(why.unwrap_or_else(|| error.to_string())));
    }
    // A server that takes no part in ALPN speaks HTTP/1.1.
    let protocol = handshake.protocol;
    if protocol.is_h2() && session.alpn_protocol() != Some(protocol.alpn().as_bytes()) {
        return Err(no_tls(explain::not_spoken(protocol)));
    }
    Ok(session)
}
