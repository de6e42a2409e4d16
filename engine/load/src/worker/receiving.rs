//! Responses: parsed, checked, counted, and what the connection does next.

use touchstone_exchange::events::{CODED, is_coded};
use touchstone_exchange::{Code, Wrong, code};
use touchstone_http::{field_lines, parse_head};

use super::Worker;
use super::repeating::REQUEST_TIMEOUT;
use crate::clock::Nanos;
use crate::closes::Close;
use crate::connection::{InFlight, Input, Partial, State};
use crate::failure::ErrorClass;
use crate::recorder::LEAST_WAIT;
use crate::template::Key;
use crate::wire::Wire;

impl Worker {
    /// Bytes came on a slot.
    pub fn received<W: Wire>(&mut self, wire: &mut W, slot: u32, mut data: &[u8], now: Nanos) {
        if self.h2.is_some() {
            return self.received_frames(wire, slot, data, now);
        }
        if self.sockets.is_some() {
            return self.received_messages(wire, slot, data, now);
        }
        while !data.is_empty() {
            let connection = &mut self.connections[slot as usize];
            if connection.in_flight == 0 {
                if connection.state == State::Open {
                    self.stray(wire, slot, data, now);
                }
                return;
            }
            let request = connection.first;
            if request.is_between() {
                return self.received_between(wire, slot, data, now);
            }
            let compiled = &self.mix.requests()[usize::from(request.kind)];
            if connection.partial.is_none()
                && let Some(body) = self.known[usize::from(request.kind)].body_of(data)
            {
                let known = &self.known[usize::from(request.kind)];
                let total = known.head().len() + body.len();
                // The key is made only where it is looked at: most bodies are known.
                let right = known.accepted(body) || {
                    let key = Key {
                        counter: request.counter,
                        seed: self.seed,
                        thread: self.part.global_index,
                        session: self.journeys.as_ref().map(|users| users.session(slot)),
                    };
                    let check = &compiled.check;
                    let scratch = &mut self.scratch;
                    check
                        .body_is_right(known.head(), body, key, scratch)
                        .is_ok()
                };
                if right && (total == data.len() || connection.in_flight > 1) {
                    self.recorder.response(
                        request.intended,
                        known.status(),
                        total as u64,
                        body.len() as u64,
                        now,
                    );
                    data = &data[total..];
                    connection.pop();
                    self.in_flight -= 1;
                    self.count_right(slot, request, now);
                    self.answered(wire, slot, now);
                    continue;
                }
            }
            match self.received_part(wire, slot, data, now) {
                Some(consumed) => data = &data[consumed..],
                None => return,
            }
        }
        if self.depth > 1 {
            self.flush(wire, slot);
        }
    }

    /// Counts a response that is right, and takes its user to the next step.
    #[inline]
    pub(super) fn count_right(&mut self, slot: u32, request: InFlight, now: Nanos) {
        self.recorder.ok(slot, request, now);
        if let Some(flights) = &self.flights {
            flights.ended(slot);
        }
        if request.waited(now) >= LEAST_WAIT {
            self.recorder.waited(slot, request, now);
        }
        if self.journeys.is_some() {
            self.step_is_done(slot, request.kind, now);
        }
    }

    /// The way of a response that is new, wrong, or not whole. Gives the bytes consumed, nothing if
    /// the connection they came on is gone.
    #[cold]
    fn received_part<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        data: &[u8],
        now: Nanos,
    ) -> Option<usize> {
        let connection = &mut self.connections[slot as usize];
        let request = connection.first;
        let kind = usize::from(request.kind);
        let compiled = &self.mix.requests()[kind];
        let key = Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
            session: self.journeys.as_ref().map(|users| users.session(slot)),
        };
        let mut partial = connection.partial.take().unwrap_or_else(|| {
            let mut partial = self.spare.take().unwrap_or_default();
            partial.reset(compiled);
            partial
        });
        let fed = match partial.feed(Input::Wire(data), &compiled.check, key, &mut self.scratch) {
            Ok(fed) => fed,
            Err(malformed) => {
                connection.partial = Some(partial);
                self.lose(wire, slot, ErrorClass::Malformed, malformed.0, now);
                return None;
            }
        };
        if self.is_late_notice(slot, &partial) {
            let close = Close::Notified(REQUEST_TIMEOUT);
            self.closed_under_request(wire, slot, close, &partial.beginning, now);
            self.spare = Some(partial);
            return None;
        }
        if partial.stream.is_some() {
            if let Err(malformed) = self.take_events(slot, request, &mut partial, fed.done, now) {
                self.connections[slot as usize].partial = Some(partial);
                self.lose(wire, slot, ErrorClass::Malformed, malformed.0, now);
                return None;
            }
            if !fed.done && self.is_enough(request, &partial) {
                self.leave_stream(wire, slot, partial, now);
                return None;
            }
        }
        let connection = &mut self.connections[slot as usize];
        if !fed.done {
            if partial.first_part.is_none() && partial.stream.is_none() {
                partial.first_part = Some(now);
                let tries = self.recorder.tries_to_acknowledge(request.kind);
                partial.acknowledged = tries && connection.acknowledge();
            }
            connection.partial = Some(partial);
            return Some(data.len());
        }
        if fed.consumed < data.len() && connection.in_flight == 1 {
            connection.partial = Some(partial);
            let why = "bytes after the end of the response";
            self.lose(wire, slot, ErrorClass::Malformed, why, now);
            return None;
        }
        let whole = fed.consumed as u64 == partial.wire_len;
        let generation = connection.generation;
        let learned = whole
            && self.known[kind].learn(&partial, &self.mix.requests()[kind], &data[..fed.consumed]);
        let keep_alive = partial.response.head().is_some_and(|head| head.keep_alive);
        self.conclude(wire, slot, partial, (keep_alive, learned), now);
        (self.connections[slot as usize].generation == generation).then_some(fed.consumed)
    }

    /// A response was parsed whole: how it came, and what media type it says. Gives the place of those that say the same.
    fn parsed(&mut self, request: InFlight, partial: &Partial, now: Nanos) -> usize {
        if let Some(first_part) = partial.first_part {
            let rest = now - first_part;
            self.recorder
                .came_in_parts(request, rest, partial.acknowledged);
        }
        let head = partial.response.head();
        let said = head.map_or((0, 0), |head| (head.status, head.media_type));
        let name = || {
            let value = field_lines(&partial.beginning, "content-type").next()?;
            let named = value.split(|byte| *byte == b';').next()?;
            Some(String::from_utf8_lossy(named.trim_ascii()).to_ascii_lowercase())
        };
        self.recorder
            .parsed(request.kind, request.intended, said, name)
    }

    /// A response is complete: checks it, counts it, and goes on. It says whether the connection is kept after it, and may have
    /// been `learned`.
    pub(super) fn conclude<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        partial: Box<Partial>,
        (keep_alive, learned): (bool, bool),
        now: Nanos,
    ) {
        let request = self.connections[slot as usize].first;
        self.judge(slot, request, partial, (keep_alive, learned), now);
        self.connections[slot as usize].pop();
        self.in_flight -= 1;
        if keep_alive {
            self.answered(wire, slot, now);
        } else {
            let why = "the server closed the connection with an earlier response";
            self.carry_over(wire, slot, ErrorClass::KeptConnectionClosed, why, now);
        }
    }

    /// Checks a complete response, and counts it.
    pub(super) fn judge(
        &mut self,
        slot: u32,
        request: InFlight,
        partial: Box<Partial>,
        (keep_alive, learned): (bool, bool),
        now: Nanos,
    ) {
        let stream = partial.stream.as_ref();
        let done = stream.and_then(|stream| stream.fulfilled).unwrap_or(now);
        let media_type = self.parsed(request, &partial, now);
        let mut status = partial.response.head().map_or(0, |head| head.status);
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        if status == 200 && compiled.check.call().is_some() {
            status = code(partial.response.head_bytes()).unwrap_or(status);
        }
        let failure = self.fault(slot, request, &partial);
        self.stream_over(request, &partial);
        let failure = failure.or_else(|| self.take_along(slot, request, &partial).err());
        if !matches!(failure, Some((ErrorClass::Malformed, _))) {
            let lengths = (partial.wire_len, partial.body_len);
            self.recorder
                .response(request.intended, status, lengths.0, lengths.1, now);
        }
        let responses = self.connections[slot as usize].responses + 1;
        match failure {
            None => {
                if !keep_alive && self.keep_alive {
                    self.closed.note(Close::Announced, responses, Nanos::ZERO);
                }
                self.count_right(slot, request, done);
            }
            Some((class, why)) => {
                self.note(
                    class,
                    Some(request),
                    Some(slot),
                    &partial.beginning,
                    &why,
                    now,
                );
                self.recorder.failed(class, request, now);
                if let Some(flights) = &self.flights {
                    flights.ended(slot);
                }
                self.end_pass(slot, now);
            }
        }
        self.recorder
            .looked_at(request.kind, learned.then_some(media_type));
        self.spare = Some(partial);
    }

    /// What is wrong with a complete response.
    fn fault(
        &mut self,
        slot: u32,
        request: InFlight,
        partial: &Partial,
    ) -> Option<(ErrorClass, String)> {
        let compiled = &self.mix.requests()[usize::from(request.kind)];
        let check = &compiled.check;
        let status = partial.response.head().map_or(0, |head| head.status);
        if !check.status_is_right(status) {
            return Some((ErrorClass::WrongStatus, compiled.wrong_status(status)));
        }
        let of_head = || {
            let verdict = check.head().check(partial.response.head_bytes());
            Some((ErrorClass::WrongHeader, verdict.err()?))
        };
        if let Some((check, stream)) = compiled.stream.as_deref().zip(partial.stream.as_ref()) {
            if let Some(call) = compiled.check.call() {
                let head = partial.response.head_bytes();
                // A stream that was left when it had all its messages has no status.
                let status = if partial.ended || stream.fulfilled.is_none() {
                    call.status(head).map(Some)
                } else {
                    call.media_type(head).map(|()| None)
                };
                match status {
                    Err((wrong, why)) => return Some((class_of(wrong), why)),
                    Ok(Some(code)) if code != Code::OK => return of_head(),
                    Ok(_) => {}
                }
            }
            if let Some(fault) = of_head() {
                return Some(fault);
            }
            if is_coded(partial.response.head_bytes()) {
                return Some((ErrorClass::WrongHeader, CODED.to_owned()));
            }
            return stream.fault(check);
        }
        if compiled.is_bodiless(status) {
            return of_head();
        }
        // The status of a gRPC call says why other fields are missing.
        if check.call().is_none()
            && let Some(fault) = of_head()
        {
            return Some(fault);
        }
        let key = Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
            session: self.journeys.as_ref().map(|users| users.session(slot)),
        };
        let Err((wrong, why)) = partial.body_is_right(check, key, &mut self.scratch) else {
            return check.call().and_then(|_| of_head());
        };
        let why = compiled.with_coding(why, partial.head_seen());
        Some((class_of(wrong), why))
    }

    /// The oldest request of an open connection was answered: chooses its next step.
    #[inline]
    pub(super) fn answered<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let connection = &mut self.connections[slot as usize];
        connection.since = now;
        if !self.keep_alive || connection.responses >= self.per_connection {
            self.drop_connection(wire, slot);
            self.replace(wire, slot, now);
        } else if connection.again.is_some() {
            self.send_next_again(wire, slot, now);
        } else if self.open_loop {
            self.list(slot);
            if self.backlog {
                self.dispatch(wire, now);
            }
        } else if self.is_sending() && !self.pauses(slot) && (!self.bounded || self.may_send(now)) {
            self.start(wire, slot, now, now);
        }
    }

    /// Bytes came on a connection that carries no request: an error response that announces its end is a notice.
    fn stray<W: Wire>(&mut self, wire: &mut W, slot: u32, data: &[u8], now: Nanos) {
        if let Ok(Some(head)) = parse_head(data, false)
            && head.status >= 400
            && !head.keep_alive
        {
            let why = "the server closed a connection that carried no request, with a notice";
            let close = Close::Notified(head.status);
            return self.closed_at_rest(wire, slot, close, data, why, now);
        }
        let class = ErrorClass::UnaskedBytes;
        let why = "bytes on a connection that carried no request";
        self.note(class, None, None, data, why, now);
        self.recorder.connection_failed(class, now);
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }
}

/// The class of a response that is wrong in this way.
const fn class_of(wrong: Wrong) -> ErrorClass {
    match wrong {
        Wrong::Head => ErrorClass::WrongHeader,
        Wrong::Body => ErrorClass::WrongBody,
        Wrong::Malformed => ErrorClass::Malformed,
        Wrong::GrpcStatus => ErrorClass::GrpcStatus,
    }
}
