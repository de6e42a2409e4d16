//! Source addresses, over which connections to one server are spread.

use std::net::Ipv4Addr;

/// Connections on one source address: above about 14,000 the kernel's search for a free port turns quadratic.
pub const PER_SOURCE: u64 = 10_000;

/// Hosts of a network whose first addresses servers are likely to listen on: in 127.0.0.0/8, those up to 127.1.0.0.
const SERVERS: u32 = 0x1_0000;

/// An IPv4 network that source addresses are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources {
    first: u32,
    hosts: u32,
}

impl Sources {
    /// Parses `a.b.c.d/n`; without `/n` it is one address.
    ///
    /// # Errors
    /// A sentence that quotes what is not an IPv4 network.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("sources is {text:?}: it must be an IPv4 network such as 127.0.0.0/8");
        let (address, bits) = text.split_once('/').unwrap_or((text, "32"));
        let address: Ipv4Addr = address.parse().map_err(|_| bad())?;
        let bits: u32 = bits
            .parse()
            .ok()
            .filter(|bits| (1..=32).contains(bits))
            .ok_or_else(bad)?;
        let mask = u32::MAX << (32 - bits);
        // The network's and the broadcast address are not sources, except where the network has only one or two.
        let (skip, hosts) = match !mask {
            last @ 0..=1 => (0, last + 1),
            last if last > SERVERS => (SERVERS + 1, last - SERVERS - 1),
            last => (1, last - 1),
        };
        Ok(Self {
            first: (u32::from(address) & mask) + skip,
            hosts,
        })
    }

    /// The source address of the n-th group of [`PER_SOURCE`] connections; they come round again.
    #[must_use]
    pub fn address(self, n: u64) -> Ipv4Addr {
        Ipv4Addr::from(self.first + (n % u64::from(self.hosts)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_gives_its_hosts_and_not_its_ends() {
        let address = |text, n| Sources::parse(text).unwrap().address(n).to_string();
        assert_eq!(address("127.0.0.0/8", 0), "127.1.0.1");
        assert_eq!(address("127.0.0.0/8", 300), "127.1.1.45");
        let last = 0xff_ffff - 0x1_0000 - 2;
        assert_eq!(address("127.0.0.0/8", last), "127.255.255.254");
        assert_eq!(address("127.0.0.0/8", last + 1), "127.1.0.1");
        assert_eq!(address("127.0.0.0/30", 1), "127.0.0.2");
        assert_eq!(address("127.0.0.0/30", 2), "127.0.0.1");
        assert_eq!(address("127.0.0.8/31", 1), "127.0.0.9");
        assert_eq!(address("127.0.0.9", 5), "127.0.0.9");
        for bad in ["127.0.0.0/0", "x", "::1/64", "127.0.0.0/33"] {
            assert!(Sources::parse(bad).unwrap_err().contains(bad));
        }
    }
}
