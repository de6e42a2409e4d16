//! Connections that are kept between the requests of a lane.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use touchstone_sys::socket::Address;

use crate::client::Connection;
use crate::request::CompiledRequest;
use crate::session::Session;
use crate::template::Key;

/// The open connection of each lane, while it carries no request. There is one at most: a server that handles one connection
/// at a time does not wait for one that nobody uses.
#[derive(Default)]
pub(super) struct Lanes(Mutex<HashMap<u64, Lane>>);

#[derive(Default)]
struct Lane {
    kept: Option<Connection>,
    user: Session,
}

impl Lanes {
    /// The connection of the lane, if it leads to this address and is still open; another one is closed.
    pub fn take(&self, lane: u64, address: Address) -> Option<Connection> {
        let mut kept = self.lock().get_mut(&lane)?.kept.take()?;
        (kept.address == address && kept.is_at_rest()).then_some(kept)
    }

    pub fn keep(&self, lane: u64, connection: Connection) {
        self.lock().entry(lane).or_default().kept = Some(connection);
    }

    /// Closes what is kept in a lane; whether anything was.
    pub fn release(&self, lane: u64) -> bool {
        self.lock()
            .remove(&lane)
            .is_some_and(|lane| lane.kept.is_some())
    }

    /// Who sends the requests of the lane, with the cookies so far.
    pub fn user(&self, lane: u64) -> Session {
        self.lock().entry(lane).or_default().user.clone()
    }

    /// Takes the cookies that a response to a request of the lane sets.
    pub fn take_cookies(&self, lane: u64, request: &CompiledRequest, head: &[u8]) {
        let mut lanes = self.lock();
        let user = &mut lanes.entry(lane).or_default().user;
        request.take_cookies(head, Key::default(), user);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
