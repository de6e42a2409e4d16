//! Threads of this process that load a contender in its turns.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::crew::TurnCrew;
use super::gate::{Answer, Call, Gate, Turn};
use super::order::LapPhase;
use super::part::ProcessTurn;
use crate::asked::Queue;
use crate::clock::{Nanos, nanos, now};
use crate::crew::{Crew, Ready, await_ready};
use crate::error::Error;
use crate::job::Job;
use crate::mix::Mix;
use crate::report::ProcessReport;
use crate::schedule::Schedule;
use crate::target::Target;
use crate::threads::{Share, Threads};

/// A contender's threads, and the gate that they sleep behind.
pub struct LocalCrew {
    threads: Option<Box<Threads>>,
    gate: Arc<Gate>,
    /// The time of all turns so far; of those that are measured, once one was.
    loaded: Nanos,
    measured: bool,
}

impl LocalCrew {
    /// Starts the threads of a share, which open its connections.
    ///
    /// # Errors
    /// [`Error`] if that cannot be done here.
    pub fn start(
        job: &Job,
        target: &Target,
        mix: &Mix,
        share: Share,
        interrupt: &AtomicBool,
    ) -> Result<(Self, Ready), Error> {
        let gate = Arc::new(Gate::new(share.threads));
        let mut threads = Box::new(Threads::start(job, target, mix, share, Some(&gate))?);
        threads.with_schedule(Schedule::await_turn);
        let ready = await_ready(threads.as_mut(), interrupt);
        let mut crew = Self {
            threads: Some(threads),
            gate,
            loaded: Nanos::ZERO,
            measured: false,
        };
        if crew.gate.is_left() {
            return Err(crew.failure());
        }
        Ok((crew, ready))
    }

    /// Loads the contender in a turn that begins now, or ought to have begun before.
    pub fn enter(&mut self, turn: Turn) {
        let is_first = turn.measured && !std::mem::replace(&mut self.measured, turn.measured);
        if is_first {
            self.loaded = Nanos::ZERO;
        }
        let before = self.loaded;
        self.loaded += turn.end - turn.begin;
        if let Some(threads) = &self.threads {
            threads.with_schedule(|schedule| {
                if is_first {
                    schedule.begin_measuring();
                }
                schedule.begin_turn(turn.begin, turn.end, before);
            });
        }
        self.gate.call(Call::Begin(turn));
    }

    /// Where the lab asks between the requests; none once the threads have ended.
    #[must_use]
    pub fn asked(&self) -> Option<Arc<Queue>> {
        self.threads.as_ref().map(|threads| threads.asked())
    }

    /// Why a thread ended that ought not to have.
    fn failure(&mut self) -> Error {
        self.end().err().unwrap_or_else(ended_twice)
    }
}

impl TurnCrew for LocalCrew {
    fn settle(&mut self, origin: Nanos) -> Result<u64, Error> {
        self.gate.call(Call::Settle { origin });
        let answers = self.gate.answers().map_err(|_| self.failure())?;
        let counts = answers.into_iter().map(|answer| match answer {
            Answer::Settled(established) => u64::from(established),
            Answer::Over(_) => 0,
        });
        Ok(counts.sum())
    }

    fn begin(&mut self, seconds: f64, phase: LapPhase) -> Turn {
        let turn = Turn::from(now(), nanos(seconds), phase);
        self.enter(turn);
        turn
    }

    fn pass(&mut self) -> Turn {
        self.gate.call(Call::Pass);
        Turn::passed(now())
    }

    fn finish_turn(&mut self, turn: Turn) -> Result<Vec<ProcessTurn>, Error> {
        let answers = self.gate.answers().map_err(|_| self.failure())?;
        let parts = answers.into_iter().filter_map(|answer| match answer {
            Answer::Over(part) => Some(*part),
            Answer::Settled(_) => None,
        });
        let threads = parts.collect();
        let crew = self.threads.as_ref().filter(|_| turn.end > turn.begin);
        let queue = crew.and_then(|crew| crew.with_schedule(|schedule| schedule.end_turn(now())));
        Ok(vec![ProcessTurn { threads, queue }])
    }

    fn end(&mut self) -> Result<Vec<ProcessReport>, Error> {
        self.gate.call(Call::End);
        let threads = self.threads.take().ok_or_else(ended_twice)?;
        (threads as Box<dyn Crew>).reports()
    }
}

impl Drop for LocalCrew {
    fn drop(&mut self) {
        self.gate.call(Call::End);
    }
}

fn ended_twice() -> Error {
    Error::Worker("a load thread ended by itself".to_owned())
}
