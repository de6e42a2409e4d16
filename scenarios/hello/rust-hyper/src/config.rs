//! What the environment says: address, workers and timeouts.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use crate::timed_stream::Timeouts;

pub struct Config {
    pub address: SocketAddr,
    pub workers: usize,
    pub timeouts: Timeouts,
    /// Responses to pipelined requests go out together. hyper then drops the response to a malformed request.
    pub pipeline_flush: bool,
}

impl Config {
    /// Reads HOST, PORT, WORKERS and the three timeouts; the error names the variable at fault.
    pub fn from_environment() -> Result<Self, String> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let host: IpAddr = variable("HOST", IpAddr::from([127, 0, 0, 1]))?;
        let milliseconds = |name, default| variable(name, default).map(Duration::from_millis);
        Ok(Self {
            address: SocketAddr::new(host, variable("PORT", 8080)?),
            workers: match variable("WORKERS", 0)? {
                0 => cores,
                count => count,
            },
            pipeline_flush: variable("PIPELINE_FLUSH", false)?,
            timeouts: Timeouts {
                request: milliseconds("REQUEST_TIMEOUT_MS", 10_000)?,
                idle: milliseconds("IDLE_TIMEOUT_MS", 60_000)?,
                write: milliseconds("WRITE_TIMEOUT_MS", 10_000)?,
            },
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
