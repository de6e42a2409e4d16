//! Local ports, from which connections to one server are opened window by window.

use std::ops::RangeInclusive;

/// Connections that share a window.
const WINDOW: u64 = 64;

/// The ports that this machine connects from.
///
/// From one address to one server each connection takes a port of its own, and the kernel looks for a free one among
/// every second port first. Once half of them are taken it passes tens of thousands with each connect: the second half
/// of 64,000 connections took 1.5 minutes where the first took 10 s. Among few ports it finds a free one at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    first: u16,
    count: u64,
}

impl Ports {
    /// What `net.ipv4.ip_local_port_range` says; `None` where it cannot be read.
    #[must_use]
    pub fn of_this_machine() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace().map(str::parse::<u16>);
        let (first, last) = (words.next()?.ok()?, words.next()?.ok()?);
        let count = u64::from(last.checked_sub(first)?) + 1;
        Some(Self { first, count })
    }

    /// Where the n-th connection of this machine looks for its port; the windows come round again.
    #[must_use]
    pub fn window(self, n: u64) -> RangeInclusive<u16> {
        let begin = n / WINDOW % self.count.div_ceil(WINDOW) * WINDOW;
        let end = (begin + WINDOW).min(self.count) - 1;
        // Both lie below `count`, which is at most 65,536 less `first`.
        self.first + begin as u16..=self.first + end as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_all_ports_and_no_other() {
        let ports = Ports::parse("32768\t60999\n").unwrap();
        assert_eq!(ports.window(0), 32768..=32831);
        assert_eq!(ports.window(63), 32768..=32831);
        assert_eq!(ports.window(64), 32832..=32895);
        let mut expected = 32768;
        for number in 0..ports.count.div_ceil(WINDOW) {
            let window = ports.window(number * WINDOW);
            assert_eq!(*window.start(), expected);
            expected = *window.end() + 1;
        }
        assert_eq!(expected, 61000);
        assert_eq!(ports.window(28_288), ports.window(0));
        let widest = Ports::parse("1 65535").unwrap();
        assert_eq!(widest.window(65_535 - 1), 65473..=65535);
        assert_eq!(
            Ports::parse("40000 40000").unwrap().window(7),
            40000..=40000
        );
        for bad in ["", "1", "2 1", "x y", "1 70000"] {
            assert_eq!(Ports::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn this_machine_has_some() {
        assert!(Ports::of_this_machine().is_some());
    }
}
