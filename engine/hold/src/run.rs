//! Carrying out a hold job.

use crate::budget::{Budget, Judgement};
use crate::crew::Crew;
use crate::event::Event;
use crate::job::{Job, Mode, Plan};
use crate::kernel::Kernel;
use crate::order::{Answer, Order};
use crate::result::{HoldResult, Level, Memory, Reading, Refusal, SCHEMA, Traffic};
use crate::server::Trees;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use touchstone_crew::part;
use touchstone_exchange::JobError;
use touchstone_sys::clock::{monotonic, seconds};
use touchstone_watch::{Depth, Phase, Sampler, Target};

/// Between looks at the machine's memory while connections are opened.
const LOOK: Duration = Duration::from_millis(100);
/// The highest number of requests per second of traffic without a stated rate.
const TRAFFIC_LIMIT: f64 = 20_000.0;
/// Held connections that may end by themselves before a level is given up; of large levels one in a hundred.
const BEARABLE_LOSS: u64 = 10;

/// Raises the connections level by level and reads memory at each; `tell` hears how far it has come. The command runs
/// [`crate::serve`] on its standard input and output.
///
/// # Errors
/// When the job is malformed or the engine itself fails; a server that fails is in the result.
pub fn hold(
    job: &Job,
    command: &[OsString],
    interrupt: &AtomicBool,
    mut tell: impl FnMut(Event),
) -> Result<HoldResult, JobError> {
    let mut running = RunningJob::start(job, command, interrupt)?;
    let mut result = HoldResult {
        schema: SCHEMA.into(),
        job: job.clone(),
        interrupted: false,
        processes: running.crew.count(),
        connections_per_process: running.crew.capacity,
        levels: Vec::new(),
        after_close: None,
        server_exited: None,
    };
    for &connections in &job.levels {
        let (level, losing) = running.take_level(connections, &mut tell)?;
        tell(Event::of(&level));
        let ended = level.refused.is_some() || losing;
        result.levels.push(level);
        result.server_exited = running.trees.exited();
        result.interrupted = running.interrupted();
        if ended || result.interrupted || result.server_exited.is_some() {
            break;
        }
    }
    running.crew.send(|_| Order::Close)?;
    running.crew.gather(LOOK, |_, _| {})?;
    if !result.interrupted {
        running.sleep(running.plan.after_close);
    }
    result.after_close = Some(running.read());
    Ok(result)
}

/// The job under way.
struct RunningJob<'a> {
    job: &'a Job,
    interrupt: &'a AtomicBool,
    plan: Plan,
    crew: Crew,
    trees: Trees,
    /// The engine's own processes.
    own: Sampler,
    budget: Budget,
    /// Connections that are held now, and those that have been answered.
    held: u64,
    answered: u64,
}

impl<'a> RunningJob<'a> {
    fn start(
        job: &'a Job,
        command: &[OsString],
        interrupt: &'a AtomicBool,
    ) -> Result<Self, JobError> {
        let plan = job.plan()?;
        let trees = Trees::open(&job.watch, &job.cgroup_paths)?;
        // Started before any memory is read, so that the first level shows the crew at rest.
        let ceiling = Budget::ceiling(&Kernel::now(), trees.capacity());
        let most = job.levels.last().copied().unwrap_or(0).min(ceiling);
        let located = Job {
            connect_to: Some(plan.target.address),
            ..job.clone()
        };
        let crew = Crew::start(&located, command, most)?;
        let own = Target {
            pid: std::process::id() as i32,
            ..Target::default()
        };
        Ok(Self {
            job,
            interrupt,
            plan,
            crew,
            trees,
            own: Sampler::new(&own).map_err(|e| JobError::Engine(e.to_string()))?,
            budget: Budget::new(job.reserve, &Kernel::now()),
            held: 0,
            answered: 0,
        })
    }

    /// Opens connections up to a level, and measures there unless it was refused. Says as well whether it was given up
    /// because held ones ended.
    fn take_level(
        &mut self,
        connections: u64,
        tell: &mut impl FnMut(Event),
    ) -> Result<(Level, bool), JobError> {
        let mut level = Level {
            connections,
            refused: self.approach(connections, tell)?,
            ..Level::default()
        };
        let mut losing = false;
        if level.refused.is_some() {
            (level.held, level.answered) = (self.held, self.answered);
        } else {
            losing = self.reach(&mut level, tell)?;
            if !self.interrupted() {
                self.measure(&mut level)?;
            }
            if let Some(idle) = &level.idle {
                self.budget.learn(level.held, idle);
            }
        }
        (self.held, self.answered) = (level.held, level.answered.max(self.answered));
        Ok((level, losing))
    }

    /// Goes towards a level in steps that teach what a connection costs; gives why it cannot be reached, if so.
    fn approach(
        &mut self,
        connections: u64,
        tell: &mut impl FnMut(Event),
    ) -> Result<Option<Refusal>, JobError> {
        loop {
            if let Some(refusal) = self.crew.too_small_for(connections) {
                return Ok(Some(refusal));
            }
            let capacity = self.trees.capacity();
            let kernel = Kernel::now();
            let step = match self.budget.judge(self.held, connections, &kernel, capacity) {
                Judgement::Go => return Ok(None),
                Judgement::Refused(refusal) => return Ok(Some(refusal)),
                Judgement::First(step) => step,
            };
            if self.budget.knows_nothing() {
                let reading = self.read();
                self.budget.learn(self.held, &reading);
            }
            let mut on_the_way = Level {
                connections: step,
                ..Level::default()
            };
            let lost = self.reach(&mut on_the_way, tell)?;
            (self.held, self.answered) = (on_the_way.held, on_the_way.answered);
            if lost || on_the_way.refused.is_some() || self.interrupted() {
                return Ok(on_the_way.refused);
            }
            self.sleep(self.plan.settle);
            let reading = self.read();
            self.budget.learn(self.held, &reading);
        }
    }

    /// Opens connections up to the level. Returns whether that was given up because held ones ended in the meantime:
    /// a server whose idle timeout is shorter than the opening takes would be asked for ever new ones.
    fn reach(&mut self, level: &mut Level, tell: &mut impl FnMut(Event)) -> Result<bool, JobError> {
        let count = self.crew.count();
        let begin = monotonic();
        self.crew.send(|number| Order::Open {
            total: part(level.connections, count, number),
            rate: self.job.open_rate / count as f64,
        })?;
        let bearable = BEARABLE_LOSS.max(level.connections / 100);
        let mut stopped: Option<Refusal> = None;
        let (mut losing, mut told) = (false, false);
        let (budget, interrupt) = (&self.budget, self.interrupt);
        let answer = self.crew.gather(LOOK, |crew, so_far| {
            if level.connections > 0 {
                stopped = stopped.take().or_else(|| budget.exhausted());
                // Until the first child has reported, nothing is known.
                if so_far.established > 0 {
                    tell(Event::Progress {
                        held: so_far.held,
                        connections: level.connections,
                    });
                }
            }
            losing |= so_far.lost() > bearable;
            if !told && (losing || stopped.is_some() || interrupt.load(Ordering::Relaxed)) {
                told = true;
                // A child that cannot be reached has gone; its missing answer shows that.
                let _ = crew.send(|_| Order::Stop);
            }
        })?;
        level.refused = stopped;
        let new = answer.answered.saturating_sub(self.answered);
        if new > 0 {
            let seconds = seconds(monotonic() - begin);
            level.open_s = Some(seconds);
            level.open_rate = Some(new as f64 / seconds);
            level.slowest_s = Some(answer.slowest_s);
        }
        fill(level, &answer);
        Ok(losing)
    }

    /// Waits, reads memory, and does the same under traffic where that is asked for.
    fn measure(&mut self, level: &mut Level) -> Result<(), JobError> {
        self.sleep(self.plan.settle);
        self.ask(level)?;
        level.idle = Some(self.read());
        if self.job.mode == Mode::Traffic && level.held > 0 && !self.interrupted() {
            level.traffic = Some(self.traffic(level.held)?);
            self.ask(level)?;
        }
        Ok(())
    }

    /// Has the crew say what became of the connections.
    fn ask(&mut self, level: &mut Level) -> Result<(), JobError> {
        self.crew.send(|_| Order::Report)?;
        let answer = self.crew.gather(LOOK, |_, _| {})?;
        fill(level, &answer);
        Ok(())
    }

    fn traffic(&mut self, held: u64) -> Result<Traffic, JobError> {
        let seconds = self.plan.traffic.as_secs_f64();
        let about_one_each = (held as f64 / seconds.max(0.001)).clamp(1.0, TRAFFIC_LIMIT);
        let rate = self.job.traffic_rate.unwrap_or(about_one_each) / self.crew.count() as f64;
        let cpu_before = self.trees.read(Depth::Shallow).cpu_s;
        self.crew.send(|_| Order::Traffic { rate, seconds })?;
        let mut peak = 0;
        let trees = &mut self.trees;
        let answer = self.crew.gather(LOOK, |_, _| {
            peak = peak.max(trees.read(Depth::Shallow).resources.rss)
        })?;
        let reading = self.read();
        Ok(Traffic {
            requests: answer.requests,
            ok: answer.ok,
            connections_used: answer.used,
            seconds: answer.seconds,
            slowest_s: answer.slowest_s,
            server_rss_peak: peak.max(reading.server.resources.rss),
            server_cpu_s: reading.server.cpu_s - cpu_before,
            reading,
        })
    }

    /// The kernel is read first: reading the others allocates.
    fn read(&mut self) -> Reading {
        let kernel = Kernel::now();
        let server = self.trees.read(Depth::Deep);
        let client = Memory::sum(&[self.own.sample(Depth::Deep, Phase::Load)]);
        Reading {
            server,
            client,
            kernel,
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn sleep(&self, time: Duration) {
        let end = monotonic().saturating_add(time.into());
        while monotonic() < end && !self.interrupted() {
            std::thread::sleep(LOOK.min(end.saturating_sub(monotonic()).into()));
        }
    }
}

fn fill(level: &mut Level, answer: &Answer) {
    level.held = answer.held;
    level.established = answer.established;
    level.answered = answer.answered;
    level.failed.clone_from(&answer.failed);
    level.lost.clone_from(&answer.lost);
    level.closed.clone_from(&answer.closed);
    level.evidence.clone_from(&answer.evidence);
}
