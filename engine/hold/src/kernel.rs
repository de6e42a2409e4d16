//! What the kernel holds: sockets, their slabs, and the machine's memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;

/// One reading. Bytes and counts, for the whole machine: both ends of a loopback connection are in it.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Kernel {
    /// TCP sockets in use (IPv4 and IPv6).
    pub tcp_in_use: Option<u64>,
    /// TCP sockets allocated, in whatever state.
    pub tcp_allocated: Option<u64>,
    /// Sockets in TIME_WAIT.
    pub tcp_time_wait: Option<u64>,
    /// Memory of TCP's buffers.
    pub tcp_buffers: Option<u64>,
    /// Memory of the slabs that connections live in, by the kernel's name; empty where /proc/slabinfo may not be read.
    pub slabs: BTreeMap<String, u64>,
    /// All slabs.
    pub slab: Option<u64>,
    /// Memory that is free.
    pub memory_free: Option<u64>,
    /// Memory that can be had without swapping.
    pub memory_available: Option<u64>,
    /// All memory.
    pub memory_total: Option<u64>,
}

/// Slab caches that grow with connections: sockets and their inodes and directory entries, files, epoll's items.
const SLABS: &[&str] = &[
    "TCP",
    "TCPv6",
    "request_sock_TCP",
    "tw_sock_TCP",
    "sock_inode_cache",
    "dentry",
    "filp",
    "eventpoll_epi",
    "eventpoll_pwq",
    "ep_head",
    "skbuff_head_cache",
    "skbuff_fclone_cache",
    "lsm_file_cache",
    "lsm_inode_cache",
    "kmalloc-16",
    "kmalloc-32",
    "kmalloc-64",
    "kmalloc-96",
    "tcp_bind_bucket",
    "tcp_bind2_bucket",
];

impl Kernel {
    /// Reads everything that may be read.
    #[must_use]
    pub fn now() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let memory = read("/proc/meminfo");
        let mut kernel = Self {
            slab: meminfo(&memory, "Slab"),
            memory_free: meminfo(&memory, "MemFree"),
            memory_available: meminfo(&memory, "MemAvailable"),
            memory_total: meminfo(&memory, "MemTotal"),
            slabs: slabs(&read("/proc/slabinfo")),
            ..Self::default()
        };
        kernel.sockets(&read("/proc/net/sockstat"), &read("/proc/net/sockstat6"));
        kernel
    }

    fn sockets(&mut self, v4: &str, v6: &str) {
        let tcp = v4.lines().find_map(|line| line.strip_prefix("TCP: "));
        let of = |name: &str| value_after(tcp?, name);
        let in_use6 = v6
            .lines()
            .find_map(|line| value_after(line.strip_prefix("TCP6: ")?, "inuse"));
        self.tcp_in_use = of("inuse").map(|n| n + in_use6.unwrap_or(0));
        self.tcp_allocated = of("alloc");
        self.tcp_time_wait = of("tw");
        self.tcp_buffers = of("mem").map(|pages| pages * 4096);
    }
}

/// `inuse 5 orphan 0 ...`
fn value_after(line: &str, name: &str) -> Option<u64> {
    let mut words = line.split_ascii_whitespace();
    words.find(|word| *word == name)?;
    words.next()?.parse().ok()
}

/// `MemFree:   1234 kB`
fn meminfo(text: &str, name: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_ascii_whitespace()
        .next()?
        .parse::<u64>()
        .ok()
        .map(|kb| kb * 1024)
}

/// `name active total object_size per_slab pages_per_slab : ... : slabdata active_slabs total_slabs shared` (slabinfo(5))
fn slabs(text: &str) -> BTreeMap<String, u64> {
    text.lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let name = *SLABS.iter().find(|name| words.first() == Some(*name))?;
            let pages: u64 = words.get(5)?.parse().ok()?;
            let at = words.iter().position(|word| *word == "slabdata")?;
            let count: u64 = words.get(at + 2)?.parse().ok()?;
            Some((name.to_owned(), pages * count * 4096))
        })
        .collect()
}

/// Open files of the whole machine, and the most that may be open.
#[must_use]
pub fn open_files() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/sys/fs/file-nr").ok()?;
    let mut words = text.split_ascii_whitespace();
    Some((words.next()?.parse().ok()?, words.nth(1)?.parse().ok()?))
}

/// How many files a process may open.
#[must_use]
pub fn file_limit(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    match line.split_ascii_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_connection_shows_in_the_reading() {
        let more = || {
            let before = Kernel::now();
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let held: Vec<_> = (0..100)
                .map(|_| std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap())
                .collect();
            Kernel::now().tcp_in_use.unwrap() + 50 > before.tcp_in_use.unwrap() + held.len() as u64
        };
        // Other processes of the machine may close sockets of their own at the same time, hardly each time.
        assert!((0..20).any(|_| more()));
        let after = Kernel::now();
        assert!(after.memory_total.unwrap() > after.memory_available.unwrap());
        assert!(
            file_limit(std::process::id() as i32).unwrap() > 100 && open_files().unwrap().0 > 100
        );
    }

    #[test]
    fn slab_lines_are_turned_into_bytes() {
        let text = "slabinfo - version: 2.1\n# name ...\n\
                    TCP 13 13 2432 13 8 : tunables 0 0 0 : slabdata 1 2 0\nTCPx 1 1 1 1 1 : tunables 0 0 0 : slabdata 1 1 0\n";
        assert_eq!(
            slabs(text),
            BTreeMap::from([("TCP".to_owned(), 8 * 2 * 4096)])
        );
    }
}
