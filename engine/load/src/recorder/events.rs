//! Streamed responses: when their events came.

use serde::{Deserialize, Serialize};
use touchstone_exchange::events::{Progress, StreamCheck};

use super::Recorder;
use crate::clock::Nanos;
use crate::connection::InFlight;
use crate::histogram::{Histogram, Packed};
use crate::streaming::Streaming;

/// A stream that took less, or had fewer events, does not show whether its events came in a burst.
const SHORTEST: Nanos = Nanos::from_millis(50);
const FEWEST: u32 = 3;

/// Events came in a burst if all of them came within this part of the stream's time.
const BURST: u64 = 10;

/// Figures of the streams of one kind of request, or of several.
#[derive(Debug, Default)]
pub struct EventFigures {
    /// From when a stream was due to its first event.
    pub first: Histogram,
    /// From one event to the next.
    pub gaps: Histogram,
    /// From an event's stamp to its arrival.
    pub delay: Histogram,
    /// What was counted.
    pub counts: EventCounts,
}

/// What was counted of events, and of the streams that they came on.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct EventCounts {
    /// Events that came, each once.
    pub events: u64,
    /// Those of them that came within the window, whenever their stream was due.
    pub inside: u64,
    /// Events that were not as expected.
    pub wrong: u64,
    /// Events that did not come.
    pub lost: u64,
    /// Events that came again.
    pub doubled: u64,
    /// Events that came out of order.
    pub disordered: u64,
    /// Events whose stamp was ahead of this machine's clock.
    pub ahead: u64,
    /// Streams that lasted long enough to show how their events came.
    pub lasting: u64,
    /// Those of them whose events all came within a small part of their time.
    pub in_burst: u64,
    /// The most streams under way at once.
    pub open_most: u64,
}

impl EventCounts {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.inside += other.inside;
        self.wrong += other.wrong;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.disordered += other.disordered;
        self.ahead += other.ahead;
        self.lasting += other.lasting;
        self.in_burst += other.in_burst;
        self.open_most += other.open_most;
    }
}

impl EventFigures {
    /// Adds those of another turn, or of another kind of request. Each `open_most` counts the streams of all kinds: the
    /// higher one holds.
    pub fn absorb(&mut self, other: &Self) {
        self.first.add(&other.first);
        self.gaps.add(&other.gaps);
        self.delay.add(&other.delay);
        let most = self.counts.open_most.max(other.counts.open_most);
        self.counts.add(&other.counts);
        self.counts.open_most = most;
    }
}

/// Figures of events as a thread hands them over.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)] // As in `EventFigures`.
pub struct EventsReport {
    pub first: Packed,
    pub gaps: Packed,
    pub delay: Packed,
    pub counts: EventCounts,
}

impl EventsReport {
    pub(crate) fn of(figures: &EventFigures) -> Self {
        Self {
            first: Packed::of(&figures.first),
            gaps: Packed::of(&figures.gaps),
            delay: Packed::of(&figures.delay),
            counts: figures.counts,
        }
    }
}

/// One event, as far as it is measured.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// When the event before it came; none before the first.
    pub before: Option<Nanos>,
    /// How long it was on its way, by its stamp; an error where the stamp is ahead of the clock.
    pub delay: Option<Result<Nanos, ()>>,
    /// Whether it is one more of the stream's events.
    pub is_new: bool,
}

/// What is wrong with the echo of a message over a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageFault {
    /// It is not the one expected.
    Wrong,
    /// It did not come, and those of later messages did.
    Lost,
    /// It came twice.
    Doubled,
    /// It came behind that of a later message.
    Disordered,
}

impl Recorder {
    /// The echo of a message came over a WebSocket.
    #[inline]
    pub fn message_came(&mut self, request: InFlight, now: Nanos) {
        let inside = now >= self.window.begin && now < self.window.end;
        let counted = self.counts(request.intended);
        let figures = self.kinds[usize::from(request.kind)]
            .events
            .get_or_insert_default();
        figures.counts.inside += u64::from(inside);
        figures.counts.events += u64::from(counted);
    }

    /// Something is wrong with the echo of a message.
    pub fn message_fault(&mut self, request: InFlight, fault: MessageFault) {
        if !self.counts(request.intended) {
            return;
        }
        let counts = &mut self.kinds[usize::from(request.kind)]
            .events
            .get_or_insert_default()
            .counts;
        match fault {
            MessageFault::Wrong => counts.wrong += 1,
            MessageFault::Lost => counts.lost += 1,
            MessageFault::Doubled => counts.doubled += 1,
            MessageFault::Disordered => counts.disordered += 1,
        }
    }

    /// Something of a response came that is not complete.
    pub fn heard(&mut self, now: Nanos) {
        use crate::usage::waited_for_cpu;
        self.listening.heard(now, self.window.end, waited_for_cpu);
    }

    /// An event came, with this many streams under way.
    pub fn event(&mut self, request: InFlight, arrival: Arrival, open: u64, now: Nanos) {
        let inside = now >= self.window.begin && now < self.window.end;
        let counts = self.counts(request.intended);
        let figures = self.kinds[usize::from(request.kind)]
            .events
            .get_or_insert_default();
        if inside {
            figures.counts.inside += u64::from(arrival.is_new);
        }
        if !counts {
            return;
        }
        figures.counts.events += u64::from(arrival.is_new);
        figures.counts.open_most = figures.counts.open_most.max(open);
        match arrival.before {
            None => figures.first.record(request.latency(now)),
            Some(before) => figures.gaps.record(now.saturating_sub(before)),
        }
        match arrival.delay {
            Some(Ok(delay)) => figures.delay.record(delay),
            Some(Err(())) => figures.counts.ahead += 1,
            None => {}
        }
    }

    /// A stream is over; its response `ended`, or it was broken off.
    pub fn stream_over(
        &mut self,
        request: InFlight,
        check: &StreamCheck,
        stream: &Streaming,
        ended: bool,
    ) {
        if !self.counts(request.intended) {
            return;
        }
        let progress: &Progress = &stream.progress;
        let counts = &mut self.kinds[usize::from(request.kind)]
            .events
            .get_or_insert_default()
            .counts;
        counts.wrong += u64::from(progress.wrong);
        counts.lost += progress.lost(check, ended);
        counts.doubled += u64::from(progress.doubled);
        counts.disordered += u64::from(progress.disordered);
        let took = request.waited(stream.last);
        if let Some(first) = stream.first
            && took >= SHORTEST
            && progress.came >= FEWEST
        {
            counts.lasting += 1;
            counts.in_burst += u64::from((stream.last - first) * BURST <= took);
        }
    }
}
