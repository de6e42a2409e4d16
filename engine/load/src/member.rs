//! One process of a load: its orders, its answers, and the conversion of its times to another clock.

use std::ffi::OsString;
use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use touchstone_crew::{Heard, Peer};

use crate::clock::Nanos;
use crate::crew::{Progress, Ready};
use crate::error::Error;
use crate::job::{GeneratorNode, Job};
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
        start: Nanos,
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
    Ready(Ready),
    Progress {
        sent: u64,
        ok: u64,
        errors: u64,
        connections: u64,
        queue: u64,
    },
    Settled {
        established: u64,
        clock: Nanos,
    },
    Over(Box<ProcessTurn>),
    Report(Box<ProcessReport>),
    Failed(String),
}

/// Tells the coordinator. That it is gone is noticed by the end of its orders.
pub(crate) fn say(output: &mut impl Write, answer: &Answer) {
    let _ = touchstone_crew::say(output, answer);
}

/// Why a process has failed whose answers have ended.
const ENDED: &str = "it ended without its report";

/// A process as the coordinator sees it.
pub(crate) struct Member {
    peer: Peer,
    /// The machine that it runs on, if that is another.
    node: Option<Box<GeneratorNode>>,
    answers: Receiver<Heard<Answer>>,
    pub(crate) ready: Option<Ready>,
    pub(crate) progress: Progress,
    pub(crate) outcome: Option<Result<ProcessReport, String>>,
}

impl Member {
    /// Starts a process on this machine.
    pub(crate) fn child(command: &[OsString]) -> Result<Self, Error> {
        let (sender, answers) = channel();
        let peer = Peer::child(command, move |heard| sender.send(heard).is_ok());
        let peer = peer.map_err(|source| Error::System {
            what: "starting a load process".to_owned(),
            source,
        })?;
        Ok(Self::new(peer, None, answers))
    }

    /// Reaches a process on a generator.
    pub(crate) fn remote(node: &GeneratorNode) -> Result<Self, Error> {
        let (sender, answers) = channel();
        let hear = move |heard| sender.send(heard).is_ok();
        let peer = Peer::remote(&node.name, &node.link, hear).map_err(|source| Error::System {
            what: format!("reaching generator {}", node.name),
            source,
        })?;
        Ok(Self::new(peer, Some(Box::new(node.clone())), answers))
    }

    fn new(peer: Peer, node: Option<Box<GeneratorNode>>, answers: Receiver<Heard<Answer>>) -> Self {
        Self {
            peer,
            node,
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
        if let Some(node) = &self.node {
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
    pub(crate) fn begin(&mut self, start: Nanos) {
        let start = self.node.as_ref().map_or(start, |node| node.there(start));
        self.tell(&Order::Begin { start });
    }

    pub(crate) fn tell(&mut self, order: &Order) {
        // A process that is gone is noticed by the end of its answers.
        let _ = self.peer.tell(order);
    }

    /// Calls its threads, at times on the coordinator's clock.
    pub(crate) fn call(&mut self, mut call: Call) {
        if let Some(node) = &self.node {
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
        while let Ok(heard) = self.answers.try_recv() {
            self.hear(heard);
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
                Ok(heard) => {
                    if let Some(answer) = self.hear(heard) {
                        return Ok(answer);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let why = format!("it has given no answer for {} s", limit.as_secs());
                    self.outcome = Some(Err(self.named(&why)));
                }
                Err(RecvTimeoutError::Disconnected) => self.fail(ENDED),
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

    /// Takes in what was heard; gives an answer back if a call's caller waits for it.
    fn hear(&mut self, heard: Heard<Answer>) -> Option<Answer> {
        let answer = match heard {
            Heard::Said(answer) => answer,
            Heard::Garbled(why) => Answer::Failed(why),
            Heard::Ended => Answer::Failed(ENDED.to_owned()),
        };
        match answer {
            Answer::Ready(ready) => self.ready = Some(ready),
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
                if let Some(node) = &self.node {
                    node.bring_turn_home(&mut turn);
                }
                return Some(Answer::Over(turn));
            }
            Answer::Report(mut report) => {
                if let Some(node) = &self.node {
                    node.bring_home(&mut report);
                }
                self.outcome = Some(Ok(*report));
            }
            Answer::Failed(why) => self.fail(&why),
        }
        None
    }

    /// It could not do its part. Who has given its report has done it, whatever is said of its process afterwards.
    fn fail(&mut self, why: &str) {
        if self.outcome.is_none() {
            self.outcome = Some(Err(self.named(why)));
        }
    }

    /// What its clock said between two times of the coordinator's. Raises that it has moved.
    pub(crate) fn compare_clocks(
        &mut self,
        asked: Nanos,
        clock: Nanos,
        heard: Nanos,
    ) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
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
        Error::Worker(self.named("its answer belongs to no question"))
    }

    /// Whether it could not do its part.
    pub(crate) const fn has_failed(&self) -> bool {
        matches!(self.outcome, Some(Err(_)))
    }

    /// Takes leave of it: the end of its orders ends the process.
    pub(crate) fn dismiss(&mut self) {
        self.peer.dismiss();
    }

    fn named(&self, why: &str) -> String {
        match self.peer.generator() {
            None => why.to_owned(),
            Some(_) => format!("{}: {why}", self.peer),
        }
    }
}
