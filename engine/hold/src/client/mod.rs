//! A process that holds its share of the connections: its orders and its schedule.

mod connections;
mod exchanges;
mod websockets;

use self::connections::reason;
use self::websockets::Link;
use crate::job::Plan;
use crate::order::{Answer, Order, Said};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::RawFd;
use std::time::Duration;
use touchstone_crew::{Ports, say};
use touchstone_exchange::Reader;
use touchstone_exchange::conversation::Conversation;
use touchstone_sys::clock::{Nanos, monotonic, nanos, seconds};
use touchstone_sys::poll::{Epoll, Event};
use touchstone_sys::socket::Stream;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Free,
    Connecting,
    /// The first response is awaited.
    Greeting,
    Idle,
    /// The response to a request of the traffic is awaited.
    Asked,
}

#[derive(Default)]
struct Slot {
    state: State,
    socket: Option<Stream>,
    used: bool,
    generation: u32,
    /// Correct responses so far.
    responses: u32,
    /// When it was opened or its request was sent; of one at rest, when its last response came.
    began: Nanos,
    /// Over HTTP/1.1 without TLS: the response that has begun.
    reader: Option<Box<Reader>>,
    /// Over anything else: the connection's side of it.
    conversation: Option<Box<Conversation>>,
    /// What is under way on a WebSocket.
    link: Option<Box<Link>>,
    /// Where in the ring a held connection stands.
    place: usize,
}

impl Slot {
    /// Whether anything of the response that is awaited has come.
    fn begun(&self) -> bool {
        let heard = |conversation: &Conversation| conversation.begun();
        self.reader.is_some() || self.conversation.as_deref().is_some_and(heard)
    }
}

/// What the order under way is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Task {
    None,
    Open {
        attempts_left: u64,
        rate: f64,
        began: Nanos,
        started: u64,
    },
    Traffic {
        rate: f64,
        began: Nanos,
        end: Nanos,
        sent: u64,
    },
}

/// State of the process.
pub struct Client {
    plan: Plan,
    /// Number of its first connection among all of its machine.
    first: u64,
    /// Where it looks for ports, if it has no source addresses of its own.
    ports: Option<Ports>,
    /// How many connections may be under way at once: the server's queue must not overflow.
    at_once: u64,
    epoll: Epoll,
    orders: File,
    answers: File,
    unread: Vec<u8>,
    slots: Vec<Slot>,
    /// Descriptors of held connections, for traffic in turn.
    ring: Vec<RawFd>,
    turn: usize,
    /// Under way, oldest first: descriptor, generation, time.
    pending: VecDeque<(RawFd, u32, Nanos)>,
    under_way: u64,
    opened: u64,
    /// The last response that was right: the next ones are most likely the same bytes.
    right: Vec<u8>,
    sums: Answer,
    task: Task,
    task_began: Nanos,
    told: Nanos,
    /// An order has not been answered yet.
    owed: bool,
}

/// The least that epoll waits while something has to be paced or timed out.
const TICK: Duration = Duration::from_millis(2);
/// In an epoll event: the pipe with the orders.
const ORDERS: u64 = u64::MAX;
/// Between reports of how far an order has come.
const TELL: Nanos = Nanos::from_millis(500);

impl Client {
    pub fn new(
        plan: Plan,
        first: u64,
        at_once: u64,
        orders: File,
        answers: File,
    ) -> io::Result<Self> {
        let ports = match plan.sources {
            None => Ports::of_this_machine(),
            Some(_) => None,
        };
        let client = Self {
            plan,
            first,
            ports,
            at_once: at_once.max(1),
            epoll: Epoll::new()?,
            orders,
            answers,
            unread: Vec::new(),
            slots: Vec::new(),
            ring: Vec::new(),
            turn: 0,
            pending: VecDeque::new(),
            under_way: 0,
            opened: 0,
            right: Vec::new(),
            sums: Answer::default(),
            task: Task::None,
            task_began: Nanos::ZERO,
            told: Nanos::ZERO,
            owed: false,
        };
        client.epoll.add_reading(&client.orders, ORDERS)?;
        Ok(client)
    }

    /// Follows orders until the parent closes the pipe.
    pub fn run(mut self) -> io::Result<()> {
        let mut room = vec![Event::NONE; 1024];
        loop {
            let busy = self.task != Task::None || !self.pending.is_empty();
            let events = self.epoll.wait(&mut room, busy.then_some(TICK));
            for event in events {
                if event.token() == ORDERS {
                    if !self.read_orders()? {
                        return Ok(());
                    }
                } else {
                    self.handle(event.token() as RawFd, *event);
                }
            }
            self.time_out();
            self.proceed()?;
        }
    }

    /// False when the parent has gone.
    fn read_orders(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        let n = self.orders.read(&mut buffer)?;
        self.unread.extend_from_slice(&buffer[..n]);
        while let Some(end) = self.unread.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            let order = serde_json::from_slice(&line)?;
            self.obey(order);
        }
        Ok(n > 0)
    }

    fn obey(&mut self, order: Order) {
        let now = monotonic();
        if matches!(order, Order::Stop) {
            if let Task::Open { attempts_left, .. } = &mut self.task {
                *attempts_left = 0;
            }
            return;
        }
        self.owed = true;
        self.task_began = now;
        self.told = now;
        (
            self.sums.slowest_s,
            self.sums.requests,
            self.sums.ok,
            self.sums.used,
        ) = (0.0, 0, 0, 0);
        match order {
            Order::Open { total, rate } => {
                let attempts_left = total.saturating_sub(self.sums.held);
                self.task = Task::Open {
                    attempts_left,
                    rate,
                    began: now,
                    started: 0,
                };
            }
            Order::Traffic { rate, seconds } => {
                self.slots.iter_mut().for_each(|slot| slot.used = false);
                let end = now + nanos(seconds);
                self.task = Task::Traffic {
                    rate,
                    began: now,
                    end,
                    sent: 0,
                };
            }
            Order::Close => self.close_all(),
            Order::Report | Order::Stop => {}
        }
    }

    /// Starts what the task has due by now, and answers when it is done.
    fn proceed(&mut self) -> io::Result<()> {
        let now = monotonic();
        match self.task {
            Task::Open {
                mut attempts_left,
                rate,
                began,
                mut started,
            } => {
                let due = (seconds(now - began) * rate) as u64 + 1;
                while attempts_left > 0 && self.under_way < self.at_once && started < due {
                    attempts_left -= 1;
                    started += 1;
                    if let Err(e) = self.connect() {
                        self.fail(&reason(&e), &format!("connecting: {e}"));
                    }
                }
                self.task = Task::Open {
                    attempts_left,
                    rate,
                    began,
                    started,
                };
                if attempts_left == 0 && self.under_way == 0 {
                    self.task = Task::None;
                }
            }
            Task::Traffic {
                rate,
                began,
                end,
                mut sent,
            } => {
                let due = (seconds(now.min(end) - began) * rate) as u64;
                while sent < due && now < end {
                    // Behind by more than all connections: the rate cannot be had.
                    if !self.ask() {
                        break;
                    }
                    sent += 1;
                }
                self.task = Task::Traffic {
                    rate,
                    began,
                    end,
                    sent,
                };
                if now >= end && self.under_way == 0 {
                    self.task = Task::None;
                }
            }
            Task::None => {}
        }
        let done = self.task == Task::None;
        if self.owed && (done || now >= self.told + TELL) {
            self.owed = !done;
            self.told = now;
            self.answer(done)?;
        }
        Ok(())
    }

    fn answer(&mut self, done: bool) -> io::Result<()> {
        self.sums.done = done;
        self.sums.seconds = seconds(monotonic() - self.task_began);
        say(
            &mut self.answers,
            &Said::Answer(Box::new(self.sums.clone())),
        )
    }

    fn handle(&mut self, fd: RawFd, event: Event) {
        let Some(state) = self.slots.get(fd as usize).map(|slot| slot.state) else {
            return;
        };
        if state == State::Connecting {
            return self.connected(fd, event);
        }
        if state != State::Free && (event.readable() || event.ended() || event.failed()) {
            self.receive(fd);
        }
    }
}
