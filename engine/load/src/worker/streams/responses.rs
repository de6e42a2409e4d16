//! Responses on streams: recognised as the last one, or kept until they are whole, and checked.

use touchstone_http::Head;

use super::At;
use crate::clock::Nanos;
use crate::connection::{Input, Partial};
use crate::failure::ErrorClass;
use crate::recorder::LEAST_WAIT;
use crate::template::Key;
use crate::wire::Wire;
use crate::worker::Worker;

impl Worker {
    /// The final head of a response came.
    #[inline]
    pub(super) fn head_came<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        at: At,
        (head, repeated, end): (Head, bool, bool),
        now: Nanos,
    ) {
        let link = &mut self.connections[slot as usize].h2;
        let (Some(link), Some(h2)) = (link, &self.h2) else {
            return;
        };
        let Some(exchange) = link.client.data(at) else {
            return;
        };
        let kind = exchange.request.kind;
        let known = &self.known[usize::from(kind)];
        let mark = Some((kind, known.version()));
        let mut is_known = repeated && link.noted == mark;
        if !is_known {
            let text = if repeated {
                link.client.last_head()
            } else {
                &h2.room.head
            };
            is_known = known.parsed().is_some() && known.head() == text;
            link.noted = mark.filter(|_| is_known);
        }
        if is_known {
            if let Some(exchange) = link.client.data(at) {
                exchange.known_head = true;
            }
        } else {
            let text = if repeated {
                link.client.last_head().to_vec()
            } else {
                h2.room.head.clone()
            };
            self.begin_partial(slot, at, head, &text);
        }
        if end {
            self.body_came(wire, slot, at, (&[], true), now);
        }
    }

    /// Keeps the response on a stream from now on, with its head.
    #[cold]
    pub(super) fn begin_partial(&mut self, slot: u32, at: At, head: Head, text: &[u8]) {
        let Some(exchange) = self.exchange(slot, at) else {
            return;
        };
        let kind = usize::from(exchange.request.kind);
        let mut partial = self.spare.take().unwrap_or_default();
        partial.reset(&self.mix.requests()[kind]);
        partial.take_head(head, text);
        if let Some(exchange) = self.exchange(slot, at) {
            exchange.partial = Some(partial);
        }
    }

    /// A part of a body came, or its end.
    #[inline]
    pub(super) fn body_came<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        at: At,
        (bytes, end): (&[u8], bool),
        now: Nanos,
    ) {
        let connection = &mut self.connections[slot as usize];
        let Some(link) = &mut connection.h2 else {
            return;
        };
        let Some(exchange) = link.client.data(at) else {
            return;
        };
        if end && exchange.known_head && exchange.partial.is_none() {
            let request = exchange.request;
            let known = &self.known[usize::from(request.kind)];
            let right = known.accepted(bytes) || {
                let key = Key {
                    counter: request.counter,
                    seed: self.seed,
                    thread: self.part.global_index,
                    session: self.journeys.as_ref().map(|users| users.session(slot)),
                };
                let check = &self.mix.requests()[usize::from(request.kind)].check;
                let scratch = &mut self.scratch;
                check
                    .body_is_right(known.head(), bytes, key, scratch)
                    .is_ok()
            };
            if right {
                let (status, body) = (known.status(), bytes.len() as u64);
                link.client.take(at, &mut self.control);
                connection.in_flight -= 1;
                connection.responses += 1;
                self.in_flight -= 1;
                self.recorder
                    .response(request.intended, status, 0, body, now);
                self.recorder.ok(slot, request, now);
                if request.waited(now) >= LEAST_WAIT {
                    self.recorder.waited(slot, request, now);
                }
                if self.journeys.is_some() {
                    self.step_is_done(slot, request.kind, now);
                }
                return self.stream_is_over(wire, slot, now);
            }
        }
        self.part_came(wire, slot, at, (bytes, end), now);
    }

    /// The way of a response that is new, wrong, or comes in parts.
    #[cold]
    pub(super) fn part_came<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        at: At,
        (bytes, end): (&[u8], bool),
        now: Nanos,
    ) {
        let Some(exchange) = self.exchange(slot, at) else {
            return;
        };
        let request = exchange.request;
        let kind = usize::from(request.kind);
        if exchange.partial.is_none()
            && let Some(head) = self.known[kind].parsed()
        {
            let text = self.known[kind].head().to_vec();
            self.begin_partial(slot, at, head, &text);
        }
        let Some(mut partial) = self.exchange(slot, at).and_then(|one| one.partial.take()) else {
            return;
        };
        let compiled = &self.mix.requests()[kind];
        let key = Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
            session: self.journeys.as_ref().map(|users| users.session(slot)),
        };
        let whole = end && partial.body_len == 0 && partial.first_part.is_none();
        let scratch = &mut self.scratch;
        let fed = partial.feed(Input::Body(bytes), &compiled.check, key, scratch);
        if end && fed.is_ok() {
            let learned = whole && self.learn(kind, &partial, bytes);
            self.take_stream(slot, at, None);
            partial.wire_len = 0;
            self.judge(slot, request, partial, (true, learned), now);
            return self.stream_is_over(wire, slot, now);
        }
        if partial.first_part.is_none() {
            partial.first_part = Some(now);
            let tries = self.recorder.tries_to_acknowledge(request.kind);
            partial.acknowledged = tries && self.connections[slot as usize].acknowledge();
        }
        if let Some(exchange) = self.exchange(slot, at) {
            exchange.partial = Some(partial);
        }
        if let Err(malformed) = fed {
            self.fail_stream(slot, at, ErrorClass::Malformed, malformed.0, now);
            self.stream_is_over(wire, slot, now);
        }
    }

    /// Remembers a response whose body came in one piece.
    pub(super) fn learn(&mut self, kind: usize, partial: &Partial, body: &[u8]) -> bool {
        let Some(head) = partial.response.head() else {
            return false;
        };
        let text = partial.head_seen();
        let compiled = &self.mix.requests()[kind];
        text.len() == head.len && self.known[kind].remember(head, text, body, compiled)
    }
}
