//! Who does the load: threads of this process, or processes of their own. The coordinator sees only this.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Nanos;
use crate::error::Error;
use crate::report::ProcessReport;

/// What came of setting up the connections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Connections established.
    pub established: u64,
    /// Why the last attempt failed that did.
    pub unconnected: Option<Unconnected>,
}

/// Why a connection attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unconnected {
    /// In words.
    pub why: String,
    /// On which layer it failed.
    pub layer: Layer,
}

/// What a connection is made of, from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layer {
    /// TCP.
    Socket,
    /// TLS.
    Tls,
    /// HTTP/2, which begins with the server's settings.
    Http2,
    /// WebSocket, which begins with a handshake.
    WebSocket,
}

impl Ready {
    /// Adds what came of it elsewhere.
    pub fn add(&mut self, other: Self) {
        self.established += other.established;
        self.unconnected = other.unconnected.or(self.unconnected.take());
    }
}

/// Counts since the first intended send.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)] // As in `event::Event::Progress`.
pub struct Progress {
    pub sent: u64,
    pub ok: u64,
    pub errors: u64,
    pub connections: u64,
    pub queue: u64,
}

/// Those who do the load of a run.
pub trait Crew {
    /// What came of setting up the connections; `None` while it goes on.
    fn ready(&mut self) -> Option<Ready>;

    /// Fixes the first intended send, on the engine's clock; [`crate::shared::Shared::NEVER`] calls the
    /// run off.
    fn begin(&mut self, start: Nanos);

    /// Ends the run early.
    fn interrupt(&mut self);

    /// What was done so far.
    fn progress(&self) -> Progress;

    /// Whether all have ended.
    fn is_finished(&mut self) -> bool;

    /// Their reports.
    ///
    /// # Errors
    /// [`Error`] of the first that could not do its part.
    fn reports(self: Box<Self>) -> Result<Vec<ProcessReport>, Error>;
}

/// Waits until the crew's connections are set up, as far as they can be.
pub(crate) fn await_ready(crew: &mut dyn Crew, interrupt: &AtomicBool) -> Ready {
    loop {
        if interrupt.load(Ordering::Relaxed) {
            crew.interrupt();
        }
        if let Some(ready) = crew.ready() {
            return ready;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
