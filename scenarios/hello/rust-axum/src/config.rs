//! What the environment says: address, workers and timeouts.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

pub struct Config {
    pub address: SocketAddr,
    pub workers: usize,
    pub request_timeout: Duration,
    pub idle_timeout: Duration,
    pub write_timeout: Duration,
}

impl Config {
    /// Reads HOST, PORT, WORKERS and the three timeouts; the error names the variable at fault.
    pub fn from_environment() -> Result<Self, String> {
        let host: IpAddr = variable("HOST", Ipv4Addr::LOCALHOST.into())?;
        let milliseconds = |name, default| variable(name, default).map(Duration::from_millis);
        Ok(Self {
            address: SocketAddr::new(host, variable("PORT", 8080)?),
            workers: match variable("WORKERS", 0)? {
                0 => std::thread::available_parallelism().map_or(1, usize::from),
                count => count,
            },
            request_timeout: milliseconds("REQUEST_TIMEOUT_MS", 10_000)?,
            idle_timeout: milliseconds("IDLE_TIMEOUT_MS", 60_000)?,
            write_timeout: milliseconds("WRITE_TIMEOUT_MS", 10_000)?,
        })
    }
}

fn variable<T: FromStr>(name: &str, default: T) -> Result<T, String> {
    match std::env::var(name) {
        Ok(text) if !text.is_empty() => text
            .parse()
            .map_err(|_| format!("{name}={text} is not a valid value")),
        _ => Ok(default),
    }
}
