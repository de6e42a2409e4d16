//! What keeps a job from being carried out.

use std::io;

use touchstone_sys::socket::Address;

use crate::crew::{Layer, Unconnected};

/// Why a load job was not carried out. The server's faults are never among these: they are counted in the result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The job contradicts itself or the protocol; the job must change.
    #[error("{0}")]
    Job(String),
    /// The target is not on this machine and nobody allowed it.
    #[error(
        "{host} is not a loopback address: load goes to this machine only, unless allow_hosts (--allow-host {host}) names the target"
    )]
    NotAllowed {
        /// The host as the URL names it.
        host: String,
    },
    /// The name of the target's host has no address.
    #[error(
        "the name {host} has no address ({why}): check the host in the URL, and that this machine resolves it (DNS, /etc/hosts)"
    )]
    Unresolved {
        /// The host as the URL names it.
        host: String,
        /// The resolver's failure, in its words.
        why: String,
    },
    /// Nobody answered a single connection attempt.
    #[error(
        "no connection to {target} could be established ({why}): start the server, or check the address and the port"
    )]
    Unreachable {
        /// Address and port that were tried.
        target: String,
        /// The last failure, in the kernel's words.
        why: String,
    },
    /// Connections came about, and TLS did not.
    #[error("no TLS with {target}: {why}")]
    Handshake {
        /// Address and port that were tried.
        target: String,
        /// Why the last handshake failed, and what to do.
        why: String,
    },
    /// Connections came about, and HTTP/2 on them did not.
    #[error("no HTTP/2 with {target}: {why}")]
    NoHttp2 {
        /// Address and port that were tried.
        target: String,
        /// Why, and what to do.
        why: String,
    },
    /// Connections came about, and WebSockets on them did not.
    #[error("no WebSocket with {target}: {why}")]
    NoWebSocket {
        /// Address and port that were tried.
        target: String,
        /// Why, and what to do.
        why: String,
    },
    /// The operating system refused something that the engine needs.
    #[error("{what}: {source}")]
    System {
        /// What was attempted.
        what: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A worker process or thread ended without its report.
    #[error("a load worker ended without a report: {0}")]
    Worker(String),
}

impl From<touchstone_tls::Error> for Error {
    fn from(error: touchstone_tls::Error) -> Self {
        Self::Job(error.to_string())
    }
}

impl Error {
    /// Not one connection could be established.
    #[must_use]
    pub fn unconnected(target: Address, last: Option<Unconnected>) -> Self {
        let target = target.to_string();
        match last {
            Some(Unconnected { why, layer }) => match layer {
                Layer::Socket => Self::Unreachable { target, why },
                Layer::Tls => Self::Handshake { target, why },
                Layer::Http2 => Self::NoHttp2 { target, why },
                Layer::WebSocket => Self::NoWebSocket { target, why },
            },
            None => Self::Unreachable {
                target,
                why: "no attempt came to an end".to_owned(),
            },
        }
    }

    /// The exit code of `touchstone-engine load` for this error (see `docs/engine-protocol.md`).
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Job(_) | Self::NotAllowed { .. } => 2,
            Self::Unresolved { .. }
            | Self::Unreachable { .. }
            | Self::Handshake { .. }
            | Self::NoHttp2 { .. }
            | Self::NoWebSocket { .. }
            | Self::System { .. }
            | Self::Worker(_) => 1,
        }
    }
}

/// The error number of a system call's error; `EIO` for one that has none.
pub(crate) fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}
