//! Responses on streams: recognised as the last one, or kept until they are whole, and checked.

use std::sync::Arc;

use touchstone_http::Head;

use super::At;
use crate::clock::Nanos;
use crate::connection::{Input, Partial};
use crate::failure::ErrorClass;
use crate::request::CompiledRequest;
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
        let Some(h2) = &mut self.h2 else {
            return;
        };
        let Some(link) = &mut h2.links[slot as usize] else {
            return;
        };
        let Some(exchange) = link.client.data(at) else {
            return;
        };
        let kind = usize::from(exchange.request.kind);
        let known = h2.heads[kind].as_ref();
        let noted = link.noted.as_ref().filter(|_| repeated);
        let mut is_known = known
            .zip(noted)
            .is_some_and(|(known, noted)| Arc::ptr_eq(known, noted));
        if !is_known {
            let text = if repeated {
                link.client.last_head()
            } else {
                &h2.room.head
            };
            is_known = known.is_some_and(|known| known.text == text);
            link.noted = known.filter(|_| is_known).cloned();
            if !is_known {
                let partial = begun(&mut self.spare, &self.mix.requests()[kind], head, text);
                if let Some(exchange) = link.client.data(at) {
                    exchange.partial = Some(partial);
                }
            }
        }
        if is_known && let Some(exchange) = link.client.data(at) {
            exchange.known_head = known.cloned();
        }
        if end {
            self.body_came(wire, slot, at, (&[], true, true), now);
        }
    }

    /// A part of a body came, or its end.
    #[inline]
    pub(super) fn body_came<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        at: At,
        (bytes, frame_ends, end): (&[u8], bool, bool),
        now: Nanos,
    ) {
        let Some(h2) = &mut self.h2 else {
            return;
        };
        let Some(link) = &mut h2.links[slot as usize] else {
            return;
        };
        let Some(exchange) = link.client.data(at) else {
            return;
        };
        if end && let Some(known) = &exchange.known_head {
            let request = exchange.request;
            let kind = usize::from(request.kind);
            let status = known.head.status;
            // Another response may have taken the place of the one whose body was accepted.
            let is_present = h2.heads[kind]
                .as_ref()
                .is_some_and(|present| Arc::ptr_eq(present, known));
            let right = (is_present && self.known[kind].accepted(bytes)) || {
                let key = Key {
                    counter: request.counter,
                    seed: self.seed,
                    thread: self.part.global_index,
                    session: self.journeys.as_ref().map(|users| users.session(slot)),
                };
                let compiled = &self.mix.requests()[kind];
                let scratch = &mut self.scratch;
                compiled.is_bodiless(status)
                    || compiled
                        .check
                        .body_is_right(&known.text, bytes, key, scratch)
                        .is_ok()
            };
            if right {
                self.take_stream(slot, at, None);
                let body = bytes.len() as u64;
                self.recorder
                    .response(request.intended, status, 0, body, now);
                self.count_right(slot, request, now);
                return self.stream_is_over(wire, slot, now);
            }
        }
        self.part_came(wire, slot, at, (bytes, frame_ends, end), now);
    }

    /// The way of a response that is new, wrong, or comes in parts.
    #[cold]
    pub(super) fn part_came<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        at: At,
        (bytes, frame_ends, end): (&[u8], bool, bool),
        now: Nanos,
    ) {
        let Some(exchange) = self.exchange(slot, at) else {
            return;
        };
        let request = exchange.request;
        let (partial, known) = (exchange.partial.take(), exchange.known_head.take());
        let kind = usize::from(request.kind);
        let compiled = &self.mix.requests()[kind];
        let known = known.map(|known| begun(&mut self.spare, compiled, known.head, &known.text));
        let Some(mut partial) = partial.or(known) else {
            return;
        };
        let key = Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
            session: self.journeys.as_ref().map(|users| users.session(slot)),
        };
        let whole = end && partial.body_len == 0 && partial.first_part.is_none();
        let scratch = &mut self.scratch;
        let fed = partial.feed(Input::Body(bytes), &compiled.check, key, scratch);
        let fed = fed.and_then(|_| {
            if frame_ends && let Some(stream) = &mut partial.stream {
                stream.ends.push(bytes.len());
            }
            self.take_events(slot, request, &mut partial, end, now)
        });
        if end && fed.is_ok() {
            let learned = whole && self.learn(kind, &partial, bytes);
            self.take_stream(slot, at, None);
            partial.wire_len = 0;
            self.judge(slot, request, partial, (true, learned), now);
            return self.stream_is_over(wire, slot, now);
        }
        if fed.is_ok() && self.is_enough(request, &partial) {
            if let Some(exchange) = self.exchange(slot, at) {
                exchange.partial = Some(partial);
            }
            return self.cancel_stream(wire, slot, at, now);
        }
        if partial.first_part.is_none() && partial.stream.is_none() {
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
        let learned =
            text.len() == head.len && self.known[kind].remember(head, text, body, compiled);
        if learned && let Some(h2) = &mut self.h2 {
            h2.remember(kind, head, text);
        }
        learned
    }
}

/// A response that is kept from now on, with its head.
#[cold]
fn begun(
    spare: &mut Option<Box<Partial>>,
    compiled: &CompiledRequest,
    head: Head,
    text: &[u8],
) -> Box<Partial> {
    let mut partial = spare.take().unwrap_or_default();
    partial.reset(compiled);
    partial.take_head(head, text);
    partial
}
