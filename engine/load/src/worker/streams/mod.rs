//! HTTP/2 under a worker: connections are greeted, requests sent on streams, and what comes is handed on.

mod ending;
mod responses;

use touchstone_h2::{Client, Code, Event};

use super::Worker;
use crate::clock::Nanos;
use crate::connection::{InFlight, State};
use crate::crew::{Layer, Unconnected};
use crate::failure::ErrorClass;
use crate::h2::{Exchange, Link};
use crate::template::Key;
use crate::wire::Wire;

/// A stream's place on its connection.
type At = usize;

impl Worker {
    /// Says the client's preface on a connection. It carries requests once the server's settings have come.
    pub(super) fn greet<W: Wire>(&mut self, wire: &mut W, slot: u32) {
        self.connections[slot as usize].state = State::Greeting;
        if let Some(h2) = &mut self.h2 {
            h2.links[slot as usize] = Some(Box::new(Link::new(self.depth)));
        }
        self.out.clear();
        Client::<Exchange>::greet(&mut self.out);
        self.flush(wire, slot);
    }

    /// Why a connection that was greeted ended before the server's settings.
    pub(super) fn ungreeted(error: i32) -> Unconnected {
        let why = match error {
            0 => "the server closed the connection where its settings were to come".to_owned(),
            libc::ETIMEDOUT => "the server's settings did not come in time".to_owned(),
            _ => std::io::Error::from_raw_os_error(error).to_string(),
        };
        Self::no_http2(&why)
    }

    fn no_http2(why: &str) -> Unconnected {
        Unconnected {
            why: format!("{why}: see whether this port speaks HTTP/2, or use --protocol h1"),
            layer: Layer::Http2,
        }
    }

    /// The HTTP/2 of a connection that was greeted.
    #[inline]
    pub(super) fn link(&self, slot: u32) -> Option<&Link> {
        self.h2.as_ref()?.links[slot as usize].as_deref()
    }

    fn link_mut(&mut self, slot: u32) -> Option<&mut Link> {
        self.h2.as_mut()?.links[slot as usize].as_deref_mut()
    }

    /// Sends one request on a stream of its own. The bytes are gathered until they are flushed. Not inlined, so that the
    /// functions of HTTP/1.1 that call it stay small.
    #[inline(never)]
    pub(super) fn transmit_stream(&mut self, slot: u32, request: InFlight) {
        let Some(h2) = &mut self.h2 else {
            return;
        };
        let Some(link) = &mut h2.links[slot as usize] else {
            return;
        };
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        let key = || Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
            session: self.journeys.as_ref().map(|users| users.session(slot)),
        };
        let exchange = Exchange {
            request: InFlight {
                attempt: request.attempt.once_sent(),
                ..request
            },
            partial: None,
            known_head: None,
            known_body: None,
        };
        let before = self.out.len();
        h2.requests
            .start(link, compiled, key, exchange, &mut self.out);
        let length = self.out.len() - before;
        let connection = &mut self.connections[slot as usize];
        connection.in_flight += 1;
        if link.client.held_to() == Some(u32::from(connection.in_flight)) {
            h2.used.at_stream_limit += 1;
        }
        self.in_flight += 1;
        self.count_sent(request, length);
    }

    /// Sends the requests of an earlier connection that wait for this one.
    pub(super) fn send_streams_again<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        if self.h2.is_none() {
            return;
        }
        while self.connections[slot as usize].in_flight < self.room(slot)
            && let Some(request) = self.next_again(slot)
        {
            self.assigned -= 1;
            self.transmit(wire, slot, request, now);
        }
        // What is gathered must not go out with the requests of another connection.
        self.flush(wire, slot);
    }

    /// Bytes came on a slot. Not inlined, so that the function of HTTP/1.1 that calls it stays small.
    #[inline(never)]
    pub(super) fn received_frames<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        mut data: &[u8],
        now: Nanos,
    ) {
        self.recorder.received(data.len(), now);
        let generation = self.generation(slot);
        while let Some(h2) = &mut self.h2
            && let Some(link) = &mut h2.links[slot as usize]
        {
            match link.client.read(&mut data, &mut h2.room, &mut self.control) {
                Ok(None) => break,
                Ok(Some(event)) => self.happened(wire, slot, event, now),
                Err(fault) => self.broken(wire, slot, fault, now),
            }
            if self.generation(slot) != generation {
                return self.control.clear();
            }
        }
        if !self.control.is_empty() {
            self.out.append(&mut self.control);
        }
        self.flush(wire, slot);
    }

    #[inline]
    fn happened<W: Wire>(&mut self, wire: &mut W, slot: u32, event: Event<'_>, now: Nanos) {
        match event {
            Event::Head {
                at,
                head,
                repeated,
                end,
            } => self.head_came(wire, slot, at, (head, repeated, end), now),
            Event::Data {
                at,
                bytes,
                frame_ends,
                end,
            } => self.body_came(wire, slot, at, (bytes, frame_ends, end), now),
            Event::Trailers { at } => self.trailers_came(wire, slot, at, now),
            Event::End { at } => self.body_came(wire, slot, at, (&[], true, true), now),
            Event::Settings => self.settings_came(wire, slot, now),
            Event::Reset {
                at,
                code: Code::REFUSED_STREAM,
            } => {
                if let Some(link) = self.link_mut(slot) {
                    link.client.retire();
                }
                let why = "the server refused the request's stream on a new connection, too";
                self.unprocessed(slot, at, ErrorClass::StreamReset, why, now);
                self.stream_is_over(wire, slot, now);
            }
            Event::Reset { at, code } => {
                let why = format!("the server gave up the request's stream: {}", code.name());
                self.fail_stream(slot, at, ErrorClass::StreamReset, &why, now);
                self.stream_is_over(wire, slot, now);
            }
            Event::Malformed { at, why } => {
                self.fail_stream(slot, at, ErrorClass::Malformed, why, now);
                self.stream_is_over(wire, slot, now);
            }
            Event::GoingAway { code } => self.goes_away(wire, slot, code, now),
        }
    }

    fn settings_came<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        if let Some(h2) = &mut self.h2 {
            h2.obey(slot);
        }
        if self.connections[slot as usize].state == State::Greeting {
            self.opened(wire, slot, now);
        } else {
            // There may be fewer places than before.
            self.unlist(slot);
            self.take_more(wire, slot, now);
        }
    }

    fn exchange(&mut self, slot: u32, at: At) -> Option<&mut Exchange> {
        self.link_mut(slot)?.client.data(at)
    }

    /// A request in flight is no longer: what the connection does next.
    #[inline]
    pub(super) fn stream_is_over<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let room = self.room(slot);
        let connection = &mut self.connections[slot as usize];
        // A place has been free since: from the first response after it was full.
        if connection.in_flight == 0 || connection.in_flight + 1 >= room {
            connection.since = now;
        }
        if !self.keep_alive {
            self.drop_connection(wire, slot);
            return self.replace(wire, slot, now);
        }
        if room == 0 {
            self.unlist(slot);
            return self.retire(wire, slot, now);
        }
        self.take_more(wire, slot, now);
    }

    /// A connection that takes no more requests is replaced, once it has none in flight.
    #[cold]
    fn retire<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let connection = &self.connections[slot as usize];
        let ending = self.link(slot).is_some_and(|link| link.client.is_ending());
        if !ending || connection.in_flight > 0 {
            return;
        }
        let in_vain = connection.responses == 0;
        self.drop_connection(wire, slot);
        if in_vain {
            // It takes no requests at all: to ask again at once would be a load of its own.
            return self.pause(slot, now);
        }
        self.replace(wire, slot, now);
    }

    /// A connection may have room for more.
    #[inline]
    fn take_more<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        if self.connections[slot as usize].again.is_some() {
            self.send_streams_again(wire, slot, now);
        }
        if self.open_loop {
            self.list(slot);
            if self.backlog {
                self.dispatch(wire, now);
            }
        } else {
            self.refill(wire, slot, now);
        }
    }
}
