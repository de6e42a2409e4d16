//! The child processes that hold the connections, and talking to all of them at once.

use crate::client::Client;
use crate::job::{Job, JobError, Plan};
use crate::order::{Answer, Order};
use crate::source::PER_ADDRESS;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;
use touchstone_sys::poll::readable;
use touchstone_sys::process::Worker;
use touchstone_sys::{cpus, limits};

/// Files that a process needs for other things than connections.
const OTHER_FILES: u64 = 100;
/// Connections under way at once over all processes: below the queue of a listener (`net.core.somaxconn`, 4,096).
const AT_ONCE: u64 = 2048;

struct Child {
    /// Before its process, so that the closed pipe ends one that is idle, and a signal only one that is busy.
    orders: PipeWriter,
    answers: BufReader<PipeReader>,
    process: Worker,
}

/// All children.
pub struct Crew {
    children: Vec<Child>,
    /// What each of them said last.
    latest: Vec<Answer>,
    /// Connections that one of them may hold.
    pub capacity: u64,
}

impl Crew {
    /// Forks as many as `most` connections need.
    pub fn start(job: &Job, plan: &Plan, most: u64) -> Result<Self, JobError> {
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
            Client::new(plan, first_source, at_once, their_orders, their_answers)
                .and_then(Client::run)
                .is_ok()
        })?;
        self.children.push(Child {
            orders,
            answers: BufReader::new(answers),
            process,
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
                .map_err(|e| gone(&child.process, &e.to_string()))?;
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
        for answer in &mut self.latest {
            answer.done = false;
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
            }
            waiting.retain(|&child| !self.latest[child].done);
            let so_far = Answer::sum(&self.latest);
            meanwhile(self, &so_far);
        }
        Ok(Answer::sum(&self.latest))
    }

    fn answer(&mut self, number: usize) -> Result<Answer, JobError> {
        let child = &mut self.children[number];
        let mut line = String::new();
        loop {
            line.clear();
            match child.answers.read_line(&mut line) {
                Ok(0) => {
                    return Err(gone(
                        &child.process,
                        "it ended (killed for want of memory?)",
                    ));
                }
                Ok(_) => {}
                Err(e) => return Err(gone(&child.process, &e.to_string())),
            }
            // Of several lines that came together only the last one counts; poll does not see what is buffered here.
            if !child.answers.buffer().contains(&b'\n') {
                return serde_json::from_str(&line)
                    .map_err(|e| gone(&child.process, &e.to_string()));
            }
        }
    }
}

fn gone(process: &Worker, why: &str) -> JobError {
    let pid = process.pid();
    JobError::Engine(format!(
        "process {pid}, which holds a share of the connections, does not answer: {why}"
    ))
}
