//! Which request a connection gets next: from the schedule in open loop, at once in closed loop.

use std::sync::atomic::Ordering;

use super::{Phase, Worker};
use crate::clock::Nanos;
use crate::connection::{Attempt, InFlight, State};
use crate::wire::Wire;

impl Worker {
    /// Open loop: gives the requests that are due to the connections that are free.
    pub(super) fn dispatch<W: Wire>(&mut self, wire: &mut W, now: Nanos) {
        if self.phase == Phase::Draining && self.shared.interrupted.load(Ordering::Relaxed) {
            return;
        }
        if self.is_sending() && self.shared.asked.waits() {
            self.ask_idle(wire, now);
        }
        let free = self.idle.len();
        let due = &mut self.due;
        let recorder = &self.recorder;
        let mut given_up = 0;
        let waiting = self.shared.with_schedule(|schedule| {
            while due.len() < free {
                let Some(intended) = schedule.take(now) else {
                    break;
                };
                if self.gives_up && now.saturating_sub(intended) >= self.timeout {
                    given_up += u64::from(recorder.counts(intended));
                    continue;
                }
                due.push(intended);
            }
            schedule.observe(now)
        });
        self.unsent += given_up;
        let waiting = waiting.unwrap_or(0);
        self.backlog = waiting > 0;
        self.shared.progress[self.part.index as usize]
            .queue
            .store(waiting, Ordering::Relaxed);
        let mut due = std::mem::take(&mut self.due);
        for intended in due.drain(..) {
            match self.take_idle() {
                Some(slot) => self.start(wire, slot, intended, now),
                // Every listed place turned out to be lost: the request goes to the first connection that comes up.
                None => self.park(intended),
            }
        }
        self.due = due;
    }

    fn take_idle(&mut self) -> Option<u32> {
        while let Some(slot) = self.idle.pop_front() {
            let connection = &mut self.connections[slot as usize];
            connection.listed -= 1;
            let usable = match connection.state {
                State::Open => {
                    connection.again.is_none()
                        && self.connections[slot as usize].in_flight < self.room(slot)
                }
                State::Closed => !self.keep_alive && !connection.assigned,
                _ => false,
            };
            if usable {
                return Some(slot);
            }
        }
        None
    }

    /// Keeps a request that was taken from the schedule for a connection that is not up.
    fn park(&mut self, intended: Nanos) {
        let mut places = self.connections.iter();
        let place =
            places.position(|connection| connection.state != State::Open && !connection.assigned);
        match place {
            Some(place) => {
                let (counter, kind) = self.next_request(place as u32, intended);
                let connection = &mut self.connections[place];
                connection.first = InFlight {
                    intended,
                    sent: Nanos::ZERO,
                    counter,
                    kind,
                    attempt: Attempt::First,
                    overtaken: false,
                    late: 0,
                };
                connection.assigned = true;
                self.assigned += 1;
            }
            None => self.unsent += u64::from(self.recorder.counts(intended)),
        }
    }

    /// Puts a connection on the list of the free, once for each request that it could take.
    pub(super) fn list(&mut self, slot: u32) {
        self.list_some(slot, u16::MAX);
    }

    /// Puts a connection on the list of the free until it holds `most` places there.
    pub(super) fn list_some(&mut self, slot: u32, most: u16) {
        if self.pauses(slot) {
            return;
        }
        let room = self.room(slot).min(most);
        let connection = &mut self.connections[slot as usize];
        if connection.again.is_some() {
            return;
        }
        let held = connection.in_flight + connection.listed + u16::from(connection.assigned);
        for _ in held..room {
            connection.listed += 1;
            self.idle.push_back(slot);
        }
    }

    /// Takes a connection off the list of the free, of which it may hold several places: a request that is taken from the
    /// schedule for one of them has to find it.
    pub(super) fn unlist(&mut self, slot: u32) {
        if std::mem::take(&mut self.connections[slot as usize].listed) > 0 {
            self.idle.retain(|listed| *listed != slot);
        }
    }

    /// Closed loop: sends as many requests as the connection may have in flight.
    pub(super) fn fill<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        self.refill(wire, slot, now);
        if self.connections[slot as usize].state == State::Open {
            self.flush(wire, slot);
        }
    }

    /// As [`Self::fill`], where more may come before what was gathered is sent.
    pub(super) fn refill<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        while self.is_sending() && self.connections[slot as usize].in_flight < self.room(slot) {
            let connection = &self.connections[slot as usize];
            if connection.assigned || connection.again.is_some() || self.pauses(slot) {
                break;
            }
            if self.bounded && !self.may_send(now) {
                break;
            }
            self.start(wire, slot, now, now);
            if self.connections[slot as usize].state != State::Open {
                return;
            }
        }
    }

    /// Requests may be sent that nobody has asked for yet: a closed loop inside its time and count.
    pub(super) fn is_sending(&self) -> bool {
        matches!(self.phase, Phase::Warmup | Phase::Load)
    }

    pub(super) fn may_send(&self, now: Nanos) -> bool {
        now < self.recorder.window.begin || self.shared.may_send()
    }

    /// The number and the kind of a connection's next request.
    #[inline]
    fn next_request(&mut self, slot: u32, intended: Nanos) -> (u64, u16) {
        if self.journeys.is_some() {
            return self.next_step(slot, intended);
        }
        let counter = self.counter;
        self.counter += u64::from(self.part.global_threads);
        (counter, self.mix.pick(&mut self.random))
    }

    /// Starts one request on a slot: sends it, or opens the connection that it waits for.
    pub(super) fn start<W: Wire>(&mut self, wire: &mut W, slot: u32, intended: Nanos, now: Nanos) {
        if !self.open_loop && self.shared.asked.waits() && self.ask_between(wire, slot, now) {
            return;
        }
        let (counter, kind) = self.next_request(slot, intended);
        let connection = &mut self.connections[slot as usize];
        let late = now.saturating_sub(intended.max(connection.since));
        if self.open_loop && self.recorder.counts(intended) {
            self.recorder.lateness.record(late);
        }
        let request = InFlight {
            intended,
            sent: now,
            counter,
            kind,
            attempt: Attempt::First,
            overtaken: false,
            late: u32::try_from(late.0).unwrap_or(u32::MAX),
        };
        if connection.state == State::Open {
            self.transmit(wire, slot, request, now);
            if self.open_loop && self.gathers() {
                self.flush(wire, slot);
            }
        } else {
            connection.first = request;
            connection.assigned = true;
            self.assigned += 1;
            if connection.state == State::Closed {
                self.open(wire, slot, now);
            }
        }
    }
}
