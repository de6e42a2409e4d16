//! One slices job: contenders connected, orders carried out turn by turn, results gathered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use touchstone_watch::{
    Dependencies, DiskWatch, MachineReading, Phase, Report, SpeedReading, SpeedWatch,
};

use super::contender::{Contender, Prepared};
use super::event::SliceEvent;
use super::job::SlicesJob;
use super::order::{LapPhase, Order, TurnOrder};
use super::record::{SliceRecord, Taken};
use super::result::{EngineVersion, SCHEMA, SlicesResult, of_contender};
use crate::asked::Desk;
use crate::clock::{self, Nanos, nanos, now, seconds};
use crate::control::POLL;
use crate::crew::Layer;
use crate::error::Error;
use crate::merge::Reports;
use crate::processes;
use crate::usage;

/// How a caller steers and follows a slices job.
pub struct SlicesControl<'a> {
    /// Set from outside to end the job after the slice under way; its result is still given.
    pub interrupt: &'a AtomicBool,
    /// The orders; the job ends with them.
    pub orders: Receiver<Result<Order, Error>>,
    /// Where contenders are asked while a turn is under way.
    pub desk: &'a Desk,
    /// Called with each event, on the calling thread.
    pub on_event: &'a mut dyn FnMut(SliceEvent),
}

/// Carries out a slices job.
///
/// # Errors
/// [`Error`] if the job or an order makes no sense, or could not be carried out; what servers do wrong is in the result.
pub fn run<'a>(job: &'a SlicesJob, control: SlicesControl<'a>) -> Result<SlicesResult, Error> {
    job.validate()?;
    let files = processes::file_limit()?;
    let prepared: Vec<Prepared> = (0..job.contenders.len())
        .map(|index| Prepared::new(job, index, files))
        .collect::<Result<_, _>>()?;
    if let Some(cpus) = job.cpus.as_deref().filter(|cpus| !cpus.is_empty()) {
        usage::restrict(cpus)?;
    }
    let watched = job
        .contenders
        .iter()
        .filter_map(|one| one.job.watch.as_ref());
    let dependencies = Dependencies::open(watched.flat_map(|watch| &watch.dependencies))
        .map_err(|error| Error::Job(format!("watch.dependencies: {error}")))?;
    let mut running = RunningJob {
        job,
        dependencies,
        speed: SpeedWatch::default(),
        disk: DiskWatch::start().map_err(no_thread)?,
        contenders: Vec::with_capacity(prepared.len()),
        slices: Vec::new(),
        origin: Nanos::ZERO,
        control,
    };
    running.connect(prepared)?;
    running.watch_speed()?;
    running.origin = now();
    let origin_unix_s = clock::unix_seconds();
    let interrupted = running.follow_orders()?;
    running.gather(origin_unix_s, interrupted)
}

fn no_thread(error: std::io::Error) -> Error {
    Error::Worker(format!("cannot start a thread: {error}"))
}

/// The job under way.
struct RunningJob<'a> {
    job: &'a SlicesJob,
    dependencies: Dependencies,
    /// Speed of the CPUs that contenders run on.
    speed: SpeedWatch,
    /// How long contenders wait for a disk.
    disk: DiskWatch,
    contenders: Vec<Contender>,
    slices: Vec<SliceRecord>,
    origin: Nanos,
    control: SlicesControl<'a>,
}

/// Counters of everybody at one moment.
struct Readings {
    cpu: Vec<Option<Nanos>>,
    machine: Option<MachineReading>,
    speed: SpeedReading,
    disk: Vec<Nanos>,
}

impl RunningJob<'_> {
    /// Opens the connections, one contender after the other: none is in another's way.
    fn connect(&mut self, prepared: Vec<Prepared>) -> Result<(), Error> {
        for (index, prepared) in prepared.into_iter().enumerate() {
            let begun = now();
            let (contender, ready) =
                Contender::start(prepared, self.control.desk, self.control.interrupt)?;
            (self.control.on_event)(SliceEvent::Connected {
                contender: index,
                name: self.job.contenders[index].name.clone(),
                established: ready.established,
                asked: u64::from(contender.job.connections),
                seconds: seconds(now() - begun),
            });
            let there = ready.established > 0 || !contender.job.keepalive;
            self.contenders.push(contender);
            if !there {
                let last = ready.unconnected;
                let why = last
                    .and_then(|last| (!matches!(last.layer, Layer::Socket)).then_some(last.why));
                self.tell_lost(index, why.as_deref());
            }
        }
        Ok(())
    }

    /// Begins to watch how fast the contenders' CPUs are, as far as they are on this machine.
    fn watch_speed(&mut self) -> Result<(), Error> {
        let cpus = self.contenders.iter().flat_map(|one| one.cpus.clone());
        self.speed = SpeedWatch::start(cpus).map_err(no_thread)?;
        Ok(())
    }

    /// Tells that a contender cannot be loaded, once until it can be again; `why` its last attempt failed, if that is known.
    fn tell_lost(&mut self, index: usize, why: Option<&str>) {
        if !std::mem::replace(&mut self.contenders[index].lost, true) {
            let named = &self.job.contenders[index];
            (self.control.on_event)(SliceEvent::Fatal {
                contender: index,
                name: named.name.clone(),
                why: format!(
                    "no connection to {} could be established: {}",
                    named.job.url,
                    why.unwrap_or("see whether its server still runs and listens")
                ),
            });
        }
    }

    /// Carries out orders until they end; says whether the user ended them.
    fn follow_orders(&mut self) -> Result<bool, Error> {
        let mut number = 0;
        while !self.interrupted() {
            let order = match self.control.orders.recv_timeout(POLL) {
                Ok(order) => order?,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            };
            order.validate(self.contenders.len())?;
            let (phase, turns) = match order {
                Order::Slices { phase, turns } => (phase, turns),
                Order::End {} => return Ok(false),
                // The desk answers it, while a turn is under way.
                Order::Ask { .. } => continue,
            };
            for turn in turns {
                if self.interrupted() {
                    return Ok(true);
                }
                self.take_turn(phase, turn)?;
            }
            (self.control.on_event)(SliceEvent::Done { order: number });
            number += 1;
        }
        Ok(true)
    }

    fn interrupted(&self) -> bool {
        self.control.interrupt.load(Ordering::Relaxed)
    }

    /// One turn: settled, loaded, drained, rested, recorded.
    fn take_turn(&mut self, phase: LapPhase, order: TurnOrder) -> Result<(), Error> {
        let contender = &mut self.contenders[order.contender];
        contender.mark(match phase {
            LapPhase::Warmup => Phase::Warmup,
            LapPhase::Load => Phase::Load,
        });
        let established = contender.crew.settle(self.origin)?;
        let before = self.read();
        let contender = &mut self.contenders[order.contender];
        let there = established > 0 || !contender.job.keepalive;
        let turn = if there {
            contender.lost = false;
            contender.crew.begin(order.seconds, phase)
        } else {
            contender.crew.pass()
        };
        let parts = contender.crew.finish_turn(turn)?;
        let rest_until = now() + nanos(self.job.gap_s);
        let taken = Taken {
            index: self.slices.len() as u64,
            contender: order.contender,
            phase,
            origin: self.origin,
            begin: turn.begin,
            sending_end: turn.end,
            apart: !contender.job.generators.is_empty(),
        };
        // Within the rest, so that the work of it disturbs nobody's turn.
        let mut record = SliceRecord::of(taken, &parts)?;
        std::thread::sleep(rest_until.saturating_sub(now()).into());
        let after = self.read();
        self.charge(&mut record, &before, &after);
        self.contenders[order.contender].mark(Phase::Off);
        if !there {
            self.tell_lost(order.contender, None);
        }
        self.keep(record);
        Ok(())
    }

    /// Tells a record, and keeps it; without its histogram if nobody needs it any more.
    fn keep(&mut self, record: SliceRecord) {
        let mut kept = record.clone();
        if kept.lap_phase == LapPhase::Warmup
            && let Some(latency) = &mut kept.latency
        {
            latency.histogram = None;
        }
        (self.control.on_event)(SliceEvent::Slice(Box::new(record)));
        self.slices.push(kept);
    }

    fn read(&mut self) -> Readings {
        Readings {
            cpu: self.contenders.iter().map(Contender::cpu).collect(),
            machine: MachineReading::now(&mut self.dependencies),
            speed: self.speed.read(),
            disk: self.disk.read(self.contenders.iter().map(Contender::pids)),
        }
    }

    /// Says in a record who used the CPUs between two readings.
    fn charge(&self, record: &mut SliceRecord, before: &Readings, after: &Readings) {
        let used: Vec<Option<Nanos>> = before
            .cpu
            .iter()
            .zip(&after.cpu)
            .map(|(before, after)| Some(after.as_ref()?.saturating_sub(*before.as_ref()?)))
            .collect();
        let watched: Nanos = used.iter().flatten().copied().sum();
        let own = &self.job.contenders[record.contender].job.watch;
        let readings = before.machine.as_ref().zip(after.machine.as_ref());
        let machine = readings.map(|(before, after)| {
            let others = before.other_processes(after, &self.dependencies, |pid| {
                self.contenders.iter().any(|one| one.contains(pid))
            });
            before.until(after, watched, others, &self.dependencies, |one| {
                own.as_ref()
                    .is_some_and(|watch| watch.dependencies.contains(one))
            })
        });
        let cpu = &mut record.cpu;
        cpu.server_cpu_s = used[record.contender].map(seconds);
        cpu.others_cpu_s = used.into_iter().map(|used| used.map(seconds)).collect();
        cpu.others_cpu_s[record.contender] = None;
        let waits = before.disk.iter().zip(&after.disk);
        cpu.disk_waits_s = waits
            .map(|(before, after)| seconds(after.saturating_sub(*before)))
            .collect();
        let contender = &self.contenders[record.contender];
        cpu.reference_s = before
            .speed
            .until(&after.speed, &contender.cpus)
            .map(seconds);
        cpu.taken_here =
            readings.and_then(|(before, after)| before.taken(after, &contender.own_cpus, watched));
        if let Some(machine) = machine {
            cpu.steal_s = Some(machine.steal_s);
            cpu.other_cpu_s = Some(machine.other_cpu_s);
            cpu.other_processes = machine.other_processes;
            cpu.dependencies_cpu_s = machine.dependencies_cpu_s;
            record.network = machine.sent;
        }
    }

    /// Ends all threads, watches the idle servers, and puts the result together.
    fn gather(mut self, origin_unix_s: f64, interrupted: bool) -> Result<SlicesResult, Error> {
        let reports: Vec<_> = self
            .contenders
            .iter_mut()
            .map(|contender| contender.crew.end())
            .collect::<Result<_, _>>()?;
        let watches = self.watch_idle();
        let mut contenders = Vec::with_capacity(reports.len());
        for (index, (processes, watch)) in reports.into_iter().zip(watches).enumerate() {
            let contender = &self.contenders[index];
            let own: Vec<&SliceRecord> = self
                .slices
                .iter()
                .filter(|slice| slice.contender == index)
                .collect();
            let reports = Reports {
                processes,
                start_unix_s: origin_unix_s,
                watch,
            };
            contenders.push(of_contender(
                &contender.job,
                &contender.mix,
                reports,
                interrupted,
                &own,
            )?);
        }
        Ok(SlicesResult {
            schema: SCHEMA.to_owned(),
            engine: EngineVersion {
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            interrupted,
            origin_unix_s,
            contenders,
            slices: self.slices,
        })
    }

    /// Goes on watching for as long as each watch asks; gives the reports in the contenders' order.
    fn watch_idle(&mut self) -> Vec<Option<Report>> {
        let begun = now();
        let after = |contender: &Contender| {
            let watch = contender.job.watch.as_ref();
            begun + nanos(watch.map_or(0.0, |watch| watch.after_s))
        };
        for watcher in self
            .contenders
            .iter()
            .filter_map(|one| one.watcher.as_ref())
        {
            watcher.set_phase(Phase::Idle);
        }
        let mut by_end: Vec<usize> = (0..self.contenders.len()).collect();
        by_end.sort_by_key(|index| after(&self.contenders[*index]));
        let mut reports: Vec<Option<Report>> = self.contenders.iter().map(|_| None).collect();
        for index in by_end {
            let until = after(&self.contenders[index]);
            while now() < until && !self.interrupted() {
                std::thread::sleep(POLL.min(until.saturating_sub(now()).into()));
            }
            let watcher = self.contenders[index].watcher.take();
            reports[index] = watcher.map(|watcher| watcher.finish(self.origin));
        }
        reports
    }
}
