//! Source addresses. `connect` turns quadratic with the connections of one source address (beyond some 14,000, as the free
//! ports of the range run out), so each process gets several.

use std::net::Ipv4Addr;

/// Connections for one source address.
pub const PER_ADDRESS: u64 = 8_000;

/// An IPv4 network from which sources are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources {
    network: u32,
    hosts: u32,
}

impl Sources {
    /// From `127.0.0.0/8`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let error = || format!("sources is {text:?}, not an IPv4 network such as 127.0.0.0/8");
        let (address, prefix) = text.split_once('/').ok_or_else(error)?;
        let address: Ipv4Addr = address.parse().map_err(|_| error())?;
        let prefix: u32 = prefix
            .parse()
            .ok()
            .filter(|p| (8..=30).contains(p))
            .ok_or_else(error)?;
        let mask = u32::MAX << (32 - prefix);
        Ok(Self {
            network: u32::from(address) & mask,
            hosts: !mask,
        })
    }

    /// The n-th source: never the network's first addresses, which servers listen on, nor its last, which is broadcast.
    pub fn address(&self, n: u64) -> Ipv4Addr {
        let skip = if self.hosts > 0x1_0000 { 0x1_0001 } else { 1 };
        let usable = u64::from(self.hosts - skip);
        Ipv4Addr::from(self.network + skip + (n % usable) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_lie_within_the_network() {
        let sources = Sources::parse("127.0.0.0/8").unwrap();
        assert_eq!(sources.address(0), Ipv4Addr::new(127, 1, 0, 1));
        assert_eq!(sources.address(300), Ipv4Addr::new(127, 1, 1, 45));
        let small = Sources::parse("127.0.0.0/30").unwrap();
        assert_eq!(
            (small.address(0), small.address(2)),
            (Ipv4Addr::new(127, 0, 0, 1), Ipv4Addr::new(127, 0, 0, 1))
        );
        assert!(Sources::parse("127.0.0.1").is_err() && Sources::parse("::1/64").is_err());
    }
}
