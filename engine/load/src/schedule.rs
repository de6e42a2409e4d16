//! When requests are due: one schedule for all threads of a process, and the queue of those that are due and unsent.
//!
//! Arrivals are counted in "expected requests": the schedule's rate integrated over time. Uniform arrivals lie at whole
//! numbers of that count, Poisson arrivals at sums of exponential gaps (time rescaling), and the inverse of the integral
//! gives their times. So ramps and steps, uniform or Poisson, are one piece of code, and the queue needs no memory:
//! a second cursor over the same arrivals counts those that are due.

use serde::{Deserialize, Serialize};

use crate::clock::{Nanos, nanos};
use crate::job::{Arrivals, Job, Loop};
use crate::random::Random;

/// The pacing slot, in seconds, where it saves more wake-ups than it delays.
const SLOT_S: f64 = 250e-6;

/// A stretch of time with a rate that is constant or changes linearly.
#[derive(Debug, Clone, Copy)]
struct Segment {
    seconds: f64,
    from: f64,
    to: f64,
}

impl Segment {
    fn expected(&self) -> f64 {
        (self.from + self.to) / 2.0 * self.seconds
    }

    /// The time in the segment at which `count` requests are expected to have come.
    fn time_of(&self, count: f64) -> f64 {
        let slope = (self.to - self.from) / self.seconds;
        if slope.abs() < 1e-9 {
            return count / self.from;
        }
        let root = (self.from * self.from + 2.0 * slope * count)
            .max(0.0)
            .sqrt();
        (root - self.from) / slope
    }
}

/// The arrivals of one process, and how far they have been taken.
#[derive(Debug)]
pub struct Schedule {
    start: Nanos,
    take: Cursor,
    due: Cursor,
    /// The arrivals of the turns that are measured, from the first of them on.
    measured: Cursor,
    peak: u64,
    /// Requests in the queue times nanoseconds, for the mean.
    area: f64,
    observed: Option<(Nanos, u64)>,
    since: Nanos,
    /// Arrivals from this offset on belong to a later turn.
    until: Nanos,
    /// Arrivals before the turn.
    turn_index: u64,
}

/// What a turn asked for, and what became of it.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct TurnQueue {
    /// Requests that were due in the turn.
    pub due: u64,
    /// Those that nobody took from the queue in time.
    pub dropped: u64,
    /// The longest queue.
    pub peak: u64,
    /// The mean queue.
    pub mean: f64,
}

#[derive(Debug, Clone)]
struct Cursor {
    segments: Vec<Segment>,
    at: usize,
    before: f64,
    begin_s: f64,
    count: f64,
    random: Option<Random>,
    index: u64,
    /// Arrivals from `free_until` on, which the limit counts.
    counted: u64,
    limit: u64,
    free_until: Nanos,
    /// Offset of the next arrival from the start.
    next: Option<Nanos>,
}

impl Cursor {
    fn new(
        segments: Vec<Segment>,
        first: f64,
        random: Option<Random>,
        limit: u64,
        free_until: Nanos,
    ) -> Self {
        let mut cursor = Self {
            segments,
            at: 0,
            before: 0.0,
            begin_s: 0.0,
            count: first,
            random,
            index: 0,
            counted: 0,
            limit,
            free_until,
            next: None,
        };
        if let Some(random) = &mut cursor.random {
            cursor.count = random.exponential();
        }
        cursor.next = cursor.locate();
        cursor
    }

    fn locate(&mut self) -> Option<Nanos> {
        if self.counted >= self.limit {
            return None;
        }
        while let Some(segment) = self.segments.get(self.at) {
            let expected = segment.expected();
            // Just past the end by rounding alone belongs to the next segment.
            if self.count < self.before + expected - 1e-6 {
                return Some(nanos(
                    self.begin_s + segment.time_of((self.count - self.before).max(0.0)),
                ));
            }
            self.before += expected;
            self.begin_s += segment.seconds;
            self.at += 1;
        }
        None
    }

    fn advance(&mut self) {
        self.index += 1;
        self.counted += u64::from(self.next.is_some_and(|offset| offset >= self.free_until));
        self.count += self.random.as_mut().map_or(1.0, Random::exponential);
        self.next = self.locate();
    }
}

impl Schedule {
    /// The schedule of a job, or `None` for a closed loop. `share` of `shares` processes takes every `shares`-th
    /// arrival; `limit` ends the schedule after that many in the measured window.
    #[must_use]
    pub fn new(job: &Job, share: u32, shares: u32, limit: Option<u64>) -> Option<Self> {
        let part = f64::from(shares.max(1));
        let (segments, arrivals) = segments(job)?;
        let segments: Vec<Segment> = segments
            .into_iter()
            .filter(|segment| segment.seconds > 0.0 && segment.from + segment.to > 0.0)
            .map(|segment| Segment {
                from: segment.from / part,
                to: segment.to / part,
                ..segment
            })
            .collect();
        let seed = job.seed ^ (u64::from(share) << 32);
        let (first, limit) = (f64::from(share) / part, limit.unwrap_or(u64::MAX));
        let cursor = |seed| {
            let random = (arrivals == Arrivals::Poisson).then(|| Random::new(seed));
            Cursor::new(segments.clone(), first, random, limit, nanos(job.warmup_s))
        };
        let (take, measured) = (cursor(seed), cursor(!seed));
        let due = take.clone();
        Some(Self {
            start: Nanos::ZERO,
            take,
            due,
            measured,
            peak: 0,
            area: 0.0,
            observed: None,
            since: Nanos::ZERO,
            until: Nanos::MAX,
            turn_index: 0,
        })
    }

    /// Fixes the first instant, on the engine's clock.
    pub const fn begin(&mut self, start: Nanos) {
        self.start = start;
        self.since = start;
    }

    /// When the next request that nobody has taken is due; `None` when the schedule, or its turn, is over.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        let offset = self.take.next.filter(|offset| *offset < self.until)?;
        Some(self.start + offset)
    }

    /// Whether all requests of the job have been taken.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.take.next.is_none()
    }

    /// Takes the next request, if it is due.
    pub fn take(&mut self, now: Nanos) -> Option<Nanos> {
        let due = self.next_due().filter(|due| *due <= now)?;
        self.take.advance();
        Some(due)
    }

    /// Looks at the queue: how many requests are due and not taken.
    pub fn observe(&mut self, now: Nanos) -> u64 {
        while self
            .due
            .next
            .is_some_and(|offset| offset < self.until && self.start + offset <= now)
        {
            self.due.advance();
        }
        let waiting = self.due.index.saturating_sub(self.take.index);
        if let Some((then, before)) = self.observed {
            self.area += before as f64 * now.saturating_sub(then).0 as f64;
        }
        self.observed = Some((now, waiting));
        self.peak = self.peak.max(waiting);
        waiting
    }

    /// The longest queue that was seen since the window's start, and its mean over time.
    #[must_use]
    pub fn queue(&self) -> (u64, f64) {
        let span = self
            .observed
            .map_or(Nanos::ZERO, |(then, _)| then.saturating_sub(self.since));
        (
            self.peak,
            if span == Nanos::ZERO {
                0.0
            } else {
                self.area / span.0 as f64
            },
        )
    }

    /// Forgets what was seen of the queue: the measured window begins.
    pub fn begin_window(&mut self, now: Nanos) {
        self.observe(now);
        self.peak = 0;
        self.area = 0.0;
        self.since = now;
    }

    /// Nothing is due until the first turn begins.
    pub const fn await_turn(&mut self) {
        self.until = Nanos::ZERO;
    }

    /// The turns that are measured begin: from here on the arrivals are the same for all who are loaded in turn, however
    /// long each was warmed up.
    pub fn begin_measuring(&mut self) {
        (self.take, self.due) = (self.measured.clone(), self.measured.clone());
        self.turn_index = 0;
    }

    /// A turn from `begin` to `end`, on the engine's clock: the schedule goes on where the last turn left it. `before` is
    /// the time of all turns so far, of those that are measured if this one is.
    pub fn begin_turn(&mut self, begin: Nanos, end: Nanos, before: Nanos) {
        self.start = begin - before;
        self.until = before + (end - begin);
        self.observed = None;
        (self.peak, self.area, self.since) = (0, 0.0, begin);
    }

    /// The turn is over. What is still in the queue is dropped, so that the next turn does not begin with it.
    pub fn end_turn(&mut self, now: Nanos) -> TurnQueue {
        let dropped = self.observe(now);
        let (peak, mean) = self.queue();
        (0..dropped).for_each(|_| self.take.advance());
        let due = self.take.index - std::mem::replace(&mut self.turn_index, self.take.index);
        TurnQueue {
            due,
            dropped,
            peak,
            mean,
        }
    }

    /// Requests that were due by `now`, taken or not.
    pub fn due_by(&mut self, now: Nanos) -> u64 {
        self.observe(now);
        self.due.index
    }
}

fn segments(job: &Job) -> Option<(Vec<Segment>, Arrivals)> {
    let warmup = |rate: f64| Segment {
        seconds: job.warmup_s,
        from: rate,
        to: rate,
    };
    Some(match &job.arrival {
        Loop::Closed => return None,
        Loop::Open { rate, arrivals } => (
            vec![
                warmup(*rate),
                Segment {
                    seconds: job.duration_s,
                    from: *rate,
                    to: *rate,
                },
            ],
            *arrivals,
        ),
        Loop::Steps { steps, arrivals } => {
            let first = steps.first().map_or(0.0, |step| step.rate);
            let rest = steps.iter().map(|step| Segment {
                seconds: step.seconds,
                from: step.rate,
                to: step.rate,
            });
            (
                std::iter::once(warmup(first)).chain(rest).collect(),
                *arrivals,
            )
        }
        Loop::Ramp { from, to, arrivals } => (
            vec![
                warmup(*from),
                Segment {
                    seconds: job.duration_s,
                    from: *from,
                    to: *to,
                },
            ],
            *arrivals,
        ),
    })
}

/// The mean rate that a job offers over its measured window, in requests a second; `None` for a closed loop.
#[must_use]
pub fn offered_rate(job: &Job) -> Option<f64> {
    let (segments, _) = segments(job)?;
    let window = &segments[1..];
    let seconds: f64 = window.iter().map(|segment| segment.seconds).sum();
    Some(window.iter().map(Segment::expected).sum::<f64>() / seconds)
}

/// The pacing slot in seconds: as the job asks, or what suits the highest rate of its schedule.
#[must_use]
pub fn slot_s(job: &Job) -> f64 {
    job.pacing_slot_s.unwrap_or_else(|| {
        let segments = segments(job).map_or_else(Vec::new, |(segments, _)| segments);
        let pays = |one: &Segment| one.from.max(one.to) * SLOT_S > 1.0;
        if segments.iter().any(pays) {
            SLOT_S
        } else {
            0.0
        }
    })
}

/// The next multiple of the slot at or after `due`, counted from `origin`.
#[must_use]
pub fn quantise(due: Nanos, origin: Nanos, slot: Nanos) -> Nanos {
    if slot == Nanos::ZERO || due <= origin {
        return due;
    }
    origin + slot * (due - origin).div_ceil(slot)
}
