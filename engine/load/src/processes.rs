//! A load by a crew of processes, for more connections than one process may open files, or from other machines. Each
//! runs the engine's own executable, takes its orders on standard input and answers on standard output.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use touchstone_crew::{part, room};
use touchstone_sys::limits;

use crate::clock::Nanos;
use crate::crew::{Crew, Progress, Ready};
use crate::error::Error;
use crate::job::Job;
pub(crate) use crate::member::Manner;
use crate::member::{Answer, Member, Order, say};
use crate::mix::Mix;
use crate::report::ProcessReport;
use crate::rows::Rows;
use crate::shared::Shared;
use crate::slices::serve;
use crate::target::permitted;
use crate::threads::{Share, Threads};

/// Raises this process's limit of open files as far as it may be.
///
/// # Errors
/// [`Error::System`] if the limit cannot be read.
pub fn file_limit() -> Result<u64, Error> {
    limits::raise_open_files().map_err(|source| Error::System {
        what: "reading the limit of open files".to_owned(),
        source,
    })
}

/// How a job is spread over processes that may each open `files` files; one share if one process of this machine is
/// enough. With generators every one of them has equally many processes, its own next to each other.
#[must_use]
pub fn shares(job: &Job, files: u64) -> Vec<Share> {
    let nodes = job.generators.len().max(1) as u32;
    let files = job
        .generators
        .iter()
        .map(|node| node.open_files)
        .min()
        .unwrap_or(files);
    let on_each = u64::from(job.connections.div_ceil(nodes)).div_ceil(room(files)) as u32;
    let processes = nodes * on_each;
    if processes <= 1 {
        return vec![Share::whole(job)];
    }
    let threads = (job.threads / processes).max(1);
    let mut first_connection = 0;
    (0..processes)
        .map(|process| {
            let connections = part(
                u64::from(job.connections),
                u64::from(processes),
                u64::from(process),
            ) as u32;
            let share = Share {
                process,
                processes,
                first_connection,
                connections,
                first_thread: process * threads,
                threads,
                all_threads: processes * threads,
            };
            first_connection += connections;
            share
        })
        .collect()
}

/// Starts a process for each share, on the generators if the job has some.
pub(crate) fn recruit(
    job: &Job,
    shares: &[Share],
    command: &[OsString],
    manner: Manner,
) -> Result<Vec<Member>, Error> {
    let mut members = Vec::with_capacity(shares.len());
    let on_each = shares.len() / job.generators.len().max(1);
    for (index, share) in shares.iter().enumerate() {
        let mut member = match job.generators.get(index / on_each) {
            Some(node) => Member::remote(node)?,
            None if command.is_empty() => {
                return Err(Error::Job(format!(
                    "{} connections need several processes, and this caller cannot start any",
                    job.connections
                )));
            }
            None => Member::child(command)?,
        };
        member.work(job, *share, manner)?;
        members.push(member);
    }
    Ok(members)
}

/// Processes that each do their share.
pub struct Processes {
    members: Vec<Member>,
    ended_early: bool,
}

impl Processes {
    /// Starts a process for each share; they begin to connect at once.
    ///
    /// # Errors
    /// [`Error::System`] if a process cannot be started, or a generator cannot be reached.
    pub fn start(job: &Job, shares: &[Share], command: &[OsString]) -> Result<Self, Error> {
        Ok(Self {
            members: recruit(job, shares, command, Manner::AtOnce)?,
            ended_early: false,
        })
    }

    fn tell(&mut self, order: &Order) {
        for member in &mut self.members {
            member.tell(order);
        }
    }

    fn listen(&mut self) {
        self.members.iter_mut().for_each(Member::listen);
        // Without one of its parts the window is nothing: nobody waits for its end.
        if !self.ended_early && self.members.iter().any(Member::has_failed) {
            self.ended_early = true;
            self.tell(&Order::Interrupt);
        }
    }
}

impl Crew for Processes {
    fn ready(&mut self) -> Option<Ready> {
        self.listen();
        let mut sum = Ready::default();
        for member in &self.members {
            match (&member.ready, &member.outcome) {
                (Some(ready), _) => sum.add(ready.clone()),
                (None, Some(_)) => {}
                (None, None) => return None,
            }
        }
        Some(sum)
    }

    fn begin(&mut self, start: Nanos) {
        for member in &mut self.members {
            member.begin(start);
        }
    }

    fn interrupt(&mut self) {
        self.tell(&Order::Interrupt);
    }

    fn progress(&self) -> Progress {
        let mut sum = Progress::default();
        for Progress {
            sent,
            ok,
            errors,
            connections,
            queue,
        } in self.members.iter().map(|member| member.progress)
        {
            sum.sent += sent;
            sum.ok += ok;
            sum.errors += errors;
            sum.connections += connections;
            sum.queue += queue;
        }
        sum
    }

    fn is_finished(&mut self) -> bool {
        self.listen();
        self.members.iter().all(|member| member.outcome.is_some())
    }

    fn reports(mut self: Box<Self>) -> Result<Vec<ProcessReport>, Error> {
        let members = self.members.drain(..);
        let mut reports = Vec::with_capacity(members.len());
        let mut failure = None;
        for mut member in members {
            member.dismiss();
            member.listen();
            match member.outcome {
                Some(Ok(report)) => reports.push(report),
                Some(Err(why)) => failure = Some(Error::Worker(why)),
                None => {
                    failure = Some(Error::Worker(
                        "a load process ended without its report".to_owned(),
                    ))
                }
            }
        }
        failure.map_or(Ok(reports), Err)
    }
}

/// The life of one process of such a crew: orders come on `input`, answers go to `output`.
///
/// # Errors
/// [`Error`] if its part could not be done; the coordinator knows it.
pub fn serve(input: impl Read + Send + 'static, output: impl Write) -> Result<(), Error> {
    let mut output = output;
    let outcome = work(input, &mut output);
    if let Err(error) = &outcome {
        say(&mut output, &Answer::Failed(error.to_string()));
    }
    outcome
}

fn work(input: impl Read + Send + 'static, output: &mut impl Write) -> Result<(), Error> {
    let mut lines = BufReader::new(input).lines().map_while(Result::ok);
    let broken = |why: String| Error::Worker(format!("an order cannot be read: {why}"));
    let first = lines
        .next()
        .ok_or_else(|| broken("there is none".to_owned()))?;
    let Order::Work {
        job,
        share,
        manner,
        rows,
    } = serde_json::from_str(&first).map_err(|error| broken(error.to_string()))?
    else {
        return Err(broken("the first is not to work".to_owned()));
    };
    file_limit()?;
    let target = permitted(&job)?;
    let mix = match (&job.rows, rows) {
        (Some(path), Some(text)) => {
            let rows = Rows::parse(path, text.as_bytes()).map_err(Error::Job)?;
            Mix::compile_with(&job, &target, Some(rows))?
        }
        _ => Mix::compile(&job, &target)?,
    };
    if let Some(cpus) = job.cpus.as_deref().filter(|cpus| !cpus.is_empty()) {
        crate::usage::restrict(cpus)?;
    }
    if manner == Manner::InTurns {
        return serve::follow((&job, &target, &mix), share, lines, output);
    }
    let mut crew = Box::new(Threads::start(&job, &target, &mix, share, None)?);
    lead(&mut crew, lines, output);
    let mut reports = (crew as Box<dyn Crew>).reports()?;
    if let Some(report) = reports.pop() {
        say(output, &Answer::Report(Box::new(report)));
    }
    Ok(())
}

/// Passes orders on to the threads, and tells how far they are, until they have finished. Where the orders end, the
/// coordinator is gone, or done with this process: the threads are interrupted.
fn lead(
    crew: &mut Threads,
    lines: impl Iterator<Item = String> + Send + 'static,
    output: &mut impl Write,
) {
    let (sender, orders) = channel();
    let ended = Arc::new(AtomicBool::new(false));
    let no_more = Arc::clone(&ended);
    std::thread::spawn(move || {
        for order in lines.filter_map(|line| serde_json::from_str::<Order>(&line).ok()) {
            if sender.send(order).is_err() {
                return;
            }
        }
        no_more.store(true, Ordering::Relaxed);
    });
    let (mut told_ready, mut begun) = (false, false);
    while !crew.is_finished() {
        if !told_ready && let Some(ready) = crew.ready() {
            told_ready = true;
            say(output, &Answer::Ready(ready));
        }
        while let Ok(order) = orders.try_recv() {
            match order {
                Order::Begin { start } => {
                    begun = true;
                    crew.begin(start);
                }
                Order::Interrupt => crew.interrupt(),
                Order::Work { .. } | Order::Call(_) => {}
            }
        }
        if ended.load(Ordering::Relaxed) {
            crew.interrupt();
            if !begun {
                crew.begin(Shared::NEVER);
            }
        }
        if begun {
            let Progress {
                sent,
                ok,
                errors,
                connections,
                queue,
            } = crew.progress();
            say(
                output,
                &Answer::Progress {
                    sent,
                    ok,
                    errors,
                    connections,
                    queue,
                },
            );
        }
        std::thread::sleep(Duration::from_millis(if begun { 100 } else { 5 }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::GeneratorNode;

    #[test]
    fn shares_cover_every_connection_once() {
        let mut job = Job::for_url("http://127.0.0.1:1");
        for (connections, threads, files) in [
            (100_000, 2, 20_000),
            (64, 4, 20_000),
            (19_901, 1, 20_000),
            (7, 3, 103),
        ] {
            job.connections = connections;
            job.threads = threads;
            let shares = shares(&job, files);
            let mut next = (0, 0);
            for share in &shares {
                assert_eq!((share.first_connection, share.first_thread), next);
                assert!(u64::from(share.connections) <= room(files));
                next = (next.0 + share.connections, next.1 + share.threads);
            }
            assert_eq!(next, (connections, shares[0].all_threads));
            assert_eq!(shares.iter().map(|share| share.of(1001)).sum::<u64>(), 1001);
        }
    }

    #[test]
    fn generators_get_equal_numbers_of_processes_and_exact_shares() {
        let mut job = Job::for_url("http://127.0.0.1:1");
        for (generators, connections, files, processes) in [
            (1, 64, 20_000, 1),
            (3, 64, 20_000, 3),
            (2, 100_001, 20_000, 6),
        ] {
            job.connections = connections;
            job.generators = (0..generators)
                .map(|index| GeneratorNode {
                    name: index.to_string(),
                    link: "".into(),
                    cpus: vec![0],
                    open_files: files,
                    clock_ahead_s: 0.0,
                    clock_residual_s: 0.0,
                })
                .collect();
            let shares = shares(&job, 1_000);
            assert_eq!(shares.len(), processes);
            let sum: u32 = shares.iter().map(|share| share.connections).sum();
            assert_eq!(sum, connections);
            let many = shares.iter().map(|share| share.connections);
            assert!(many.clone().max().unwrap() - many.min().unwrap() <= 1);
        }
    }
}
