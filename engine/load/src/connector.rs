//! Sockets as a load needs them: bound to a source address, connected without waiting, and closed with a reset.

use std::io;
use std::net::SocketAddr;

use touchstone_crew::{PER_SOURCE, Sources};
use touchstone_sys::socket::{Address, Stream};

use crate::error::Error;

/// Opens connections to one target.
#[derive(Debug, Clone)]
pub struct Connector {
    address: Address,
    sources: Option<Sources>,
    /// The number of this thread's first connection among all of the job's.
    first: u32,
}

impl Connector {
    /// A connector; `first` is the number of its first connection among `total`. Without named sources, a loopback
    /// target gets as many of 127.0.0.0/8 as keep connecting cheap.
    ///
    /// # Errors
    /// [`Error::Job`] if the sources are no IPv4 network, or the target is not of IPv4.
    pub fn new(
        address: Address,
        sources: Option<&str>,
        first: u32,
        total: u32,
    ) -> Result<Self, Error> {
        let parse = |text| Sources::parse(text).map_err(Error::Job);
        let mut sources = sources.map(parse).transpose()?;
        let is_ipv4 = matches!(address, Address::Ip(SocketAddr::V4(_)));
        if sources.is_some() && !is_ipv4 {
            return Err(Error::Job(format!(
                "sources can be spread over IPv4 only, and the target is {address}"
            )));
        }
        let loopback = is_ipv4 && address.is_local();
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
        let address = match &self.address {
            Address::Ip(address) => address,
            Address::Unix(path) => return Ok((Stream::to_unix(path)?, true)),
        };
        let socket = Stream::new(address)?;
        socket.no_delay()?;
        // Closing with a reset leaves no TIME_WAIT behind, which would slow down the next run's connecting.
        socket.reset_on_close()?;
        if let Some(sources) = self.sources {
            // The port is chosen in connect(), where only the whole four-tuple must be unique.
            socket.late_port()?;
            let source = sources.address(u64::from(self.first + slot) / PER_SOURCE);
            socket.bind(&SocketAddr::from((source, 0)))?;
        }
        let established = socket.connect(address)?;
        Ok((socket, established))
    }

    /// The address that is connected to.
    #[must_use]
    pub const fn address(&self) -> Address {
        self.address
    }
}
