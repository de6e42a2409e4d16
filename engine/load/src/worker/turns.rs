//! The turns of a worker whose load comes in slices: it is called, settles, is loaded, drains, reports, and sleeps.

use std::sync::Arc;

use super::{Phase, Worker};
use crate::clock::{self, Nanos};
use crate::connection::{Attempt, State};
use crate::failure::ErrorClass;
use crate::job::Job;
use crate::recorder::{Recorder, Window};
use crate::slices::gate::{Answer, Call, Gate, Turn};
use crate::slices::part::SlicePart;
use crate::usage::Usage;
use crate::wire::Wire;

/// Settling ends after this long even if connections are missing: the others wait for their turn.
const SETTLING_LIMIT: Nanos = Nanos::SECOND;

/// What a worker keeps from turn to turn.
pub(super) struct Turns {
    gate: Arc<Gate>,
    /// Calls followed so far.
    seen: u64,
    /// The figures of the measured turns; those of the present turn are in the worker's recorder.
    kept: Recorder,
    usage: Usage,
    syscalls: u64,
    /// When the present turn was to begin.
    begin: Nanos,
    measured: bool,
    /// How long after their beginnings the measured turns began here, together.
    late: Nanos,
    measured_turns: u64,
    pub(super) settle_until: Nanos,
}

impl Worker {
    /// Makes it a worker that is loaded when it is called.
    #[must_use]
    pub fn in_turns(mut self, gate: Arc<Gate>, job: &Job) -> Self {
        self.turns = Some(Box::new(Turns {
            gate,
            seen: 0,
            kept: Recorder::new(job, self.mix.requests().len()),
            usage: Usage::default(),
            syscalls: 0,
            begin: Nanos::ZERO,
            measured: false,
            late: Nanos::ZERO,
            measured_turns: 0,
            settle_until: Nanos::ZERO,
        }));
        self
    }

    /// Sleeps until it is called, and begins that call. Gives the time, which has passed meanwhile.
    pub(super) fn obey<W: Wire>(&mut self, wire: &mut W, turns: &mut Turns) -> Nanos {
        let call = turns.gate.next(&mut turns.seen);
        let now = clock::now();
        match call {
            Call::Settle { origin } => self.begin_settling(wire, turns, origin, now),
            Call::Begin(turn) => self.begin_turn(wire, turns, turn, now),
            Call::Pass => self.report(turns, now),
            Call::End => self.end_turns(wire, turns, now),
        }
        now
    }

    fn begin_settling<W: Wire>(
        &mut self,
        wire: &mut W,
        turns: &mut Turns,
        origin: Nanos,
        now: Nanos,
    ) {
        self.recorder.begin_turn(Window {
            start: origin,
            begin: now,
            end: Nanos::MAX,
        });
        (self.usage, self.syscalls) = (Usage::default(), 0);
        (self.unsent, self.queued) = (0, 0);
        turns.measured = false;
        turns.settle_until = now + SETTLING_LIMIT;
        self.next_unopened = 0;
        self.phase = Phase::Settling;
        self.open_missing(wire, now);
    }

    /// What the sockets signalled since the last turn has been looked at when a look finds nothing; then the lost
    /// connections have been replaced as well, or it is too late for them.
    pub(super) fn settle<W: Wire>(
        &mut self,
        wire: &mut W,
        turns: &mut Turns,
        now: Nanos,
        batch: usize,
    ) {
        self.open_missing(wire, now);
        let quiet = batch == 0 && self.all_opened();
        if quiet || now >= turns.settle_until {
            self.phase = Phase::Waiting;
            turns.gate.answer(Answer::Settled(self.established));
        }
    }

    fn begin_turn<W: Wire>(&mut self, wire: &mut W, turns: &mut Turns, turn: Turn, now: Nanos) {
        let at_once = u64::from(self.part.connections) * u64::from(self.depth);
        let generation = (!self.open_loop).then_some(at_once);
        self.recorder.begin_load(now, turn.end, generation);
        (turns.measured, turns.begin) = (turn.measured, turn.begin);
        if turn.measured && turns.measured_turns == 0 {
            // The same requests for all who are loaded in turn, as far as they come in the same number.
            self.random = self.part.random(!self.seed);
        }
        self.begun = now;
        self.backlog = false;
        self.phase = Phase::Load;
        self.next_scan = now;
        self.usage.begin();
        self.syscalls = wire.syscalls();
        if let Some(users) = &mut self.journeys {
            users.resume(now);
        }
        self.supply_all(wire, now);
    }

    /// Sending has ended: a closed loop does not insist on what waits for a connection that could not be opened.
    pub(super) fn withdraw(&mut self) {
        if self.open_loop || self.turns.is_none() {
            return;
        }
        for connection in &mut self.connections {
            if matches!(connection.state, State::Closed | State::Resting)
                && connection.assigned
                && connection.first.attempt == Attempt::First
            {
                connection.assigned = false;
                self.assigned -= 1;
            }
        }
    }

    /// The turn is over: what has no response by now has timed out.
    pub(super) fn end_turn<W: Wire>(&mut self, wire: &mut W, turns: &mut Turns, now: Nanos) {
        for slot in 0..self.part.connections {
            if self.in_flight + self.assigned == 0 {
                break;
            }
            let why = "no complete response within the limit";
            self.fail_waiting(slot, ErrorClass::Timeout, why, now);
            let connection = &mut self.connections[slot as usize];
            if std::mem::take(&mut connection.assigned) {
                self.assigned -= 1;
                self.unsent += u64::from(self.open_loop);
            }
            if connection.in_flight > 0 {
                self.fail_all(wire, slot, ErrorClass::Timeout, why, now);
            }
        }
        if !self.keep_alive {
            (0..self.part.connections).for_each(|slot| self.drop_connection(wire, slot));
        }
        if let Some(users) = &mut self.journeys {
            users.suspend(now);
        }
        self.report(turns, now);
    }

    /// What was done in the turn that has just ended.
    fn part(&self, ended: Nanos) -> SlicePart {
        let recorder = &self.recorder;
        SlicePart {
            began: self.begun,
            sent: recorder.sent,
            completed: recorder.completed,
            ok: recorder.ok,
            repeated: recorder.repeated,
            unsent: self.unsent,
            queued: self.queued,
            errors: recorder.errors,
            status: recorder.statuses(),
            steady: recorder.steady(),
            latency: recorder.turn_latency(),
            usage: self.usage,
            established: u64::from(self.established),
            ended,
            first_errors: recorder.first_errors.clone(),
        }
    }

    /// Hands over what the turn came to, keeps what was measured in it, and makes room for the next.
    fn report(&mut self, turns: &mut Turns, now: Nanos) {
        let part = self.part(now);
        turns.kept.take_over(&mut self.recorder);
        self.recorder.settle();
        if turns.measured {
            turns.kept.absorb(&self.recorder);
            turns.usage.add(&self.usage);
            turns.syscalls += self.syscalls;
            turns.late += self.begun.saturating_sub(turns.begin);
            turns.measured_turns += 1;
        }
        turns
            .kept
            .first_errors
            .append(&mut self.recorder.first_errors);
        self.recorder.clear();
        self.phase = Phase::Waiting;
        turns.gate.answer(Answer::Over(Box::new(part)));
    }

    fn end_turns<W: Wire>(&mut self, wire: &mut W, turns: &mut Turns, now: Nanos) {
        turns.kept.take_over(&mut self.recorder);
        let origin = self.recorder.window.start;
        std::mem::swap(&mut self.recorder, &mut turns.kept);
        // So the report says how late the turns began on the mean.
        self.recorder.window.start = origin;
        self.begun = origin + turns.late / turns.measured_turns.max(1);
        (self.usage, self.syscalls) = (turns.usage, turns.syscalls);
        self.held = self.established;
        self.finish(wire, now);
    }
}
