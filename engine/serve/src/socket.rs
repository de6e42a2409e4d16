//! Listening on a port that several threads and processes may share.

use std::io;
use std::net::{SocketAddr, TcpListener};
use touchstone_sys::socket::Stream;

/// A socket bound to a port that others may bind as well, not yet listening.
pub fn bind(address: &SocketAddr) -> io::Result<Stream> {
    let socket = Stream::new(address)?;
    socket.reuse_address()?;
    socket.share_port()?;
    // Inherited by accepted sockets, which saves a call for each.
    socket.no_delay()?;
    socket.bind(address)?;
    Ok(socket)
}

/// One that listens.
pub fn listen(address: &SocketAddr) -> io::Result<TcpListener> {
    bind(address)?.listen()
}
