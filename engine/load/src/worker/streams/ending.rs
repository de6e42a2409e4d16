//! Streams and connections of HTTP/2 that end without a response, and what becomes of their requests.

use touchstone_h2::{Code, Fault};

use super::At;
use crate::clock::Nanos;
use crate::closes::Close;
use crate::connection::{Attempt, State};
use crate::failure::ErrorClass;
use crate::h2::Exchange;
use crate::wire::Wire;
use crate::worker::Worker;
use crate::worker::ending::{is_of_tls, loss};
use crate::worker::repeating::{CROSSED, CROSSED_TO_REPEAT};

impl Worker {
    /// Takes out a stream that is over, or gives it up with a code.
    #[inline]
    pub(in crate::worker) fn take_stream(
        &mut self,
        slot: u32,
        at: At,
        give_up: Option<Code>,
    ) -> Option<Exchange> {
        let client = &mut self.h2.as_mut()?.links[slot as usize].as_mut()?.client;
        let exchange = match give_up {
            None => client.take(at, &mut self.control),
            Some(code) => client.cancel(at, code, &mut self.control),
        }?;
        let connection = &mut self.connections[slot as usize];
        connection.in_flight -= 1;
        connection.responses += 1;
        self.in_flight -= 1;
        Some(exchange)
    }

    /// Fails the request on a stream, which is over.
    pub(super) fn fail_stream(
        &mut self,
        slot: u32,
        at: At,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        let give_up = matches!(class, ErrorClass::Timeout).then_some(Code::CANCEL);
        self.fail_and_give_up(slot, at, give_up, (class, why), now);
    }

    /// Fails the request on a stream, which is given up with a code unless it is over.
    pub(super) fn fail_and_give_up(
        &mut self,
        slot: u32,
        at: At,
        give_up: Option<Code>,
        (class, why): (ErrorClass, &str),
        now: Nanos,
    ) {
        let Some(exchange) = self.take_stream(slot, at, give_up) else {
            return;
        };
        let request = exchange.request;
        let why = self.break_off(request, exchange.partial.as_deref(), why);
        let received = exchange.partial.as_ref();
        let received = received.map_or(&[][..], |partial| &partial.beginning);
        self.note(class, Some(request), Some(slot), received, &why, now);
        self.recorder.failed(class, request, now);
        self.spare = exchange.partial.or(self.spare.take());
        self.end_pass(slot, now);
    }

    /// Fails the oldest request in flight on a connection.
    pub(in crate::worker) fn fail_oldest_stream(
        &mut self,
        slot: u32,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        if let Some(at) = self.link(slot).and_then(|link| link.client.oldest()) {
            self.fail_stream(slot, at, class, why, now);
        }
    }

    /// Gives up the streams whose response has been waited for too long; the connection goes on.
    pub(in crate::worker) fn time_out_streams<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        now: Nanos,
    ) {
        let generation = self.generation(slot);
        loop {
            let Some(link) = self.link(slot) else {
                return;
            };
            let waited = |exchange: &Exchange| now.saturating_sub(exchange.waits_since());
            let overdue = link
                .client
                .all()
                .find(|(_, exchange)| waited(exchange) >= self.timeout)
                .map(|(at, _)| at);
            let Some(at) = overdue else {
                break;
            };
            let why = if link.client.waits_for_window() {
                "no complete response within the limit; the server gives no window for the request's body"
            } else {
                "no complete response within the limit"
            };
            self.fail_stream(slot, at, ErrorClass::Timeout, why, now);
            self.stream_is_over(wire, slot, now);
            if self.generation(slot) != generation {
                return self.control.clear();
            }
        }
        self.out.append(&mut self.control);
        self.flush(wire, slot);
    }

    /// The server did not process a request, and says so: it goes on another connection, from when it was due. If it was
    /// sent before, and this connection was new, it fails.
    pub(super) fn unprocessed(
        &mut self,
        slot: u32,
        at: At,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        let fresh = self.connections[slot as usize].responses == 0;
        let Some(exchange) = self.exchange(slot, at) else {
            return;
        };
        if fresh && exchange.request.attempt == Attempt::Repeated {
            return self.fail_stream(slot, at, class, why, now);
        }
        if let Some(h2) = &mut self.h2 {
            h2.used.unprocessed += 1;
        }
        self.again(slot, at);
    }

    /// Has the request on a stream wait for another connection in this place.
    pub(super) fn again(&mut self, slot: u32, at: At) {
        let responses = self.connections[slot as usize].responses;
        let Some(exchange) = self.take_stream(slot, at, None) else {
            return;
        };
        let mut request = exchange.request;
        if request.attempt != Attempt::Repeated {
            request.attempt = Attempt::Again;
        }
        let connection = &mut self.connections[slot as usize];
        connection.responses = responses;
        connection.again.get_or_insert_default().push_back(request);
        self.assigned += 1;
    }

    /// The server takes no more requests on this connection, and says which it has not processed.
    pub(super) fn goes_away<W: Wire>(&mut self, wire: &mut W, slot: u32, code: Code, now: Nanos) {
        let why = format!(
            "the server went away ({}) before it processed the request, on a new connection, too",
            code.name()
        );
        if let Some(h2) = &mut self.h2
            && let Some(link) = &mut h2.links[slot as usize]
            && link.away.replace(code).is_none()
        {
            h2.used.going_away += 1;
            let connection = &self.connections[slot as usize];
            self.closed
                .note(Close::Announced, connection.responses, Nanos::ZERO);
        }
        while let Some(at) = self.link(slot).and_then(|link| link.client.unprocessed()) {
            self.unprocessed(slot, at, ErrorClass::GoingAway, &why, now);
        }
        // What is in flight still gets its response: without keepalive, too.
        self.unlist(slot);
        self.retire(wire, slot, now);
    }

    /// The connection ended with requests in flight.
    pub(in crate::worker) fn ended_streams<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        error: i32,
        now: Nanos,
    ) {
        let connection = &self.connections[slot as usize];
        let responses = connection.responses;
        let rested = self.oldest_sent(slot).saturating_sub(connection.since);
        // As over HTTP/1.1, a close by the server may cross a request on a kept connection only.
        let is_kept = responses > 0 || rested > Nanos::ZERO;
        let away = self.link(slot).and_then(|link| link.away);
        let of_tls = is_of_tls(error);
        let explained = wire.explain(slot, error);
        let (mut crossed, mut repeated) = (false, None);
        while let Some(at) = self.link(slot).and_then(|link| link.client.oldest()) {
            let Some(exchange) = self.exchange(slot, at) else {
                break;
            };
            let (begun, request) = (exchange.has_begun(), exchange.request);
            let crosses = !begun && !of_tls && is_kept && request.attempt != Attempt::Repeated;
            crossed |= crosses;
            if crosses && self.repeat && self.is_idempotent(request) {
                repeated = repeated.or(Some(request));
                self.again(slot, at);
                continue;
            }
            let (class, why) = match away {
                Some(code) if !of_tls => (
                    ErrorClass::GoingAway,
                    format!("the server went away without an answer: {}", code.name()),
                ),
                None if crosses => (ErrorClass::KeptConnectionClosed, CROSSED.to_owned()),
                _ => loss(error, begun),
            };
            let why = explained.clone().unwrap_or(why);
            self.fail_stream(slot, at, class, &why, now);
        }
        if crossed && away.is_none() {
            self.closed.note(Close::UnderRequest, responses, rested);
        }
        if let Some(request) = repeated {
            let (class, request) = (ErrorClass::ClosedIdle, Some(request));
            self.note(class, request, Some(slot), &[], CROSSED_TO_REPEAT, now);
            self.recorder.connection_failed(class, now);
        }
        self.control.clear();
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }

    /// The server broke the protocol: the connection is given up, with all that is in flight on it.
    #[cold]
    pub(super) fn broken<W: Wire>(&mut self, wire: &mut W, slot: u32, fault: Fault, now: Nanos) {
        self.out.append(&mut self.control);
        self.flush(wire, slot);
        let connection = &self.connections[slot as usize];
        if connection.state == State::Greeting {
            self.drop_connection(wire, slot);
            let why = Self::no_http2(fault.why);
            return self.attempt_failed(slot, libc::EPROTO, Some(why), now);
        }
        let why = format!("the server broke the rules of HTTP/2: {fault}");
        if connection.in_flight > 0 {
            return self.fail_all(wire, slot, ErrorClass::Malformed, &why, now);
        }
        let in_vain = connection.responses == 0;
        self.note(ErrorClass::UnaskedBytes, None, None, &[], &why, now);
        self.recorder
            .connection_failed(ErrorClass::UnaskedBytes, now);
        self.drop_connection(wire, slot);
        if in_vain {
            return self.pause(slot, now);
        }
        self.replace(wire, slot, now);
    }
}
