//! One thread of a server: accepts, reads, frames requests, writes answers. What is answered, a [`Service`] says.

use crate::head::{Parse, Request, parse};
use crate::response::refusal;
use crate::socket::{self, Bell, Poller};
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::sync::Arc;

/// A connection, told from an earlier one with the same descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    pub fd: RawFd,
    pub generation: u32,
}

/// What becomes of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Listen and serve.
    Serve,
    /// Refuse connections, and reset those that there are.
    Refuse,
    /// End the thread.
    Stop,
}

/// What a server answers.
pub trait Service {
    /// A whole request: append the answer to `out`, or keep the peer and give the answer when [`Service::due`] is asked.
    fn request(&mut self, peer: Peer, request: &Request<'_>, out: &mut Vec<u8>);
    /// A connection was accepted.
    fn opened(&mut self) {}
    /// A connection has ended.
    fn closed(&mut self) {}
    /// Events are about to be handled.
    fn batch(&mut self) {}
    /// How long to wait at most, in nanoseconds.
    fn patience(&mut self) -> Option<u64> {
        None
    }
    /// Hands over an answer that is due, with whether the connection is to be closed after it.
    fn due(&mut self) -> Option<(Peer, Vec<u8>, bool)> {
        None
    }
    /// The answer could not be given, because the connection had ended.
    fn lost(&mut self) {}
    /// What to do after the bell was rung.
    fn order(&mut self) -> Order;
}

/// Bytes that wait on a connection; most have none.
#[derive(Default)]
struct Waiting {
    /// The start of a request whose end has not come.
    partial: Vec<u8>,
    /// Answers that the socket did not take.
    unsent: Vec<u8>,
    /// Close when they are sent.
    closing: bool,
}

/// A descriptor's state; idle ones hold nothing on the heap.
#[derive(Default)]
struct Slot {
    generation: u32,
    open: bool,
    waiting: Option<Box<Waiting>>,
}

const EVENTS: usize = 512;
const BUFFER: usize = 64 * 1024;

/// A thread's state.
pub struct Worker<S> {
    service: S,
    poller: Poller,
    listener: Option<TcpListener>,
    bell: Arc<Bell>,
    slots: Vec<Slot>,
    out: Vec<u8>,
    /// The limit of open files was hit: connections wait to be accepted until one closes.
    full: bool,
    rebind: Box<dyn Fn() -> io::Result<TcpListener> + Send>,
}

impl<S: Service> Worker<S> {
    /// `rebind` makes a listener anew when serving goes on after refusing.
    pub fn new(
        service: S,
        listener: TcpListener,
        bell: Arc<Bell>,
        rebind: Box<dyn Fn() -> io::Result<TcpListener> + Send>,
    ) -> io::Result<Self> {
        let poller = Poller::new()?;
        poller.add(listener.as_raw_fd(), libc::EPOLLIN)?;
        poller.add(bell.fd(), libc::EPOLLIN)?;
        let out = Vec::with_capacity(BUFFER);
        Ok(Self {
            service,
            poller,
            listener: Some(listener),
            bell,
            slots: Vec::new(),
            out,
            full: false,
            rebind,
        })
    }

    /// Serves until ordered to stop.
    pub fn run(mut self) {
        // SAFETY: an all-zero event is valid.
        let mut events: Vec<libc::epoll_event> = vec![unsafe { std::mem::zeroed() }; EVENTS];
        let mut buffer = vec![0u8; BUFFER];
        loop {
            let patience = self.service.patience();
            let n = self.poller.wait(&mut events, patience);
            self.service.batch();
            for event in &events[..n] {
                let fd = event.u64 as RawFd;
                if fd == self.bell.fd() {
                    self.bell.silence();
                    if !self.obey() {
                        return;
                    }
                } else if self.listener.as_ref().is_some_and(|l| l.as_raw_fd() == fd) {
                    self.accept_all();
                } else {
                    self.handle(fd, event.events as i32, &mut buffer);
                }
            }
            while let Some((peer, bytes, close)) = self.service.due() {
                self.answer(peer, &bytes, close);
            }
        }
    }

    /// False when the thread is to end.
    fn obey(&mut self) -> bool {
        match self.service.order() {
            Order::Stop => return false,
            Order::Refuse => {
                self.listener = None;
                for fd in 0..self.slots.len() as RawFd {
                    if self.slots[fd as usize].open {
                        socket::reset_on_close(fd);
                        self.close(fd);
                    }
                }
            }
            Order::Serve if self.listener.is_none() => match (self.rebind)() {
                Ok(listener) if self.poller.add(listener.as_raw_fd(), libc::EPOLLIN).is_ok() => {
                    self.listener = Some(listener);
                    self.accept_all();
                }
                _ => eprintln!("the port cannot be listened on again: the server goes on refusing"),
            },
            Order::Serve => {}
        }
        true
    }

    fn accept_all(&mut self) {
        self.full = false;
        while let Some(listener) = &self.listener {
            match socket::accept(listener.as_raw_fd()) {
                Ok(socket) => {
                    let events = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP;
                    if self.poller.add(socket.as_raw_fd(), events).is_err() {
                        continue;
                    }
                    let fd = socket.into_raw_fd();
                    if self.slots.len() <= fd as usize {
                        self.slots.resize_with(fd as usize + 1, Slot::default);
                    }
                    let slot = &mut self.slots[fd as usize];
                    slot.open = true;
                    slot.generation = slot.generation.wrapping_add(1);
                    self.service.opened();
                }
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(e) => {
                    self.full = matches!(
                        e.raw_os_error(),
                        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)
                    );
                    return;
                }
            }
        }
    }

    fn handle(&mut self, fd: RawFd, events: i32, buffer: &mut [u8]) {
        if !self.slots.get(fd as usize).is_some_and(|slot| slot.open) {
            return;
        }
        if events & (libc::EPOLLERR | libc::EPOLLHUP) != 0 {
            return self.close(fd);
        }
        let was_blocked = self.blocked(fd);
        if was_blocked {
            if events & libc::EPOLLOUT == 0 || !self.flush(fd) {
                return;
            }
            self.tidy(fd);
        }
        // Who does not take answers is not read from: its edge is caught up with when the answers are sent.
        if was_blocked || events & (libc::EPOLLIN | libc::EPOLLRDHUP) != 0 {
            let ended = was_blocked || events & libc::EPOLLRDHUP != 0;
            self.read(fd, ended, buffer);
        }
    }

    fn blocked(&self, fd: RawFd) -> bool {
        self.slots[fd as usize]
            .waiting
            .as_ref()
            .is_some_and(|w| !w.unsent.is_empty())
    }

    /// A short read has emptied the socket, unless the peer's end was already behind it: that edge will not come again.
    fn read(&mut self, fd: RawFd, ended: bool, buffer: &mut [u8]) {
        loop {
            let n = match socket::receive(fd, buffer) {
                Ok(0) => return self.close(fd),
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return self.close(fd),
            };
            if !self.take(fd, &buffer[..n]) || (n < buffer.len() && !ended) {
                return;
            }
        }
    }

    /// Frames what has arrived, together with what had before, and sends the answers; false when reading has to end.
    fn take(&mut self, fd: RawFd, arrived: &[u8]) -> bool {
        let waiting = self.slots[fd as usize].waiting.as_mut();
        let mut kept = waiting
            .map(|w| std::mem::take(&mut w.partial))
            .unwrap_or_default();
        if kept.is_empty() {
            return self.frame(fd, arrived);
        }
        kept.extend_from_slice(arrived);
        self.frame(fd, &kept)
    }

    fn frame(&mut self, fd: RawFd, mut bytes: &[u8]) -> bool {
        let peer = Peer {
            fd,
            generation: self.slots[fd as usize].generation,
        };
        let mut out = std::mem::take(&mut self.out);
        let mut close = false;
        while !bytes.is_empty() && !close {
            match parse(bytes) {
                Parse::Complete(request) => {
                    self.service.request(peer, &request, &mut out);
                    // A service that answers later closes later.
                    close = !request.keep_alive && !out.is_empty();
                    bytes = &bytes[request.length..];
                }
                Parse::Partial => {
                    let waiting = self.slots[fd as usize].waiting.get_or_insert_default();
                    waiting.partial = bytes.to_vec();
                    break;
                }
                Parse::Bad(status) => {
                    out.extend_from_slice(&refusal(status));
                    close = true;
                }
            }
        }
        let go_on = out.is_empty() || self.send(fd, &out, close);
        out.clear();
        self.out = out;
        if go_on && bytes.is_empty() {
            self.tidy(fd);
        }
        go_on
    }

    /// Sends, and keeps what the socket does not take; false when the connection is blocked or closed.
    fn send(&mut self, fd: RawFd, bytes: &[u8], close: bool) -> bool {
        if !self.blocked(fd) {
            match socket::send(fd, bytes) {
                Ok(n) if n == bytes.len() => {
                    if close {
                        self.close(fd);
                    }
                    return !close;
                }
                Ok(n) => self.keep(fd, &bytes[n..], close),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.keep(fd, bytes, close),
                Err(_) => self.close(fd),
            }
            return false;
        }
        self.keep(fd, bytes, close);
        false
    }

    fn keep(&mut self, fd: RawFd, bytes: &[u8], close: bool) {
        let waiting = self.slots[fd as usize].waiting.get_or_insert_default();
        waiting.unsent.extend_from_slice(bytes);
        waiting.closing |= close;
    }

    /// Sends what had been kept; false when it is blocked again or closed.
    fn flush(&mut self, fd: RawFd) -> bool {
        let Some(waiting) = self.slots[fd as usize].waiting.as_mut() else {
            return true;
        };
        let bytes = std::mem::take(&mut waiting.unsent);
        let close = waiting.closing;
        self.send(fd, &bytes, close)
    }

    /// Gives an answer that was due.
    fn answer(&mut self, peer: Peer, bytes: &[u8], close: bool) {
        let slot = self.slots.get(peer.fd as usize);
        if slot.is_some_and(|slot| slot.open && slot.generation == peer.generation) {
            self.send(peer.fd, bytes, close);
        } else {
            self.service.lost();
        }
    }

    /// Frees the heap of a connection that waits for nothing.
    fn tidy(&mut self, fd: RawFd) {
        let slot = &mut self.slots[fd as usize];
        if slot
            .waiting
            .as_ref()
            .is_some_and(|w| w.partial.is_empty() && w.unsent.is_empty())
        {
            slot.waiting = None;
        }
    }

    fn close(&mut self, fd: RawFd) {
        let slot = &mut self.slots[fd as usize];
        slot.open = false;
        slot.waiting = None;
        // SAFETY: the descriptor is this worker's, and its slot said that it was open.
        unsafe { libc::close(fd) };
        self.service.closed();
        if self.full {
            self.accept_all();
        }
    }
}

impl<S> Drop for Worker<S> {
    fn drop(&mut self) {
        for (fd, _) in self.slots.iter().enumerate().filter(|(_, slot)| slot.open) {
            // SAFETY: open descriptors of slots are this worker's.
            unsafe { libc::close(fd as RawFd) };
        }
    }
}
