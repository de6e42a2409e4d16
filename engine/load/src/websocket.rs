//! WebSockets under a worker: what each of its connections keeps for them.

use touchstone_websocket::{Handshake, Reader, Role};

use crate::connection::InFlight;
use crate::job::Job;

/// A connection's WebSocket.
#[derive(Debug)]
pub struct Link {
    /// The handshake, until it is answered.
    pub handshake: Option<Handshake>,
    /// Messages that the server still has to send on its own before the connection is used.
    pub greetings: u32,
    /// Reads what comes behind the handshake.
    pub reader: Reader,
    /// The message whose echo came last.
    pub last: Option<InFlight>,
}

impl Link {
    /// A connection whose handshake was sent.
    #[must_use]
    pub const fn new(handshake: Handshake, greetings: u32) -> Self {
        Self {
            handshake: Some(handshake),
            greetings,
            reader: Reader::new(Role::Server),
            last: None,
        }
    }
}

/// The WebSockets of a thread, by slot; none where there is no connection.
pub type Links = Vec<Option<Box<Link>>>;

/// The WebSockets of a thread with this number of connections, if the job has any.
#[must_use]
pub fn links(job: &Job, connections: u32) -> Option<Links> {
    job.is_websocket()
        .then(|| (0..connections).map(|_| None).collect())
}
