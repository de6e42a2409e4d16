//! WebSockets that are held: opened by a handshake, and at rest without a byte of memory beyond their slot.

use super::{Client, State};
use std::os::fd::RawFd;
use touchstone_exchange::closes::Close;
use touchstone_exchange::random;
use touchstone_exchange::template::Key;
use touchstone_websocket::{Event, Handshake, Kind, Opcode, Reader, Role, write};

/// What a connection has under way: its handshake, or a part of what the server sends. One at rest has none.
pub(super) struct Link {
    handshake: Option<Handshake>,
    /// Messages that the server still has to send on its own.
    greetings: u32,
    reader: Reader,
}

impl Link {
    const fn new(handshake: Option<Handshake>, greetings: u32) -> Self {
        Self {
            handshake,
            greetings,
            reader: Reader::new(Role::Server),
        }
    }

    const fn rests(&self) -> bool {
        self.handshake.is_none() && self.greetings == 0 && self.reader.rests()
    }
}

impl Client {
    /// Sends the handshake, or a message over a connection that was opened.
    pub(super) fn send_over_websocket(&mut self, fd: RawFd) {
        let (key, mut out) = (self.message_key(fd), Vec::new());
        let request = &self.plan.request;
        let slot = &mut self.slots[fd as usize];
        if slot.state == State::Greeting {
            let handshake = request.handshake(key, &mut out);
            slot.link = Some(Box::new(Link::new(Some(handshake), request.greetings())));
        } else {
            request.render(key, &mut out, &mut Vec::new());
        }
        let sent = self.write(fd, &out);
        self.unless_sent(fd, sent);
    }

    /// The key of what is under way on a connection.
    fn message_key(&self, fd: RawFd) -> Key<'static> {
        let slot = &self.slots[fd as usize];
        Key {
            counter: (self.first << 32) + ((fd as u64) << 16) + u64::from(slot.generation),
            ..Key::default()
        }
    }

    /// Takes bytes of a WebSocket; false when the connection was given up.
    pub(super) fn hear_websocket(&mut self, fd: RawFd, mut bytes: &[u8]) -> bool {
        let link = self.slots[fd as usize].link.take();
        let mut link = link.unwrap_or_else(|| Box::new(Link::new(None, 0)));
        if let Some(handshake) = &mut link.handshake {
            match handshake.read(&mut bytes) {
                Ok(false) => {}
                Ok(true) => {
                    link.handshake = None;
                    if link.greetings == 0 {
                        self.arrived(fd);
                    }
                }
                Err(why) => {
                    self.drop_connection(fd, "handshake", &why);
                    return false;
                }
            }
        }
        while link.handshake.is_none() {
            match link.reader.read(&mut bytes) {
                Ok(None) => break,
                Ok(Some(event)) => {
                    if !self.event_came(fd, &mut link.greetings, event) {
                        return false;
                    }
                }
                Err(fault) => {
                    self.answer_close(fd, fault.code);
                    self.drop_connection(fd, "malformed", fault.why);
                    return false;
                }
            }
        }
        self.slots[fd as usize].link = (!link.rests()).then_some(link);
        true
    }

    fn event_came(&mut self, fd: RawFd, greetings: &mut u32, event: Event<'_>) -> bool {
        let state = self.slots[fd as usize].state;
        match event {
            Event::Message(kind, bytes) => self.message_came(fd, greetings, (kind, &bytes)),
            Event::Ping(bytes) => {
                let sent = self.write_frame(fd, Opcode::Pong, &bytes);
                let goes_on = sent.is_ok();
                self.unless_sent(fd, sent);
                goes_on
            }
            Event::Pong => true,
            Event::Close(close) => {
                self.answer_close(fd, close.code.unwrap_or(1000));
                if state == State::Idle {
                    self.closed(fd, Close::Announced);
                } else {
                    let why = format!("the server closed the WebSocket, {close}");
                    self.drop_connection(fd, "closed_by_server", &why);
                }
                false
            }
        }
    }

    fn message_came(&mut self, fd: RawFd, greetings: &mut u32, came: (Kind, &[u8])) -> bool {
        match self.slots[fd as usize].state {
            State::Asked => {
                let key = self.message_key(fd);
                let verdict = self.plan.request.echo_is_right(came, key, &mut Vec::new());
                if let Err(why) = verdict {
                    self.drop_connection(fd, "wrong_response", &why);
                    return false;
                }
                self.arrived(fd);
                true
            }
            State::Greeting if *greetings > 0 => {
                *greetings -= 1;
                if *greetings == 0 {
                    self.arrived(fd);
                }
                true
            }
            _ => {
                let why = "a message came that nothing had asked for";
                self.drop_connection(fd, "unasked_bytes", why);
                false
            }
        }
    }

    /// Answers a close frame, as far as the socket takes it: the connection ends in any case.
    fn answer_close(&self, fd: RawFd, code: u16) {
        let _ = self.write_frame(fd, Opcode::Close, &code.to_be_bytes());
    }

    fn write_frame(&self, fd: RawFd, opcode: Opcode, payload: &[u8]) -> Result<(), String> {
        let mask = random::mix(self.message_key(fd).counter) as u32;
        let mut out = Vec::new();
        write(opcode, Some(mask.to_ne_bytes()), payload, &mut out);
        self.write(fd, &out)
    }
}
