//! A crew of threads in this process.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use touchstone_crew::part;
use touchstone_sys::process;

use crate::asked::Queue;
use crate::backend::{self, Backend};
use crate::clock::{Nanos, now};
use crate::connector::Connector;
use crate::crew::{Crew, Progress, Ready};
use crate::error::Error;
use crate::job::Job;
use crate::mix::Mix;
use crate::report::{ProcessReport, ThreadReport};
use crate::schedule::Schedule;
use crate::shared::Shared;
use crate::slices::gate::Gate;
use crate::target::Target;
use crate::usage;
use crate::watch;
use crate::worker::{Part, Worker};
use touchstone_tls::Materials;
use touchstone_watch::timeline::{Flights, TimelineSampler};

/// Which part of a job one process does. Threads and connections are numbered over all processes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Share {
    /// The process's number.
    pub process: u32,
    /// Processes in all.
    pub processes: u32,
    /// Its first connection's number.
    pub first_connection: u32,
    /// Its connections.
    pub connections: u32,
    /// Its first thread's number.
    pub first_thread: u32,
    /// Its threads.
    pub threads: u32,
    /// Threads of all processes.
    pub all_threads: u32,
}

impl Share {
    /// The whole of a job.
    #[must_use]
    pub fn whole(job: &Job) -> Self {
        let threads = job.threads.min(job.connections);
        Self {
            process: 0,
            processes: 1,
            first_connection: 0,
            connections: job.connections,
            first_thread: 0,
            threads,
            all_threads: threads,
        }
    }

    /// This share of a count.
    #[must_use]
    pub fn of(&self, count: u64) -> u64 {
        part(count, u64::from(self.processes), u64::from(self.process))
    }
}

/// What the name of each thread that sends and reads begins with.
pub const THREAD_NAME: &str = "load-";

/// Threads of this process, each with its connections.
pub struct Threads {
    shared: Arc<Shared>,
    backend: Backend,
    gate: Option<Arc<Gate>>,
    /// Looks at the server meanwhile, if that was asked for.
    timeline: Option<TimelineSampler>,
    threads: Vec<JoinHandle<Result<ThreadReport, Error>>>,
}

impl Threads {
    /// Starts the threads; they begin to connect at once. With a gate, their load comes in turns.
    ///
    /// # Errors
    /// [`Error`] if the backend is not to be had here, or a thread cannot be started.
    pub fn start(
        job: &Job,
        target: &Target,
        mix: &Mix,
        share: Share,
        gate: Option<&Arc<Gate>>,
    ) -> Result<Self, Error> {
        let backend = Backend::choose(job, target)?;
        let local = target.address.is_local();
        let read = || Materials::read(&job.tls, job.protocol, &target.url.host, local);
        let tls = target.url.tls.then(read).transpose()?;
        let limit = job.max_requests.map(|limit| share.of(limit));
        let schedule = Schedule::new(job, share.process, share.processes, limit);
        let closed_limit = if job.is_open() { None } else { limit };
        let mut shared = Shared::new(share.threads, schedule, closed_limit);
        if job.tail.is_some() {
            let most = share.connections.div_ceil(share.threads);
            shared.flights = (0..share.threads)
                .map(|_| Arc::new(Flights::of(most)))
                .collect();
        }
        let timeline = watch::timeline(job, target.address, &shared.flights)?;
        let shared = Arc::new(shared);
        let mut crew = Self {
            shared,
            backend,
            gate: gate.map(Arc::clone),
            threads: Vec::new(),
            timeline,
        };
        let mut first = share.first_connection;
        for index in 0..share.threads {
            let connections = share.connections / share.threads
                + u32::from(index < share.connections % share.threads);
            let global_index = share.first_thread + index;
            let part = Part {
                index,
                threads: share.threads,
                global_index,
                global_threads: share.all_threads,
                connections,
            };
            let connector = Connector::new(
                target.address,
                job.sources.as_deref(),
                first,
                job.connections,
            )?;
            first += connections;
            let cpus = job.cpus.as_deref().filter(|cpus| !cpus.is_empty());
            let cpu = cpus.map(|cpus| cpus[global_index as usize % cpus.len()]);
            crew.spawn(job.clone(), tls.clone(), mix.clone(), part, connector, cpu)?;
        }
        Ok(crew)
    }

    fn spawn(
        &mut self,
        job: Job,
        tls: Option<Materials>,
        mix: Mix,
        part: Part,
        connector: Connector,
        cpu: Option<u32>,
    ) -> Result<(), Error> {
        let (shared, backend) = (Arc::clone(&self.shared), self.backend);
        let gate = self.gate.clone();
        let work = move || {
            let gate = gate.map(Leaving);
            if let Some(cpu) = cpu {
                usage::restrict(&[cpu])?;
            }
            own_files();
            process::exact_timers();
            let mut worker = Worker::new(&job, mix, shared, part, now());
            if let Some(Leaving(gate)) = &gate {
                worker = worker.in_turns(Arc::clone(gate), &job);
            }
            backend::drive(backend, &mut worker, connector, tls.as_ref())?;
            Ok(ThreadReport::of(&worker, cpu, now()))
        };
        let thread = std::thread::Builder::new()
            .name(format!("{THREAD_NAME}{}", part.global_index))
            .stack_size(256 * 1024)
            .spawn(work)
            .map_err(|source| Error::System {
                what: "starting a load thread".to_owned(),
                source,
            })?;
        self.threads.push(thread);
        Ok(())
    }

    /// Where the lab asks between the requests.
    #[must_use]
    pub fn asked(&self) -> Arc<Queue> {
        Arc::clone(&self.shared.asked)
    }

    /// Runs a closure on the schedule, where there is one.
    pub fn with_schedule<T>(&self, action: impl FnOnce(&mut Schedule) -> T) -> Option<T> {
        self.shared.with_schedule(action)
    }
}

/// Tells a gate that its thread has ended, however it ended.
struct Leaving(Arc<Gate>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Files that no other thread shares, for a thread that opens all of its own.
#[expect(unsafe_code, reason = "what a thread is handed is known here alone")]
fn own_files() {
    // SAFETY: a load thread is handed the job, counters and gates, none of which holds a file; it opens files only later.
    unsafe { process::own_files() };
}

impl Crew for Threads {
    fn ready(&mut self) -> Option<Ready> {
        let all = self.shared.ready.load(Ordering::Acquire) as usize >= self.threads.len();
        let failed = self.threads.iter().any(JoinHandle::is_finished);
        (all || failed).then(|| Ready {
            established: u64::from(self.shared.established.load(Ordering::Relaxed)),
            unconnected: self.shared.last_unconnected(),
        })
    }

    fn begin(&mut self, start: Nanos) {
        self.shared.with_schedule(|schedule| schedule.begin(start));
        self.shared.begin(start);
    }

    fn interrupt(&mut self) {
        self.shared.interrupted.store(true, Ordering::Relaxed);
    }

    fn progress(&self) -> Progress {
        let mut sum = Progress::default();
        for thread in &self.shared.progress {
            sum.sent += thread.sent.load(Ordering::Relaxed);
            sum.ok += thread.ok.load(Ordering::Relaxed);
            sum.errors += thread.errors.load(Ordering::Relaxed);
            sum.connections += thread.connections.load(Ordering::Relaxed);
            // All threads look at the same queue.
            sum.queue = sum.queue.max(thread.queue.load(Ordering::Relaxed));
        }
        sum
    }

    fn is_finished(&mut self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    fn reports(self: Box<Self>) -> Result<Vec<ProcessReport>, Error> {
        let mut threads = Vec::new();
        for thread in self.threads {
            threads.push(
                thread
                    .join()
                    .map_err(|_| Error::Worker("a load thread panicked".to_owned()))??,
            );
        }
        let begin = threads
            .first()
            .map_or((Nanos::ZERO, Nanos::ZERO), |thread| {
                (thread.start, thread.begin)
            });
        let timeline = self
            .timeline
            .map(|sampler| sampler.finish(begin.0, begin.1));
        let clock = now();
        let queue = self.shared.with_schedule(|schedule| {
            let (peak, mean) = schedule.queue();
            (schedule.observe(clock), peak, mean)
        });
        let (queued, queue_peak, queue_mean) = queue.unwrap_or_default();
        Ok(vec![ProcessReport {
            backend: self.backend.name().to_owned(),
            threads,
            queue_peak,
            queue_mean,
            queued,
            rss_peak: usage::peak_rss(),
            interrupted: self.shared.interrupted.load(Ordering::Relaxed),
            timeline,
            generator: None,
        }])
    }
}
