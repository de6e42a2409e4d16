//! Connections: opened, established, timed out, ended.

use super::{Client, Slot, State, Task};
use std::io::{self, ErrorKind::AddrNotAvailable};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use touchstone_crew::PER_SOURCE;
use touchstone_exchange::closes::Close;
use touchstone_exchange::conversation::Conversation;
use touchstone_sys::clock::{Nanos, monotonic};
use touchstone_sys::poll::Event;
use touchstone_sys::socket::{Stream, out_of_files, out_of_memory};

impl Client {
    pub(super) fn connect(&mut self) -> io::Result<()> {
        let address = self.plan.target.address;
        let socket = Stream::new(&address)?;
        // Closing resets: nothing stays in TIME_WAIT for the next run.
        socket.reset_on_close()?;
        let number = self.first + self.opened;
        if let Some(sources) = self.plan.sources {
            socket.late_port()?;
            let source = sources.address(number / PER_SOURCE);
            socket.bind(&SocketAddr::from((source, 0)))?;
        }
        if let Some(ports) = self.ports {
            // Where the kernel does not know of it, it looks among all of them.
            let _ = socket.port_within(&ports.window(number));
        }
        match socket.connect(&address) {
            // Others have taken the whole window.
            Err(error) if self.ports.is_some() && error.kind() == AddrNotAvailable => {
                socket.port_within(&(0..=0))?;
                socket.connect(&address)?;
            }
            begun => {
                begun?;
            }
        }
        let fd = socket.as_raw_fd();
        self.epoll.add_connection(&socket, fd as u64)?;
        if self.slots.len() <= fd as usize {
            self.slots.resize_with(fd as usize + 1, Slot::default);
        }
        self.slots[fd as usize].socket = Some(socket);
        self.opened += 1;
        self.begin(fd, State::Connecting);
        Ok(())
    }

    /// Something is awaited from here on.
    pub(super) fn begin(&mut self, fd: RawFd, state: State) {
        let now = monotonic();
        let slot = &mut self.slots[fd as usize];
        slot.state = state;
        slot.generation = slot.generation.wrapping_add(1);
        slot.began = now;
        self.pending.push_back((fd, slot.generation, now));
        self.under_way += 1;
    }

    pub(super) fn connected(&mut self, fd: RawFd, event: Event) {
        if event.failed() {
            let socket = self.slots[fd as usize].socket.as_ref();
            let error = socket
                .and_then(Stream::take_error)
                .unwrap_or_else(|| io::ErrorKind::ConnectionReset.into());
            return self.drop_connection(fd, &reason(&error), &format!("connecting: {error}"));
        }
        if !event.writable() {
            return;
        }
        self.sums.established += 1;
        let slot = &mut self.slots[fd as usize];
        slot.state = State::Greeting;
        if !self.plan.transport.is_plain() {
            match Conversation::new(&self.plan.transport) {
                Ok(conversation) => slot.conversation = Some(Box::new(conversation)),
                Err(why) => return self.drop_connection(fd, "tls", &why),
            }
        }
        self.send(fd);
    }

    pub(super) fn time_out(&mut self) {
        let now = monotonic();
        let patience = Nanos::from(self.plan.timeout);
        while let Some(&(fd, generation, began)) = self.pending.front() {
            let slot = &self.slots[fd as usize];
            let done =
                slot.generation != generation || matches!(slot.state, State::Free | State::Idle);
            if !done && now < began.saturating_add(patience) {
                break;
            }
            self.pending.pop_front();
            if !done {
                self.drop_connection(fd, "timeout", "no whole response in time");
            }
        }
    }

    /// Ends a held connection that the server closed as it may. A request that the close crossed is not counted.
    pub(super) fn closed(&mut self, fd: RawFd, close: Close) {
        let slot = &self.slots[fd as usize];
        let rested = monotonic().saturating_sub(slot.began);
        self.sums.closed.note(close, slot.responses, rested);
        self.sums.requests -= u64::from(close == Close::UnderRequest);
        self.under_way -= u64::from(self.release(fd) == State::Asked);
        self.sums.held -= 1;
        self.leave_ring(fd);
    }

    fn release(&mut self, fd: RawFd) -> State {
        let slot = &mut self.slots[fd as usize];
        slot.reader = None;
        slot.conversation = None;
        slot.link = None;
        slot.socket = None;
        slot.responses = 0;
        std::mem::take(&mut slot.state)
    }

    /// Ends a connection and counts it: as lost when it had been held, else as failed.
    pub(super) fn drop_connection(&mut self, fd: RawFd, why: &str, evidence: &str) {
        let state = self.release(fd);
        match state {
            State::Free => {}
            State::Connecting | State::Greeting => {
                self.under_way -= 1;
                self.fail(why, evidence);
            }
            State::Idle | State::Asked => {
                self.under_way -= u64::from(state == State::Asked);
                self.sums.held -= 1;
                self.leave_ring(fd);
                *self.sums.lost.entry(why.to_owned()).or_default() += 1;
                self.sums
                    .evidence
                    .get_or_insert_with(|| evidence.to_owned());
            }
        }
    }

    /// The last one in the ring takes its place: what a loss costs must not grow with the connections that are held.
    fn leave_ring(&mut self, fd: RawFd) {
        let place = self.slots[fd as usize].place;
        self.ring.swap_remove(place);
        if let Some(moved) = self.ring.get(place) {
            self.slots[*moved as usize].place = place;
        }
    }

    pub(super) fn fail(&mut self, why: &str, evidence: &str) {
        *self.sums.failed.entry(why.to_owned()).or_default() += 1;
        self.sums
            .evidence
            .get_or_insert_with(|| evidence.to_owned());
    }

    pub(super) fn close_all(&mut self) {
        self.task = Task::None;
        for slot in &mut self.slots {
            slot.state = State::Free;
            slot.reader = None;
            slot.conversation = None;
            slot.link = None;
            slot.socket = None;
        }
        self.ring.clear();
        self.pending.clear();
        self.under_way = 0;
        self.sums.held = 0;
    }
}

/// A word for an error, to count by.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "refused".into(),
        io::ErrorKind::ConnectionReset => "reset".into(),
        io::ErrorKind::TimedOut => "timeout".into(),
        io::ErrorKind::AddrNotAvailable => "no_free_port".into(),
        _ if out_of_files(error) => "no_free_file".into(),
        _ if out_of_memory(error) => "no_memory".into(),
        _ => "other".into(),
    }
}
