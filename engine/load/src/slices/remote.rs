//! Processes on other machines that load a contender in its turns, which begin for all of them on one instant.

use std::time::Duration;

use super::crew::TurnCrew;
use super::gate::{Call, Turn};
use super::order::LapPhase;
use super::part::ProcessTurn;
use crate::clock::{Nanos, nanos, now, seconds};
use crate::crew::Ready;
use crate::error::Error;
use crate::job::Job;
use crate::member::{Answer, Member};
use crate::processes::{Manner, recruit, shares};
use crate::report::ProcessReport;

/// Turns are fixed this long beforehand, at least and at most.
const LEAD: (Nanos, Nanos) = (Nanos::from_millis(5), Nanos::from_millis(500));
/// Time that a process may take beyond its order; a lost node is reported after 10 s.
const PATIENCE: Duration = Duration::from_secs(20);
/// Settling takes so long at most.
const SETTLING: Duration = Duration::from_secs(1);

/// A contender's processes on the generators.
pub struct RemoteCrew {
    members: Vec<Member>,
    /// How long an order was lately under way, there and back, and twice as much for what is rarer.
    lead: Nanos,
    /// How long a response may take.
    timeout: Duration,
}

impl RemoteCrew {
    /// Starts a process for each share, which opens its connections.
    ///
    /// # Errors
    /// [`Error`] that names the generator which cannot do its part.
    pub fn start(job: &Job) -> Result<(Self, Ready), Error> {
        let mut crew = Self {
            // Their own limits of open files count, not this machine's.
            members: recruit(job, &shares(job, 0), &[], Manner::InTurns)?,
            lead: LEAD.1 / 5,
            timeout: Duration::from_secs_f64(job.patience_s()),
        };
        let mut sum = Ready::default();
        for member in &mut crew.members {
            let ready = loop {
                member.listen();
                if member.has_failed() {
                    return Err(crew.failure());
                }
                if let Some(ready) = member.ready.take() {
                    break ready;
                }
                std::thread::sleep(Duration::from_millis(1));
            };
            sum.add(ready);
        }
        Ok((crew, sum))
    }

    fn call(&mut self, call: Call) {
        for member in &mut self.members {
            member.call(call);
        }
    }

    /// Why one could not do its part.
    fn failure(&mut self) -> Error {
        let failures = self.members.iter_mut().filter_map(|member| {
            member.listen();
            member.failure()
        });
        Error::Worker(failures.collect::<Vec<_>>().join("; "))
    }
}

impl TurnCrew for RemoteCrew {
    fn settle(&mut self, origin: Nanos) -> Result<u64, Error> {
        let asked = now();
        self.call(Call::Settle { origin });
        let mut sum = 0;
        for member in &mut self.members {
            match member.wait(SETTLING + PATIENCE)? {
                Answer::Settled { established, clock } => {
                    member.compare_clocks(asked, clock, now())?;
                    sum += established;
                }
                _ => return Err(member.confused()),
            }
        }
        let trip = now() - asked;
        // A way that was slow once is not trusted at once again.
        self.lead = (trip * 2)
            .max(self.lead - self.lead / 8)
            .clamp(LEAD.0, LEAD.1);
        Ok(sum)
    }

    fn begin(&mut self, seconds: f64, phase: LapPhase) -> Turn {
        let turn = Turn::from(now() + self.lead, nanos(seconds), phase);
        self.call(Call::Begin(turn));
        turn
    }

    fn pass(&mut self) -> Turn {
        self.call(Call::Pass);
        Turn::passed(now())
    }

    fn finish_turn(&mut self, turn: Turn) -> Result<Vec<ProcessTurn>, Error> {
        let mut turns = Vec::with_capacity(self.members.len());
        for member in &mut self.members {
            let left = Duration::from_secs_f64(seconds(turn.end.saturating_sub(now())));
            match member.wait(left + self.timeout + PATIENCE)? {
                Answer::Over(part) => turns.push(*part),
                _ => return Err(member.confused()),
            }
        }
        Ok(turns)
    }

    fn end(&mut self) -> Result<Vec<ProcessReport>, Error> {
        self.call(Call::End);
        let mut reports = Vec::with_capacity(self.members.len());
        for mut member in std::mem::take(&mut self.members) {
            reports.push(member.report(PATIENCE)?);
            member.dismiss();
        }
        Ok(reports)
    }
}
