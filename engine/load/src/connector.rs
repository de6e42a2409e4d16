//! Sockets: created, bound to a source address, connected without waiting, and closed with a reset.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::RawFd;

use crate::error::Error;

/// Connections on one source address: above about 14,000 the kernel's search for a free port turns quadratic.
pub const PER_SOURCE: u32 = 10_000;

/// Opens connections to one target.
#[derive(Debug, Clone)]
pub struct Connector {
    address: SocketAddr,
    sources: Option<Sources>,
    /// The number of this thread's first connection among all of the job's.
    first: u32,
}

/// An IPv4 network over which source addresses are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources {
    first: u32,
    hosts: u32,
}

impl Sources {
    /// Parses `a.b.c.d/n`.
    ///
    /// # Errors
    /// [`Error::Job`] if it is not an IPv4 network.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bad = || {
            Error::Job(format!(
                "sources {text:?}: it must be an IPv4 network such as 127.0.0.0/8"
            ))
        };
        let (address, bits) = text.split_once('/').unwrap_or((text, "32"));
        let address: Ipv4Addr = address.parse().map_err(|_| bad())?;
        let bits: u32 = bits
            .parse()
            .ok()
            .filter(|bits| (1..=32).contains(bits))
            .ok_or_else(bad)?;
        let mask = u32::MAX << (32 - bits);
        // The network's and the broadcast address are no sources, except where the network has only one or two.
        let (skip, hosts) = if bits >= 31 {
            (0, !mask + 1)
        } else {
            (1, !mask - 1)
        };
        Ok(Self {
            first: (u32::from(address) & mask) + skip,
            hosts,
        })
    }

    const fn address(self, index: u32) -> u32 {
        self.first + index % self.hosts
    }
}

impl Connector {
    /// A connector; `first` is the number of its first connection among `total`. Without named sources, a loopback
    /// target gets as many of 127.0.0.0/8 as keep connecting cheap.
    ///
    /// # Errors
    /// [`Error::Job`] if the sources are no IPv4 network, or the target is IPv6.
    pub fn new(
        address: SocketAddr,
        sources: Option<&str>,
        first: u32,
        total: u32,
    ) -> Result<Self, Error> {
        let mut sources = sources.map(Sources::parse).transpose()?;
        if sources.is_some() && address.is_ipv6() {
            return Err(Error::Job(
                "sources can be spread over IPv4 only, and the target is IPv6".to_owned(),
            ));
        }
        let loopback = matches!(address, SocketAddr::V4(v4) if v4.ip().is_loopback());
        if sources.is_none() && loopback && total > PER_SOURCE {
            sources = Some(Sources::parse("127.0.0.0/8")?);
        }
        Ok(Self {
            address,
            sources,
            first,
        })
    }

    /// Begins a connection that does not block: the socket, and whether it is established already.
    ///
    /// # Errors
    /// What the kernel answered to `socket`, `bind` or `connect`.
    pub fn open(&self, slot: u32) -> io::Result<(RawFd, bool)> {
        let family = if self.address.is_ipv4() {
            libc::AF_INET
        } else {
            libc::AF_INET6
        };
        // SAFETY: plain system call without pointers.
        let fd = unsafe {
            libc::socket(
                family,
                libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
                0,
            )
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        self.prepare(fd, slot).inspect_err(|_| close(fd))
    }

    fn prepare(&self, fd: RawFd, slot: u32) -> io::Result<(RawFd, bool)> {
        set(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, &1i32)?;
        // Closing with a reset leaves no TIME_WAIT behind, which would slow down the next run's connecting.
        set(
            fd,
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            &libc::linger {
                l_onoff: 1,
                l_linger: 0,
            },
        )?;
        if let Some(sources) = self.sources {
            // The port is chosen in connect(), where only the whole four-tuple must be unique.
            set(fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &1i32)?;
            let source = ipv4(sources.address((self.first + slot) / PER_SOURCE), 0);
            // SAFETY: `source` is a sockaddr_in and its size is given.
            check(unsafe {
                libc::bind(
                    fd,
                    (&raw const source).cast(),
                    size_of::<libc::sockaddr_in>() as u32,
                )
            })?;
        }
        let answer = match self.address {
            SocketAddr::V4(v4) => {
                let to = ipv4(u32::from(*v4.ip()), v4.port());
                // SAFETY: as above.
                unsafe {
                    libc::connect(
                        fd,
                        (&raw const to).cast(),
                        size_of::<libc::sockaddr_in>() as u32,
                    )
                }
            }
            SocketAddr::V6(v6) => {
                // SAFETY: all zero is a valid sockaddr_in6.
                let mut to: libc::sockaddr_in6 = unsafe { zeroed() };
                to.sin6_family = libc::AF_INET6 as u16;
                to.sin6_port = v6.port().to_be();
                to.sin6_addr.s6_addr = v6.ip().octets();
                to.sin6_scope_id = v6.scope_id();
                // SAFETY: `to` is a sockaddr_in6 and its size is given.
                unsafe {
                    libc::connect(
                        fd,
                        (&raw const to).cast(),
                        size_of::<libc::sockaddr_in6>() as u32,
                    )
                }
            }
        };
        match check(answer) {
            Ok(()) => Ok((fd, true)),
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok((fd, false)),
            Err(error) => Err(error),
        }
    }

    /// The address that is connected to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

fn ipv4(address: u32, port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr {
            s_addr: address.to_be(),
        },
        sin_zero: [0; 8],
    }
}

fn check(answer: libc::c_int) -> io::Result<()> {
    if answer < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn set<T>(fd: RawFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: `value` is valid for its own size.
    check(unsafe {
        libc::setsockopt(
            fd,
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as u32,
        )
    })
}

/// The outcome of a connection attempt, read from the socket: 0, or an error number.
#[must_use]
pub fn outcome(fd: RawFd) -> i32 {
    let mut error: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as u32;
    // SAFETY: both pointers are valid for the sizes given.
    let answer = unsafe {
        libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_ERROR,
            (&raw mut error).cast(),
            &raw mut length,
        )
    };
    if answer < 0 { libc::EIO } else { error }
}

/// Closes a socket.
pub fn close(fd: RawFd) {
    // SAFETY: the caller owns the descriptor and forgets it.
    unsafe { libc::close(fd) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_gives_its_hosts_and_not_its_ends() {
        let text = |sources: Sources, index| Ipv4Addr::from(sources.address(index)).to_string();
        let wide = Sources::parse("127.0.0.0/8").unwrap();
        assert_eq!(
            (text(wide, 0).as_str(), text(wide, 1).as_str()),
            ("127.0.0.1", "127.0.0.2")
        );
        let narrow = Sources::parse("127.0.0.0/30").unwrap();
        assert_eq!(
            (text(narrow, 1).as_str(), text(narrow, 2).as_str()),
            ("127.0.0.2", "127.0.0.1")
        );
        assert_eq!(text(Sources::parse("127.0.0.9").unwrap(), 5), "127.0.0.9");
        for bad in ["127.0.0.0/0", "x", "::1/64", "127.0.0.0/33"] {
            assert!(Sources::parse(bad).is_err(), "{bad}");
        }
    }
}
