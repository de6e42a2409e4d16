//! Responses on streams: recognised as the last one, or kept until they are whole, and checked.

use std::sync::Arc;

use touchstone_h2::Code;
use touchstone_http::Head;

use super::At;
use crate::clock::Nanos;
use crate::connection::{InFlight, Input, Partial};
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
            let status = known.status;
            // Another response may have taken the place of the one whose body was accepted.
            let is_present = h2.heads[kind]
                .as_ref()
                .is_some_and(|present| Arc::ptr_eq(present, known));
            // A gRPC call's known trailers must come as well.
            let is_whole = known.trailers.is_empty() && exchange.known_body.is_none();
            let right = (is_present && is_whole && self.known[kind].accepted(bytes)) || {
                let key = Key {
                    counter: request.counter,
                    seed: self.seed,
                    thread: self.part.global_index,
                    session: self.journeys.as_ref().map(|users| users.session(slot)),
                };
                let compiled = &self.mix.requests()[kind];
                let scratch = &mut self.scratch;
                compiled.is_bodiless(known.head.status)
                    || compiled
                        .check
                        .body_is_right(&known.text, bytes, key, scratch)
                        .is_ok()
            };
            if right {
                return self.right_came(wire, slot, at, (request, status, bytes.len()), now);
            }
        }
        if !end
            && let Some(known) = &exchange.known_head
            && !known.trailers.is_empty()
            && exchange.known_body.is_none()
        {
            let kind = usize::from(exchange.request.kind);
            let present = h2.heads[kind].as_ref();
            if present.is_some_and(|present| Arc::ptr_eq(present, known))
                && let Some(body) = self.known[kind].same_body(bytes)
            {
                exchange.known_body = Some(body);
                return;
            }
        }
        self.part_came(wire, slot, at, (bytes, frame_ends, end), now);
    }

    /// A response ended with trailers, whose text is in the room.
    #[inline]
    pub(super) fn trailers_came<W: Wire>(&mut self, wire: &mut W, slot: u32, at: At, now: Nanos) {
        let Some(h2) = &mut self.h2 else {
            return;
        };
        let Some(link) = &mut h2.links[slot as usize] else {
            return;
        };
        let Some(exchange) = link.client.data(at) else {
            return;
        };
        let request = exchange.request;
        let kind = usize::from(request.kind);
        if self.mix.requests()[kind].check.call().is_none() {
            return self.body_came(wire, slot, at, (&[], true, true), now);
        }
        if let (Some(known), Some(body)) = (&exchange.known_head, &exchange.known_body)
            && known.trailers == h2.room.head
        {
            let counted = (request, known.status, body.len());
            return self.right_came(wire, slot, at, counted, now);
        }
        let trailers = std::mem::take(&mut h2.room.head);
        self.keep_trailers(slot, at, &trailers);
        if let Some(h2) = &mut self.h2 {
            h2.room.head = trailers;
        }
        self.part_came(wire, slot, at, (&[], true, true), now);
    }

    /// Has a response that is looked at whole keep its trailers.
    #[cold]
    fn keep_trailers(&mut self, slot: u32, at: At, trailers: &[u8]) {
        self.begin_partial(slot, at);
        if let Some(partial) = self
            .exchange(slot, at)
            .and_then(|exchange| exchange.partial.as_mut())
        {
            partial.take_trailers(trailers);
        }
    }

    /// Has a response that was known so far be looked at whole.
    fn begin_partial(&mut self, slot: u32, at: At) {
        let Some(exchange) = self.exchange(slot, at) else {
            return;
        };
        let Some(known) = exchange.known_head.take() else {
            return;
        };
        let body = exchange.known_body.take();
        if exchange.partial.is_some() {
            return;
        }
        let kind = usize::from(exchange.request.kind);
        let compiled = &self.mix.requests()[kind];
        let mut partial = begun(&mut self.spare, compiled, known.head, &known.text);
        if let Some(body) = body {
            let (input, key) = (Input::Body(&body), Key::default());
            // The body of a gRPC call is kept as it is, and one that is known is not too large.
            let _ = partial.feed(input, &compiled.check, key, &mut self.scratch);
        }
        if let Some(exchange) = self.exchange(slot, at) {
            exchange.partial = Some(partial);
        }
    }

    /// A response is known to be right: counts it by its status and the length of its body.
    #[inline]
    fn right_came<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        at: At,
        (request, status, body): (InFlight, u16, usize),
        now: Nanos,
    ) {
        self.take_stream(slot, at, None);
        self.recorder
            .response(request.intended, status, 0, body as u64, now);
        self.count_right(slot, request, now);
        self.stream_is_over(wire, slot, now);
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
        self.begin_partial(slot, at);
        let Some(exchange) = self.exchange(slot, at) else {
            return;
        };
        let request = exchange.request;
        let Some(mut partial) = exchange.partial.take() else {
            return;
        };
        let kind = usize::from(request.kind);
        let compiled = &self.mix.requests()[kind];
        let key = Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
            session: self.journeys.as_ref().map(|users| users.session(slot)),
        };
        // The response to a gRPC call has parts in any case, and is kept.
        let is_call = compiled.check.call().is_some();
        let whole = end && partial.body_len == 0 && partial.first_part.is_none();
        let fed = if let Some(stream) = &mut partial.stream {
            if frame_ends {
                stream.ends.push(bytes.len());
            }
            partial.pass(bytes);
            self.take_events_in(slot, request, &mut partial, (bytes, end), now)
        } else {
            let scratch = &mut self.scratch;
            let fed = partial.feed(Input::Body(bytes), &compiled.check, key, scratch);
            fed.map(drop)
        };
        partial.ended = end;
        if end && fed.is_ok() {
            let body = if is_call {
                partial.whole_body()
            } else {
                whole.then_some(bytes)
            };
            let learned = body.is_some_and(|body| self.learn(kind, &partial, body));
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
        if partial.first_part.is_none() && partial.stream.is_none() && !is_call {
            partial.first_part = Some(now);
            let tries = self.recorder.tries_to_acknowledge(request.kind);
            partial.acknowledged = tries && self.connections[slot as usize].acknowledge();
        }
        if let Some(exchange) = self.exchange(slot, at) {
            exchange.partial = Some(partial);
        }
        if let Err(malformed) = fed {
            // What is still on its way belongs to a stream that was given up, and is passed over.
            let give_up = (!end).then_some(Code::CANCEL);
            let fault = (ErrorClass::Malformed, malformed.0);
            self.fail_and_give_up(slot, at, give_up, fault, now);
            self.stream_is_over(wire, slot, now);
        }
    }

    /// Remembers a response by its body, and by its head with the trailers that are kept behind it.
    fn learn(&mut self, kind: usize, partial: &Partial, body: &[u8]) -> bool {
        let Some(head) = partial.response.head() else {
            return false;
        };
        let text = partial.head_seen();
        let compiled = &self.mix.requests()[kind];
        // A long head of which nothing is checked is kept in part.
        let learned =
            text.len() >= head.len && self.known[kind].remember(head, text, body, compiled);
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
