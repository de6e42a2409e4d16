//! Sockets as a load needs them: bound to a source address, connected without waiting, and closed with a reset.

use std::io;
use std::net::SocketAddr;

use touchstone_crew::{PER_SOURCE, Sources};
use touchstone_sys::socket::Stream;

use crate::error::Error;

/// Opens connections to one target.
#[derive(Debug, Clone)]
pub struct Connector {
    address: SocketAddr,
    sources: Option<Sources>,
    /// The number of this thread's first connection among all of the job's.
    first: u32,
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
        let parse = |text| Sources::parse(text).map_err(Error::Job);
        let mut sources = sources.map(parse).transpose()?;
        if sources.is_some() && address.is_ipv6() {
            return Err(Error::Job(
                "sources can be spread over IPv4 only, and the target is IPv6".to_owned(),
            ));
        }
        let loopback = matches!(address, SocketAddr::V4(v4) if v4.ip().is_loopback());
        if sources.is_none() && loopback && u64::from(total) > PER_SOURCE {
            sources = Some(parse("127.0.0.0/8")?);
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
            let source = sources.address(u64::from(self.first + slot) / PER_SOURCE);
            socket.bind(&SocketAddr::from((source, 0)))?;
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
