//! What the sockets of the machine sent: counters of the network namespace, which belong to no process.

use crate::procfs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ffi::CStr;
use touchstone_sys::file;

/// Room for `/proc/net/netstat`, the longest of the files read here.
const ROOM: usize = 32 << 10;

/// What all sockets of the network namespace sent, loopback included.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Default, JsonSchema, Serialize, Deserialize,
)]
pub struct Sent {
    /// UDP datagrams.
    pub datagrams: u64,
    /// TCP segments, acknowledgements included.
    pub segments: u64,
    /// Bytes of IP packets, with their headers.
    pub octets: u64,
}

impl Sent {
    /// The counters now (proc_pid_net(5), RFC 1213). `None` where they cannot be read.
    #[must_use]
    pub fn now() -> Option<Self> {
        let mut buffer = vec![0; ROOM];
        let mut sent = Self::default();
        let text = read(c"/proc/net/snmp", &mut buffer)?;
        sent.datagrams = column(text, b"Udp:", b"OutDatagrams")?;
        sent.segments = column(text, b"Tcp:", b"OutSegs")?;
        let text = read(c"/proc/net/netstat", &mut buffer)?;
        sent.octets = column(text, b"IpExt:", b"OutOctets")?;
        // Absent without IPv6.
        if let Some(text) = read(c"/proc/net/snmp6", &mut buffer) {
            let of = |name: &[u8]| single(text, name).unwrap_or(0);
            sent.datagrams += of(b"Udp6OutDatagrams");
            sent.octets += of(b"Ip6OutOctets");
        }
        Some(sent)
    }

    /// What was sent from this moment until a later one.
    #[must_use]
    pub const fn until(self, later: Self) -> Self {
        Self {
            datagrams: later.datagrams.saturating_sub(self.datagrams),
            segments: later.segments.saturating_sub(self.segments),
            octets: later.octets.saturating_sub(self.octets),
        }
    }
}

fn read<'b>(path: &CStr, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    file::read(&file::open(path)?, buffer)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// A counter of a protocol: one line holds the protocol's names, the next one the numbers.
fn column(text: &[u8], protocol: &[u8], name: &[u8]) -> Option<u64> {
    let mut lines = text
        .split(|b| *b == b'\n')
        .filter(|line| line.starts_with(protocol));
    let place = words(lines.next()?).position(|word| word == name)?;
    procfs::number(words(lines.next()?).nth(place)?)
}

/// A counter on a line of its own.
fn single(text: &[u8], name: &[u8]) -> Option<u64> {
    text.split(|b| *b == b'\n').find_map(|line| {
        let mut words = words(line);
        (words.next() == Some(name)).then(|| procfs::number(words.next()?))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn a_counter_is_found_by_the_names_of_its_protocol() {
        let text = b"Udp: InDatagrams NoPorts OutDatagrams\nUdp: 7 0 8\nUdpLite: OutDatagrams\nUdpLite: 9\n";
        assert_eq!(column(text, b"Udp:", b"OutDatagrams"), Some(8));
        assert_eq!(column(text, b"Udp:", b"OutSegs"), None);
        assert_eq!(
            column(b"Udp: OutDatagrams\n", b"Udp:", b"OutDatagrams"),
            None
        );
        let text = b"Ip6OutOctets\t12\nUdp6OutDatagrams  \t 5\n";
        assert_eq!(single(text, b"Udp6OutDatagrams"), Some(5));
        assert_eq!(single(text, b"Udp6Out"), None);
    }

    #[test]
    fn a_datagram_of_this_process_is_counted() {
        let Some(before) = Sent::now() else {
            return;
        };
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..3 {
            socket
                .send_to(&[0; 100], socket.local_addr().unwrap())
                .unwrap();
        }
        let sent = before.until(Sent::now().unwrap());
        assert!(sent.datagrams >= 3 && sent.octets >= 3 * 128, "{sent:?}");
    }
}
