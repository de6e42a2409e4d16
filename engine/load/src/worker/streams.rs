//! HTTP/2 under a worker: requests and responses on streams, and what a server says of the connection.

use touchstone_h2::{Client, Code, Event, Fault};
use touchstone_http::Head;

use super::Worker;
use crate::clock::Nanos;
use crate::closes::Close;
use crate::connection::{Attempt, InFlight, Input, Partial, State};
use crate::crew::{Layer, Unconnected};
use crate::failure::ErrorClass;
use crate::h2::{Exchange, Link};
use crate::recorder::LEAST_WAIT;
use crate::template::Key;
use crate::wire::Wire;

/// A stream's place on its connection.
type At = usize;

impl Worker {
    /// Says the client's preface on a connection. It carries requests once the server's settings have come.
    pub(super) fn greet<W: Wire>(&mut self, wire: &mut W, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        connection.state = State::Greeting;
        connection.h2 = Some(Box::new(Link::new(self.depth)));
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

    /// Sends one request on a stream of its own. The bytes are gathered until they are flushed.
    #[inline]
    pub(super) fn transmit_stream(&mut self, slot: u32, request: InFlight) {
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        let connection = &mut self.connections[slot as usize];
        let (Some(h2), Some(link)) = (&mut self.h2, &mut connection.h2) else {
            return;
        };
        let key = || Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
            session: self.journeys.as_ref().map(|users| users.session(slot)),
        };
        let exchange = Exchange {
            request: InFlight {
                attempt: match request.attempt {
                    Attempt::Again => Attempt::Repeated,
                    other => other,
                },
                ..request
            },
            partial: None,
            known_head: false,
        };
        let before = self.out.len();
        h2.start(link, compiled, key, exchange, &mut self.out);
        let length = self.out.len() - before;
        connection.in_flight += 1;
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
    }

    /// Bytes came on a slot.
    pub(super) fn received_frames<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        mut data: &[u8],
        now: Nanos,
    ) {
        self.recorder.received(data.len(), now);
        let generation = self.generation(slot);
        loop {
            let link = &mut self.connections[slot as usize].h2;
            let (Some(link), Some(h2)) = (link, &mut self.h2) else {
                break;
            };
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
            Event::Data { at, bytes, end } => self.body_came(wire, slot, at, (bytes, end), now),
            Event::End { at } => self.body_came(wire, slot, at, (&[], true), now),
            Event::Settings => self.settings_came(wire, slot, now),
            Event::Reset {
                at,
                code: Code::REFUSED_STREAM,
            } => {
                if let Some(link) = &mut self.connections[slot as usize].h2 {
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
        let connection = &mut self.connections[slot as usize];
        if let (Some(h2), Some(link)) = (&mut self.h2, &mut connection.h2) {
            h2.obey(link);
        }
        if connection.state == State::Greeting {
            self.opened(wire, slot, now);
        } else {
            self.take_more(wire, slot, now);
        }
    }

    /// The final head of a response came.
    #[inline]
    fn head_came<W: Wire>(
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
    fn begin_partial(&mut self, slot: u32, at: At, head: Head, text: &[u8]) {
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

    fn exchange(&mut self, slot: u32, at: At) -> Option<&mut Exchange> {
        self.connections[slot as usize].h2.as_mut()?.client.data(at)
    }

    /// A part of a body came, or its end.
    #[inline]
    fn body_came<W: Wire>(
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
    fn part_came<W: Wire>(
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
    fn learn(&mut self, kind: usize, partial: &Partial, body: &[u8]) -> bool {
        let Some(head) = partial.response.head() else {
            return false;
        };
        let text = partial.head_seen();
        let compiled = &self.mix.requests()[kind];
        text.len() == head.len && self.known[kind].remember(head, text, body, compiled)
    }

    /// Takes out a stream that is over, or gives it up with a code.
    fn take_stream(&mut self, slot: u32, at: At, give_up: Option<Code>) -> Option<Exchange> {
        let connection = &mut self.connections[slot as usize];
        let client = &mut connection.h2.as_mut()?.client;
        let exchange = match give_up {
            None => client.take(at, &mut self.control),
            Some(code) => client.cancel(at, code, &mut self.control),
        }?;
        connection.in_flight -= 1;
        connection.responses += 1;
        self.in_flight -= 1;
        Some(exchange)
    }

    /// Fails the request on a stream, which is over.
    fn fail_stream(&mut self, slot: u32, at: At, class: ErrorClass, why: &str, now: Nanos) {
        let give_up = matches!(class, ErrorClass::Timeout).then_some(Code::CANCEL);
        let Some(exchange) = self.take_stream(slot, at, give_up) else {
            return;
        };
        let request = exchange.request;
        let received = exchange.partial.as_ref();
        let received = received.map_or(&[][..], |partial| &partial.beginning);
        self.note(class, Some(request), Some(slot), received, why, now);
        self.recorder.failed(class, request, now);
        self.spare = exchange.partial.or(self.spare.take());
        self.end_pass(slot, now);
    }

    /// Fails the oldest request in flight on a connection.
    pub(super) fn fail_oldest_stream(
        &mut self,
        slot: u32,
        class: ErrorClass,
        why: &str,
        now: Nanos,
    ) {
        let link = self.connections[slot as usize].h2.as_ref();
        match link.and_then(|link| link.client.oldest()) {
            Some(at) => self.fail_stream(slot, at, class, why, now),
            None => self.connections[slot as usize].in_flight = 0,
        }
    }

    /// Gives up the streams whose response has been waited for too long; the connection goes on.
    pub(super) fn time_out_streams<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let generation = self.generation(slot);
        loop {
            let Some(link) = &self.connections[slot as usize].h2 else {
                return;
            };
            let is_overdue = |request: &InFlight| now.saturating_sub(request.sent) >= self.timeout;
            let overdue = link
                .client
                .all()
                .find(|(_, exchange)| is_overdue(&exchange.request))
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
    fn unprocessed(&mut self, slot: u32, at: At, class: ErrorClass, why: &str, now: Nanos) {
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
    fn again(&mut self, slot: u32, at: At) {
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
    fn goes_away<W: Wire>(&mut self, wire: &mut W, slot: u32, code: Code, now: Nanos) {
        let why = format!(
            "the server went away ({}) before it processed the request, on a new connection, too",
            code.name()
        );
        if let Some(link) = &mut self.connections[slot as usize].h2
            && link.away.replace(code).is_none()
            && let Some(h2) = &mut self.h2
        {
            h2.used.going_away += 1;
            let connection = &self.connections[slot as usize];
            self.closed
                .note(Close::Announced, connection.responses, Nanos::ZERO);
        }
        while let Some(link) = &self.connections[slot as usize].h2
            && let Some(at) = link.client.unprocessed()
        {
            self.unprocessed(slot, at, ErrorClass::GoingAway, &why, now);
        }
        self.stream_is_over(wire, slot, now);
    }

    /// A request in flight is no longer: what the connection does next.
    #[inline]
    fn stream_is_over<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
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
            return self.retire(wire, slot, now);
        }
        self.take_more(wire, slot, now);
    }

    /// A connection that takes no more requests is replaced, once it has none in flight.
    #[cold]
    fn retire<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let connection = &self.connections[slot as usize];
        let ending = connection
            .h2
            .as_ref()
            .is_some_and(|link| link.client.is_ending());
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

    /// The connection ended with requests in flight.
    pub(super) fn ended_streams<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        error: i32,
        now: Nanos,
    ) {
        let connection = &self.connections[slot as usize];
        let (kept, rested) = (connection.responses > 0, connection.rested());
        let responses = connection.responses;
        let away = connection.h2.as_ref().and_then(|link| link.away);
        let explained = wire.explain(slot, error);
        let mut crossed = false;
        while let Some(link) = &self.connections[slot as usize].h2
            && let Some(at) = link.client.oldest()
        {
            let Some(exchange) = self.exchange(slot, at) else {
                break;
            };
            let begun = exchange.known_head || exchange.partial.is_some();
            let request = exchange.request;
            let idempotent = self.mix.requests()[usize::from(request.kind)].is_idempotent;
            let has_a_try = kept && request.attempt != Attempt::Repeated;
            if !begun && self.repeat && idempotent && has_a_try {
                crossed = true;
                self.again(slot, at);
                continue;
            }
            let (class, why) = match (error, away, begun) {
                (_, Some(code), _) => (
                    ErrorClass::GoingAway,
                    format!("the server went away without an answer: {}", code.name()),
                ),
                (0, _, true) => (
                    ErrorClass::ClosedMidResponse,
                    "the server closed inside the response".to_owned(),
                ),
                (0, _, false) => (
                    ErrorClass::ClosedBeforeResponse,
                    "the server closed before the first byte of the response".to_owned(),
                ),
                _ => (
                    ErrorClass::Reset,
                    std::io::Error::from_raw_os_error(error).to_string(),
                ),
            };
            let why = explained.clone().unwrap_or(why);
            self.fail_stream(slot, at, class, &why, now);
        }
        if crossed {
            self.closed.note(Close::UnderRequest, responses, rested);
            self.recorder.connection_failed(ErrorClass::ClosedIdle, now);
        }
        self.control.clear();
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }

    /// The server broke the protocol: the connection is given up, with all that is in flight on it.
    #[cold]
    fn broken<W: Wire>(&mut self, wire: &mut W, slot: u32, fault: Fault, now: Nanos) {
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
