//! Connections: opened, established, failed, replaced.

use super::{Phase, Worker};
use crate::clock::Nanos;
use crate::connection::{Attempt, State};
use crate::crew::{Layer, Unconnected};
use crate::error::errno;
use crate::failure::ErrorClass;
use crate::wire::Wire;

impl Worker {
    pub(super) fn open<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let connection = &mut self.connections[slot as usize];
        connection.generation = connection.generation.wrapping_add(1);
        connection.since = now;
        self.opened += 1;
        match wire.open(slot, connection.generation) {
            Ok((socket, established)) => {
                connection.socket = Some(socket);
                connection.state = State::Connecting;
                self.connecting += 1;
                if established {
                    self.connected(wire, slot, now);
                }
            }
            Err(error) => {
                connection.state = State::Closed;
                self.attempt_failed(slot, errno(&error), None, now);
            }
        }
    }

    /// Bytes can be sent and received in a slot, TLS included.
    pub fn connected<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        if self.h2.is_some() {
            self.greet(wire, slot);
        } else if self.sockets.is_some() {
            self.shake_hands(wire, slot);
        } else {
            self.opened(wire, slot, now);
        }
    }

    /// A connection is ready for requests.
    pub(super) fn opened<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let connection = &mut self.connections[slot as usize];
        let took = now - connection.since;
        connection.state = State::Open;
        connection.since = now;
        let again = std::mem::replace(&mut connection.used, true);
        self.reconnects += u64::from(again && self.keep_alive && self.per_connection == u32::MAX);
        self.connecting -= 1;
        self.established += 1;
        self.recorder.connect.record(took);
        self.note_opened(slot, took);
        let connection = &mut self.connections[slot as usize];
        if std::mem::take(&mut connection.assigned) {
            self.assigned -= 1;
            let mut request = connection.first;
            if request.attempt == Attempt::First {
                request.sent = now;
            }
            self.transmit(wire, slot, request, now);
            self.send_streams_again(wire, slot, now);
            self.flush(wire, slot);
        }
        match self.phase {
            Phase::Preparing | Phase::Waiting | Phase::Settling | Phase::Over => {}
            Phase::Warmup | Phase::Load | Phase::Draining if self.open_loop => self.list(slot),
            Phase::Warmup | Phase::Load => self.fill(wire, slot, now),
            Phase::Draining => {}
        }
    }

    /// Notes a connection's local port, and how long a request waited for it, where stamps are kept.
    fn note_opened(&mut self, slot: u32, took: Nanos) {
        let Some(kept) = &mut self.recorder.stamps else {
            return;
        };
        let connection = &self.connections[slot as usize];
        let socket = connection.socket.as_ref();
        let port = socket.and_then(|socket| socket.local_address().ok());
        let port = port.map_or(0, |address| address.port());
        let waited = if connection.assigned {
            took
        } else {
            Nanos::ZERO
        };
        kept.opened(slot, port, waited);
        if let Some(flights) = &self.flights {
            flights.opened(slot, port);
        }
    }

    /// A connection attempt failed, with an error number or for a reason that says more; the next one waits, longer each time.
    pub(super) fn attempt_failed(
        &mut self,
        slot: u32,
        error: i32,
        reason: Option<Unconnected>,
        now: Nanos,
    ) {
        let class = if error == libc::ECONNREFUSED {
            ErrorClass::Refused
        } else {
            ErrorClass::ConnectFailed
        };
        let Unconnected { why, layer } = reason.unwrap_or_else(|| Unconnected {
            why: std::io::Error::from_raw_os_error(error).to_string(),
            layer: Layer::Socket,
        });
        self.note(
            class,
            None,
            None,
            &[],
            &format!("the connection attempt failed: {why}"),
            now,
        );
        self.recorder.connection_failed(class, now);
        self.shared.unconnected(Unconnected { why, layer });
        let lost = "the server closed a kept connection under it, and no other could be opened";
        self.fail_waiting(slot, ErrorClass::KeptConnectionClosed, lost, now);
        self.pause(slot, now);
        if self.phase == Phase::Draining {
            self.withdraw();
        }
    }

    /// The next attempt in this place waits, longer each time.
    pub(super) fn pause(&mut self, slot: u32, now: Nanos) {
        let connection = &mut self.connections[slot as usize];
        let pause = Nanos::from_millis(10 << connection.failures.min(6));
        connection.failures = connection.failures.saturating_add(1);
        connection.state = State::Resting;
        connection.since = now + pause;
    }

    pub(super) fn drop_connection<W: Wire>(&mut self, wire: &mut W, slot: u32) {
        if self.depth > 1 {
            self.unlist(slot);
        }
        let connection = &mut self.connections[slot as usize];
        match connection.state {
            State::Open => self.established -= 1,
            State::Connecting | State::Greeting => self.connecting -= 1,
            State::Closed | State::Resting => return,
        }
        if let Some(socket) = connection.socket.take() {
            wire.close(slot, socket);
        }
        connection.state = State::Closed;
        connection.generation = connection.generation.wrapping_add(1);
        if std::mem::take(&mut connection.responses) > 0 {
            connection.failures = 0;
        }
        connection.unsent = None;
        if let Some(h2) = &mut self.h2 {
            h2.links[slot as usize] = None;
        }
        if let Some(links) = &mut self.sockets {
            links[slot as usize] = None;
        }
        // What pipelining has gathered was for this connection: it is flushed before another is looked at.
        self.out.clear();
        self.control.clear();
        if let Some(partial) = connection.partial.take() {
            self.spare = Some(partial);
        }
    }

    /// What follows when a connection is gone: the next one, if there is something to send.
    pub(super) fn replace<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        self.connections[slot as usize].since = now;
        if !self.connections[slot as usize].assigned
            && let Some(request) = self.next_again(slot)
        {
            let connection = &mut self.connections[slot as usize];
            (connection.first, connection.assigned) = (request, true);
        }
        if self.connections[slot as usize].assigned {
            return self.open(wire, slot, now);
        }
        match self.phase {
            Phase::Preparing | Phase::Waiting | Phase::Settling => {
                if self.keep_alive {
                    self.open(wire, slot, now);
                }
            }
            Phase::Warmup | Phase::Load if self.open_loop => {
                if self.keep_alive {
                    self.open(wire, slot, now);
                } else {
                    self.list(slot);
                }
            }
            // The time of connecting is part of the latency: the user would wait for it too.
            Phase::Warmup | Phase::Load => self.fill(wire, slot, now),
            Phase::Draining if self.open_loop && self.backlog => {
                if self.keep_alive {
                    self.open(wire, slot, now);
                } else {
                    self.list(slot);
                }
            }
            Phase::Draining | Phase::Over => {}
        }
    }
}
