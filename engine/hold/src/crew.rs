//! The processes that hold the connections, children of this one or on other machines, and talking to all of them at once.

use crate::client::Client;
use crate::generators::HoldNode;
use crate::job::{Job, JobError, Plan};
use crate::order::{Answer, Failed, Order, Work};
use crate::result::Refusal;
use crate::source::PER_ADDRESS;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};
use touchstone_sys::poll::readable;
use touchstone_sys::process::Worker;
use touchstone_sys::{cpus, limits};

/// Files that a process needs for other things than connections.
const OTHER_FILES: u64 = 100;
/// Connections under way at once over all processes: below the queue of a listener (`net.core.somaxconn`, 4,096).
const AT_ONCE: u64 = 2048;

/// A process on another machine that owes an answer says every half second how far it has come.
const SILENCE: Duration = Duration::from_secs(20);

struct Child {
    /// Before its process, so that the closed pipe ends one that is idle, and a signal only one that is busy.
    orders: File,
    answers: BufReader<File>,
    place: Place,
    heard: Instant,
}

/// Where a process runs.
enum Place {
    Here(Worker),
    Generator(String),
}

/// All of them.
pub struct Crew {
    children: Vec<Child>,
    /// What each of them said last.
    latest: Vec<Answer>,
    /// Connections that one of them may hold.
    pub capacity: u64,
    /// Of generators: their number, and the connections that they can hold together.
    room: Option<(usize, u64)>,
}

impl Crew {
    /// Starts as many as `most` connections need.
    pub fn start(job: &Job, plan: &Plan, most: u64) -> Result<Self, JobError> {
        if let Some(room) = HoldNode::room(&job.generators) {
            return Self::afar(job, most, room);
        }
        let files = limits::raise_open_files().map_err(|e| {
            JobError::Engine(format!("the limit of open files cannot be read: {e}"))
        })?;
        let capacity = files.saturating_sub(OTHER_FILES).max(1);
        let count = u64::from(job.processes.unwrap_or(0))
            .max(most.div_ceil(capacity))
            .max(1);
        let share = most.div_ceil(count).max(1);
        let mut crew = Self {
            children: Vec::new(),
            latest: vec![Answer::default(); count as usize],
            capacity,
            room: None,
        };
        for number in 0..count {
            let first_source = number * (share.div_ceil(PER_ADDRESS) + 1);
            let cpu = job
                .cpus
                .get(number as usize % job.cpus.len().max(1))
                .copied();
            crew.fork(plan, first_source, AT_ONCE / count, cpu)
                .map_err(|e| {
                    JobError::Engine(format!(
                        "process {number} of {count} cannot be started: {e}"
                    ))
                })?;
        }
        Ok(crew)
    }

    /// Starts equally many on each generator.
    fn afar(job: &Job, most: u64, room: u64) -> Result<Self, JobError> {
        let nodes = job.generators.len() as u64;
        let files = job.generators.iter().map(|one| one.open_files).min();
        let capacity = files.unwrap_or(0).saturating_sub(OTHER_FILES).max(1);
        let on_each = most.min(room).div_ceil(nodes).div_ceil(capacity).max(1);
        let mut crew = Self {
            children: Vec::new(),
            latest: vec![Answer::default(); (nodes * on_each) as usize],
            capacity,
            room: Some((job.generators.len(), room)),
        };
        let work = Job {
            generators: Vec::new(),
            ..job.clone()
        };
        for node in &job.generators {
            for number in 0..on_each {
                let (mut orders, answers) = node.reach()?;
                let place = Place::Generator(node.name.clone());
                let work = Work {
                    job: Box::new(work.clone()),
                    at_once: AT_ONCE / (nodes * on_each),
                    cpu: Some(node.cpus[number as usize % node.cpus.len()]),
                };
                let line = serde_json::to_string(&work).unwrap_or_default();
                writeln!(orders, "{line}").map_err(|e| gone(&place, &e.to_string()))?;
                crew.children.push(Child {
                    orders,
                    answers: BufReader::new(answers),
                    place,
                    heard: Instant::now(),
                });
            }
        }
        Ok(crew)
    }

    /// Why it cannot hold so many, if it cannot.
    pub fn too_small_for(&self, connections: u64) -> Option<Refusal> {
        let (nodes, room) = self.room.filter(|(_, room)| *room < connections)?;
        Some(Refusal {
            reason: format!(
                "{nodes} generators have ports for {room} connections to one server, fewer than {connections}: add \
                 generators, or widen net.ipv4.ip_local_port_range on them"
            ),
            ..Refusal::default()
        })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.children.len() as u64
    }

    fn fork(
        &mut self,
        plan: &Plan,
        first_source: u64,
        at_once: u64,
        cpu: Option<usize>,
    ) -> io::Result<()> {
        let (their_orders, orders) = io::pipe()?;
        let (answers, their_answers) = io::pipe()?;
        let siblings = &mut self.children;
        let (process, (orders, answers)) = Worker::fork((orders, answers), || {
            // A pipe's end that stayed open here would keep a sibling from seeing the parent's close.
            siblings.clear();
            if let Some(cpu) = cpu {
                // Where the machine has no such CPU, the process runs where the scheduler puts it.
                let _ = cpus::bind(&[cpu]);
            }
            let plan = plan.clone();
            let (orders, answers) = (file(their_orders), file(their_answers));
            Client::new(plan, first_source, at_once, orders, answers)
                .and_then(Client::run)
                .is_ok()
        })?;
        self.children.push(Child {
            orders: file(orders),
            answers: BufReader::new(file(answers)),
            place: Place::Here(process),
            heard: Instant::now(),
        });
        Ok(())
    }

    /// Gives each child its order without waiting.
    pub fn send(&mut self, mut order: impl FnMut(u64) -> Order) -> Result<(), JobError> {
        for (number, child) in self.children.iter_mut().enumerate() {
            let mut line = serde_json::to_vec(&order(number as u64)).unwrap_or_default();
            line.push(b'\n');
            child
                .orders
                .write_all(&line)
                .map_err(|e| gone(&child.place, &e.to_string()))?;
        }
        Ok(())
    }

    /// Waits until each child has carried out its order; in the meantime calls `meanwhile` at least every `tick`, with
    /// what has happened since the job began, as far as they have said.
    pub fn gather(
        &mut self,
        tick: Duration,
        mut meanwhile: impl FnMut(&mut Self, &Answer),
    ) -> Result<Answer, JobError> {
        for (answer, child) in self.latest.iter_mut().zip(&mut self.children) {
            (answer.done, child.heard) = (false, Instant::now());
        }
        let mut waiting: Vec<usize> = (0..self.children.len()).collect();
        while !waiting.is_empty() {
            let pipes: Vec<BorrowedFd> = waiting
                .iter()
                .map(|&n| self.children[n].answers.get_ref().as_fd())
                .collect();
            let said = readable(&pipes, tick);
            for (&child, _) in waiting.iter().zip(said).filter(|(_, said)| *said) {
                self.latest[child] = self.answer(child)?;
                self.children[child].heard = Instant::now();
            }
            self.look_for_the_silent(&waiting)?;
            waiting.retain(|&child| !self.latest[child].done);
            let so_far = Answer::sum(&self.latest);
            meanwhile(self, &so_far);
        }
        Ok(Answer::sum(&self.latest))
    }

    /// A machine that has stopped, or whose network is gone, does not say so.
    fn look_for_the_silent(&self, waiting: &[usize]) -> Result<(), JobError> {
        let silent = waiting.iter().map(|&number| &self.children[number]);
        for child in silent.filter(|child| child.heard.elapsed() > SILENCE) {
            if let Place::Generator(_) = child.place {
                let why = format!("it has said nothing for {} s", SILENCE.as_secs());
                return Err(gone(&child.place, &why));
            }
        }
        Ok(())
    }

    fn answer(&mut self, number: usize) -> Result<Answer, JobError> {
        let child = &mut self.children[number];
        let mut line = String::new();
        loop {
            line.clear();
            match child.answers.read_line(&mut line) {
                Ok(0) => {
                    return Err(gone(&child.place, "it ended (killed for want of memory?)"));
                }
                Ok(_) => {}
                Err(e) => return Err(gone(&child.place, &e.to_string())),
            }
            // Of several lines that came together only the last one counts; poll does not see what is buffered here.
            if !child.answers.buffer().contains(&b'\n') {
                return serde_json::from_str(&line).map_err(|e| {
                    let failed = serde_json::from_str::<Failed>(&line);
                    gone(
                        &child.place,
                        &failed.map_or(e.to_string(), |failed| failed.why),
                    )
                });
            }
        }
    }
}

fn gone(place: &Place, why: &str) -> JobError {
    JobError::Engine(match place {
        Place::Here(process) => format!(
            "process {}, which holds a share of the connections, does not answer: {why}",
            process.pid()
        ),
        Place::Generator(name) => {
            format!("generator {name}, which holds a share of the connections: {why}")
        }
    })
}

fn file(pipe: impl Into<OwnedFd>) -> File {
    File::from(pipe.into())
}
