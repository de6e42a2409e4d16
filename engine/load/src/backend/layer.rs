//! What stands between a backend's events and a worker: nothing, or TLS.

use crate::clock::Nanos;
use crate::connection::State;
use crate::wire::Wire;
use crate::worker::Worker;

/// Turns events of sockets into events of a worker.
pub trait Layer {
    /// The worker.
    fn worker(&self) -> &Worker;

    /// Whether the slot's socket is not connected yet.
    fn is_connecting(&self, slot: u32) -> bool;

    /// Whether what comes on the slot's socket may be read.
    fn reads(&self, slot: u32) -> bool;

    /// The slot's socket is connected.
    fn connected<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos);

    /// Bytes have come.
    fn received<W: Wire>(&mut self, wire: &mut W, slot: u32, bytes: &[u8], now: Nanos);

    /// The connection ended: closed by the server (`error` 0), or with an error number.
    fn ended<W: Wire>(&mut self, wire: &mut W, slot: u32, error: i32, now: Nanos);

    /// The socket takes bytes again.
    fn writable<W: Wire>(&mut self, wire: &mut W, slot: u32);

    /// Sending failed with this error number.
    fn cannot_send(&mut self, slot: u32, error: i32);

    /// When it wants to be called again even if nothing happens.
    fn next_wake(&self, now: Nanos) -> Nanos;

    /// Does what time demands, after each batch of this number of events; gives the time.
    fn tick<W: Wire>(&mut self, wire: &mut W, now: Nanos, batch: usize) -> Nanos;
}

impl Layer for Worker {
    #[inline]
    fn worker(&self) -> &Worker {
        self
    }

    #[inline]
    fn is_connecting(&self, slot: u32) -> bool {
        self.connection(slot).state == State::Connecting
    }

    #[inline]
    fn reads(&self, slot: u32) -> bool {
        matches!(self.connection(slot).state, State::Open | State::Greeting)
    }

    #[inline]
    fn connected<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        Self::connected(self, wire, slot, now);
    }

    #[inline]
    fn received<W: Wire>(&mut self, wire: &mut W, slot: u32, bytes: &[u8], now: Nanos) {
        Self::received(self, wire, slot, bytes, now);
    }

    #[inline]
    fn ended<W: Wire>(&mut self, wire: &mut W, slot: u32, error: i32, now: Nanos) {
        Self::ended(self, wire, slot, error, now);
    }

    #[inline]
    fn writable<W: Wire>(&mut self, wire: &mut W, slot: u32) {
        if self.connection(slot).unsent.is_some() {
            Self::writable(self, wire, slot);
        }
    }

    #[inline]
    fn cannot_send(&mut self, slot: u32, error: i32) {
        Self::cannot_send(self, slot, error);
    }

    #[inline]
    fn next_wake(&self, now: Nanos) -> Nanos {
        Self::next_wake(self, now)
    }

    #[inline]
    fn tick<W: Wire>(&mut self, wire: &mut W, now: Nanos, batch: usize) -> Nanos {
        Self::tick(self, wire, now, batch)
    }
}
