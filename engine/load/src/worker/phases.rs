//! The run's phases: prepare, wait, settle, warm up, load, drain; what time demands of each.

use std::sync::atomic::Ordering;

use super::{Phase, Worker};
use crate::clock::Nanos;
use crate::connection::{Attempt, State};
use crate::recorder::{PAUSE, Window};
use crate::schedule::quantise;
use crate::shared::Shared;
use crate::wire::Wire;

/// Connection attempts of one thread that are under way at once while the run is prepared.
const CONNECTING_AT_ONCE: u32 = 128;

/// An interrupted run waits this long for responses under way.
const INTERRUPT_GRACE: Nanos = Nanos::from_millis(200);

impl Worker {
    /// When the worker wants to be called again even if nothing happens.
    #[must_use]
    pub fn next_wake(&self, now: Nanos) -> Nanos {
        match self.phase {
            Phase::Preparing => now + Nanos::from_millis(10),
            Phase::Waiting => {
                let start = self.shared.start();
                if start == Nanos::ZERO {
                    now + Nanos::from_millis(1)
                } else {
                    start.min(now + Nanos::from_millis(100))
                }
            }
            Phase::Settling => match &self.turns {
                Some(turns) if !self.all_opened() => turns.settle_until,
                _ => now,
            },
            Phase::Over => now,
            Phase::Warmup | Phase::Load | Phase::Draining => {
                let window = self.recorder.window;
                // Even if nothing comes: so it is known that nothing did, and that the thread had a CPU.
                let mut wake = self.next_scan.min(now + PAUSE);
                wake = wake.min(match self.phase {
                    Phase::Warmup => window.begin,
                    Phase::Load => window.end,
                    _ => self.drain_until,
                });
                if !self.idle.is_empty()
                    && let Some(due) = self
                        .shared
                        .with_schedule(|schedule| schedule.next_due())
                        .flatten()
                {
                    let stagger =
                        self.slot * u64::from(self.part.index) / u64::from(self.part.threads);
                    wake = wake.min(quantise(due, window.start + stagger, self.slot));
                }
                if let Some(due) = self.journeys.as_ref().and_then(|users| users.next_due()) {
                    wake = wake.min(due);
                }
                wake
            }
        }
    }

    /// Does the work that is due by time. Called after each batch of events; gives the time, which passes while a worker
    /// that is loaded in turns sleeps.
    pub fn tick<W: Wire>(&mut self, wire: &mut W, now: Nanos, batch: usize) -> Nanos {
        match self.phase {
            Phase::Preparing => self.prepare(wire, now),
            Phase::Waiting if self.turns.is_none() => {
                let start = self.shared.start();
                if start == Shared::NEVER {
                    self.phase = Phase::Over;
                } else if start != Nanos::ZERO && now >= start {
                    self.begin(wire, start, now);
                }
            }
            Phase::Warmup | Phase::Load | Phase::Draining => {
                if batch == 0 {
                    self.recorder.nothing_came(now);
                }
                self.advance(wire, now);
            }
            Phase::Settling | Phase::Waiting | Phase::Over => {}
        }
        if matches!(self.phase, Phase::Settling | Phase::Waiting) {
            return self.follow_calls(wire, now, batch);
        }
        now
    }

    /// Settles, or sleeps until the next call, if this is a worker that is loaded in turns.
    #[cold]
    fn follow_calls<W: Wire>(&mut self, wire: &mut W, mut now: Nanos, batch: usize) -> Nanos {
        let Some(mut turns) = self.turns.take() else {
            return now;
        };
        if self.phase == Phase::Settling {
            self.settle(wire, &mut turns, now, batch);
        }
        while self.phase == Phase::Waiting {
            now = self.obey(wire, &mut turns);
        }
        self.turns = Some(turns);
        now
    }

    /// Opens the connections that have not been tried yet, a number at once.
    pub(super) fn open_missing<W: Wire>(&mut self, wire: &mut W, now: Nanos) {
        while self.next_unopened < self.wanted() && self.connecting < CONNECTING_AT_ONCE {
            let slot = self.next_unopened;
            self.next_unopened += 1;
            if matches!(
                self.connections[slot as usize].state,
                State::Closed | State::Resting
            ) {
                self.open(wire, slot, now);
            }
        }
    }

    /// Whether all connections have been tried, and are up or have failed.
    pub(super) fn all_opened(&self) -> bool {
        self.next_unopened >= self.wanted() && self.connecting == 0
    }

    /// Connections that are to be established before the load.
    fn wanted(&self) -> u32 {
        if self.keep_alive {
            self.part.connections
        } else {
            0
        }
    }

    fn prepare<W: Wire>(&mut self, wire: &mut W, now: Nanos) {
        self.open_missing(wire, now);
        if now >= self.next_scan {
            self.scan(wire, now);
        }
        let called_off = self.shared.interrupted.load(Ordering::Relaxed);
        if self.all_opened() || now >= self.prepared_by || called_off {
            self.established_first = self.established;
            self.phase = Phase::Waiting;
            self.shared
                .established
                .fetch_add(self.established, Ordering::Relaxed);
            self.shared.ready.fetch_add(1, Ordering::Release);
        }
    }

    fn begin<W: Wire>(&mut self, wire: &mut W, start: Nanos, now: Nanos) {
        self.begun = now;
        let begin = start + self.warmup;
        self.recorder.begin(Window {
            start,
            begin,
            end: begin + self.length,
        });
        self.phase = Phase::Warmup;
        self.next_scan = now;
        if self.warmup == Nanos::ZERO {
            self.begin_window(wire, now);
        }
        self.supply_all(wire, now);
        self.advance(wire, now);
    }

    /// The load begins: every connection gets its requests, or is put on the list of the free.
    pub(super) fn supply_all<W: Wire>(&mut self, wire: &mut W, now: Nanos) {
        // In an open loop one place of each connection follows another, so that the requests are spread over all.
        let rounds = if self.open_loop {
            1..=self.depth
        } else {
            1..=1
        };
        for places in rounds {
            for slot in 0..self.part.connections {
                let state = self.connections[slot as usize].state;
                let usable = state == State::Open || (!self.keep_alive && state == State::Closed);
                if !usable {
                    continue;
                }
                if self.open_loop {
                    self.list_some(slot, places);
                } else {
                    self.fill(wire, slot, now);
                }
            }
        }
    }

    fn begin_window<W: Wire>(&mut self, wire: &W, now: Nanos) {
        self.phase = Phase::Load;
        self.outstanding = self.in_flight;
        self.usage.begin();
        self.syscalls = wire.syscalls();
        if self.part.index == 0 {
            self.shared
                .with_schedule(|schedule| schedule.begin_window(now));
        }
    }

    fn advance<W: Wire>(&mut self, wire: &mut W, now: Nanos) {
        if self.recorder.interval_is_over(now) && self.phase != Phase::Draining {
            let queue = self.shared.progress[self.part.index as usize]
                .queue
                .load(Ordering::Relaxed);
            self.recorder
                .end_interval(now, u64::from(self.established), queue);
        }
        if self.phase == Phase::Warmup && now >= self.recorder.window.begin {
            self.begin_window(wire, now);
        }
        let ends = self.phase == Phase::Load && self.load_is_over(now);
        if ends {
            self.end_window(wire);
            self.phase = Phase::Draining;
            self.withdraw();
            self.drain_until = now + self.patience + self.scan_every * 2;
        }
        if now >= self.next_scan {
            self.next_scan = now + self.scan_every;
            self.scan(wire, now);
            if self.shared.interrupted.load(Ordering::Relaxed) && self.phase != Phase::Over {
                self.interrupt(wire, now);
            }
        }
        self.end_pauses(wire, now);
        if self.open_loop {
            self.dispatch(wire, now);
        }
        if ends {
            self.queued = self.shared.progress[self.part.index as usize]
                .queue
                .load(Ordering::Relaxed);
        }
        self.report_progress();
        if self.phase == Phase::Draining && (now >= self.drain_until || self.nothing_left(now)) {
            match self.turns.take() {
                Some(mut turns) => {
                    self.end_turn(wire, &mut turns, now);
                    self.turns = Some(turns);
                }
                None => self.finish(wire, now),
            }
        }
    }

    fn load_is_over(&self, now: Nanos) -> bool {
        now >= self.recorder.window.end
            || (self.bounded && self.shared.used_up())
            || (self.open_loop
                && self.shared.with_schedule(|schedule| schedule.is_over()) == Some(true))
    }

    fn nothing_left(&self, now: Nanos) -> bool {
        let queued = self
            .shared
            .with_schedule(|schedule| schedule.next_due().is_some_and(|due| due <= now));
        self.in_flight + self.assigned == 0 && queued != Some(true)
    }

    fn end_window<W: Wire>(&mut self, wire: &W) {
        self.usage.end();
        self.syscalls = wire.syscalls() - self.syscalls;
        self.held = self.established;
    }

    fn interrupt<W: Wire>(&mut self, wire: &W, now: Nanos) {
        if self.phase == Phase::Warmup {
            self.begin_window(wire, now);
        }
        if self.phase != Phase::Draining {
            self.end_window(wire);
        }
        self.recorder.window.end = self.recorder.window.end.min(now);
        self.phase = Phase::Draining;
        self.drain_until = self.drain_until.min(now + INTERRUPT_GRACE);
    }

    pub(super) fn finish<W: Wire>(&mut self, wire: &mut W, now: Nanos) {
        for slot in 0..self.part.connections {
            let connection = &mut self.connections[slot as usize];
            let behind = connection.behind.iter().flat_map(|behind| behind.iter());
            let of_http_1 = connection.in_flight > 0 && self.h2.is_none();
            let first = of_http_1.then_some(&connection.first);
            let waits = connection.assigned.then_some(&connection.first);
            let again = connection.again.iter().flat_map(|again| again.iter());
            let link = self
                .h2
                .as_ref()
                .and_then(|h2| h2.links[slot as usize].as_ref());
            let sent_before = waits.filter(|request| request.attempt != Attempt::First);
            let counted = first
                .into_iter()
                .chain(behind)
                .chain(sent_before)
                .chain(again)
                .chain(link.into_iter().flat_map(|link| link.requests()))
                .filter(|request| self.recorder.counts(request.intended));
            self.unanswered += counted.count() as u64;
            if self.open_loop
                && waits.is_some_and(|request| request.attempt == Attempt::First)
                && self.recorder.counts(connection.first.intended)
            {
                self.unsent += 1;
            }
            if self.sockets.is_some() && connection.state == State::Open {
                self.out.clear();
                self.send_close(wire, slot, 1000);
            }
            if let Some(socket) = self.connections[slot as usize].socket.take() {
                wire.close(slot, socket);
            }
        }
        let queue = self
            .shared
            .with_schedule(|schedule| schedule.observe(now))
            .unwrap_or(0);
        self.recorder.finish(u64::from(self.held), queue);
        self.phase = Phase::Over;
    }

    fn report_progress(&self) {
        let progress = &self.shared.progress[self.part.index as usize];
        let totals = self.recorder.totals();
        progress.sent.store(totals.sent, Ordering::Relaxed);
        progress.ok.store(totals.ok, Ordering::Relaxed);
        progress.errors.store(totals.errors, Ordering::Relaxed);
        progress
            .connections
            .store(u64::from(self.established), Ordering::Relaxed);
    }
}
