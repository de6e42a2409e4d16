//! Carrying out a hold job.

use crate::budget::{Budget, Judgement};
use crate::crew::Crew;
use crate::event::Event;
use crate::job::{Job, JobError, Mode, Plan};
use crate::kernel::Kernel;
use crate::order::{Answer, Order};
use crate::result::{HoldResult, Level, Memory, Reading, Refusal, SCHEMA, Traffic};
use crate::server::Trees;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use touchstone_crew::part;
use touchstone_sys::clock::{monotonic, seconds};
use touchstone_watch::{Depth, Phase, Sampler, Target};

/// Between looks at the machine's memory while connections are opened.
const LOOK: Duration = Duration::from_millis(100);
/// Traffic without a stated rate: at most so many requests a second.
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
    let plan = job.plan()?;
    let mut trees = Trees::open(&job.watch, &job.cgroup_paths)?;
    // Started before any memory is read, so that the first level shows the crew at rest.
    let ceiling = Budget::ceiling(&Kernel::now(), trees.capacity());
    let most = job.levels.last().copied().unwrap_or(0).min(ceiling);
    let mut crew = Crew::start(job, command, most)?;
    let own = Target {
        pid: std::process::id() as i32,
        ..Target::default()
    };
    let mut own = Sampler::new(&own).map_err(|e| JobError::Engine(e.to_string()))?;
    let mut budget = Budget::new(job.reserve, &Kernel::now());
    let mut result = HoldResult {
        schema: SCHEMA.into(),
        job: job.clone(),
        interrupted: false,
        processes: crew.count(),
        connections_per_process: crew.capacity,
        levels: Vec::new(),
        after_close: None,
        server_exited: None,
    };
    let (mut held, mut answered) = (0, 0);
    for &connections in &job.levels {
        let mut level = Level {
            connections,
            ..Level::default()
        };
        let refused = loop {
            if let Some(refusal) = crew.too_small_for(connections) {
                break Some(refusal);
            }
            let step = match budget.judge(held, connections, &Kernel::now(), trees.capacity()) {
                Judgement::Go => break None,
                Judgement::Refused(refusal) => break Some(refusal),
                Judgement::First(step) => step,
            };
            if budget.knows_nothing() {
                budget.learn(held, &read(&mut trees, &mut own));
            }
            let mut on_the_way = Level {
                connections: step,
                ..Level::default()
            };
            let climb = Climb {
                job,
                budget: &budget,
                answered,
            };
            let lost = climb.reach(&mut on_the_way, &mut crew, interrupt, &mut tell)?;
            (held, answered) = (on_the_way.held, on_the_way.answered);
            if lost || on_the_way.refused.is_some() || interrupt.load(Ordering::Relaxed) {
                break on_the_way.refused;
            }
            sleep(plan.settle, interrupt);
            budget.learn(held, &read(&mut trees, &mut own));
        };
        let mut losing = false;
        if refused.is_some() {
            level.refused = refused;
            level.held = held;
            level.answered = answered;
        } else {
            let climb = Climb {
                job,
                budget: &budget,
                answered,
            };
            losing = climb.reach(&mut level, &mut crew, interrupt, &mut tell)?;
            if !interrupt.load(Ordering::Relaxed) {
                measure(
                    &mut level, job, &plan, &mut crew, &mut trees, &mut own, interrupt,
                )?;
            }
            if let Some(idle) = &level.idle {
                budget.learn(level.held, idle);
            }
        }
        (held, answered) = (level.held, level.answered.max(answered));
        tell(Event::of(&level));
        let ended = level.refused.is_some() || losing;
        result.levels.push(level);
        result.server_exited = trees.exited();
        result.interrupted = interrupt.load(Ordering::Relaxed);
        if ended || result.interrupted || result.server_exited.is_some() {
            break;
        }
    }
    crew.send(|_| Order::Close)?;
    crew.gather(LOOK, |_, _| {})?;
    if !result.interrupted {
        sleep(plan.after_close, interrupt);
    }
    result.after_close = Some(read(&mut trees, &mut own));
    Ok(result)
}

/// The way up to a level.
struct Climb<'a> {
    job: &'a Job,
    budget: &'a Budget,
    /// Connections that had been answered before.
    answered: u64,
}

impl Climb<'_> {
    /// Opens connections up to the level. Returns whether that was given up because held ones ended in the meantime:
    /// a server whose idle timeout is shorter than the opening takes would be asked for ever new ones.
    fn reach(
        &self,
        level: &mut Level,
        crew: &mut Crew,
        interrupt: &AtomicBool,
        tell: &mut impl FnMut(Event),
    ) -> Result<bool, JobError> {
        let count = crew.count();
        let begin = monotonic();
        crew.send(|number| Order::Open {
            total: part(level.connections, count, number),
            rate: self.job.open_rate / count as f64,
        })?;
        let bearable = BEARABLE_LOSS.max(level.connections / 100);
        let mut stopped: Option<Refusal> = None;
        let (mut losing, mut told) = (false, false);
        let answer = crew.gather(LOOK, |crew, so_far| {
            if level.connections > 0 {
                stopped = stopped.take().or_else(|| self.budget.exhausted());
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
                // A child that cannot be told has gone, which its missing answer will say.
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
}

/// Waits, reads memory, and does the same under traffic where that is asked for.
fn measure(
    level: &mut Level,
    job: &Job,
    plan: &Plan,
    crew: &mut Crew,
    trees: &mut Trees,
    own: &mut Sampler,
    interrupt: &AtomicBool,
) -> Result<(), JobError> {
    sleep(plan.settle, interrupt);
    crew.send(|_| Order::Report)?;
    let answer = crew.gather(LOOK, |_, _| {})?;
    fill(level, &answer);
    level.idle = Some(read(trees, own));
    if job.mode == Mode::Traffic && level.held > 0 && !interrupt.load(Ordering::Relaxed) {
        level.traffic = Some(traffic(level.held, job, plan, crew, trees, own)?);
        crew.send(|_| Order::Report)?;
        let answer = crew.gather(LOOK, |_, _| {})?;
        fill(level, &answer);
    }
    Ok(())
}

fn traffic(
    held: u64,
    job: &Job,
    plan: &Plan,
    crew: &mut Crew,
    trees: &mut Trees,
    own: &mut Sampler,
) -> Result<Traffic, JobError> {
    let seconds = plan.traffic.as_secs_f64();
    let about_one_each = (held as f64 / seconds.max(0.001)).clamp(1.0, TRAFFIC_LIMIT);
    let rate = job.traffic_rate.unwrap_or(about_one_each) / crew.count() as f64;
    let cpu_before = trees.read(Depth::Shallow).cpu_s;
    crew.send(|_| Order::Traffic { rate, seconds })?;
    let mut peak = 0;
    let answer = crew.gather(LOOK, |_, _| {
        peak = peak.max(trees.read(Depth::Shallow).resources.rss)
    })?;
    let reading = read(trees, own);
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
fn read(trees: &mut Trees, own: &mut Sampler) -> Reading {
    let kernel = Kernel::now();
    let server = trees.read(Depth::Deep);
    let client = Memory::sum(&[own.sample(Depth::Deep, Phase::Load)]);
    Reading {
        server,
        client,
        kernel,
    }
}

fn fill(level: &mut Level, answer: &Answer) {
    level.held = answer.held;
    level.established = answer.established;
    level.answered = answer.answered;
    level.failed.clone_from(&answer.failed);
    level.lost.clone_from(&answer.lost);
    level.evidence.clone_from(&answer.evidence);
}

fn sleep(time: Duration, interrupt: &AtomicBool) {
    let end = monotonic().saturating_add(time.into());
    while monotonic() < end && !interrupt.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK.min(end.saturating_sub(monotonic()).into()));
    }
}
