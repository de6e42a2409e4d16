//! What the lab asks between the load's own requests: sent on a connection that is free, and answered to the asker.

use std::time::Instant;

use touchstone_exchange::client::{Answered, Unanswered};
use touchstone_exchange::response::{Progress, Reader, Response};

use super::Worker;
use super::ending::{is_of_tls, loss};
use crate::asked::{Asked, Seat};
use crate::clock::Nanos;
use crate::closes::Close;
use crate::connection::{Attempt, InFlight, State, Unsent};
use crate::wire::Wire;

/// The kind of a request that is none of the load's.
const NOT_OF_THE_LOAD: u16 = u16::MAX;

/// A request of the lab's that is under way.
pub(super) struct UnderWay {
    slot: u32,
    asked: Asked,
    reader: Reader,
    first_byte: Option<Instant>,
}

impl InFlight {
    /// Whether it was sent between the requests of the load.
    #[inline]
    pub(super) const fn is_between(&self) -> bool {
        self.kind == NOT_OF_THE_LOAD
    }
}

impl Worker {
    /// Whether the oldest request of a connection is one of the lab's.
    #[inline]
    pub(super) fn carries_asked(&self, slot: u32) -> bool {
        let connection = &self.connections[slot as usize];
        connection.in_flight > 0 && connection.first.is_between()
    }

    /// Sends what the lab asks on a connection that is free, if anything waits for it. Gives whether the connection is in
    /// use now, or gone.
    #[cold]
    pub(super) fn ask_between<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) -> bool {
        let connection = &mut self.connections[slot as usize];
        if connection.state != State::Open
            || connection.in_flight > 0
            || connection.unsent.is_some()
        {
            return false;
        }
        let seat = Seat {
            thread: (self.part.index, self.part.threads),
            slot: (slot, self.part.connections),
        };
        let Some(asked) = self.shared.asked.take(seat) else {
            return false;
        };
        match connection.send(wire, slot, &asked.bytes, false) {
            Ok(sent) if sent == asked.bytes.len() => {}
            Ok(sent) => connection.unsent = Some(Unsent::rest(&asked.bytes, sent)),
            Err(_) => {
                self.shared.asked.put_back(asked);
                let why = "the connection was gone when a request was to be sent";
                self.closed_at_rest(wire, slot, Close::AtRest, &[], why, now);
                return true;
            }
        }
        connection.push(InFlight {
            intended: now,
            sent: now,
            counter: 0,
            kind: NOT_OF_THE_LOAD,
            attempt: Attempt::First,
            overtaken: false,
            late: 0,
        });
        self.in_flight += 1;
        let reader = Reader::new(asked.to_head);
        self.under_way.push(UnderWay {
            slot,
            asked,
            reader,
            first_byte: None,
        });
        true
    }

    /// Open loop: sends what the lab asks on connections that are free.
    #[cold]
    pub(super) fn ask_idle<W: Wire>(&mut self, wire: &mut W, now: Nanos) {
        let listed: Vec<u32> = self.idle.iter().copied().collect();
        for slot in listed {
            if !self.shared.asked.waits() {
                return;
            }
            if self.ask_between(wire, slot, now) {
                self.unlist(slot);
            }
        }
    }

    /// Bytes came on a connection that carries one of the lab's requests.
    #[cold]
    pub(super) fn received_between<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        data: &[u8],
        now: Nanos,
    ) {
        let Some(one) = self.under_way.iter_mut().find(|one| one.slot == slot) else {
            return;
        };
        let first_byte = *one.first_byte.get_or_insert_with(Instant::now);
        match one.reader.push(data) {
            Ok(Progress::Partial) => {}
            Ok(Progress::Complete(response)) => {
                let keeps = response.keep_alive;
                self.conclude_asked(slot, Ok(answered(response, first_byte)));
                if keeps {
                    return self.answered(wire, slot, now);
                }
                let connection = &self.connections[slot as usize];
                self.closed
                    .note(Close::Announced, connection.responses, Nanos::ZERO);
                self.drop_connection(wire, slot);
                self.replace(wire, slot, now);
            }
            Err(why) => {
                self.conclude_asked(slot, Err(Unanswered::because(why)));
                self.drop_connection(wire, slot);
                self.replace(wire, slot, now);
            }
        }
    }

    /// The connection ended under one of the lab's requests, with an error number or 0. One of which nothing was answered
    /// may be sent once more.
    #[cold]
    pub(super) fn ended_between<W: Wire>(
        &mut self,
        wire: &mut W,
        slot: u32,
        error: i32,
        now: Nanos,
    ) {
        let Some(place) = self.under_way.iter().position(|one| one.slot == slot) else {
            return;
        };
        let one = &mut self.under_way[place];
        if !one.reader.begun() && one.asked.may_repeat && !is_of_tls(error) {
            let mut asked = self.under_way.swap_remove(place).asked;
            asked.may_repeat = false;
            self.shared.asked.put_back(asked);
            self.connections[slot as usize].pop();
            self.in_flight -= 1;
        } else {
            let first_byte = one.first_byte.unwrap_or_else(Instant::now);
            let whole = if error == 0 {
                one.reader.close()
            } else {
                Err(loss(error, one.reader.begun()).1)
            };
            let whole = whole.map_err(|why| wire.explain(slot, error).unwrap_or(why));
            let answer = whole.map(|response| answered(response, first_byte));
            self.conclude_asked(slot, answer.map_err(Unanswered::because));
        }
        self.drop_connection(wire, slot);
        self.replace(wire, slot, now);
    }

    /// One of the lab's requests gets no answer any more.
    #[cold]
    pub(super) fn fail_between(&mut self, slot: u32, why: &str) {
        self.conclude_asked(slot, Err(Unanswered::because(why.to_owned())));
    }

    /// Gives an answer to the asker; the connection is free.
    fn conclude_asked(&mut self, slot: u32, answer: Result<Answered, Unanswered>) {
        if let Some(place) = self.under_way.iter().position(|one| one.slot == slot) {
            self.under_way.swap_remove(place).asked.answer(answer);
        }
        self.connections[slot as usize].pop();
        self.in_flight -= 1;
    }
}

const fn answered(response: Response, first_byte: Instant) -> Answered {
    Answered {
        response,
        first_byte,
    }
}
