//! The processes that hold the connections, children of this one or on other machines, and talking to all of them at once.

use crate::generators::HoldNode;
use crate::job::Job;
use crate::order::{Answer, Order, Said, Work};
use crate::result::Refusal;
use std::ffi::OsString;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use touchstone_crew::{Heard, PER_SOURCE, Peer, room};
use touchstone_exchange::JobError;
use touchstone_sys::limits;

/// Connections under way at once over all processes: below the queue of a listener (`net.core.somaxconn`, 4,096).
const AT_ONCE: u64 = 2048;

/// A process on another machine that owes an answer says every half second how far it has come.
const SILENCE: Duration = Duration::from_secs(20);

/// Between looks at who has fallen silent while all begin.
const TICK: Duration = Duration::from_millis(100);

/// One of the processes.
struct Member {
    peer: Peer,
    /// Its last answer.
    latest: Answer,
    heard: Instant,
}

/// All of them.
pub struct Crew {
    members: Vec<Member>,
    /// What each says, with its number.
    answers: Receiver<(usize, Heard<Said>)>,
    sender: Sender<(usize, Heard<Said>)>,
    /// Connections that one of them may hold.
    pub capacity: u64,
    /// Number of generators, and the connections that they can hold together.
    room: Option<(usize, u64)>,
}

impl Crew {
    /// Starts as many as `most` connections need, here by a command, and waits until each is at rest.
    pub fn start(job: &Job, command: &[OsString], most: u64) -> Result<Self, JobError> {
        let mut crew = match HoldNode::room(&job.generators) {
            Some(room) => Self::afar(job, most, room)?,
            None => Self::here(job, command, most)?,
        };
        crew.send(|_| Order::Report)?;
        crew.gather(TICK, |_, _| {})?;
        Ok(crew)
    }

    fn of(capacity: u64, room: Option<(usize, u64)>) -> Self {
        let (sender, answers) = channel();
        Self {
            members: Vec::new(),
            answers,
            sender,
            capacity,
            room,
        }
    }

    fn here(job: &Job, command: &[OsString], most: u64) -> Result<Self, JobError> {
        let files = limits::raise_open_files().map_err(|e| {
            JobError::Engine(format!("the limit of open files cannot be read: {e}"))
        })?;
        let capacity = room(files);
        let count = u64::from(job.processes.unwrap_or(0))
            .max(most.div_ceil(capacity))
            .max(1);
        let share = most.div_ceil(count).max(1);
        let mut crew = Self::of(capacity, None);
        for number in 0..count {
            let peer = Peer::child(command, crew.ear()).map_err(|e| {
                JobError::Engine(format!(
                    "process {number} of {count} cannot be started: {e}"
                ))
            })?;
            let cpus = job.cpus.iter().cycle();
            let work = Work {
                job: Box::new(job.clone()),
                // Each has source addresses of its own.
                first: number * (share.div_ceil(PER_SOURCE) + 1) * PER_SOURCE,
                at_once: AT_ONCE / count,
                cpu: cpus.copied().nth(number as usize),
            };
            crew.hire(peer, &work)?;
        }
        Ok(crew)
    }

    /// Starts equally many on each generator.
    fn afar(job: &Job, most: u64, ports: u64) -> Result<Self, JobError> {
        let nodes = job.generators.len() as u64;
        let files = job.generators.iter().map(|one| one.open_files).min();
        let capacity = room(files.unwrap_or(0));
        let of_each = most.min(ports).div_ceil(nodes);
        let on_each = of_each.div_ceil(capacity).max(1);
        let mut crew = Self::of(capacity, Some((job.generators.len(), ports)));
        let theirs = Job {
            // Sources of loopback lead nowhere from there.
            sources: None,
            generators: Vec::new(),
            ..job.clone()
        };
        for node in &job.generators {
            for number in 0..on_each {
                let peer = Peer::remote(&node.name, &node.link, crew.ear()).map_err(|e| {
                    JobError::Engine(format!("generator {} cannot be reached: {e}", node.name))
                })?;
                let work = Work {
                    job: Box::new(theirs.clone()),
                    first: number * of_each / on_each,
                    at_once: AT_ONCE / (nodes * on_each),
                    cpu: Some(node.cpus[number as usize % node.cpus.len()]),
                };
                crew.hire(peer, &work)?;
            }
        }
        Ok(crew)
    }

    /// Where the next member's answers go.
    fn ear(&self) -> impl FnMut(Heard<Said>) -> bool + Send + 'static {
        let (number, sender) = (self.members.len(), self.sender.clone());
        move |heard| sender.send((number, heard)).is_ok()
    }

    fn hire(&mut self, mut peer: Peer, work: &Work) -> Result<(), JobError> {
        peer.tell(work).map_err(|e| gone(&peer, &e.to_string()))?;
        self.members.push(Member {
            peer,
            latest: Answer::default(),
            heard: Instant::now(),
        });
        Ok(())
    }

    /// Why it cannot hold these connections, if it cannot.
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
        self.members.len() as u64
    }

    /// Gives each its order without waiting.
    pub fn send(&mut self, mut order: impl FnMut(u64) -> Order) -> Result<(), JobError> {
        for (number, Member { peer, .. }) in self.members.iter_mut().enumerate() {
            let order = order(number as u64);
            peer.tell(&order).map_err(|e| gone(peer, &e.to_string()))?;
        }
        Ok(())
    }

    /// Waits until each has carried out its order; in the meantime calls `meanwhile` at least every `tick`, with what has
    /// happened since the job began, as far as they have said.
    pub fn gather(
        &mut self,
        tick: Duration,
        mut meanwhile: impl FnMut(&mut Self, &Answer),
    ) -> Result<Answer, JobError> {
        for member in &mut self.members {
            (member.latest.done, member.heard) = (false, Instant::now());
        }
        while self.members.iter().any(|member| !member.latest.done) {
            let mut next = self.answers.recv_timeout(tick).ok();
            while let Some((number, heard)) = next {
                self.members[number].hear(heard)?;
                next = self.answers.try_recv().ok();
            }
            self.members.iter().try_for_each(Member::is_heard_of)?;
            let so_far = self.so_far();
            meanwhile(self, &so_far);
        }
        Ok(self.so_far())
    }

    fn so_far(&self) -> Answer {
        Answer::sum(self.members.iter().map(|member| &member.latest))
    }
}

impl Member {
    fn hear(&mut self, heard: Heard<Said>) -> Result<(), JobError> {
        match heard {
            Heard::Said(Said::Answer(answer)) => {
                (self.latest, self.heard) = (*answer, Instant::now());
                Ok(())
            }
            Heard::Said(Said::Failed(why)) | Heard::Garbled(why) => Err(gone(&self.peer, &why)),
            Heard::Ended => Err(gone(&self.peer, "it ended (killed for want of memory?)")),
        }
    }

    /// A machine that has stopped, or whose network is gone, does not say so.
    fn is_heard_of(&self) -> Result<(), JobError> {
        let silent = !self.latest.done && self.heard.elapsed() > SILENCE;
        if silent && self.peer.generator().is_some() {
            let why = format!("it has said nothing for {} s", SILENCE.as_secs());
            return Err(gone(&self.peer, &why));
        }
        Ok(())
    }
}

fn gone(peer: &Peer, why: &str) -> JobError {
    JobError::Engine(format!(
        "{peer}, which holds a share of the connections: {why}"
    ))
}
