//! What a server did at each moment of a load, for its slowest requests: CPU, waits for a CPU, throttling, sleeps of threads,
//! its sockets, and its exchanges with dependencies. One thread looks at fixed intervals; all times are the engine's clock.

mod report;
mod sampler;
mod sockets;
mod threads;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::target::Dependency;

pub use report::{SocketWait, Timeline};
pub use sampler::TimelineSampler;

/// What to look at, and how often.
#[derive(Debug, Clone)]
pub struct TimelineSettings {
    /// The root of the server's process tree.
    pub pid: i32,
    /// Where the server listens.
    pub server: SocketAddr,
    /// Directories of its control group.
    pub cgroup_paths: Vec<PathBuf>,
    /// Process trees that work for it.
    pub dependencies: Vec<Dependency>,
    /// Where dependencies listen; connections to them are followed.
    pub addresses: Vec<SocketAddr>,
    /// What the names of this process's threads begin with that send and read; the others do not hold up a request.
    pub generators: &'static str,
    /// CPUs for the looking thread; empty leaves it where the caller is.
    pub cpus: Vec<usize>,
    /// Between two looks.
    pub interval: Duration,
}

/// Which requests are on their way, for the thread that looks: by connection since when, in nanoseconds, and from which port.
#[derive(Debug, Default)]
pub struct Flights(Vec<(AtomicU64, AtomicU32)>);

impl Flights {
    /// Room for this number of connections.
    #[must_use]
    pub fn of(connections: u32) -> Self {
        Self((0..connections).map(|_| Default::default()).collect())
    }

    /// A connection of this local port was opened.
    pub fn opened(&self, slot: u32, port: u16) {
        self.0[slot as usize]
            .1
            .store(u32::from(port), Ordering::Relaxed);
    }

    /// A request left on it.
    #[inline]
    pub fn sent(&self, slot: u32, at: u64) {
        self.0[slot as usize].0.store(at, Ordering::Relaxed);
    }

    /// Its response has come, or never will.
    #[inline]
    pub fn ended(&self, slot: u32) {
        self.0[slot as usize].0.store(0, Ordering::Relaxed);
    }

    /// The local port of a connection; 0 if none was opened.
    #[must_use]
    pub fn port(&self, slot: u32) -> u16 {
        self.0[slot as usize].1.load(Ordering::Relaxed) as u16
    }

    /// Requests on their way: since when, and the local port.
    pub fn under_way(&self) -> impl Iterator<Item = (u64, u16)> + '_ {
        self.0.iter().filter_map(|(since, port)| {
            let (since, port) = (since.load(Ordering::Relaxed), port.load(Ordering::Relaxed));
            (since != 0 && port != 0).then_some((since, port as u16))
        })
    }
}
