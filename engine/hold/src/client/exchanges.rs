//! Requests and responses over the connections.

use super::connections::reason;
use super::{Client, State};
use std::io;
use std::os::fd::RawFd;
use touchstone_exchange::closes::Close;
use touchstone_exchange::template::Key;
use touchstone_exchange::{Progress, Reader, Response};
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
        if self.plan.request.message.is_some() {
            return self.send_over_websocket(fd);
        }
        let plan = &self.plan;
        let Some(conversation) = &mut self.slots[fd as usize].conversation else {
            let sent = self.write(fd, &plan.bytes);
            return self.unless_sent(fd, sent);
        };
        let mut out = Vec::new();
        conversation.ask(&plan.bytes, plan.request.is_head, &mut out);
        let sent = self.write(fd, &out);
        self.unless_sent(fd, sent);
    }

    /// Sends bytes. The buffer of a connection that has nothing under way takes a request whole, unless the request is huge.
    pub(super) fn write(&self, fd: RawFd, bytes: &[u8]) -> Result<(), String> {
        match &self.slots[fd as usize].socket {
            Some(socket) if !bytes.is_empty() => match socket.send(bytes) {
                Ok(n) if n == bytes.len() => Ok(()),
                Ok(n) => Err(format!("only {n} bytes were taken")),
                Err(error) => Err(error.to_string()),
            },
            _ => Ok(()),
        }
    }

    pub(super) fn unless_sent(&mut self, fd: RawFd, sent: Result<(), String>) {
        if let Err(why) = sent {
            self.drop_connection(fd, "send", &format!("sending: {why}"));
        }
    }

    pub(super) fn receive(&mut self, fd: RawFd) {
        let mut buffer = [0u8; 16 * 1024];
        while let Some(socket) = &self.slots[fd as usize].socket {
            match socket.receive(&mut buffer) {
                Ok(0) => {
                    let conversation = self.slots[fd as usize].conversation.as_mut();
                    let why = conversation.and_then(|one| one.ended(0));
                    let why = why.unwrap_or_else(|| "the server closed the connection".to_owned());
                    return self.ended(fd, "closed_by_server", &why);
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
        if self.plan.request.message.is_some() {
            return self.hear_websocket(fd, bytes);
        }
        let slot = &mut self.slots[fd as usize];
        if slot.conversation.is_some() {
            return self.hear(fd, bytes);
        }
        if slot.state == State::Idle {
            self.stray(fd, bytes);
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
                let right = self.whole(fd, &response);
                if right {
                    self.right = reader.received().to_vec();
                }
                right
            }
            Err(why) => {
                self.drop_connection(fd, "malformed", &why);
                false
            }
        }
    }

    /// Bytes came on a connection at rest: a notice that it is closed, or what nothing had asked for.
    fn stray(&mut self, fd: RawFd, bytes: &[u8]) {
        match parse_head(bytes, false) {
            Ok(Some(head)) if head.status >= 400 && !head.keep_alive => {
                self.closed(fd, Close::Notified(head.status));
            }
            _ => self.drop_connection(fd, "unasked_bytes", "bytes came that nothing had asked for"),
        }
    }

    /// Takes bytes of HTTP/2 or TLS; false when the connection was given up.
    fn hear(&mut self, fd: RawFd, bytes: &[u8]) -> bool {
        let slot = &mut self.slots[fd as usize];
        let Some(conversation) = &mut slot.conversation else {
            return false;
        };
        let mut out = Vec::new();
        let progress = conversation.take(bytes, &mut out);
        let rests = slot.state == State::Idle;
        let goes = rests && !conversation.is_open();
        let unasked = conversation.unasked().to_vec();
        let sent = self.write(fd, &out);
        match progress {
            Err(_) if rests && !unasked.is_empty() => self.stray(fd, &unasked),
            Err(why) => self.drop_connection(fd, "malformed", &why),
            Ok(Progress::Complete(response)) => return self.whole(fd, &response),
            Ok(Progress::Partial) if goes => self.closed(fd, Close::Announced),
            Ok(Progress::Partial) => match sent {
                Ok(()) => return true,
                sent => self.unless_sent(fd, sent),
            },
        }
        false
    }

    /// A response is whole; false when the connection was given up.
    fn whole(&mut self, fd: RawFd, response: &Response) -> bool {
        let wrong = self.plan.request.faults(response, Key::default());
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
        self.arrived(fd);
        true
    }

    /// The response was whole and right.
    pub(super) fn arrived(&mut self, fd: RawFd) {
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
            State::Asked if !slot.begun() && self.plan.request.is_idempotent => {
                return self.closed(fd, Close::UnderRequest);
            }
            _ => {}
        }
        self.drop_connection(fd, why, evidence);
    }
}
