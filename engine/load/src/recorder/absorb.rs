//! Turn after turn in one recorder: a turn's records are added to the sums, and the recorder starts over.

use super::{Generations, Interval, Kind, Parts, Recorder, Silence, Steady, Totals, Window};
use crate::clock::Nanos;
use crate::histogram::Packed;
use crate::usage::waited_for_cpu;

impl Recorder {
    /// A turn begins; what was recorded of the one before has been taken.
    pub fn begin_turn(&mut self, window: Window) {
        self.window = window;
        self.counted_from = window.begin;
        self.generations = Generations::uncounted();
    }

    /// The turn's load begins now: sending ends at `end`, and generations of `size` requests are counted, if there are any.
    pub fn begin_load(&mut self, now: Nanos, end: Nanos, size: Option<u64>) {
        self.window.end = end;
        self.listening.begin(now, waited_for_cpu());
        self.generations = size.map_or_else(Generations::uncounted, |size| {
            Generations::of(size, now, end)
        });
    }

    /// Whole generations of the turn.
    #[must_use]
    pub fn steady(&self) -> Option<Steady> {
        self.generations.steady()
    }

    /// The turn's latencies.
    #[must_use]
    pub fn turn_latency(&self) -> Packed {
        Packed::of(&self.interval_latency)
    }

    /// Adds what another recorder of the same job counted and measured, but not its evidence.
    pub fn absorb(&mut self, other: &Self) {
        self.window = other.window;
        self.sent += other.sent;
        self.completed += other.completed;
        self.ok += other.ok;
        self.ok_inside += other.ok_inside;
        self.repeated += other.repeated;
        add(&mut self.errors, &other.errors);
        add(self.status.as_mut_slice(), other.status.as_slice());
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.bytes_body += other.bytes_body;
        self.by_connection.absorb(&other.by_connection);
        for (kept, kind) in self.kinds.iter_mut().zip(&other.kinds) {
            kept.absorb(kind);
        }
        for (kept, journey) in self.journeys.iter_mut().zip(&other.journeys) {
            kept.completed += journey.completed;
            kept.failed += journey.failed;
            kept.duration.add(&journey.duration);
        }
        self.lateness.add(&other.lateness);
        self.connect.add(&other.connect);
        self.last_completion = self.last_completion.max(other.last_completion);
        self.listening.silence.absorb(&other.listening.silence);
    }

    /// Takes over what counts of every turn, those of the warm-up included.
    pub fn take_over(&mut self, other: &mut Self) {
        self.connect.add(&other.connect);
        other.connect.reset();
        for (kept, kind) in self.kinds.iter_mut().zip(&mut other.kinds) {
            let trials = std::mem::take(&mut kind.in_parts.trials);
            kept.in_parts.trials.add(&trials);
        }
    }

    /// Forgets all figures of the turn. Its evidence was moved away.
    pub fn clear(&mut self) {
        (self.sent, self.completed, self.ok, self.ok_inside) = (0, 0, 0, 0);
        self.repeated = 0;
        self.errors.fill(0);
        self.status.fill(0);
        (self.bytes_sent, self.bytes_received, self.bytes_body) = (0, 0, 0);
        self.by_connection.clear();
        self.kinds.iter_mut().for_each(Kind::clear);
        self.listening.silence = Silence::default();
        for journey in &mut self.journeys {
            (journey.completed, journey.failed) = (0, 0);
            journey.duration.reset();
        }
        self.lateness.reset();
        self.connect.reset();
        self.base = Totals::default();
        self.interval = Interval::default();
        self.interval_latency.reset();
    }
}

impl Kind {
    fn absorb(&mut self, other: &Self) {
        self.sent += other.sent;
        self.ok += other.ok;
        self.errors += other.errors;
        self.both.add(&other.both);
        self.latency.add(&other.latency);
        self.service.add(&other.service);
        self.held_up.absorb(&other.held_up);
        self.in_parts.parts.add(&other.in_parts.parts);
        self.media_types.absorb(&other.media_types);
        self.media_types.looked_at(self.ok, None);
        if let Some(events) = &other.events {
            self.events.get_or_insert_default().absorb(events);
        }
    }

    fn clear(&mut self) {
        (self.sent, self.ok, self.errors) = (0, 0, 0);
        self.both.reset();
        self.latency.reset();
        self.service.reset();
        self.held_up.clear();
        self.in_parts.parts = Parts::default();
        self.media_types.clear();
        self.events = None;
    }
}

fn add(sums: &mut [u64], others: &[u64]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += other;
    }
}
