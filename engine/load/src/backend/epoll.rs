//! Edge-triggered epoll: each socket registered once, two system calls a request, one receive buffer for all.

use std::io;
use std::os::fd::RawFd;
use std::ptr::null;

use crate::clock::{SECOND, now};
use crate::connection::State;
use crate::connector::{self, Connector};
use crate::error::Error;
use crate::wire::Wire;
use crate::worker::Worker;

/// Events taken from the kernel at once.
pub(super) const BATCH: usize = 256;

/// The receive buffer's size. A response that fits is parsed where it lies.
pub(super) const BUFFER: usize = 64 * 1024;

/// Reads of one socket in a row. Then the others have their turn, and time its demands: a server that sends without end
/// holds up nobody.
pub(super) const READS: usize = 16;

/// Events after which a read may find the connection's end.
pub(super) const GONE: u32 = (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;

/// What a socket signalled.
#[derive(Clone, Copy)]
pub(super) struct Signal {
    pub(super) slot: u32,
    pub(super) generation: u32,
    pub(super) flags: u32,
}

impl Signal {
    #[inline]
    pub(super) fn of(event: &libc::epoll_event) -> Self {
        let data = event.u64;
        Self {
            slot: data as u32,
            generation: (data >> 32) as u32,
            flags: event.events,
        }
    }

    pub(super) const fn says(self, flags: u32) -> bool {
        self.flags & flags != 0
    }
}

/// The part of the backend that the worker talks to.
pub struct EpollWire {
    epoll: RawFd,
    connector: Connector,
    /// Sockets whose turn ended before they were empty: no edge will tell of them again.
    unread: Vec<Signal>,
    /// Kernels before 5.11 have no `epoll_pwait2`: timeouts are then whole milliseconds.
    coarse: bool,
    /// System calls so far.
    pub syscalls: u64,
}

impl EpollWire {
    /// Creates the epoll instance.
    ///
    /// # Errors
    /// [`Error::System`] if the kernel refuses.
    pub fn new(connector: Connector) -> Result<Self, Error> {
        // SAFETY: plain system call.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(Error::last_os("creating an epoll instance"));
        }
        Ok(Self {
            epoll,
            connector,
            unread: Vec::new(),
            coarse: false,
            syscalls: 0,
        })
    }

    /// What was left unread, and how many events have come; waits for one of these only where nothing was left.
    pub(super) fn signals(
        &mut self,
        events: &mut [libc::epoll_event],
        patience: u64,
    ) -> (Vec<Signal>, usize) {
        let unread = std::mem::take(&mut self.unread);
        let timeout = if unread.is_empty() { patience } else { 0 };
        (unread, self.wait(events, timeout))
    }

    /// A socket is not empty yet, and has its next turn with the next signals.
    pub(super) fn leave_unread(&mut self, signal: Signal) {
        self.unread.push(signal);
    }

    fn wait(&mut self, events: &mut [libc::epoll_event], timeout: u64) -> usize {
        self.syscalls += 1;
        if self.coarse {
            let millis = timeout.div_ceil(SECOND / 1000).min(i32::MAX as u64) as libc::c_int;
            let room = events.len() as libc::c_int;
            // SAFETY: the events' memory and length are those of the slice.
            return unsafe { libc::epoll_wait(self.epoll, events.as_mut_ptr(), room, millis) }.max(0)
                as usize;
        }
        let timeout = libc::timespec {
            tv_sec: (timeout / SECOND) as i64,
            tv_nsec: (timeout % SECOND) as i64,
        };
        // SAFETY: the events' memory and length are those of the slice; the timeout outlives the call.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll,
                events.as_mut_ptr(),
                events.len() as libc::c_int,
                &raw const timeout,
                null::<libc::sigset_t>(),
                0usize,
            )
        };
        if count < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS) {
            self.coarse = true;
        }
        count.max(0) as usize
    }

    pub(super) fn receive(&mut self, fd: RawFd, buffer: &mut [u8]) -> isize {
        self.syscalls += 1;
        // Not by `recv`: in a process of several threads the library makes that a cancellation point, at two locked
        // instructions a call.
        // SAFETY: the memory and length are those of the slice; no address is asked for.
        let received = unsafe {
            libc::syscall(
                libc::SYS_recvfrom,
                fd,
                buffer.as_mut_ptr(),
                buffer.len(),
                0,
                null::<u8>(),
                null::<u8>(),
            )
        };
        received as isize
    }
}

impl Drop for EpollWire {
    fn drop(&mut self) {
        connector::close(self.epoll);
    }
}

impl Wire for EpollWire {
    fn open(&mut self, slot: u32, generation: u32) -> io::Result<(RawFd, bool)> {
        self.syscalls += 6;
        let (fd, established) = self.connector.open(slot)?;
        // Writability is asked for from the start: the kernel signals it once when the handshake completes, and then
        // only after a send that found the socket full.
        let interest = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        let mut event = libc::epoll_event {
            events: interest as u32,
            u64: u64::from(generation) << 32 | u64::from(slot),
        };
        // SAFETY: `event` outlives the call.
        if unsafe { libc::epoll_ctl(self.epoll, libc::EPOLL_CTL_ADD, fd, &raw mut event) } < 0 {
            let error = io::Error::last_os_error();
            connector::close(fd);
            return Err(error);
        }
        Ok((fd, established))
    }

    #[inline]
    fn send(&mut self, _slot: u32, fd: RawFd, bytes: &[u8], _lasting: bool) -> io::Result<usize> {
        self.syscalls += 1;
        // SAFETY: the memory and length are those of the slice.
        let sent =
            unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
        if sent >= 0 {
            return Ok(sent as usize);
        }
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::WouldBlock {
            Ok(0)
        } else {
            Err(error)
        }
    }

    fn close(&mut self, _slot: u32, fd: RawFd) {
        self.syscalls += 1;
        connector::close(fd);
    }

    fn syscalls(&self) -> u64 {
        self.syscalls
    }
}

/// Drives a worker until its run is over.
pub fn drive(worker: &mut Worker, wire: &mut EpollWire) {
    let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; BATCH];
    let mut buffer = vec![0u8; BUFFER];
    let mut clock = worker.tick(wire, now(), 0);
    while !worker.is_over() {
        let patience = worker.next_wake(clock).saturating_sub(clock);
        let (unread, count) = wire.signals(&mut events, patience);
        let batch = unread.len() + count;
        clock = now();
        for signal in unread {
            clock = attend(worker, wire, &mut buffer, signal, clock);
        }
        for event in &events[..count] {
            clock = attend(worker, wire, &mut buffer, Signal::of(event), clock);
        }
        clock = worker.tick(wire, clock, batch);
    }
}

#[inline]
fn attend(
    worker: &mut Worker,
    wire: &mut EpollWire,
    buffer: &mut [u8],
    signal: Signal,
    mut clock: u64,
) -> u64 {
    let slot = signal.slot;
    if worker.generation(slot) != signal.generation {
        return clock;
    }
    if signal.says(libc::EPOLLOUT as u32) {
        let connection = worker.connection(slot);
        if connection.state == State::Connecting {
            clock = now();
            match connector::outcome(connection.fd) {
                0 => worker.opened(wire, slot, clock),
                error => worker.ended(wire, slot, error, clock),
            }
        } else if connection.unsent.is_some() {
            worker.writable(wire, slot, clock);
        }
    } else if signal.says(GONE) && worker.connection(slot).state == State::Connecting {
        let error = connector::outcome(worker.connection(slot).fd);
        worker.ended(wire, slot, error, clock);
    }
    if !signal.says(libc::EPOLLIN as u32 | GONE) {
        return clock;
    }
    for _ in 0..READS {
        let connection = worker.connection(slot);
        if worker.generation(slot) != signal.generation || connection.state != State::Open {
            return clock;
        }
        let received = wire.receive(connection.fd, buffer);
        clock = now();
        match received {
            0 => worker.ended(wire, slot, 0, clock),
            1.. => {
                let length = received as usize;
                worker.received(wire, slot, &buffer[..length], clock);
                // A short read has emptied the socket; the next byte makes a new edge. Only an end may hide behind it.
                if length < buffer.len() && !signal.says(GONE) {
                    return clock;
                }
            }
            _ => {
                let error = io::Error::last_os_error()
                    .raw_os_error()
                    .unwrap_or(libc::EIO);
                match error {
                    libc::EAGAIN => return clock,
                    libc::EINTR => {}
                    _ => worker.ended(wire, slot, error, clock),
                }
            }
        }
    }
    wire.leave_unread(signal);
    clock
}
