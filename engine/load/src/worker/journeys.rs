//! Journeys: which step a connection's user takes next, what they carry along, and when they pause.
//!
//! A user is a place for a connection. They go through one journey after the other; a step whose response is wrong, or
//! does not come, ends the pass. An idle connection that the server closes does not: the user opens another.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use touchstone_exchange::Part;

use super::Worker;
use crate::clock::Nanos;
use crate::connection::{InFlight, Partial, State};
use crate::failure::ErrorClass;
use crate::mix::Mix;
use crate::session::Session;
use crate::template::Key;
use crate::wire::Wire;

/// The users of one thread.
pub(super) struct Journeys {
    users: Vec<User>,
    /// Users that pause: until when, and who; the first to go on is on top.
    pausing: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// When the last turn ended, if the load comes in turns.
    suspended: Nanos,
}

/// One user and their pass through a journey.
#[derive(Default)]
struct User {
    session: Session,
    /// The pass's number, from which the values of its requests follow.
    counter: u64,
    /// When its first request was due.
    begun: Nanos,
    journey: u16,
    /// The next step, or the one that is under way.
    step: u16,
    in_pass: bool,
    pauses: bool,
}

impl Journeys {
    /// Users for these connections; none if the mix has no journeys.
    pub(super) fn of(mix: &Mix, connections: u32) -> Option<Box<Self>> {
        let users = (0..connections).map(|_| User::default());
        (!mix.journeys().is_empty()).then(|| {
            Box::new(Self {
                users: users.collect(),
                pausing: BinaryHeap::new(),
                suspended: Nanos::ZERO,
            })
        })
    }

    /// What a connection's user carries along.
    pub(super) fn session(&self, slot: u32) -> &Session {
        &self.users[slot as usize].session
    }

    /// When the first of the users that pause goes on.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        self.pausing.peek().map(|Reverse((until, _))| *until)
    }

    /// A turn has ended: the users' clocks stand until the next one.
    pub(super) const fn suspend(&mut self, now: Nanos) {
        self.suspended = now;
    }

    /// The next turn begins.
    pub(super) fn resume(&mut self, now: Nanos) {
        let stood = now - self.suspended;
        let pausing = std::mem::take(&mut self.pausing).into_iter();
        self.pausing = pausing
            .map(|Reverse((until, slot))| Reverse((until + stood, slot)))
            .collect();
        for user in &mut self.users {
            user.begun += stood;
        }
    }
}

impl Worker {
    /// The number and the kind of a connection's next request in a load of journeys.
    #[inline(never)]
    pub(super) fn next_step(&mut self, slot: u32, intended: Nanos) -> (u64, u16) {
        let counter = self.counter;
        let Some(journeys) = &mut self.journeys else {
            return (counter, 0);
        };
        let user = &mut journeys.users[slot as usize];
        if !user.in_pass {
            user.journey = self.mix.pick(&mut self.random);
            user.step = 0;
            user.in_pass = true;
            user.counter = counter;
            user.begun = intended;
            self.counter += u64::from(self.part.global_threads);
            let captures = self.mix.journeys()[usize::from(user.journey)].captures;
            user.session.begin(captures);
        }
        let route = self.mix.journeys()[usize::from(user.journey)];
        (user.counter, route.first + user.step)
    }

    /// Takes from a right response what later steps need.
    pub(super) fn take_along(
        &mut self,
        slot: u32,
        request: InFlight,
        partial: &Partial,
    ) -> Result<(), (ErrorClass, String)> {
        let Some(journeys) = &mut self.journeys else {
            return Ok(());
        };
        let session = &mut journeys.users[slot as usize].session;
        let body = partial.whole_body().unwrap_or_default();
        let head = partial.response.head_bytes();
        let key = Key {
            counter: request.counter,
            seed: self.seed,
            thread: self.part.global_index,
            session: None,
        };
        let taken = self.mix.requests()[usize::from(request.kind)].take(head, body, key, session);
        taken.map_err(|(part, why)| match part {
            Part::Head => (ErrorClass::WrongHeader, why),
            Part::Body => (ErrorClass::WrongBody, why),
        })
    }

    /// A step's response was right: the user goes on, or pauses first.
    #[inline(never)]
    pub(super) fn step_is_done(&mut self, slot: u32, kind: u16, now: Nanos) {
        let Some(journeys) = &mut self.journeys else {
            return;
        };
        let user = &mut journeys.users[slot as usize];
        user.step += 1;
        if user.step == self.mix.journeys()[usize::from(user.journey)].steps {
            user.in_pass = false;
            self.recorder
                .journey_completed(user.journey, user.begun, now);
        }
        let pause = self.mix.requests()[usize::from(kind)].think;
        if pause > Nanos::ZERO {
            user.pauses = true;
            journeys.pausing.push(Reverse((now + pause, slot)));
        }
    }

    /// A step failed: what was to follow it cannot.
    pub(super) fn end_pass(&mut self, slot: u32, now: Nanos) {
        let Some(journeys) = &mut self.journeys else {
            return;
        };
        let user = &mut journeys.users[slot as usize];
        if std::mem::take(&mut user.in_pass) {
            self.recorder.journey_failed(user.journey, now);
        }
    }

    /// Whether a connection's user pauses.
    #[inline]
    pub(super) fn pauses(&self, slot: u32) -> bool {
        self.journeys
            .as_ref()
            .is_some_and(|journeys| journeys.users[slot as usize].pauses)
    }

    /// Has the users go on whose pause is over.
    pub(super) fn end_pauses<W: Wire>(&mut self, wire: &mut W, now: Nanos) {
        while let Some(journeys) = &mut self.journeys
            && let Some(Reverse((until, slot))) = journeys.pausing.peek().copied()
            && until <= now
        {
            journeys.pausing.pop();
            journeys.users[slot as usize].pauses = false;
            let state = self.connections[slot as usize].state;
            if !self.open_loop {
                self.fill(wire, slot, now);
            } else if state == State::Open || (!self.keep_alive && state == State::Closed) {
                self.list(slot);
            }
        }
    }
}
