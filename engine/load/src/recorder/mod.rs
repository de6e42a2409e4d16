//! What one thread counts and measures.

mod absorb;
mod by_connection;
mod events;
mod generations;
mod held_up;
mod in_parts;
mod kept;
mod listening;
mod media_types;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::by_connection::ByConnection;
pub use self::events::{Arrival, EventCounts, EventFigures, EventsReport, MessageFault};
pub use self::generations::{Generations, Steady};
pub use self::held_up::{HeldUp, LEAST as LEAST_WAIT};
pub use self::in_parts::{InParts, Parts, Trials};
pub use self::kept::{Kept, Stamps};
pub use self::listening::{Listening, PAUSE, Silence};
pub use self::media_types::{MediaType, MediaTypes};
use crate::clock::{Nanos, nanos, seconds};
use crate::connection::InFlight;
use crate::failure::{ERROR_CLASSES, ErrorClass, ErrorCounts, FirstError, KEPT};
use crate::histogram::{Histogram, Packed};
use crate::job::{Job, Loop};
use crate::usage::waited_for_cpu;

/// Figures of one kind of request.
#[derive(Debug, Default)]
pub struct Kind {
    /// Sent in the window.
    pub sent: u64,
    /// Answered rightly.
    pub ok: u64,
    /// Failed.
    pub errors: u64,
    /// Latency and service time, where they are the same.
    pub both: Histogram,
    /// Latency where it began before the send.
    pub latency: Histogram,
    /// Service time of the same requests.
    pub service: Histogram,
    /// Waits for it while others were served.
    pub held_up: HeldUp,
    /// Responses to it that came in parts.
    pub in_parts: InParts,
    /// Media types of the responses.
    pub media_types: MediaTypes,
    /// Events of streamed responses to it.
    pub events: Option<Box<EventFigures>>,
}

/// Figures of one journey.
#[derive(Debug, Default)]
pub struct JourneyFigures {
    /// Passes that went through.
    pub completed: u64,
    /// Passes that a failed step ended.
    pub failed: u64,
    /// From the first request's intended send to the last response, pauses included.
    pub duration: Histogram,
}

/// One interval of the series.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Interval {
    /// Sent in the interval.
    pub sent: u64,
    /// Right responses that came in it.
    pub ok: u64,
    /// Requests that failed in it.
    pub errors: u64,
    /// Connections established at its end.
    pub connections: u64,
    /// The queue at its end.
    pub queue: u64,
    /// The packed histogram of latencies.
    pub latency: Packed,
}

/// One step of a stepped load.
#[derive(Debug)]
pub struct StepFigures {
    /// Its end, since the first intended send.
    pub end: Nanos,
    /// By request of the mix, or by step of a journey.
    pub kinds: Vec<StepKind>,
}

/// One request of the mix in one step of a load.
#[derive(Debug, Clone, Default)]
pub struct StepKind {
    /// Sent in it.
    pub sent: u64,
    /// Answered rightly, whenever the response came.
    pub ok: u64,
    /// Right responses that came within the step.
    pub ok_inside: u64,
    /// Failed.
    pub errors: u64,
    /// Latency.
    pub latency: Histogram,
}

/// What was done since the run began, warm-up included.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    /// Requests sent.
    pub sent: u64,
    /// Right responses.
    pub ok: u64,
    /// Errors.
    pub errors: u64,
}

/// The instants of a run, on the engine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Window {
    /// The first intended send, warm-up included.
    pub start: Nanos,
    /// The measured window's begin.
    pub begin: Nanos,
    /// Its end.
    pub end: Nanos,
}

/// What one thread counts and measures.
#[derive(Debug)]
pub struct Recorder {
    /// The run's instants; all zero until it begins.
    pub window: Window,
    /// Sent in the window.
    pub sent: u64,
    /// Complete responses to those.
    pub completed: u64,
    /// Right ones.
    pub ok: u64,
    /// Right responses that came within the window, whenever their request was due.
    pub ok_inside: u64,
    /// Requests that were sent once more.
    pub repeated: u64,
    /// Errors by class.
    pub errors: ErrorCounts,
    /// Responses by status.
    pub status: Box<[u64; 1000]>,
    /// Bytes of requests.
    pub bytes_sent: u64,
    /// Bytes of responses.
    pub bytes_received: u64,
    /// Bytes of their bodies.
    pub bytes_body: u64,
    /// Right responses by connection.
    pub by_connection: ByConnection,
    /// By kind of request.
    pub kinds: Vec<Kind>,
    /// By journey: passes that ended in the window.
    pub journeys: Vec<JourneyFigures>,
    /// How late sends were by the engine's own doing; open loop only.
    pub lateness: Histogram,
    /// Connection set-up times, warm-up and preparation included.
    pub connect: Histogram,
    /// Steps, where the load has them.
    pub steps: Vec<StepFigures>,
    /// Finished intervals of the series.
    pub series: Vec<Interval>,
    /// The first errors of each class.
    pub first_errors: Vec<FirstError>,
    /// How many of each class were kept in all.
    kept: ErrorCounts,
    /// When the last measured response came.
    pub last_completion: Nanos,
    /// The slowest requests and some at random, if they are to be kept.
    pub stamps: Option<Box<Kept>>,
    /// Where no response came at all.
    pub listening: Listening,
    /// The window's begin; the end of time before there is one.
    counted_from: Nanos,
    generations: Generations,
    base: Totals,
    interval: Interval,
    interval_latency: Histogram,
    interval_length: Nanos,
    interval_end: Nanos,
}

impl Recorder {
    /// An empty recorder for a job.
    #[must_use]
    pub fn new(job: &Job, kinds: usize) -> Self {
        let mut end = nanos(job.warmup_s);
        let steps = match &job.arrival {
            Loop::Steps { steps, .. } => steps.as_slice(),
            _ => &[],
        };
        Self {
            window: Window::default(),
            sent: 0,
            completed: 0,
            ok: 0,
            ok_inside: 0,
            repeated: 0,
            errors: [0; ERROR_CLASSES.len()],
            status: Box::new([0; 1000]),
            bytes_sent: 0,
            bytes_received: 0,
            bytes_body: 0,
            by_connection: ByConnection::default(),
            kinds: (0..kinds).map(|_| Kind::default()).collect(),
            journeys: job
                .journeys
                .iter()
                .map(|_| JourneyFigures::default())
                .collect(),
            lateness: Histogram::default(),
            connect: Histogram::default(),
            steps: steps
                .iter()
                .map(|step| {
                    end += nanos(step.seconds);
                    StepFigures {
                        end,
                        kinds: vec![StepKind::default(); kinds],
                    }
                })
                .collect(),
            series: Vec::new(),
            first_errors: Vec::new(),
            kept: [0; ERROR_CLASSES.len()],
            last_completion: Nanos::ZERO,
            stamps: job
                .tail
                .as_ref()
                .map(|tail| Box::new(Kept::new(tail, job.seed))),
            listening: Listening::default(),
            counted_from: Nanos::MAX,
            generations: Generations::uncounted(),
            base: Totals::default(),
            interval: Interval::default(),
            interval_latency: Histogram::default(),
            interval_length: nanos(job.series_interval_s),
            interval_end: Nanos::MAX,
        }
    }

    /// Fixes the run's instants.
    pub fn begin(&mut self, window: Window) {
        self.window = window;
        self.counted_from = window.begin;
        self.interval_end = window.start + self.interval_length;
        self.listening.begin(window.begin, waited_for_cpu());
    }

    /// Whether a request that was due then counts in the window.
    #[inline]
    #[must_use]
    pub fn counts(&self, intended: Nanos) -> bool {
        intended >= self.counted_from
    }

    /// The figures of a request in the step in which it was due, and the end of that step.
    fn step_of(&mut self, kind: u16, intended: Nanos) -> Option<(&mut StepKind, Nanos)> {
        if self.steps.is_empty() {
            return None;
        }
        let offset = intended - self.window.start;
        let index = self.steps.partition_point(|step| step.end <= offset);
        let step = self.steps.get_mut(index)?;
        Some((&mut step.kinds[usize::from(kind)], step.end))
    }

    /// A request left.
    #[inline]
    pub fn sent(&mut self, kind: u16, intended: Nanos, bytes: usize) {
        self.interval.sent += 1;
        if self.counts(intended) {
            self.sent += 1;
            self.bytes_sent += bytes as u64;
            self.kinds[usize::from(kind)].sent += 1;
            if let Some((step, _)) = self.step_of(kind, intended) {
                step.sent += 1;
            }
        }
    }

    /// A request left once more, on another connection.
    #[cold]
    pub fn repeated(&mut self, intended: Nanos) {
        self.repeated += u64::from(self.counts(intended));
    }

    /// A complete response came, right or wrong.
    #[inline]
    pub fn response(&mut self, intended: Nanos, status: u16, wire: u64, body: u64, now: Nanos) {
        self.listening.heard(now, self.window.end, waited_for_cpu);
        if self.counts(intended) {
            self.completed += 1;
            self.status[usize::from(status)] += 1;
            self.bytes_received += wire;
            self.bytes_body += body;
            self.last_completion = now;
        }
    }

    /// Bytes came that belong to several responses; then these are counted without their own.
    #[inline]
    pub fn received(&mut self, bytes: usize, now: Nanos) {
        if now >= self.window.begin && now < self.window.end {
            self.bytes_received += bytes as u64;
        }
    }

    /// A wait for responses has ended without any.
    pub fn nothing_came(&mut self, now: Nanos) {
        self.listening.nothing_came(now, waited_for_cpu);
    }

    /// A right response came to the connection with this number.
    #[inline]
    pub fn ok(&mut self, slot: u32, request: InFlight, now: Nanos) {
        let InFlight { kind, intended, .. } = request;
        if !self.generations.is_steady(intended) {
            return self.ok_in_burst(kind, now);
        }
        let (latency, service) = (request.latency(now), request.waited(now));
        self.interval.ok += 1;
        self.interval_latency.record(latency);
        if now >= self.window.begin && now < self.window.end {
            self.ok_inside += 1;
        }
        if self.counts(intended) {
            self.ok += 1;
            self.by_connection.record(slot);
            if let Some(kept) = &mut self.stamps {
                kept.take(slot, request, now);
            }
            let figures = &mut self.kinds[usize::from(kind)];
            figures.ok += 1;
            if latency == service {
                figures.both.record(latency);
            } else {
                figures.latency.record(latency);
                figures.service.record(service);
            }
            let offset = now - self.window.start;
            if let Some((step, end)) = self.step_of(kind, intended) {
                step.ok += 1;
                step.ok_inside += u64::from(offset < end);
                step.latency.record(latency);
            }
        }
        self.generations.concluded(self.interval.ok, now);
    }

    /// The connection with this number waited long for a right response: how long others were served meanwhile.
    #[cold]
    pub fn waited(&mut self, slot: u32, request: InFlight, now: Nanos) {
        if !self.counts(request.intended) {
            return;
        }
        let Kind { held_up, both, .. } = &mut self.kinds[usize::from(request.kind)];
        let gap = held_up.shared_gap(both, self.by_connection.known());
        let silent = self.listening.silent_between(request.sent, now, gap);
        held_up.record(slot, request.waited(now).saturating_sub(silent));
    }

    /// A response has come in part: whether to acknowledge that part at once, as a trial.
    pub fn tries_to_acknowledge(&mut self, kind: u16) -> bool {
        self.kinds[usize::from(kind)].in_parts.tries()
    }

    /// A response is whole that came in parts: the rest so long after the first, which was `acknowledged` at once or not.
    pub fn came_in_parts(&mut self, request: InFlight, rest: Nanos, acknowledged: bool) {
        let counts = self.counts(request.intended);
        if let Some(kept) = &mut self.stamps {
            kept.came_in_parts(request, rest);
        }
        let in_parts = &mut self.kinds[usize::from(request.kind)].in_parts;
        in_parts.came(rest, acknowledged, counts);
    }

    /// A right response came to a request of the burst with which a turn begins: it counts, and its latency does not.
    #[cold]
    fn ok_in_burst(&mut self, kind: u16, now: Nanos) {
        self.interval.ok += 1;
        self.ok += 1;
        self.kinds[usize::from(kind)].ok += 1;
        self.generations.concluded(self.interval.ok, now);
    }

    /// A request failed. One that timed out stays in the distribution with the time that it had waited.
    pub fn failed(&mut self, class: ErrorClass, request: InFlight, now: Nanos) {
        let InFlight { kind, intended, .. } = request;
        let waited = class == ErrorClass::Timeout && self.generations.is_steady(intended);
        self.interval.errors += 1;
        self.generations.concluded(self.interval.ok, now);
        if waited {
            self.interval_latency.record(request.latency(now));
        }
        if !self.counts(intended) {
            return;
        }
        self.errors[class as usize] += 1;
        let figures = &mut self.kinds[usize::from(kind)];
        figures.errors += 1;
        if waited {
            figures.latency.record(request.latency(now));
            figures.service.record(request.waited(now));
        }
        if let Some((step, _)) = self.step_of(kind, intended) {
            step.errors += 1;
            if class == ErrorClass::Timeout {
                step.latency.record(request.latency(now));
            }
        }
    }

    /// A response was parsed, and will be `ok` or not: how many came of its status and media type. Gives the place of these.
    pub fn parsed(
        &mut self,
        kind: u16,
        intended: Nanos,
        status_and_type: (u16, u64),
        name: impl FnOnce() -> Option<String>,
    ) -> usize {
        let counts = self.counts(intended);
        let Kind {
            media_types, ok, ..
        } = &mut self.kinds[usize::from(kind)];
        media_types.parsed(*ok, status_and_type, counts, name)
    }

    /// It was looked at; it is the known one from now on if it was `learned`.
    pub fn looked_at(&mut self, kind: u16, learned: Option<usize>) {
        let Kind {
            media_types, ok, ..
        } = &mut self.kinds[usize::from(kind)];
        media_types.looked_at(*ok, learned);
    }

    /// Accounts for all responses until now.
    pub fn settle(&mut self) {
        for kind in &mut self.kinds {
            kind.media_types.settle(kind.ok);
        }
    }

    /// A pass through a journey went through.
    pub fn journey_completed(&mut self, journey: u16, begun: Nanos, now: Nanos) {
        if self.counts(now) {
            let figures = &mut self.journeys[usize::from(journey)];
            figures.completed += 1;
            figures.duration.record(now - begun);
        }
    }

    /// A failed step ended a pass.
    pub fn journey_failed(&mut self, journey: u16, now: Nanos) {
        if self.counts(now) {
            self.journeys[usize::from(journey)].failed += 1;
        }
    }

    /// A connection failed that carried no request: that is not a failed request.
    pub fn connection_failed(&mut self, class: ErrorClass, now: Nanos) {
        if self.counts(now) {
            self.errors[class as usize] += 1;
        }
    }

    /// How many responses had which status.
    #[must_use]
    pub fn statuses(&self) -> BTreeMap<u16, u64> {
        (0u16..)
            .zip(self.status.iter().copied())
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// Whether this class still lacks evidence.
    #[must_use]
    pub const fn wants_evidence(&self, class: ErrorClass) -> bool {
        self.kept[class as usize] < KEPT
    }

    /// Keeps an error as evidence.
    pub fn keep(&mut self, error: FirstError) {
        self.kept[error.class as usize] += 1;
        self.first_errors.push(error);
    }

    /// Seconds since the first intended send; 0 before it.
    #[must_use]
    pub fn offset(&self, now: Nanos) -> Nanos {
        if self.window.start == Nanos::ZERO {
            Nanos::ZERO
        } else {
            now.saturating_sub(self.window.start)
        }
    }

    /// Whether an interval of the series is over.
    #[inline]
    #[must_use]
    pub fn interval_is_over(&self, now: Nanos) -> bool {
        now >= self.interval_end
    }

    /// Ends the interval, or several if nothing happened for long.
    pub fn end_interval(&mut self, now: Nanos, connections: u64, queue: u64) {
        while self.interval_is_over(now) {
            self.close_interval(connections, queue);
            self.interval_end += self.interval_length;
        }
    }

    /// Ends the last interval, which may be short.
    pub fn finish(&mut self, connections: u64, queue: u64) {
        self.settle();
        if self.interval.sent + self.interval.ok + self.interval.errors > 0 {
            self.close_interval(connections, queue);
        }
    }

    /// What was done since the run began.
    #[must_use]
    pub const fn totals(&self) -> Totals {
        Totals {
            sent: self.base.sent + self.interval.sent,
            ok: self.base.ok + self.interval.ok,
            errors: self.base.errors + self.interval.errors,
        }
    }

    fn close_interval(&mut self, connections: u64, queue: u64) {
        self.base = self.totals();
        let mut interval = std::mem::take(&mut self.interval);
        interval.connections = connections;
        interval.queue = queue;
        if !self.interval_latency.is_empty() {
            interval.latency = Packed::of(&self.interval_latency);
            self.interval_latency.reset();
        }
        self.series.push(interval);
    }

    /// The offset of an instant in seconds since the first intended send.
    #[must_use]
    pub fn offset_s(&self, now: Nanos) -> f64 {
        seconds(self.offset(now))
    }
}
