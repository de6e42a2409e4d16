//! One run in one process: threads, their common start, the events, and the watch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::backend::epoll::{self, EpollWire};
use crate::clock::{self, SECOND, nanos, now, seconds};
use crate::connector::Connector;
use crate::error::Error;
use crate::event::Event;
use crate::job::{BackendChoice, Job};
use crate::merge::{Reports, merge};
use crate::report::{ProcessReport, ThreadReport};
use crate::request::Mix;
use crate::result::LoadResult;
use crate::schedule::Schedule;
use crate::shared::Shared;
use crate::target::Target;
use crate::usage;
use crate::worker::{Part, Worker};

/// How a caller follows and ends a run.
pub struct Control<'a> {
    /// Set from outside (a signal handler) to end the run early; its result is still given.
    pub interrupt: &'a AtomicBool,
    /// Called with each event, on the calling thread.
    pub on_event: &'a mut dyn FnMut(Event),
}

/// The coordinator looks at the interrupt flag this often.
const POLL: Duration = Duration::from_millis(20);

/// Carries out a load job.
///
/// # Errors
/// [`Error`] if the job could not be carried out; what the server does wrong is in the result.
pub fn run(job: &Job, control: &mut Control<'_>) -> Result<LoadResult, Error> {
    job.validate()?;
    let target = Target::parse(&job.url, &job.allow_hosts)?;
    let mix = Mix::compile(job, &target)?;
    if let Some(cpus) = job.cpus.as_deref().filter(|cpus| !cpus.is_empty()) {
        usage::restrict(cpus)?;
    }
    let watcher = job
        .watch
        .as_ref()
        .map(|watch| start_watch(job, watch))
        .transpose()?;
    let run = Run::prepare(job, &target, &mix)?;
    let begun = now();
    run.await_ready(control);
    let established = u64::from(run.shared.established.load(Ordering::Acquire));
    (control.on_event)(Event::Connected {
        established,
        asked: u64::from(job.connections),
        seconds: seconds(now() - begun),
    });
    if established == 0 && job.keepalive {
        let error = run.shared.connect_error.load(Ordering::Relaxed) as i32;
        run.call_off();
        let why = std::io::Error::from_raw_os_error(error).to_string();
        return Err(Error::Unreachable {
            target: target.address.to_string(),
            why,
        });
    }
    let start = now() + SECOND / 500;
    let start_unix_s = clock::unix_seconds() + seconds(start - now());
    run.begin(start);
    let report = run.follow(job, start, watcher.as_ref(), control)?;
    let watch = watcher.map(|watcher| {
        idle(job, &watcher, control);
        watcher.finish(start)
    });
    merge(
        job,
        &mix,
        Reports {
            processes: vec![report],
            start_unix_s,
            watch,
        },
    )
}

fn start_watch(job: &Job, watch: &crate::job::Watch) -> Result<touchstone_watch::Watcher, Error> {
    let target = touchstone_watch::Target {
        pid: watch.pid,
        cgroup_paths: watch.cgroup_paths.iter().map(Into::into).collect(),
        subreaper: None,
    };
    let settings = touchstone_watch::WatcherSettings {
        interval: Duration::from_secs_f64(watch.interval_s),
        cpus: job.cpus.iter().flatten().map(|cpu| *cpu as usize).collect(),
        ..touchstone_watch::WatcherSettings::default()
    };
    touchstone_watch::Watcher::start(&target, settings).map_err(|error| Error::System {
        what: format!("watching process {}", watch.pid),
        source: std::io::Error::other(error.to_string()),
    })
}

fn idle(job: &Job, watcher: &touchstone_watch::Watcher, control: &mut Control<'_>) {
    watcher.set_phase(touchstone_watch::Phase::Idle);
    (control.on_event)(Event::Phase { name: "idle" });
    let until = now() + nanos(job.watch.as_ref().map_or(0.0, |watch| watch.after_s));
    while now() < until && !control.interrupt.load(Ordering::Relaxed) {
        std::thread::sleep(POLL.min(Duration::from_nanos(until.saturating_sub(now()))));
    }
}

struct Run {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<Result<ThreadReport, Error>>>,
}

impl Run {
    fn prepare(job: &Job, target: &Target, mix: &Mix) -> Result<Self, Error> {
        if target.tls {
            return Err(Error::Job("https is not supported yet".to_owned()));
        }
        if job.backend == BackendChoice::IoUring {
            return Err(Error::Job(
                "the io_uring backend is not supported yet".to_owned(),
            ));
        }
        let threads = job.threads.min(job.connections);
        let closed_limit = if job.is_open() {
            None
        } else {
            job.max_requests
        };
        let shared = Arc::new(Shared::new(
            threads,
            Schedule::new(job, 0, 1, job.max_requests),
            closed_limit,
        ));
        let mut handles = Vec::new();
        let mut first = 0;
        for index in 0..threads {
            let connections =
                job.connections / threads + u32::from(index < job.connections % threads);
            let part = Part {
                index,
                threads,
                global_index: index,
                global_threads: threads,
                connections,
            };
            let connector = Connector::new(
                target.address,
                job.sources.as_deref(),
                first,
                job.connections,
            )?;
            first += connections;
            let (job, mix, shared) = (job.clone(), mix.clone(), Arc::clone(&shared));
            let cpu = job
                .cpus
                .as_ref()
                .filter(|cpus| !cpus.is_empty())
                .map(|cpus| cpus[index as usize % cpus.len()]);
            let handle = std::thread::Builder::new()
                .name(format!("load-{index}"))
                .stack_size(256 * 1024)
                .spawn(move || work(&job, mix, shared, part, connector, cpu))
                .map_err(|source| Error::System {
                    what: "starting a load thread".to_owned(),
                    source,
                })?;
            handles.push(handle);
        }
        Ok(Self {
            shared,
            threads: handles,
        })
    }

    fn await_ready(&self, control: &Control<'_>) {
        while (self.shared.ready.load(Ordering::Acquire) as usize) < self.threads.len() {
            if control.interrupt.load(Ordering::Relaxed) {
                self.shared.interrupted.store(true, Ordering::Relaxed);
            }
            if self.threads.iter().any(JoinHandle::is_finished) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn call_off(self) {
        self.shared.start.store(Shared::NEVER, Ordering::Release);
        for thread in self.threads {
            let _ = thread.join();
        }
    }

    fn begin(&self, start: u64) {
        self.shared.with_schedule(|schedule| schedule.begin(start));
        self.shared.start.store(start, Ordering::Release);
    }

    fn progress(&self, t: f64) -> Event {
        let sum = |field: fn(&crate::shared::Progress) -> u64| {
            self.shared.progress.iter().map(field).sum()
        };
        Event::Progress {
            t,
            sent: sum(|progress| progress.sent.load(Ordering::Relaxed)),
            ok: sum(|progress| progress.ok.load(Ordering::Relaxed)),
            errors: sum(|progress| progress.errors.load(Ordering::Relaxed)),
            connections: sum(|progress| progress.connections.load(Ordering::Relaxed)),
            queue: self
                .shared
                .progress
                .iter()
                .map(|progress| progress.queue.load(Ordering::Relaxed))
                .max()
                .unwrap_or(0),
        }
    }

    fn follow(
        self,
        job: &Job,
        start: u64,
        watcher: Option<&touchstone_watch::Watcher>,
        control: &mut Control<'_>,
    ) -> Result<ProcessReport, Error> {
        let begin = start + nanos(job.warmup_s);
        let end = begin + nanos(job.window_s());
        let mut phases = [(start, "warmup"), (begin, "load"), (end, "drain")]
            .into_iter()
            .peekable();
        if job.warmup_s == 0.0 {
            phases.next();
        }
        let every = nanos(job.series_interval_s);
        let mut next_progress = start + every;
        while !self.threads.iter().all(JoinHandle::is_finished) {
            let clock = now();
            while let Some((_, name)) = phases.next_if(|(at, _)| *at <= clock) {
                if let Some(watcher) = watcher.filter(|_| name == "load") {
                    watcher.set_phase(touchstone_watch::Phase::Load);
                }
                (control.on_event)(Event::Phase { name });
            }
            if clock >= next_progress {
                next_progress += every;
                let event = self.progress(seconds(clock - start));
                (control.on_event)(event);
            }
            if control.interrupt.load(Ordering::Relaxed) {
                self.shared.interrupted.store(true, Ordering::Relaxed);
            }
            let wake = phases
                .peek()
                .map_or(next_progress, |(at, _)| (*at).min(next_progress));
            std::thread::sleep(POLL.min(Duration::from_nanos(
                wake.saturating_sub(clock).max(100_000),
            )));
        }
        let event = self.progress(seconds(now() - start));
        (control.on_event)(event);
        let mut threads = Vec::new();
        for thread in self.threads {
            threads.push(
                thread
                    .join()
                    .map_err(|_| Error::Worker("a load thread panicked".to_owned()))??,
            );
        }
        let clock = now();
        let queue = self.shared.with_schedule(|schedule| {
            let waiting = schedule.observe(clock);
            let (peak, mean) = schedule.queue();
            (waiting, peak, mean)
        });
        let (queued, queue_peak, queue_mean) = queue.unwrap_or_default();
        Ok(ProcessReport {
            backend: "epoll".to_owned(),
            threads,
            queue_peak,
            queue_mean,
            queued,
            rss_peak: usage::peak_rss(),
            interrupted: self.shared.interrupted.load(Ordering::Relaxed),
        })
    }
}

fn work(
    job: &Job,
    mix: Mix,
    shared: Arc<Shared>,
    part: Part,
    connector: Connector,
    cpu: Option<u32>,
) -> Result<ThreadReport, Error> {
    if let Some(cpu) = cpu {
        usage::restrict(&[cpu])?;
    }
    // Timeouts are otherwise stretched by 50 us.
    // SAFETY: plain system call without pointers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let mut worker = Worker::new(job, mix, shared, part, now());
    let mut wire = EpollWire::new(connector)?;
    epoll::drive(&mut worker, &mut wire);
    Ok(ThreadReport::of(&worker, cpu, wire.syscalls, now()))
}
