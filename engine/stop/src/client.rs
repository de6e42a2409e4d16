//! The clients of the service: a pool of kept connections, and connections that rest.

use crate::connection::{Asked, Connection, Heard, Role};
use crate::job::Plan;
use crate::outcome::{Fate, Outcome};
use crate::result::Rested;
use crate::streams::{self, Streams};
use crate::tally::Tally;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Duration;
use touchstone_exchange::JobError;
use touchstone_exchange::Response;
use touchstone_exchange::template::Key;
use touchstone_sys::clock::{Nanos, monotonic, since};
use touchstone_sys::poll::{Epoll, Event};

/// In an epoll event: the process has ended.
const PROCESS: u64 = u64::MAX;
/// How long a reset may take that follows an end: on loopback both come from one call of the other side.
const RESET_FOLLOWS: Nanos = Nanos::from_millis(5);
/// How long it may take through a relay, which has to be given a CPU.
const RESET_IS_RELAYED: Nanos = Nanos::from_millis(50);
/// The gRPC status of a call that was not carried out, and may be repeated.
const UNAVAILABLE: u16 = 14;

/// All connections, and the counts.
pub(crate) struct Client<'a> {
    plan: &'a Plan,
    /// Where it connects to.
    address: SocketAddr,
    reset_follows: Nanos,
    epoll: Epoll,
    /// By number; none is given twice, so that a late event meets nobody else.
    connections: Vec<Option<Box<Connection>>>,
    /// Connections of the load that are at rest, the longest at rest first.
    resting: VecDeque<usize>,
    /// Connections whose end was seen under a request, in the order of their ends.
    endings: VecDeque<usize>,
    under_way: usize,
    counter: u64,
    pub signalled: Option<Nanos>,
    pub process_ended: Option<Nanos>,
    pub tally: Tally,
    pub streams: Streams,
    pub idle: Rested,
    pub silent: Rested,
    pub half_sent: Rested,
}

impl<'a> Client<'a> {
    /// A client without connections, which sees the process of this descriptor end. It connects to the relay, if any.
    pub fn new(
        plan: &'a Plan,
        process: impl AsFd,
        relay: Option<SocketAddr>,
    ) -> Result<Self, JobError> {
        let engine = |error: io::Error| JobError::Engine(format!("epoll: {error}"));
        let epoll = Epoll::new().map_err(engine)?;
        epoll.add_edge(process, PROCESS).map_err(engine)?;
        Ok(Self {
            plan,
            address: relay.unwrap_or(plan.target.address),
            reset_follows: relay.map_or(RESET_FOLLOWS, |_| RESET_IS_RELAYED),
            epoll,
            connections: Vec::new(),
            resting: VecDeque::new(),
            endings: VecDeque::new(),
            under_way: 0,
            counter: 0,
            signalled: None,
            process_ended: None,
            tally: Tally::default(),
            streams: Streams::default(),
            idle: Rested::default(),
            silent: Rested::default(),
            half_sent: Rested::default(),
        })
    }

    /// Requests that wait for their response.
    pub const fn under_way(&self) -> usize {
        self.under_way
    }

    /// Sends a request that is due, on a connection at rest or on a new one.
    pub fn ask(&mut self, due: Nanos) {
        self.notice_lateness(due);
        while let Some(number) = self.resting.pop_front() {
            let rests = |connection: &mut Connection| connection.is_at_rest();
            if self.connections[number].as_deref_mut().is_some_and(rests) {
                return self.send(number, Role::Load, due);
            }
            self.connections[number] = None;
        }
        self.ask_on_new(Role::Load, due);
    }

    /// Notes how late the client is for a request that is due.
    pub fn notice_lateness(&mut self, due: Nanos) {
        self.tally.latest = self.tally.latest.max(monotonic().saturating_sub(due));
    }

    /// Sends a request on a new connection.
    pub fn ask_on_new(&mut self, role: Role, due: Nanos) {
        match self.open(role) {
            Ok(number) => self.send(number, role, due),
            Err(error) => {
                let asked = self.next(role, due);
                self.under_way += 1;
                self.settle(asked, not_connected(&error), error.to_string());
            }
        }
    }

    /// Opens a connection on which nothing is sent, or half of a request.
    ///
    /// # Errors
    /// Why it could not be opened.
    pub fn open_without_request(&mut self, role: Role) -> io::Result<()> {
        let number = self.open(role)?;
        if role == Role::HalfSent {
            let asked = self.next(role, monotonic());
            let bytes = self.bytes(asked);
            if let Some(connection) = self.connections[number].as_deref_mut() {
                connection.send_half(&bytes);
            }
        }
        Ok(())
    }

    /// Opens a stream by the next request.
    ///
    /// # Errors
    /// Why it could not be opened.
    pub fn open_stream(&mut self) -> io::Result<()> {
        let asked = self.next(Role::Load, monotonic());
        let request = (asked.request, &self.plan.requests[asked.request]);
        let key = self.key(asked);
        self.streams.open(&self.epoll, &self.address, request, key)
    }

    fn open(&mut self, role: Role) -> io::Result<usize> {
        let connection = Connection::open(&self.address, &self.plan.transport, role)?;
        let number = self.connections.len();
        self.epoll
            .add_connection(connection.stream(), number as u64)?;
        self.connections.push(Some(Box::new(connection)));
        Ok(number)
    }

    fn next(&mut self, role: Role, due: Nanos) -> Asked {
        self.counter += 1;
        let in_turn = self.plan.held.unwrap_or(self.plan.requests.len());
        let held = self.plan.held.filter(|_| role == Role::Held);
        let request = held.unwrap_or(self.counter as usize % in_turn);
        Asked {
            due,
            request,
            counter: self.counter,
        }
    }

    fn key(&self, asked: Asked) -> Key<'static> {
        Key {
            counter: asked.counter,
            seed: self.plan.seed,
            thread: 0,
            session: None,
        }
    }

    fn bytes(&self, asked: Asked) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.plan.requests[asked.request].render(self.key(asked), &mut bytes, &mut Vec::new());
        bytes
    }

    fn send(&mut self, number: usize, role: Role, due: Nanos) {
        let asked = self.next(role, due);
        let bytes = self.bytes(asked);
        self.under_way += 1;
        if let Some(connection) = self.connections[number].as_deref_mut() {
            connection.asked = Some(asked);
            connection.send(&bytes, self.plan.requests[asked.request].is_head);
        }
        // A reset that the send itself has brought about is there already, and what was lost by it is known now.
        self.hear(number);
    }

    /// Handles what comes until a time, or until the process ends if that is later than now.
    pub fn turn(&mut self, until: Nanos) {
        let mut room = [Event::NONE; 256];
        let now = monotonic();
        let ending = self.endings.front().and_then(|&number| self.ended(number));
        let until = ending.map_or(until, |at| until.min(at + self.reset_follows));
        let patience = Duration::from(until.saturating_sub(now));
        let count = self.epoll.wait(&mut room, Some(patience)).len();
        for event in &room[..count] {
            if event.token() == PROCESS {
                self.process_ended.get_or_insert_with(monotonic);
            } else if event.token() >= streams::FIRST {
                self.streams
                    .hear(event.token(), &self.plan.requests, self.signalled);
            } else {
                self.hear(event.token() as usize);
            }
        }
        self.decide_endings(monotonic());
    }

    fn ended(&self, number: usize) -> Option<Nanos> {
        self.connections[number].as_ref()?.ended
    }

    /// Settles requests whose connections have ended, once a reset would have followed.
    fn decide_endings(&mut self, now: Nanos) {
        while let Some(&number) = self.endings.front() {
            let ended = self.ended(number);
            if ended.is_some_and(|at| now < at + self.reset_follows) {
                return;
            }
            self.endings.pop_front();
            if let Some(connection) = self.connections[number].take() {
                self.lose(&connection, false);
            }
        }
    }

    fn hear(&mut self, number: usize) {
        let Some(mut connection) = self.connections.get_mut(number).and_then(Option::take) else {
            return;
        };
        let heard = connection.hear();
        if matches!(heard, Heard::Nothing) {
            self.connections[number] = Some(connection);
            return;
        }
        let Some(asked) = connection.asked else {
            return self.rested(&connection, &heard);
        };
        match heard {
            Heard::Nothing => {}
            Heard::Response(response) => {
                self.answered(asked, &response);
                self.keep(number, connection, response.keep_alive);
            }
            Heard::Declined(outcome, why) => {
                self.settle(asked, outcome, why);
                let goes_on = connection.goes_on();
                self.keep(number, connection, goes_on);
            }
            Heard::NotHttp(why) => self.settle(asked, Outcome::Wrong, why),
            Heard::Broken(why) => self.settle(asked, Outcome::Broken, why),
            Heard::Refused(error) => self.settle(asked, not_connected(&error), error.to_string()),
            Heard::Reset => self.lose(&connection, true),
            Heard::End => {
                if connection.ended.is_none() {
                    connection.ended = Some(monotonic());
                    self.endings.push_back(number);
                }
                self.connections[number] = Some(connection);
            }
        }
    }

    /// Keeps a connection whose request is over for others, if it goes on.
    fn keep(&mut self, number: usize, mut connection: Box<Connection>, goes_on: bool) {
        if !goes_on {
            return;
        }
        connection.asked = None;
        connection.used = true;
        if connection.role == Role::Load {
            self.resting.push_back(number);
        }
        self.connections[number] = Some(connection);
    }

    /// Notes the end of a connection without a request; one of the load is simply used no more.
    fn rested(&mut self, connection: &Connection, heard: &Heard) {
        let (signalled, process_ended) = (self.signalled, self.process_ended);
        let rested = match connection.role {
            Role::Idle => &mut self.idle,
            Role::Silent => &mut self.silent,
            Role::HalfSent => &mut self.half_sent,
            Role::Load | Role::Held => return,
        };
        let Some(signalled) = signalled else {
            rested.closed_before += 1;
            return;
        };
        if let Heard::Response(response) = heard {
            *rested.answered.entry(response.status).or_default() += 1;
        }
        if process_ended.is_none() {
            let at = since(monotonic(), signalled);
            rested.closed += 1;
            rested.first_closed_s.get_or_insert(at);
            rested.last_closed_s = Some(at);
        }
    }

    fn answered(&mut self, asked: Asked, response: &Response) {
        let request = &self.plan.requests[asked.request];
        let faults = request.faults(response, self.key(asked));
        if self.signalled.is_some() && !response.keep_alive {
            self.tally.announced += 1;
        }
        if faults.is_empty() {
            self.settle(asked, Outcome::Right, String::new());
        } else if let Some(why) = refusal(response) {
            self.settle(asked, Outcome::Unavailable, why.into());
        } else {
            self.settle(asked, Outcome::Wrong, faults.join("; "));
        }
    }

    /// Settles the request of a connection that has ended, or that was `reset`.
    fn lose(&mut self, connection: &Connection, reset: bool) {
        let Some(asked) = connection.asked else {
            return;
        };
        let fate = connection.fate(reset);
        let outcome = fate.outcome(connection.used);
        let evidence = match (fate, outcome) {
            (Fate::NotSent, _) => "a new connection ended before the request could be sent",
            (_, Outcome::Stale) => "a kept connection was closed before the request was read",
            (_, Outcome::Unread) => "a new connection was reset before the request was read",
            _ => "the request was read, and the connection closed without a response",
        };
        self.settle(asked, outcome, evidence.into());
    }

    fn settle(&mut self, asked: Asked, outcome: Outcome, evidence: String) {
        self.under_way -= 1;
        self.tally
            .settle(asked.due, self.signalled, outcome, evidence);
    }

    /// Settles what is still under way.
    pub fn give_up(&mut self) {
        for number in 0..self.connections.len() {
            let Some(connection) = self.connections[number].take() else {
                continue;
            };
            match connection.asked {
                Some(_) if connection.ended.is_some() => self.lose(&connection, false),
                Some(asked) => {
                    let evidence = "no response when the process had ended";
                    self.settle(asked, Outcome::Unanswered, evidence.into());
                }
                None => {}
            }
        }
    }

    /// Open connections of a role.
    pub fn open_of(&self, role: Role) -> u64 {
        let open = self.connections.iter().flatten();
        open.filter(|connection| connection.role == role).count() as u64
    }
}

/// How a response says that its request was refused, and that nothing was done; none if it does not say so.
fn refusal(response: &Response) -> Option<&'static str> {
    if response.status == 503 {
        return Some("status 503");
    }
    let head = [response.head.as_slice(), &response.trailers].concat();
    (touchstone_exchange::code(&head) == Some(UNAVAILABLE)).then_some("gRPC status UNAVAILABLE")
}

fn not_connected(error: &io::Error) -> Outcome {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Outcome::Refused,
        _ => Outcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;
    use std::process::Command;
    use touchstone_sys::process::pidfd;

    #[test]
    fn the_end_of_a_process_is_seen_once_where_it_came_before_the_client() {
        let mut ended = Command::new("true").spawn().unwrap();
        let descriptor = pidfd(ended.id() as i32).unwrap();
        ended.wait().unwrap();
        let job = serde_json::json!({"url": "http://127.0.0.1:1", "pid": 4711, "requests": [{}]});
        let job: Job = serde_json::from_value(job).unwrap();
        let plan = job.plan().unwrap();
        let mut client = Client::new(&plan, &descriptor, None).unwrap();
        client.turn(monotonic() + Nanos::from_millis(5_000));
        assert!(client.process_ended.is_some());
        let until = monotonic() + Nanos::from_millis(20);
        client.turn(until);
        assert!(monotonic() >= until, "the next turn waits");
    }
}
