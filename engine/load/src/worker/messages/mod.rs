//! Messages over WebSockets under a worker: connections are opened by a handshake, and each message gets its echo.

mod ending;

use std::borrow::Cow;

use touchstone_websocket::{Event, Kind, Opcode, write};

use super::Worker;
use crate::clock::Nanos;
use crate::connection::{InFlight, State};
use crate::failure::ErrorClass;
use crate::recorder::MessageFault;
use crate::template::Key;
use crate::websocket::Link;
use crate::wire::Wire;

/// What a message counts as by its status: that of its handshake.
const SWITCHING_PROTOCOLS: u16 = 101;

/// A message that came.
type Came<'a> = (Kind, &'a [u8]);

impl Worker {
    /// Sends the handshake on a connection. It carries messages once that is answered.
    pub(super) fn shake_hands<W: Wire>(&mut self, wire: &mut W, slot: u32) {
        self.connections[slot as usize].state = State::Greeting;
        // All messages of a load have one handshake.
        let compiled = &self.mix.requests()[0];
        let part = self.part;
        let key = Key {
            counter: u64::from(slot) * u64::from(part.global_threads)
                + u64::from(part.global_index),
            seed: self.seed.wrapping_add(self.opened),
            thread: part.global_index,
            session: None,
        };
        self.out.clear();
        let handshake = compiled.handshake(key, &mut self.out);
        if let Some(links) = &mut self.sockets {
            let link = Link::new(handshake, compiled.greetings());
            links[slot as usize] = Some(Box::new(link));
        }
        self.flush(wire, slot);
    }

    /// The WebSocket of a connection.
    #[inline]
    fn socket_mut(&mut self, slot: u32) -> Option<&mut Link> {
        self.sockets.as_mut()?[slot as usize].as_deref_mut()
    }

    /// Bytes came on a slot. Not inlined, so that the function of HTTP/1.1 that calls it stays small.
    #[inline(never)]
    pub(super) fn received_messages<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        mut data: &[u8],
        now: Nanos,
    ) {
        self.recorder.received(data.len(), now);
        let generation = self.generation(slot);
        // What is sent from here on is answered by later bytes.
        let mut before = self.connections[slot as usize].in_flight;
        if !self.is_shaken(wire, slot, &mut data, now) {
            return;
        }
        while let Some(link) = self.socket_mut(slot) {
            match link.reader.read(&mut data) {
                Ok(None) => break,
                Ok(Some(event)) => self.message_happened(wire, slot, event, &mut before, now),
                Err(fault) => self.broke_websocket(wire, slot, fault, now),
            }
            if self.generation(slot) != generation {
                return self.control.clear();
            }
        }
        self.out.append(&mut self.control);
        self.flush(wire, slot);
    }

    /// Whether the handshake of a connection was answered, and the connection is up.
    fn is_shaken<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        data: &mut &[u8],
        now: Nanos,
    ) -> bool {
        let Some(link) = self.socket_mut(slot) else {
            return false;
        };
        let Some(handshake) = &mut link.handshake else {
            return true;
        };
        match handshake.read(data) {
            Ok(false) => false,
            Ok(true) => {
                link.handshake = None;
                if link.greetings == 0 {
                    self.opened(wire, slot, now);
                }
                true
            }
            Err(why) => {
                self.not_opened(wire, slot, &why, now);
                false
            }
        }
    }

    #[inline]
    fn message_happened<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        event: Event<'_>,
        before: &mut u16,
        now: Nanos,
    ) {
        match event {
            Event::Message(kind, bytes) => {
                self.message_came(wire, slot, (kind, &bytes), before, now);
                if let (Cow::Owned(bytes), Some(link)) = (bytes, self.socket_mut(slot)) {
                    link.reader.reuse(bytes);
                }
            }
            Event::Ping(bytes) => {
                let mask = Some((self.random.next() as u32).to_ne_bytes());
                write(Opcode::Pong, mask, &bytes, &mut self.control);
            }
            Event::Pong => {}
            Event::Close(close) => self.closed_websocket(wire, slot, &close, now),
        }
    }

    /// The key of a message.
    fn message_key(&self, request: InFlight) -> Key<'static> {
        Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
            session: None,
        }
    }

    /// What is wrong with a message as the echo of the one that was sent as `request`.
    #[inline]
    fn not_its_echo(&mut self, request: InFlight, came: Came<'_>) -> Option<String> {
        let key = self.message_key(request);
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        compiled.echo_is_right(came, key, &mut self.scratch).err()
    }

    /// A message came. The `before` oldest in flight were sent before it came.
    #[inline]
    fn message_came<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        came: Came<'_>,
        before: &mut u16,
        now: Nanos,
    ) {
        let connection = &self.connections[slot as usize];
        if connection.in_flight == 0 {
            return self.unasked_message(wire, slot, came, now);
        }
        let request = connection.first;
        let Some(why) = self
            .not_its_echo(request, came)
            .or((*before == 0).then(String::new))
        else {
            *before -= 1;
            return self.echoed(wire, slot, 0, came, now);
        };
        self.other_echo(wire, slot, came, (before, why), now);
    }

    /// A message came that is not the echo of the oldest in flight: that of a later one, or none.
    #[cold]
    fn other_echo<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        came: Came<'_>,
        (before, why): (&mut u16, String),
        now: Nanos,
    ) {
        for place in 1..usize::from(*before) {
            let behind = self.connections[slot as usize].behind.as_ref();
            let later = behind.and_then(|behind| behind.get(place - 1).copied());
            if later.is_some_and(|later| self.not_its_echo(later, came).is_none()) {
                *before -= 1;
                return self.echoed(wire, slot, place, came, now);
            }
        }
        let last = self.socket_mut(slot).and_then(|link| link.last);
        let twice = last.filter(|last| self.not_its_echo(*last, came).is_none());
        let (class, fault, why) = match twice {
            Some(_) => (
                ErrorClass::DoubledEvent,
                MessageFault::Doubled,
                "the echo of the message before it came twice".to_owned(),
            ),
            None if why.is_empty() => (
                ErrorClass::WrongEvent,
                MessageFault::Wrong,
                "a message came that nothing had asked for".to_owned(),
            ),
            None => (ErrorClass::WrongEvent, MessageFault::Wrong, why),
        };
        let request = self.connections[slot as usize].first;
        self.recorder.message_fault(request, fault);
        let length = came.1.len() as u64;
        self.recorder
            .response(request.intended, SWITCHING_PROTOCOLS, 0, length, now);
        self.fail_message(slot, class, &why, came.1, now);
        // What comes next on it may be the echo of any message.
        let why = "the connection was given up with an earlier message, whose echo was wrong";
        self.carry_over(wire, slot, ErrorClass::ClosedBeforeResponse, why, now);
    }

    /// The echo of a message in flight came: of the oldest, or of the one at a place behind it.
    #[inline]
    fn echoed<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        place: usize,
        came: Came<'_>,
        now: Nanos,
    ) {
        let connection = &mut self.connections[slot as usize];
        let mut request = connection.first;
        if place == 0 {
            connection.pop();
        } else if let Some(overtaken) = connection.take_behind(place) {
            request = overtaken;
        }
        self.in_flight -= 1;
        let length = came.1.len() as u64;
        self.recorder
            .response(request.intended, SWITCHING_PROTOCOLS, 0, length, now);
        self.recorder.message_came(request, now);
        if request.overtaken {
            let why = "the echo came behind that of a message which was sent later";
            let class = ErrorClass::DisorderedEvent;
            self.recorder
                .message_fault(request, MessageFault::Disordered);
            self.note(class, Some(request), Some(slot), came.1, why, now);
            self.recorder.failed(class, request, now);
        } else {
            self.count_right(slot, request, now);
        }
        if let Some(link) = self.socket_mut(slot) {
            link.last = Some(request);
        }
        self.answered(wire, slot, now);
    }

    /// A message came on a connection that carries none.
    #[cold]
    fn unasked_message<W: Wire>(&mut self, wire: &mut W, slot: u32, came: Came<'_>, now: Nanos) {
        let greets = self.connections[slot as usize].state == State::Greeting;
        let Some(link) = self.socket_mut(slot) else {
            return;
        };
        if greets {
            link.greetings -= 1;
            if link.greetings == 0 {
                self.opened(wire, slot, now);
            }
            return;
        }
        let last = link.last;
        let mut why = "a message came that nothing had asked for; `greetings` is the number of messages that the server \
                       sends on its own when a connection opens";
        if let Some(last) = last
            && self.not_its_echo(last, came).is_none()
        {
            self.recorder.message_fault(last, MessageFault::Doubled);
            why = "the echo of the last message came twice";
        }
        self.lose_at_rest(wire, slot, came.1, why, now);
    }
}
