//! What the threads of one process share.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::asked::Queue;
use crate::clock::Nanos;
use crate::crew::Unconnected;
use crate::job::Job;
use crate::schedule::Schedule;
use touchstone_watch::timeline::Flights;

/// What the threads of one process share. Nothing here is touched once a request in a closed loop.
#[derive(Debug)]
pub struct Shared {
    /// [`Self::start`], in nanoseconds.
    start: AtomicU64,
    /// Threads whose connections are set up, or have given up.
    pub ready: AtomicU32,
    /// Connections established at that moment.
    pub established: AtomicU32,
    /// Why the last connection attempt failed that did.
    unconnected: Mutex<Option<Unconnected>>,
    /// Set when the user wants the run to end.
    pub interrupted: AtomicBool,
    /// Open loop: the arrivals.
    pub schedule: Option<Mutex<Schedule>>,
    /// Closed loop with a bounded count: requests of the window that may still be sent.
    pub remaining: Option<AtomicI64>,
    /// What the lab asks between the requests.
    pub asked: Arc<Queue>,
    /// What each thread has done so far, for the events and the live view.
    pub progress: Vec<Progress>,
    /// Requests under way by thread; empty unless the server is looked at for its slowest requests.
    pub flights: Vec<Arc<Flights>>,
}

/// Counters of one thread, written once a batch of events and read once a second.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Progress {
    /// Requests sent, warm-up included.
    pub sent: AtomicU64,
    /// Right responses, warm-up included.
    pub ok: AtomicU64,
    /// Errors, warm-up included.
    pub errors: AtomicU64,
    /// Connections established now.
    pub connections: AtomicU64,
    /// Requests due and unsent, as this thread last saw them.
    pub queue: AtomicU64,
}

impl Shared {
    /// The value of `start` that calls the run off.
    pub const NEVER: Nanos = Nanos::MAX;

    /// What `threads` threads share.
    #[must_use]
    pub fn new(threads: u32, schedule: Option<Schedule>, remaining: Option<u64>) -> Self {
        Self {
            start: AtomicU64::new(0),
            ready: AtomicU32::new(0),
            established: AtomicU32::new(0),
            unconnected: Mutex::new(None),
            interrupted: AtomicBool::new(false),
            schedule: schedule.map(Mutex::new),
            remaining: remaining.map(|count| AtomicI64::new(count as i64)),
            asked: Arc::default(),
            progress: (0..threads).map(|_| Progress::default()).collect(),
            flights: Vec::new(),
        }
    }

    /// The first intended send; zero until it is fixed, [`Self::NEVER`] if the run is called off.
    #[must_use]
    pub fn start(&self) -> Nanos {
        Nanos(self.start.load(Ordering::Acquire))
    }

    /// Fixes the first intended send.
    pub fn begin(&self, start: Nanos) {
        self.start.store(start.0, Ordering::Release);
    }

    /// A connection attempt failed.
    pub fn unconnected(&self, why: Unconnected) {
        let mut last = self.unconnected.lock();
        if let Ok(last) = &mut last {
            **last = Some(why);
        }
    }

    /// Why the last connection attempt failed that did.
    #[must_use]
    pub fn last_unconnected(&self) -> Option<Unconnected> {
        self.unconnected.lock().ok()?.clone()
    }

    /// Runs a closure on the schedule, where there is one.
    pub fn with_schedule<T>(&self, action: impl FnOnce(&mut Schedule) -> T) -> Option<T> {
        let schedule = self.schedule.as_ref()?;
        Some(action(
            &mut schedule
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        ))
    }

    /// Where a thread notes its requests under way, if anybody looks; over HTTP/1.1 without pipelining.
    #[must_use]
    pub fn flights_of(&self, thread: u32, job: &Job) -> Option<Arc<Flights>> {
        let flights = self.flights.get(thread as usize)?;
        (job.depth() == 1).then(|| Arc::clone(flights))
    }

    /// Takes one request from the bounded count; true if the count is unbounded.
    #[inline]
    pub fn may_send(&self) -> bool {
        self.remaining
            .as_ref()
            .is_none_or(|remaining| remaining.fetch_sub(1, Ordering::Relaxed) > 0)
    }

    /// Whether the bounded count is used up.
    #[must_use]
    pub fn used_up(&self) -> bool {
        self.remaining
            .as_ref()
            .is_some_and(|remaining| remaining.load(Ordering::Relaxed) <= 0)
    }
}
