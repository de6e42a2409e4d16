//! What the servers among the subcommands share: where they run, how they say that they listen, how they end.

use crate::failure::Failure;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use touchstone_serve::Place;
use touchstone_sys::limits;

/// Where a server runs.
#[derive(clap::Args)]
pub struct PlaceArgs {
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
    /// Port to listen on; 0 lets the kernel choose. Several processes may share one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: u16,
    /// CPUs for the threads, in turn.
    #[arg(long, value_delimiter = ',', value_name = "N,N")]
    cpus: Vec<usize>,
}

impl PlaceArgs {
    /// Checks the flags, and lets the process open as many files as it may.
    pub fn place(&self) -> Result<Place, Failure> {
        // Where the limit cannot be read, the one that there is must do.
        let _ = limits::raise_open_files();
        let address = SocketAddr::new(self.host, self.port);
        Ok(Place {
            address,
            workers: usize::from(self.workers),
            cpus: self.cpus.clone(),
        })
    }
}

/// Prints the line that says where the server listens, and at once: someone waits for it.
pub fn announce(line: &serde_json::Value) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|e| Failure::Failed(format!("standard output: {e}")))
}
