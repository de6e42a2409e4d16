//! The child processes that hold the connections, and talking to all of them at once.

use crate::client::Client;
use crate::job::{Job, JobError, Plan};
use crate::order::{Answer, Order};
use crate::source::PER_ADDRESS;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;
use touchstone_watch::{cpus, files};

/// Files that a process needs for other things than connections.
const OTHER_FILES: u64 = 100;
/// Connections under way at once over all processes: below the queue of a listener (`net.core.somaxconn`, 4,096).
const AT_ONCE: u64 = 2048;

struct Child {
    pid: i32,
    orders: File,
    answers: BufReader<File>,
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
        let files = files::raise_limit().map_err(|e| {
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
        let (their_orders, orders) = pipe()?;
        let (answers, their_answers) = pipe()?;
        // SAFETY: the child uses the heap, whose locks the C library makes usable after a fork; it takes no other lock that
        // a thread of the parent might hold, prints nothing, and ends with _exit.
        let pid = unsafe { libc::fork() };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        if pid > 0 {
            self.children.push(Child {
                pid,
                orders,
                answers: BufReader::new(answers),
            });
            return Ok(());
        }
        // SAFETY: no pointers. The parent's end, even a hard one, ends the child; its handlers are not the child's.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            libc::signal(libc::SIGINT, libc::SIG_IGN);
            libc::signal(libc::SIGTERM, libc::SIG_DFL);
        }
        // A pipe's end that stayed open here would keep a sibling from seeing the parent's close.
        self.children.clear();
        drop((orders, answers));
        if let Some(cpu) = cpu {
            // Where the machine has no such CPU, the process runs where the scheduler puts it.
            let _ = cpus::bind(&[cpu]);
        }
        let plan = plan.clone();
        let done = Client::new(plan, first_source, at_once, their_orders, their_answers)
            .and_then(Client::run);
        // SAFETY: ends the child without running the parent's destructors.
        unsafe { libc::_exit(i32::from(done.is_err())) }
    }

    /// Gives each child its order without waiting.
    pub fn send(&mut self, mut order: impl FnMut(u64) -> Order) -> Result<(), JobError> {
        for (number, child) in self.children.iter_mut().enumerate() {
            let mut line = serde_json::to_vec(&order(number as u64)).unwrap_or_default();
            line.push(b'\n');
            child
                .orders
                .write_all(&line)
                .map_err(|e| gone(child.pid, &e.to_string()))?;
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
            let mut entries: Vec<libc::pollfd> = waiting
                .iter()
                .map(|&n| libc::pollfd {
                    fd: self.children[n].answers.get_ref().as_raw_fd(),
                    events: libc::POLLIN,
                    revents: 0,
                })
                .collect();
            // SAFETY: as many valid entries as are told.
            let n = unsafe {
                libc::poll(
                    entries.as_mut_ptr(),
                    entries.len() as u64,
                    tick.as_millis() as i32,
                )
            };
            if n > 0 {
                for (&child, entry) in waiting.iter().zip(&entries) {
                    if entry.revents != 0 {
                        self.latest[child] = self.answer(child)?;
                    }
                }
                waiting.retain(|&child| !self.latest[child].done);
            }
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
                Ok(0) => return Err(gone(child.pid, "it ended (killed for want of memory?)")),
                Ok(_) => {}
                Err(e) => return Err(gone(child.pid, &e.to_string())),
            }
            // Of several lines that came together only the last one counts; poll does not see what is buffered here.
            if !child.answers.buffer().contains(&b'\n') {
                return serde_json::from_str(&line).map_err(|e| gone(child.pid, &e.to_string()));
            }
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for child in self.children.drain(..) {
            let pid = child.pid;
            // The closed pipe ends an idle child; the signal ends one that is busy.
            drop(child);
            // SAFETY: the child has not been reaped, so the pid is its own.
            unsafe {
                libc::kill(pid, libc::SIGKILL);
                libc::waitpid(pid, std::ptr::null_mut(), 0);
            }
        }
    }
}

fn gone(pid: i32, why: &str) -> JobError {
    JobError::Engine(format!(
        "process {pid}, which holds a share of the connections, does not answer: {why}"
    ))
}

fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, owned at once.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((
            OwnedFd::from_raw_fd(ends[0]).into(),
            OwnedFd::from_raw_fd(ends[1]).into(),
        ))
    }
}
