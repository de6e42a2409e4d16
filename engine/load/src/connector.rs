//! Sockets as a load needs them: bound to a source address, connected without waiting, and closed with a reset.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use touchstone_sys::socket::Stream;

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
    pub fn open(&self, slot: u32) -> io::Result<(Stream, bool)> {
        let socket = Stream::new(&self.address)?;
        socket.no_delay()?;
        // Closing with a reset leaves no TIME_WAIT behind, which would slow down the next run's connecting.
        socket.reset_on_close()?;
        if let Some(sources) = self.sources {
            // The port is chosen in connect(), where only the whole four-tuple must be unique.
            socket.late_port()?;
            let source = sources.address((self.first + slot) / PER_SOURCE);
            socket.bind(&SocketAddr::from((Ipv4Addr::from(source), 0)))?;
        }
        let established = socket.connect(&self.address)?;
        Ok((socket, established))
    }

    /// The address that is connected to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
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
