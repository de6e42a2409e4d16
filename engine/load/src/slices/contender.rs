//! A contender of a running slices job: who loads it, and its watch.

use std::sync::atomic::AtomicBool;

use touchstone_watch::{Phase, Watcher, cpus::CpuSet, speed};

use super::crew::TurnCrew;
use super::job::SlicesJob;
use super::local::LocalCrew;
use super::remote::RemoteCrew;
use crate::asked::{Desk, fits_between};
use crate::clock::Nanos;
use crate::crew::Ready;
use crate::error::Error;
use crate::job::Job;
use crate::mix::Mix;
use crate::target::{Target, permitted};
use crate::threads::Share;
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
        let mut job = slices.load(index);
        let named = |error| slices.at(index, error);
        let target = permitted(&job).map_err(named)?;
        // Each process that carries a part of the load connects where this one does.
        job.connect_to = Some(target.address.to_string());
        let mix = Mix::compile(&job, &target).map_err(named)?;
        let room = touchstone_crew::room(files);
        if job.generators.is_empty() && u64::from(job.connections) > room {
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
    /// CPUs that its process may use, some of them where there are many; none if it is not watched.
    pub cpus: Vec<usize>,
    /// All CPUs that it has to itself: none where the engine or a dependency of its may use one of them.
    pub own_cpus: Vec<usize>,
    /// Whether it was said that it cannot be loaded.
    pub lost: bool,
    /// Those who load it.
    pub crew: Box<dyn TurnCrew>,
}

impl Contender {
    /// Starts watching it, and its crew, which opens its connections, and can be asked at the desk.
    ///
    /// # Errors
    /// [`Error`] if that cannot be done here.
    pub fn start(
        prepared: Prepared,
        desk: &Desk,
        interrupt: &AtomicBool,
    ) -> Result<(Self, Ready), Error> {
        let Prepared { job, mix, target } = prepared;
        // What the dependencies use is read turn by turn, for all contenders.
        let watcher = job.watch.as_ref();
        let watcher = watcher.map(|watch| watch::start(&job, watch, &[]));
        let watcher = watcher.transpose()?;
        if let Some(watcher) = &watcher {
            watcher.mark(Phase::Off);
        }
        let cpus = job
            .watch
            .as_ref()
            .and_then(|watch| CpuSet::of_thread(watch.pid))
            .map_or_else(Vec::new, |set| set.numbers());
        let own_cpus = if has_to_itself(&cpus, &job) {
            cpus.clone()
        } else {
            Vec::new()
        };
        let (crew, ready): (Box<dyn TurnCrew>, Ready) = if job.generators.is_empty() {
            let share = Share::whole(&job);
            let (crew, ready) = LocalCrew::start(&job, &target, &mix, share, interrupt)?;
            desk.open(crew.asked().filter(|_| fits_between(&job)), &target);
            (Box::new(crew), ready)
        } else {
            desk.open(None, &target);
            let (crew, ready) = RemoteCrew::start(&job)?;
            (Box::new(crew), ready)
        };
        let contender = Self {
            job,
            mix,
            watcher,
            cpus: speed::some_of(&cpus),
            own_cpus,
            lost: false,
            crew,
        };
        Ok((contender, ready))
    }

    /// CPU time of its process tree so far; `None` if it is not watched.
    #[must_use]
    pub fn cpu(&self) -> Option<Nanos> {
        self.watcher.as_ref().map(Watcher::cpu)
    }

    /// The processes of its tree; none if it is not watched.
    #[must_use]
    pub fn pids(&self) -> Vec<i32> {
        self.watcher.as_ref().map_or_else(Vec::new, Watcher::pids)
    }

    /// Whether a process belongs to its tree.
    #[must_use]
    pub fn contains(&self, pid: i32) -> bool {
        self.watcher
            .as_ref()
            .is_some_and(|watcher| watcher.contains(pid))
    }

    /// Sets the phase for its watch.
    pub fn mark(&self, phase: Phase) {
        if let Some(watcher) = &self.watcher {
            watcher.mark(phase);
        }
    }
}

/// Whether neither the engine nor a dependency may use any of a contender's CPUs.
fn has_to_itself(cpus: &[usize], job: &Job) -> bool {
    let engine = job.cpus.iter().flatten();
    let engine: Vec<usize> = engine
        .filter_map(|cpu| usize::try_from(*cpu).ok())
        .collect();
    let dependencies = job.watch.iter().flat_map(|watch| &watch.dependencies);
    let others = dependencies.map(|one| CpuSet::of_thread(one.pid));
    let apart = |set: CpuSet| cpus.iter().all(|cpu| !set.has(*cpu));
    !engine.is_empty() && apart(CpuSet::of(&engine)) && others.flatten().all(apart)
}
