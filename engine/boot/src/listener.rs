//! Who listens on a port: proof that the answer came from the started tree.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};

/// What was found out about a port.
#[derive(Debug, Clone, Default)]
pub struct Ownership {
    /// Inodes of the listening sockets.
    pub listening: BTreeSet<u64>,
    /// Those that no process of the tree holds.
    pub foreign: BTreeSet<u64>,
}

impl Ownership {
    /// Every listening socket is the tree's, and there is one.
    pub fn ours(&self) -> bool {
        !self.listening.is_empty() && self.foreign.is_empty()
    }

    /// A sentence that names the other processes.
    pub fn evidence(&self, port: u16) -> String {
        if self.listening.is_empty() {
            return format!(
                "port {port} answered, but no process of this machine's network namespace listens on it"
            );
        }
        let holders: Vec<String> = holders(&self.foreign);
        let who = if holders.is_empty() {
            "a process that cannot be seen".to_owned()
        } else {
            holders.join(", ")
        };
        format!("port {port} is listened on by {who}, which the engine did not start")
    }
}

/// Looks at all sockets that listen on a port, whatever their address, and at the descriptors of the given processes.
pub fn ownership(port: u16, tree: impl Iterator<Item = i32>) -> Ownership {
    let mut listening = BTreeSet::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        if let Ok(file) = fs::File::open(table) {
            listening.extend(listeners(BufReader::new(file), port));
        }
    }
    let mut foreign = listening.clone();
    for pid in tree {
        for inode in sockets(pid) {
            foreign.remove(&inode);
        }
    }
    Ownership { listening, foreign }
}

/// Inodes of the listening sockets in a table of `/proc/net` (proc_pid_net(5)). The kernel lists them before all others.
fn listeners(table: impl BufRead, port: u16) -> BTreeSet<u64> {
    const LISTEN: &str = "0A";
    let mut found = BTreeSet::new();
    for line in table.lines().skip(1).map_while(Result::ok) {
        let mut fields = line.split_ascii_whitespace();
        let (Some(local), Some(state)) = (fields.nth(1), fields.nth(1)) else {
            continue;
        };
        if state != LISTEN {
            break;
        }
        let on_port = local
            .rsplit_once(':')
            .and_then(|(_, p)| u16::from_str_radix(p, 16).ok())
            == Some(port);
        if let Some(inode) = fields
            .nth(5)
            .and_then(|i| i.parse().ok())
            .filter(|_| on_port)
        {
            found.insert(inode);
        }
    }
    found
}

/// Inodes of the sockets that a process holds.
fn sockets(pid: i32) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|link| {
            link.to_str()?
                .strip_prefix("socket:[")?
                .strip_suffix(']')?
                .parse()
                .ok()
        })
        .collect()
}

/// Who holds these sockets, as `name (pid N)`.
fn holders(inodes: &BTreeSet<u64>) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| sockets(*pid).iter().any(|inode| inodes.contains(inode)))
        .map(|pid| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            format!("{} (pid {pid})", name.trim_end())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_of_this_process_is_found_and_is_foreign_to_others() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let me = std::process::id() as i32;
        assert!(ownership(port, [me].into_iter()).ours());
        let other = ownership(port, [1].into_iter());
        assert!(!other.ours() && other.evidence(port).contains(&format!("(pid {me})")));
    }

    #[test]
    fn a_port_without_a_listener_is_nobodys() {
        assert!(!ownership(1, std::iter::empty()).ours());
    }
}
