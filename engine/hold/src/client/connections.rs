//! Connections: opened, established, timed out, ended.

use super::{Client, Slot, State, Task};
use crate::source::PER_ADDRESS;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::time::Duration;
use touchstone_watch::monotonic_ns;

impl Client {
    pub(super) fn connect(&mut self) -> io::Result<()> {
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
    pub(super) fn begin(&mut self, fd: RawFd, state: State) {
        let now = monotonic_ns();
        let slot = &mut self.slots[fd as usize];
        slot.state = state;
        slot.generation = slot.generation.wrapping_add(1);
        slot.began_ns = now;
        self.pending.push_back((fd, slot.generation, now));
        self.under_way += 1;
    }

    pub(super) fn connected(&mut self, fd: RawFd, events: i32) {
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

    pub(super) fn time_out(&mut self) {
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
    pub(super) fn drop_connection(&mut self, fd: RawFd, why: &str, evidence: &str) {
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
pub(super) fn reason(error: &io::Error) -> String {
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
