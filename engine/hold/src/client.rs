//! A process that holds its share of the connections.

use crate::job::Plan;
use crate::order::{Answer, Order};
use crate::source::PER_ADDRESS;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::time::Duration;
use touchstone_exchange::{Progress, Reader};
use touchstone_watch::{clock::seconds, monotonic_ns};

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
    used: bool,
    generation: u32,
    began_ns: u64,
    reader: Option<Box<Reader>>,
}

/// What the order under way is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Task {
    None,
    Open {
        attempts_left: u64,
        rate: f64,
        began_ns: u64,
        started: u64,
    },
    Traffic {
        rate: f64,
        began_ns: u64,
        end_ns: u64,
        sent: u64,
    },
}

/// State of the process.
pub struct Client {
    plan: Plan,
    /// Number of its first source address.
    first_source: u64,
    /// How many connections may be under way at once: the server's queue must not overflow.
    at_once: u64,
    epoll: OwnedFd,
    orders: std::fs::File,
    answers: std::fs::File,
    unread: Vec<u8>,
    slots: Vec<Slot>,
    /// Descriptors in the order of their opening, for traffic in turn.
    ring: Vec<RawFd>,
    turn: usize,
    /// Under way, oldest first: descriptor, generation, time.
    pending: VecDeque<(RawFd, u32, u64)>,
    under_way: u64,
    opened: u64,
    /// The last response that was right: the next ones are most likely the same bytes.
    right: Vec<u8>,
    sums: Answer,
    task: Task,
    task_began_ns: u64,
    /// An order has not been answered yet.
    owed: bool,
}

/// The least that epoll waits while something has to be paced or timed out.
const TICK_MS: i32 = 2;
/// In an epoll event: the pipe with the orders.
const ORDERS: u64 = u64::MAX;

impl Client {
    pub fn new(
        plan: Plan,
        first_source: u64,
        at_once: u64,
        orders: std::fs::File,
        answers: std::fs::File,
    ) -> io::Result<Self> {
        // SAFETY: no pointers; the descriptor is owned at once.
        let epoll = unsafe {
            let fd = libc::epoll_create1(libc::EPOLL_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            std::os::fd::FromRawFd::from_raw_fd(fd)
        };
        let client = Self {
            plan,
            first_source,
            at_once: at_once.max(1),
            epoll,
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
            task_began_ns: 0,
            owed: false,
        };
        client.register(client.orders.as_raw_fd(), ORDERS, libc::EPOLLIN)?;
        Ok(client)
    }

    /// Follows orders until the parent closes the pipe.
    pub fn run(mut self) -> io::Result<()> {
        // SAFETY: an all-zero event is valid.
        let mut events: Vec<libc::epoll_event> = vec![unsafe { std::mem::zeroed() }; 1024];
        loop {
            let busy = self.task != Task::None || !self.pending.is_empty();
            let patience = if busy { TICK_MS } else { -1 };
            // SAFETY: room for as many events as are asked for.
            let n = unsafe {
                libc::epoll_wait(
                    self.epoll.as_raw_fd(),
                    events.as_mut_ptr(),
                    events.len() as i32,
                    patience,
                )
            };
            for event in &events[..usize::try_from(n).unwrap_or(0)] {
                if event.u64 == ORDERS {
                    if !self.read_orders()? {
                        return Ok(());
                    }
                } else {
                    self.handle(event.u64 as RawFd, event.events as i32);
                }
            }
            self.time_out();
            self.proceed()?;
        }
    }

    fn register(&self, fd: RawFd, data: u64, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: data,
        };
        // SAFETY: a valid event.
        let done = unsafe {
            libc::epoll_ctl(
                self.epoll.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                fd,
                &raw mut event,
            )
        };
        if done == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
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
        let now = monotonic_ns();
        if matches!(order, Order::Stop) {
            if let Task::Open { attempts_left, .. } = &mut self.task {
                *attempts_left = 0;
            }
            return;
        }
        self.owed = true;
        self.task_began_ns = now;
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
                    began_ns: now,
                    started: 0,
                };
            }
            Order::Traffic { rate, seconds } => {
                self.slots.iter_mut().for_each(|slot| slot.used = false);
                let end_ns = now + (seconds * 1e9) as u64;
                self.task = Task::Traffic {
                    rate,
                    began_ns: now,
                    end_ns,
                    sent: 0,
                };
            }
            Order::Close => self.close_all(),
            Order::Report | Order::Stop => {}
        }
    }

    /// Starts what the task has due by now, and answers when it is done.
    fn proceed(&mut self) -> io::Result<()> {
        let now = monotonic_ns();
        match self.task {
            Task::Open {
                mut attempts_left,
                rate,
                began_ns,
                mut started,
            } => {
                let due = (seconds(now - began_ns) * rate) as u64 + 1;
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
                    began_ns,
                    started,
                };
                if attempts_left == 0 && self.under_way == 0 {
                    self.task = Task::None;
                }
            }
            Task::Traffic {
                rate,
                began_ns,
                end_ns,
                mut sent,
            } => {
                let due = (seconds(now.min(end_ns) - began_ns) * rate) as u64;
                while sent < due && now < end_ns {
                    // Behind by more than all connections: the rate cannot be had.
                    if !self.ask() {
                        break;
                    }
                    sent += 1;
                }
                self.task = Task::Traffic {
                    rate,
                    began_ns,
                    end_ns,
                    sent,
                };
                if now >= end_ns && self.under_way == 0 {
                    self.task = Task::None;
                }
            }
            Task::None => {}
        }
        if self.owed && self.task == Task::None {
            self.owed = false;
            self.sums.seconds = seconds(monotonic_ns() - self.task_began_ns);
            let mut line = serde_json::to_vec(&self.sums)?;
            line.push(b'\n');
            self.answers.write_all(&line)?;
        }
        Ok(())
    }

    fn connect(&mut self) -> io::Result<()> {
        let address = self.plan.target.address;
        let socket = Socket::new(
            Domain::for_address(address),
            Type::STREAM.nonblocking().cloexec(),
            Some(Protocol::TCP),
        )?;
        // Closing resets: nothing stays in TIME_WAIT for the next run.
        socket.set_linger(Some(Duration::ZERO))?;
        if let Some(sources) = self.plan.sources {
            // The port is chosen at the connect, when the whole four-tuple is known.
            let on = 1i32;
            // SAFETY: the option's value is an int.
            unsafe {
                let name = libc::IP_BIND_ADDRESS_NO_PORT;
                let size = size_of::<i32>() as u32;
                libc::setsockopt(
                    socket.as_raw_fd(),
                    libc::IPPROTO_IP,
                    name,
                    (&raw const on).cast(),
                    size,
                );
            }
            let source = sources.address(self.first_source + self.opened / PER_ADDRESS);
            socket.bind(&SockAddr::from(SocketAddr::V4(SocketAddrV4::new(
                source, 0,
            ))))?;
        }
        match socket.connect(&SockAddr::from(address)) {
            Ok(()) => {}
            Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => {}
            Err(e) => return Err(e),
        }
        let fd = socket.as_raw_fd();
        self.register(
            fd,
            fd as u64,
            libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET,
        )?;
        let fd = socket.into_raw_fd();
        if self.slots.len() <= fd as usize {
            self.slots.resize_with(fd as usize + 1, Slot::default);
        }
        self.opened += 1;
        self.begin(fd, State::Connecting);
        Ok(())
    }

    /// Something is awaited from here on.
    fn begin(&mut self, fd: RawFd, state: State) {
        let now = monotonic_ns();
        let slot = &mut self.slots[fd as usize];
        slot.state = state;
        slot.generation = slot.generation.wrapping_add(1);
        slot.began_ns = now;
        self.pending.push_back((fd, slot.generation, now));
        self.under_way += 1;
    }

    fn handle(&mut self, fd: RawFd, events: i32) {
        let Some(state) = self.slots.get(fd as usize).map(|slot| slot.state) else {
            return;
        };
        if state == State::Connecting {
            return self.connected(fd, events);
        }
        if state != State::Free
            && events & (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLERR | libc::EPOLLHUP) != 0
        {
            self.receive(fd);
        }
    }

    fn connected(&mut self, fd: RawFd, events: i32) {
        if events & (libc::EPOLLERR | libc::EPOLLHUP) != 0 {
            let error = take_error(fd);
            return self.drop_connection(fd, &reason(&error), &format!("connecting: {error}"));
        }
        if events & libc::EPOLLOUT == 0 {
            return;
        }
        self.sums.established += 1;
        self.slots[fd as usize].state = State::Greeting;
        self.send(fd);
    }

    fn send(&mut self, fd: RawFd) {
        let request = &self.plan.request;
        // SAFETY: the request is valid for its length.
        let n = unsafe {
            libc::send(
                fd,
                request.as_ptr().cast(),
                request.len(),
                libc::MSG_NOSIGNAL,
            )
        };
        if n == request.len() as isize {
            return;
        }
        // The buffer of a connection that has nothing under way takes a request whole, unless the request is huge.
        let why = if n < 0 {
            io::Error::last_os_error().to_string()
        } else {
            format!("only {n} bytes were taken")
        };
        self.drop_connection(fd, "send", &format!("sending: {why}"));
    }

    fn receive(&mut self, fd: RawFd) {
        let mut buffer = [0u8; 16 * 1024];
        loop {
            // SAFETY: the buffer is valid for its length.
            let n = unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) };
            match usize::try_from(n) {
                Ok(0) => return self.ended(fd),
                Ok(n) => {
                    if !self.take(fd, &buffer[..n]) {
                        return;
                    }
                }
                Err(_) => {
                    let error = io::Error::last_os_error();
                    match error.kind() {
                        io::ErrorKind::WouldBlock => return,
                        io::ErrorKind::Interrupted => {}
                        _ => {
                            return self.drop_connection(
                                fd,
                                &reason(&error),
                                &format!("receiving: {error}"),
                            );
                        }
                    }
                }
            }
        }
    }

    /// Takes a part of a response; false when the connection was given up.
    fn take(&mut self, fd: RawFd, bytes: &[u8]) -> bool {
        let slot = &mut self.slots[fd as usize];
        if slot.state == State::Idle {
            self.drop_connection(fd, "unasked_bytes", "bytes came that nothing had asked for");
            return false;
        }
        if slot.reader.is_none() && bytes == self.right {
            self.arrived(fd);
            return true;
        }
        let mut reader = slot
            .reader
            .take()
            .unwrap_or_else(|| Box::new(Reader::new(&self.plan.method)));
        match reader.push(bytes) {
            Ok(Progress::Partial) => {
                self.slots[fd as usize].reader = Some(reader);
                true
            }
            Ok(Progress::Complete(response)) => match self.plan.check.check(&response) {
                Ok(()) if response.keep_alive => {
                    self.right = reader.received().to_vec();
                    self.arrived(fd);
                    true
                }
                Ok(()) => {
                    self.drop_connection(
                        fd,
                        "not_kept",
                        "the server closes the connection after the response",
                    );
                    false
                }
                Err(why) => {
                    self.drop_connection(fd, "wrong_response", &why);
                    false
                }
            },
            Err(why) => {
                self.drop_connection(fd, "malformed", &why);
                false
            }
        }
    }

    /// The response was whole and right.
    fn arrived(&mut self, fd: RawFd) {
        let slot = &mut self.slots[fd as usize];
        let first = slot.state == State::Greeting;
        slot.state = State::Idle;
        self.under_way -= 1;
        self.sums.slowest_s = self
            .sums
            .slowest_s
            .max(seconds(monotonic_ns() - slot.began_ns));
        if first {
            self.sums.answered += 1;
            self.sums.held += 1;
            self.ring.push(fd);
        } else {
            self.sums.ok += 1;
        }
    }

    fn ended(&mut self, fd: RawFd) {
        self.drop_connection(fd, "closed_by_server", "the server closed the connection");
    }

    /// Sends a request over the next idle connection; false when there is none.
    fn ask(&mut self) -> bool {
        for _ in 0..self.ring.len() {
            self.turn = (self.turn + 1) % self.ring.len();
            let fd = self.ring[self.turn];
            let slot = &mut self.slots[fd as usize];
            if slot.state == State::Idle {
                self.sums.requests += 1;
                self.sums.used += u64::from(!slot.used);
                slot.used = true;
                self.begin(fd, State::Asked);
                self.send(fd);
                return true;
            }
        }
        false
    }

    fn time_out(&mut self) {
        let now = monotonic_ns();
        let patience = self.plan.timeout.as_nanos() as u64;
        while let Some(&(fd, generation, began_ns)) = self.pending.front() {
            let slot = &self.slots[fd as usize];
            let done =
                slot.generation != generation || matches!(slot.state, State::Free | State::Idle);
            if !done && now < began_ns + patience {
                break;
            }
            self.pending.pop_front();
            if !done {
                self.drop_connection(fd, "timeout", "no whole response in time");
            }
        }
    }

    /// Ends a connection and counts it: as lost when it had been held, else as failed.
    fn drop_connection(&mut self, fd: RawFd, why: &str, evidence: &str) {
        let slot = &mut self.slots[fd as usize];
        let state = slot.state;
        slot.state = State::Free;
        slot.reader = None;
        // SAFETY: the descriptor is this client's, and its slot said that it was open.
        unsafe { libc::close(fd) };
        match state {
            State::Free => {}
            State::Connecting | State::Greeting => {
                self.under_way -= 1;
                self.fail(why, evidence);
            }
            State::Idle | State::Asked => {
                self.under_way -= u64::from(state == State::Asked);
                self.sums.held -= 1;
                self.ring.retain(|held| *held != fd);
                *self.sums.lost.entry(why.to_owned()).or_default() += 1;
                self.sums
                    .evidence
                    .get_or_insert_with(|| evidence.to_owned());
            }
        }
    }

    fn fail(&mut self, why: &str, evidence: &str) {
        *self.sums.failed.entry(why.to_owned()).or_default() += 1;
        self.sums
            .evidence
            .get_or_insert_with(|| evidence.to_owned());
    }

    fn close_all(&mut self) {
        self.task = Task::None;
        for (fd, slot) in self
            .slots
            .iter_mut()
            .enumerate()
            .filter(|(_, slot)| slot.state != State::Free)
        {
            slot.state = State::Free;
            slot.reader = None;
            // SAFETY: descriptors of slots that are not free are this client's.
            unsafe { libc::close(fd as RawFd) };
        }
        self.ring.clear();
        self.pending.clear();
        self.under_way = 0;
        self.sums.held = 0;
    }
}

/// A word for an error, to count by.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "refused".into(),
        io::ErrorKind::ConnectionReset => "reset".into(),
        io::ErrorKind::TimedOut => "timeout".into(),
        io::ErrorKind::AddrNotAvailable => "no_free_port".into(),
        _ => match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => "no_free_file".into(),
            Some(libc::ENOBUFS | libc::ENOMEM) => "no_memory".into(),
            _ => "other".into(),
        },
    }
}

fn take_error(fd: RawFd) -> io::Error {
    // SAFETY: the descriptor is open; the socket is only borrowed, so it is not closed here.
    let socket =
        std::mem::ManuallyDrop::new(unsafe { <Socket as std::os::fd::FromRawFd>::from_raw_fd(fd) });
    match socket.take_error() {
        Ok(Some(error)) | Err(error) => error,
        Ok(None) => io::ErrorKind::ConnectionReset.into(),
    }
}
