//! Streamed responses under a worker: their events are taken as they come, and a stream that has all of them is over.

use touchstone_exchange::events::has_events;
use touchstone_h2::Code;
use touchstone_http::Malformed;

use super::Worker;
use crate::clock::{Nanos, unix_nanos};
use crate::connection::{InFlight, Partial, State};
use crate::recorder::Arrival;
use crate::request::CompiledRequest;
use crate::streaming::{Body, GRACE, Streaming};
use crate::template::Key;
use crate::wire::Wire;

impl Worker {
    /// Takes the events that came with the last bytes of a response, if that is a stream. The response may have `ended`.
    ///
    /// # Errors
    /// [`Malformed`] where an event is too large.
    pub(super) fn take_events(
        &mut self,
        slot: u32,
        request: InFlight,
        partial: &mut Partial,
        ended: bool,
        now: Nanos,
    ) -> Result<(), Malformed> {
        let bytes = partial.take_body();
        let taken = self.take_events_in(slot, request, partial, (&bytes, ended), now);
        partial.put_body(bytes);
        taken
    }

    /// As [`Self::take_events`], of these bytes of a body.
    ///
    /// # Errors
    /// [`Malformed`] where an event is too large.
    pub(super) fn take_events_in(
        &mut self,
        slot: u32,
        request: InFlight,
        partial: &mut Partial,
        (bytes, ended): (&[u8], bool),
        now: Nanos,
    ) -> Result<(), Malformed> {
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        let Some(check) = compiled.stream.as_deref() else {
            return Ok(());
        };
        let Some(mut streaming) = partial.stream.take() else {
            return Ok(());
        };
        if streaming.body == Body::Unknown {
            streaming.body = body_of(compiled, partial);
        }
        let mut taken = Ok(());
        if streaming.body == Body::Events {
            let key = Key {
                counter: request.counter,
                seed: self.seed,
                thread: self.part.global_index,
                session: self.journeys.as_ref().map(|users| users.session(slot)),
            };
            let (recorder, open) = (&mut self.recorder, self.in_flight);
            let wall = check.stamp.as_ref().map(|_| unix_nanos());
            recorder.heard(now);
            let scratch = &mut self.scratch;
            taken = streaming.take(
                check,
                (bytes, ended),
                (key, scratch),
                now,
                |seen, before| {
                    let delay = seen.stamp.zip(wall);
                    let delay =
                        delay.map(|(sent, came)| came.checked_sub(sent.0).map(Nanos).ok_or(()));
                    let is_new = seen.is_new;
                    let arrival = Arrival {
                        before,
                        delay,
                        is_new,
                    };
                    recorder.event(request, arrival, open, now);
                },
            );
        }
        partial.stream = Some(streaming);
        taken
    }

    /// Whether a stream has all its events, and nothing more is waited for: earlier ones of its kind went on for long.
    pub(super) fn is_enough(&self, request: InFlight, partial: &Partial) -> bool {
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        let done = |stream: &Streaming, check: &_| {
            stream.fulfilled.is_some() && stream.progress.lost(check, false) == 0
        };
        self.endless[usize::from(request.kind)]
            && partial
                .stream
                .as_deref()
                .zip(compiled.stream.as_deref())
                .is_some_and(|(stream, check)| done(stream, check))
    }

    /// A stream has all its events, and its response has not ended: HTTP/1.1 knows no other way out of it than to close.
    pub(super) fn leave_stream<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        partial: Box<Partial>,
        now: Nanos,
    ) {
        let request = self.connections[slot as usize].first;
        self.judge(slot, request, partial, (true, false), now);
        self.connections[slot as usize].pop();
        self.in_flight -= 1;
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }

    /// Leaves the streams of a connection that have had all their events for a while.
    pub(super) fn leave_streams<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let is_over = |partial: &Partial| {
            let fulfilled = partial.stream.as_ref().and_then(|stream| stream.fulfilled);
            fulfilled.is_some_and(|then| now.saturating_sub(then) >= GRACE)
        };
        if self.h2.is_none() {
            let connection = &mut self.connections[slot as usize];
            let kind = usize::from(connection.first.kind);
            if let Some(partial) = connection.partial.take_if(|partial| is_over(partial)) {
                self.endless[kind] = true;
                self.leave_stream(wire, slot, partial, now);
            }
            return;
        }
        let generation = self.generation(slot);
        while let Some(link) = self.link(slot) {
            let over = |partial: &Option<Box<Partial>>| partial.as_deref().is_some_and(is_over);
            let mut all = link.client.all();
            let found = all.find(|(_, exchange)| over(&exchange.partial));
            let found = found.map(|(at, exchange)| (at, exchange.request.kind));
            drop(all);
            let Some((at, kind)) = found else {
                break;
            };
            self.endless[usize::from(kind)] = true;
            self.cancel_stream(wire, slot, at, now);
            if self.generation(slot) != generation {
                return self.control.clear();
            }
        }
        self.out.append(&mut self.control);
        self.flush(wire, slot);
    }

    /// A stream of HTTP/2 has all its events: the rest is called off.
    pub(super) fn cancel_stream<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        at: usize,
        now: Nanos,
    ) {
        if let Some(exchange) = self.take_stream(slot, at, Some(Code::CANCEL))
            && let Some(partial) = exchange.partial
        {
            self.judge(slot, exchange.request, partial, (true, false), now);
        }
        self.stream_is_over(wire, slot, now);
    }

    /// A response will not come whole: counts what has come of it, if it is a stream, and says so.
    pub(super) fn break_off(
        &mut self,
        request: InFlight,
        partial: Option<&Partial>,
        why: &str,
    ) -> String {
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        let Some(check) = compiled.stream.as_deref() else {
            return why.to_owned();
        };
        let stream = partial.and_then(|partial| partial.stream.as_deref());
        let Some(stream) = stream.filter(|stream| stream.body == Body::Events) else {
            return format!("{why}; no event had come");
        };
        self.recorder.stream_over(request, check, stream, false);
        format!("{why}; {}", stream.progress.so_far(check))
    }

    /// Counts what came of a stream whose response is over.
    pub(super) fn stream_over(&mut self, request: InFlight, partial: &Partial) {
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        let (check, stream) = (compiled.stream.as_deref(), partial.stream.as_deref());
        if let Some((check, stream)) = check.zip(stream)
            && stream.body == Body::Events
        {
            self.recorder.stream_over(request, check, stream, true);
        }
    }

    /// Since when a slot has waited: for the oldest response, or for the next event of a stream.
    pub(super) fn waits_since(&self, slot: u32) -> Nanos {
        match self.link(slot) {
            Some(link) => link.waits_since(),
            None => {
                let connection = &self.connections[slot as usize];
                connection.first.waits_since(connection.partial.as_deref())
            }
        }
    }

    /// Whether a connection is open, and has requests in flight of which one may be a stream.
    pub(super) fn may_stream(&self, slot: u32) -> bool {
        let connection = &self.connections[slot as usize];
        self.streams && connection.state == State::Open && connection.in_flight > 0
    }
}

/// Whether the body of a response holds events.
fn body_of(compiled: &CompiledRequest, partial: &Partial) -> Body {
    let Some(head) = partial.response.head() else {
        return Body::Unknown;
    };
    if has_events(compiled, head.status, partial.response.head_bytes()) {
        Body::Events
    } else {
        Body::Other
    }
}
