//! A contender of a running slices job: its threads, its watch, and what its turns came to.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use touchstone_watch::{Phase, Watcher};

use super::gate::{Answer, Call, Gate, Turn};
use super::job::SlicesJob;
use super::order::LapPhase;
use super::part::SlicePart;
use crate::clock::{nanos, now};
use crate::crew::{Crew, Ready};
use crate::error::Error;
use crate::job::Job;
use crate::mix::Mix;
use crate::processes;
use crate::report::ProcessReport;
use crate::run::await_ready;
use crate::schedule::{Schedule, TurnQueue};
use crate::target::Target;
use crate::threads::{Share, Threads};
use crate::watch;

/// What is known of a contender before anything is opened.
pub struct Prepared {
    /// Its load job.
    pub job: Job,
    /// Its requests.
    pub mix: Mix,
    target: Target,
}

impl Prepared {
    /// Checks a contender's load as far as that goes without a server.
    ///
    /// # Errors
    /// [`Error`] of the job, with the contender's name.
    pub fn new(slices: &SlicesJob, index: usize, files: u64) -> Result<Self, Error> {
        let job = slices.load(index);
        let named = |error| slices.at(index, error);
        let target = Target::parse(&job.url, &job.allow_hosts).map_err(named)?;
        let mix = Mix::compile(&job, &target).map_err(named)?;
        let room = processes::room(files);
        if u64::from(job.connections) > room {
            return Err(named(Error::Job(format!(
                "{} connections are more than the {room} that the limit of {files} open files leaves room for, and \
                 slices are not spread over processes: raise the limit (ulimit -n), or ask for fewer",
                job.connections
            ))));
        }
        Ok(Self { job, mix, target })
    }
}

/// A contender whose connections are open.
pub struct Contender {
    /// Its load job.
    pub job: Job,
    /// Its requests.
    pub mix: Mix,
    /// Watching its process tree, where that was asked for.
    pub watcher: Option<Watcher>,
    /// Whether it was said that it cannot be loaded.
    pub lost: bool,
    crew: Option<Box<Threads>>,
    gate: Arc<Gate>,
    /// Nanoseconds of all turns so far.
    loaded: u64,
}

impl Contender {
    /// Starts watching it, and its threads, which open its connections.
    ///
    /// # Errors
    /// [`Error`] if that cannot be done here.
    pub fn start(prepared: Prepared, interrupt: &AtomicBool) -> Result<(Self, Ready), Error> {
        let Prepared { job, mix, target } = prepared;
        let watcher = job.watch.as_ref().map(|watch| watch::start(&job, watch));
        let watcher = watcher.transpose()?;
        if let Some(watcher) = &watcher {
            watcher.mark(Phase::Off);
        }
        let share = Share::whole(&job);
        let gate = Arc::new(Gate::new(share.threads));
        let threads = Threads::start(&job, &target, &mix, share, Some(&gate))?;
        threads.with_schedule(Schedule::await_turn);
        let mut contender = Self {
            job,
            mix,
            watcher,
            lost: false,
            crew: Some(Box::new(threads)),
            gate,
            loaded: 0,
        };
        let ready = match contender.crew.as_mut() {
            Some(crew) => await_ready(crew.as_mut(), interrupt),
            None => Ready::default(),
        };
        if contender.gate.is_left() {
            return Err(contender.failure());
        }
        Ok((contender, ready))
    }

    /// CPU time of its process tree so far, in nanoseconds; `None` if it is not watched.
    #[must_use]
    pub fn cpu_ns(&self) -> Option<u64> {
        self.watcher.as_ref().map(Watcher::cpu_ns)
    }

    /// Says to its watch what it is doing.
    pub fn mark(&self, phase: Phase) {
        if let Some(watcher) = &self.watcher {
            watcher.mark(phase);
        }
    }

    /// Has the threads look at what happened since the last turn; gives the connections that are up.
    ///
    /// # Errors
    /// [`Error`] of a thread that ended.
    pub fn settle(&mut self, origin: u64) -> Result<u64, Error> {
        self.gate.call(Call::Settle { origin });
        let answers = self.gate.answers().map_err(|_| self.failure())?;
        let counts = answers.into_iter().map(|answer| match answer {
            Answer::Settled(established) => u64::from(established),
            Answer::Over(_) => 0,
        });
        Ok(counts.sum())
    }

    /// Loads it, from now on, for so long.
    pub fn begin(&mut self, seconds: f64, phase: LapPhase) -> Turn {
        let begin = now();
        let turn = Turn {
            begin,
            end: begin + nanos(seconds),
            measured: phase == LapPhase::Load,
        };
        let before = self.loaded;
        self.loaded += turn.end - turn.begin;
        if let Some(crew) = &self.crew {
            crew.with_schedule(|schedule| schedule.begin_turn(turn.begin, turn.end, before));
        }
        self.gate.call(Call::Begin(turn));
        turn
    }

    /// Leaves out its turn: nothing is there to be loaded.
    pub fn pass(&mut self) -> Turn {
        self.gate.call(Call::Pass);
        let begin = now();
        Turn {
            begin,
            end: begin,
            measured: false,
        }
    }

    /// Waits until the turn is over; gives what the threads hand over, and the queue of an open loop that was loaded.
    ///
    /// # Errors
    /// [`Error`] of a thread that ended.
    pub fn finish_turn(
        &mut self,
        turn: Turn,
    ) -> Result<(Vec<SlicePart>, Option<TurnQueue>), Error> {
        let answers = self.gate.answers().map_err(|_| self.failure())?;
        let parts = answers
            .into_iter()
            .filter_map(|answer| match answer {
                Answer::Over(part) => Some(*part),
                Answer::Settled(_) => None,
            })
            .collect();
        let crew = self.crew.as_ref().filter(|_| turn.end > turn.begin);
        let queue = crew.and_then(|crew| crew.with_schedule(|schedule| schedule.end_turn(now())));
        Ok((parts, queue))
    }

    /// Ends its threads and gives their reports.
    ///
    /// # Errors
    /// [`Error`] of a thread that ended before.
    pub fn end(&mut self) -> Result<Vec<ProcessReport>, Error> {
        self.gate.call(Call::End);
        let crew = self.crew.take().ok_or_else(ended_twice)?;
        (crew as Box<dyn Crew>).reports()
    }

    /// Why a thread ended that ought not to have.
    fn failure(&mut self) -> Error {
        self.end().err().unwrap_or_else(ended_twice)
    }
}

impl Drop for Contender {
    fn drop(&mut self) {
        self.gate.call(Call::End);
    }
}

fn ended_twice() -> Error {
    Error::Worker("a load thread ended by itself".to_owned())
}
