//! TCP sockets of this machine seen from outside their process: `sock_diag(7)`, one exact socket or all of a remote port.

use crate::{count, done, own};
use std::io;
use std::mem::size_of;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

/// `SOCK_DIAG_BY_FAMILY` (linux/sock_diag.h).
const BY_FAMILY: u16 = 20;
const DUMP: u16 = 0x301;
const REQUEST: u16 = 1;
const HEADER: usize = 16;
/// Bytes of `inet_diag_req_v2` and of `inet_diag_msg` (linux/inet_diag.h).
const ASKED: usize = 56;
const ANSWERED: usize = 72;
/// `INET_DIAG_INFO`: the attribute that holds `tcp_info`.
const INFO: u16 = 2;
const ESTABLISHED: u32 = 1 << 1;
/// `TCP_LISTEN`: what an exact question finds where no connection has this address.
const LISTENS: u8 = 10;
/// Places in `tcp_info` (linux/tcp.h).
const BYTES_RECEIVED: usize = 128;
const BYTES_SENT: usize = 200;

/// What the kernel holds for one end of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SocketState {
    /// Bytes that came, and that its process has not read.
    pub unread: u32,
    /// Bytes that its process wrote, and that the other end has not acknowledged.
    pub unacknowledged: u32,
    /// Whether its process has accepted it: until then it waits in the accept queue.
    pub accepted: bool,
    /// Bytes sent in all.
    pub sent: u64,
    /// Bytes received in all.
    pub received: u64,
}

/// Asks the kernel about sockets.
#[derive(Debug)]
pub struct SocketDiag {
    socket: OwnedFd,
    buffer: Box<[u8; 32 * 1024]>,
}

impl SocketDiag {
    /// A socket for the questions.
    ///
    /// # Errors
    /// Where the kernel was built without `sock_diag`.
    pub fn new() -> io::Result<Self> {
        const KIND: i32 = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: the call takes no pointers.
        let socket = own(unsafe { libc::socket(libc::AF_NETLINK, KIND, libc::NETLINK_SOCK_DIAG) })?;
        // A lost answer must not hang the thread that asks.
        let patience = libc::timeval {
            tv_sec: 0,
            tv_usec: 100_000,
        };
        // SAFETY: the option is a timeval that outlives the call.
        done(unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVTIMEO,
                (&raw const patience).cast(),
                size_of::<libc::timeval>() as u32,
            )
        })?;
        Ok(Self {
            socket,
            buffer: Box::new([0; 32 * 1024]),
        })
    }

    /// One end of a connection, by its own address and its peer's. `None` if there is no such connection.
    pub fn look(&mut self, own: SocketAddr, peer: SocketAddr) -> Option<SocketState> {
        let family = if peer.is_ipv4() {
            libc::AF_INET
        } else {
            libc::AF_INET6
        };
        self.ask(family, own, peer, REQUEST).ok()?;
        let length = self.receive().ok()?;
        let message = self.buffer.get(..length)?;
        let (kind, payload, _) = next_message(message)?;
        (kind == BY_FAMILY).then(|| state(payload)).flatten()
    }

    /// Both addresses of each connection whose remote port is this one, its own first.
    pub fn connected_to(&mut self, peer: SocketAddr) -> Vec<(SocketAddr, SocketAddr)> {
        let mut found = Vec::new();
        if peer.is_ipv4() {
            self.dump(libc::AF_INET, peer, &mut found);
        }
        // A socket of IPv6 may be connected to an address of IPv4: the JDK opens no others.
        self.dump(libc::AF_INET6, peer, &mut found);
        found
    }

    fn dump(&mut self, family: i32, peer: SocketAddr, found: &mut Vec<(SocketAddr, SocketAddr)>) {
        let mut any = peer;
        any.set_port(0);
        if self.ask(family, any, peer, DUMP).is_err() {
            return;
        }
        while let Ok(length) = self.receive() {
            let mut rest = &self.buffer[..length];
            while let Some((kind, payload, after)) = next_message(rest) {
                if kind != BY_FAMILY {
                    return;
                }
                if let Some((own, other)) = addresses(payload)
                    && other.port() == peer.port()
                    && other.is_ipv4() == peer.is_ipv4()
                {
                    found.push((own, other));
                }
                rest = after;
            }
        }
    }

    fn ask(&self, family: i32, own: SocketAddr, peer: SocketAddr, flags: u16) -> io::Result<()> {
        let mut bytes = [0_u8; HEADER + ASKED];
        bytes[0..4].copy_from_slice(&((HEADER + ASKED) as u32).to_ne_bytes());
        bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        let asked = &mut bytes[HEADER..];
        asked[0] = family as u8;
        asked[1] = libc::IPPROTO_TCP as u8;
        asked[2] = 1 << (INFO - 1);
        asked[4..8].copy_from_slice(&ESTABLISHED.to_ne_bytes());
        let dump = flags == DUMP;
        asked[8..10].copy_from_slice(&own.port().to_be_bytes());
        asked[10..12].copy_from_slice(&peer.port().to_be_bytes());
        if !dump {
            write_ip(&mut asked[12..28], own.ip());
            write_ip(&mut asked[28..44], peer.ip());
        }
        asked[48..56].fill(0xff); // INET_DIAG_NOCOOKIE
        // SAFETY: the bytes outlive the call; a netlink socket without an address sends to the kernel.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                0,
            )
        };
        count(sent).map(drop)
    }

    fn receive(&mut self) -> io::Result<usize> {
        // SAFETY: the buffer is valid for its length.
        count(unsafe {
            libc::recv(
                self.socket.as_raw_fd(),
                self.buffer.as_mut_ptr().cast(),
                self.buffer.len(),
                0,
            )
        })
    }
}

fn write_ip(place: &mut [u8], ip: IpAddr) {
    match ip {
        IpAddr::V4(ip) => place[..4].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) => place.copy_from_slice(&ip.octets()),
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The first message's kind and payload, and what follows it.
fn next_message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = word(bytes, 0)? as usize;
    let payload = bytes.get(HEADER..length)?;
    let after = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    Some((half(bytes, 4)?, payload, after))
}

fn state(message: &[u8]) -> Option<SocketState> {
    if *message.get(1)? == LISTENS {
        return None;
    }
    let mut found = SocketState {
        unread: word(message, 56)?,
        unacknowledged: word(message, 60)?,
        accepted: word(message, 68)? != 0,
        ..SocketState::default()
    };
    let mut rest = message.get(ANSWERED..)?;
    while let (Some(length), Some(kind)) = (half(rest, 0), half(rest, 2)) {
        let length = usize::from(length);
        if kind == INFO {
            let info = rest.get(4..length)?;
            found.sent = long(info, BYTES_SENT).unwrap_or(0);
            found.received = long(info, BYTES_RECEIVED).unwrap_or(0);
        }
        rest = rest.get(length.next_multiple_of(4).max(4)..).unwrap_or(&[]);
    }
    Some(found)
}

fn addresses(message: &[u8]) -> Option<(SocketAddr, SocketAddr)> {
    let ip = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = message.get(at..at + 16)?.try_into().ok()?;
        Some(if i32::from(*message.first()?) == libc::AF_INET {
            IpAddr::from([bytes[0], bytes[1], bytes[2], bytes[3]])
        } else {
            IpAddr::from(bytes).to_canonical()
        })
    };
    let port = |at: usize| {
        Some(u16::from_be_bytes(
            message.get(at..at + 2)?.try_into().ok()?,
        ))
    };
    Some((
        SocketAddr::new(ip(8)?, port(4)?),
        SocketAddr::new(ip(24)?, port(6)?),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_other_end_is_seen_until_it_has_accepted_and_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(server).unwrap();
        let port = client.local_addr().unwrap();
        let mut diag = SocketDiag::new().unwrap();
        client.write_all(b"12345").unwrap();
        let waiting = diag.look(server, port).unwrap();
        assert_eq!((waiting.unread, waiting.accepted), (5, false));
        let (mut accepted, _) = listener.accept().unwrap();
        assert!(diag.look(server, port).unwrap().accepted);
        accepted.read_exact(&mut [0; 5]).unwrap();
        let read = diag.look(server, port).unwrap();
        assert_eq!((read.unread, read.received), (0, 5));
        let own = diag.look(port, server).unwrap();
        assert_eq!(own.sent, 5);
        assert!(diag.connected_to(server).contains(&(port, server)));
        drop((client, accepted));
        let other: SocketAddr = "127.0.0.1:1".parse().unwrap();
        assert_eq!(diag.look(server, other), None);
    }

    #[test]
    fn a_connection_over_a_socket_of_ipv6_is_found_by_its_address_of_ipv4() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        // What the JDK opens for every address.
        let client = TcpStream::connect(("::ffff:127.0.0.1", server.port())).unwrap();
        let mut own = client.local_addr().unwrap();
        own.set_ip(own.ip().to_canonical());
        let mut diag = SocketDiag::new().unwrap();
        assert_eq!(diag.connected_to(server), [(own, server)]);
        assert!(diag.look(own, server).is_some());
    }
}
