//! Requests and responses over the connections.

use super::connections::reason;
use super::{Client, State};
use std::io;
use std::os::fd::RawFd;
use touchstone_exchange::closes::Close;
use touchstone_exchange::template::Key;
use touchstone_exchange::{Progress, Reader};
use touchstone_http::parse_head;
use touchstone_sys::clock::{monotonic, seconds};

impl Client {
    /// Sends a request over the next idle connection; false when there is none.
    pub(super) fn ask(&mut self) -> bool {
        for _ in 0..self.ring.len() {
            self.turn = (self.turn + 1) % self.ring.len();
            let fd = self.ring[self.turn];
            let slot = &mut self.slots[fd as usize];
            if slot.state == State::Idle {
                self.sums.requests += 1;
                self.sums.used += u64::from(!slot.used);
                slot.used = true;
                self.begin(fd, State::Asked);
                self.send(fd);
                return true;
            }
        }
        false
    }

    pub(super) fn send(&mut self, fd: RawFd) {
        let request = &self.plan.bytes;
        let Some(socket) = &self.slots[fd as usize].socket else {
            return;
        };
        // The buffer of a connection that has nothing under way takes a request whole, unless the request is huge.
        let why = match socket.send(request) {
            Ok(n) if n == request.len() => return,
            Ok(n) => format!("only {n} bytes were taken"),
            Err(error) => error.to_string(),
        };
        self.drop_connection(fd, "send", &format!("sending: {why}"));
    }

    pub(super) fn receive(&mut self, fd: RawFd) {
        let mut buffer = [0u8; 16 * 1024];
        while let Some(socket) = &self.slots[fd as usize].socket {
            match socket.receive(&mut buffer) {
                Ok(0) => {
                    return self.ended(fd, "closed_by_server", "the server closed the connection");
                }
                Ok(n) => {
                    if !self.take(fd, &buffer[..n]) {
                        return;
                    }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return,
                    io::ErrorKind::Interrupted => {}
                    _ => {
                        return self.ended(fd, &reason(&error), &format!("receiving: {error}"));
                    }
                },
            }
        }
    }

    /// Takes a part of a response; false when the connection was given up.
    fn take(&mut self, fd: RawFd, bytes: &[u8]) -> bool {
        let slot = &mut self.slots[fd as usize];
        if slot.state == State::Idle {
            match parse_head(bytes, false) {
                Ok(Some(head)) if head.status >= 400 && !head.keep_alive => {
                    self.closed(fd, Close::Notified(head.status));
                }
                _ => self.drop_connection(
                    fd,
                    "unasked_bytes",
                    "bytes came that nothing had asked for",
                ),
            }
            return false;
        }
        if slot.reader.is_none() && !self.right.is_empty() && bytes == self.right {
            self.arrived(fd);
            return true;
        }
        let mut reader = slot
            .reader
            .take()
            .unwrap_or_else(|| Box::new(Reader::new(self.plan.request.is_head)));
        match reader.push(bytes) {
            Ok(Progress::Partial) => {
                self.slots[fd as usize].reader = Some(reader);
                true
            }
            Ok(Progress::Complete(response)) => {
                let wrong = self.plan.request.faults(&response, Key::default());
                if !wrong.is_empty() {
                    self.drop_connection(fd, "wrong_response", &wrong.join("; "));
                    return false;
                }
                let slot = &mut self.slots[fd as usize];
                if !response.keep_alive && slot.state == State::Asked {
                    self.sums.ok += 1;
                    slot.responses += 1;
                    self.closed(fd, Close::Announced);
                    return false;
                }
                if !response.keep_alive {
                    let why = "the server closes the connection after the response";
                    self.drop_connection(fd, "not_kept", why);
                    return false;
                }
                self.right = reader.received().to_vec();
                self.arrived(fd);
                true
            }
            Err(why) => {
                self.drop_connection(fd, "malformed", &why);
                false
            }
        }
    }

    /// The response was whole and right.
    fn arrived(&mut self, fd: RawFd) {
        let slot = &mut self.slots[fd as usize];
        let first = slot.state == State::Greeting;
        let now = monotonic();
        slot.state = State::Idle;
        slot.responses += 1;
        self.under_way -= 1;
        self.sums.slowest_s = self.sums.slowest_s.max(seconds(now - slot.began));
        slot.began = now;
        if first {
            self.sums.answered += 1;
            self.sums.held += 1;
            self.slots[fd as usize].place = self.ring.len();
            self.ring.push(fd);
        } else {
            self.sums.ok += 1;
        }
    }

    /// The server has ended the connection: as it may where it rested, or where not a byte of the response to an
    /// idempotent request came (RFC 9112, section 9.3.1).
    fn ended(&mut self, fd: RawFd, why: &str, evidence: &str) {
        let slot = &self.slots[fd as usize];
        match slot.state {
            State::Idle => return self.closed(fd, Close::AtRest),
            State::Asked if slot.reader.is_none() && self.plan.request.is_idempotent => {
                return self.closed(fd, Close::UnderRequest);
            }
            _ => {}
        }
        self.drop_connection(fd, why, evidence);
    }
}
