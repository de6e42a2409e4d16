//! One process of a crew: a child of this one, or one on another machine behind a socket. Both take orders and give
//! answers as JSON, one document a line.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::crew::{Progress, Ready};
use crate::error::Error;
use crate::generators::GeneratorNode;
use crate::job::Job;
use crate::report::ProcessReport;
use crate::slices::gate::Call;
use crate::slices::part::ProcessTurn;
use crate::threads::Share;

/// What the coordinator tells a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    Work {
        job: Box<Job>,
        share: Share,
        manner: Manner,
        /// What the job's file of rows holds, for a machine that has no such file.
        rows: Option<String>,
    },
    Begin {
        start: u64,
    },
    Interrupt,
    Call(Call),
}

/// How a process puts its load on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Manner {
    /// In one window.
    AtOnce,
    /// When it is called.
    InTurns,
}

/// What a process tells the coordinator.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Ready {
        established: u64,
        error: i32,
    },
    Progress {
        sent: u64,
        ok: u64,
        errors: u64,
        connections: u64,
        queue: u64,
    },
    Settled {
        established: u64,
        clock: u64,
    },
    Over(Box<ProcessTurn>),
    Report(Box<ProcessReport>),
    Failed(String),
}

/// Where a process runs.
enum Peer {
    Child(Child),
    Remote {
        socket: UnixStream,
        node: Box<GeneratorNode>,
    },
}

/// A process as the coordinator sees it.
pub(crate) struct Member {
    peer: Peer,
    orders: Option<Box<dyn Write + Send>>,
    answers: Receiver<Answer>,
    pub(crate) ready: Option<Ready>,
    pub(crate) progress: Progress,
    pub(crate) outcome: Option<Result<ProcessReport, String>>,
}

impl Member {
    /// Starts a process on this machine.
    pub(crate) fn child(program: &OsString, arguments: &[OsString]) -> Result<Self, Error> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| Error::System {
                what: "starting a load process".to_owned(),
                source,
            })?;
        let answers = listen_to(child.stdout.take());
        let orders = child.stdin.take().map(|input| Box::new(input) as _);
        Ok(Self::new(Peer::Child(child), orders, answers))
    }

    /// Reaches a process on a generator.
    pub(crate) fn remote(node: &GeneratorNode) -> Result<Self, Error> {
        let unreachable = |source| Error::System {
            what: format!("reaching generator {}", node.name),
            source,
        };
        let socket = UnixStream::connect(&node.link).map_err(unreachable)?;
        let answers = listen_to(Some(socket.try_clone().map_err(unreachable)?));
        let orders = Some(Box::new(socket.try_clone().map_err(unreachable)?) as _);
        let node = Box::new(node.clone());
        Ok(Self::new(Peer::Remote { socket, node }, orders, answers))
    }

    fn new(peer: Peer, orders: Option<Box<dyn Write + Send>>, answers: Receiver<Answer>) -> Self {
        Self {
            peer,
            orders,
            answers,
            ready: None,
            progress: Progress::default(),
            outcome: None,
        }
    }

    /// Gives it its share of a job. The watch belongs to the coordinator, and so does the list of generators.
    ///
    /// # Errors
    /// [`Error`] if the rows cannot be read.
    pub(crate) fn work(&mut self, job: &Job, share: Share, manner: Manner) -> Result<(), Error> {
        let mut rows = None;
        let mut job = Box::new(Job {
            watch: None,
            generators: Vec::new(),
            ..job.clone()
        });
        if let Peer::Remote { node, .. } = &self.peer {
            job.cpus = Some(node.cpus.clone());
            let text = job.rows.as_ref().map(std::fs::read_to_string);
            rows = text.transpose().map_err(|source| Error::System {
                what: format!("reading the rows for generator {}", node.name),
                source,
            })?;
        }
        self.tell(&Order::Work {
            job,
            share,
            manner,
            rows,
        });
        Ok(())
    }

    /// Fixes the first intended send, on the coordinator's clock.
    pub(crate) fn begin(&mut self, start: u64) {
        let start = match &self.peer {
            Peer::Child(_) => start,
            Peer::Remote { node, .. } => node.there(start),
        };
        self.tell(&Order::Begin { start });
    }

    pub(crate) fn tell(&mut self, order: &Order) {
        let line = serde_json::to_string(order).expect("orders are plain data");
        // A process that is gone is noticed by the end of its answers.
        if let Some(orders) = &mut self.orders {
            let _ = writeln!(orders, "{line}").and_then(|()| orders.flush());
        }
    }

    /// Calls its threads, at times on the coordinator's clock.
    pub(crate) fn call(&mut self, mut call: Call) {
        if let Peer::Remote { node, .. } = &self.peer {
            match &mut call {
                Call::Settle { origin } => *origin = node.there(*origin),
                Call::Begin(turn) => {
                    (turn.begin, turn.end) = (node.there(turn.begin), node.there(turn.end));
                }
                Call::Pass | Call::End => {}
            }
        }
        self.tell(&Order::Call(call));
    }

    pub(crate) fn listen(&mut self) {
        loop {
            match self.answers.try_recv() {
                Ok(answer) => {
                    self.hear(answer);
                }
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => return self.mourn(),
            }
        }
    }

    /// Its next answer to a call. Raises its failure, or that it was silent for so long.
    pub(crate) fn wait(&mut self, limit: Duration) -> Result<Answer, Error> {
        let until = Instant::now() + limit;
        loop {
            match self
                .answers
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(answer) => {
                    if let Some(answer) = self.hear(answer) {
                        return Ok(answer);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let why = format!("it has given no answer for {} s", limit.as_secs());
                    self.outcome = Some(Err(self.named(&why)));
                }
                Err(RecvTimeoutError::Disconnected) => self.mourn(),
            }
            if let Some(why) = self.failure() {
                return Err(Error::Worker(why));
            }
        }
    }

    /// Its report, which follows the last call.
    pub(crate) fn report(&mut self, limit: Duration) -> Result<ProcessReport, Error> {
        let until = Instant::now() + limit;
        loop {
            self.listen();
            match self.outcome.take() {
                Some(Ok(report)) => return Ok(report),
                Some(Err(why)) => return Err(Error::Worker(why)),
                None if Instant::now() > until => {
                    return Err(Error::Worker(self.named("it has given no report")));
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Takes an answer in; gives it back if a call's caller waits for it.
    fn hear(&mut self, answer: Answer) -> Option<Answer> {
        match answer {
            Answer::Ready { established, error } => {
                self.ready = Some(Ready { established, error });
            }
            Answer::Progress {
                sent,
                ok,
                errors,
                connections,
                queue,
            } => {
                self.progress = Progress {
                    sent,
                    ok,
                    errors,
                    connections,
                    queue,
                };
            }
            Answer::Settled { .. } => return Some(answer),
            Answer::Over(mut turn) => {
                if let Peer::Remote { node, .. } = &self.peer {
                    node.bring_turn_home(&mut turn);
                }
                return Some(Answer::Over(turn));
            }
            Answer::Report(mut report) => {
                if let Peer::Remote { node, .. } = &self.peer {
                    node.bring_home(&mut report);
                }
                self.outcome = Some(Ok(*report));
            }
            // Who has given its report has done its part, whatever is said of its process afterwards.
            Answer::Failed(why) if self.outcome.is_none() => {
                self.outcome = Some(Err(self.named(&why)));
            }
            Answer::Failed(_) => {}
        }
        None
    }

    /// Its answers have ended.
    fn mourn(&mut self) {
        if self.outcome.is_none() {
            self.outcome = Some(Err(self.named("it ended without its report")));
        }
    }

    /// What its clock said between two times of the coordinator's. Raises that it has moved.
    pub(crate) fn compare_clocks(
        &mut self,
        asked: u64,
        clock: u64,
        heard: u64,
    ) -> Result<(), Error> {
        let Peer::Remote { node, .. } = &mut self.peer else {
            return Ok(());
        };
        let moved = node.correct_clock(asked, clock, heard);
        moved.map_err(|why| Error::Worker(self.named(&why)))
    }

    /// Why it could not do its part.
    pub(crate) fn failure(&self) -> Option<String> {
        self.outcome.as_ref()?.as_ref().err().cloned()
    }

    /// It gave an answer to another call than the last.
    pub(crate) fn confused(&self) -> Error {
        Error::Worker(self.named("it answers what it was not asked"))
    }

    /// Whether it could not do its part.
    pub(crate) const fn has_failed(&self) -> bool {
        matches!(self.outcome, Some(Err(_)))
    }

    /// Takes leave of it: the end of its orders ends the process.
    pub(crate) fn dismiss(&mut self) {
        drop(self.orders.take());
        match &mut self.peer {
            Peer::Child(child) => {
                let _ = child.wait();
            }
            Peer::Remote { socket, .. } => {
                let _ = socket.shutdown(Shutdown::Write);
            }
        }
    }

    fn named(&self, why: &str) -> String {
        match &self.peer {
            Peer::Child(_) => why.to_owned(),
            Peer::Remote { node, .. } => format!("generator {}: {why}", node.name),
        }
    }
}

/// Reads answers on a thread of its own until they end.
fn listen_to(output: Option<impl Read + Send + 'static>) -> Receiver<Answer> {
    let (sender, answers) = channel();
    let output = output.map(BufReader::new);
    std::thread::spawn(move || {
        for line in output
            .into_iter()
            .flat_map(BufRead::lines)
            .map_while(Result::ok)
        {
            let answer = serde_json::from_str(&line)
                .unwrap_or_else(|error| Answer::Failed(error.to_string()));
            if sender.send(answer).is_err() {
                break;
            }
        }
    });
    answers
}
