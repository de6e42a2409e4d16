//! Edge-triggered epoll: each socket registered once, two system calls a request, one receive buffer for all.

use std::io;

use touchstone_sys::poll::{Epoll, Event};
use touchstone_sys::socket::Stream;

use super::layer::Layer;
use crate::clock::{Nanos, now};
use crate::connector::Connector;
use crate::error::{Error, errno};
use crate::wire::Wire;

/// Events taken from the kernel at once.
const BATCH: usize = 256;

/// The receive buffer's size. A response that fits is parsed where it lies.
const BUFFER: usize = 64 * 1024;

/// Reads of one socket in a row. Then the others have their turn, and time its demands: a server that sends without end
/// holds up nobody.
const READS: usize = 16;

/// Which connection an event tells of: its slot, and the generation of its socket.
#[inline]
fn place(event: Event) -> (u32, u32) {
    let token = event.token();
    (token as u32, (token >> 32) as u32)
}

/// Whether a read after this event may find the connection's end.
#[inline]
fn gone(event: Event) -> bool {
    event.ended() || event.failed()
}

/// The part of the backend that the worker talks to.
pub struct EpollWire {
    epoll: Epoll,
    connector: Connector,
    /// Sockets whose turn ended before they were empty: no edge will report them again.
    unread: Vec<Event>,
    /// System calls so far.
    pub syscalls: u64,
}

impl EpollWire {
    /// Creates the epoll instance.
    ///
    /// # Errors
    /// [`Error::System`] if the kernel refuses.
    pub fn new(connector: Connector) -> Result<Self, Error> {
        let epoll = Epoll::new().map_err(|source| Error::System {
            what: "creating an epoll instance".to_owned(),
            source,
        })?;
        Ok(Self {
            epoll,
            connector,
            unread: Vec::new(),
            syscalls: 0,
        })
    }

    /// What was left unread, and what has come; waits for the latter only where nothing was left.
    fn events<'e>(&mut self, room: &'e mut [Event], patience: Nanos) -> (Vec<Event>, &'e [Event]) {
        let unread = std::mem::take(&mut self.unread);
        let patience = if unread.is_empty() {
            patience
        } else {
            Nanos::ZERO
        };
        self.syscalls += 1;
        let came = self.epoll.wait(room, Some(patience.into()));
        (unread, came)
    }

    /// A socket is not empty yet, and has its next turn with the next events.
    fn leave_unread(&mut self, event: Event) {
        self.unread.push(event);
    }

    #[inline]
    fn receive(&mut self, socket: &Stream, buffer: &mut [u8]) -> io::Result<usize> {
        self.syscalls += 1;
        socket.receive(buffer)
    }
}

impl Wire for EpollWire {
    fn open(&mut self, slot: u32, generation: u32) -> io::Result<(Stream, bool)> {
        self.syscalls += 6;
        let (socket, established) = self.connector.open(slot)?;
        // Writability is asked for from the start: the kernel signals it once when the handshake completes, and then
        // only after a send that found the socket full.
        let token = u64::from(generation) << 32 | u64::from(slot);
        self.epoll.add_connection(&socket, token)?;
        Ok((socket, established))
    }

    #[inline]
    fn send(
        &mut self,
        _slot: u32,
        socket: &Stream,
        bytes: &[u8],
        _lasting: bool,
    ) -> io::Result<usize> {
        self.syscalls += 1;
        match socket.send(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            sent => sent,
        }
    }

    fn close(&mut self, _slot: u32, socket: Stream) {
        self.syscalls += 1;
        drop(socket);
    }

    fn syscalls(&self) -> u64 {
        self.syscalls
    }
}

/// Drives a worker until its run is over.
pub fn drive<L: Layer>(layer: &mut L, wire: &mut EpollWire) {
    let mut room = vec![Event::NONE; BATCH];
    let mut buffer = vec![0u8; BUFFER];
    let mut clock = layer.tick(wire, now(), 0);
    while !layer.worker().is_over() {
        let patience = layer.next_wake(clock).saturating_sub(clock);
        let (unread, came) = wire.events(&mut room, patience);
        let batch = unread.len() + came.len();
        clock = now();
        for event in unread {
            clock = attend(layer, wire, &mut buffer, event, clock);
        }
        for event in came {
            clock = attend(layer, wire, &mut buffer, *event, clock);
        }
        clock = layer.tick(wire, clock, batch);
    }
}

#[inline]
fn attend<L: Layer>(
    layer: &mut L,
    wire: &mut EpollWire,
    buffer: &mut [u8],
    event: Event,
    mut clock: Nanos,
) -> Nanos {
    let (slot, generation) = place(event);
    if layer.worker().generation(slot) != generation {
        return clock;
    }
    let connecting = layer.is_connecting(slot);
    if event.writable() {
        if connecting {
            clock = now();
            match layer.worker().connection(slot).take_error() {
                None => layer.connected(wire, slot, clock),
                Some(error) => layer.ended(wire, slot, errno(&error), clock),
            }
        } else {
            layer.writable(wire, slot);
        }
    } else if gone(event) && connecting {
        let error = layer.worker().connection(slot).take_error();
        let error = error.map_or(0, |error| errno(&error));
        layer.ended(wire, slot, error, clock);
    }
    if !event.readable() && !gone(event) {
        return clock;
    }
    for _ in 0..READS {
        if layer.worker().generation(slot) != generation || !layer.reads(slot) {
            return clock;
        }
        let Some(socket) = &layer.worker().connection(slot).socket else {
            return clock;
        };
        let received = wire.receive(socket, buffer);
        clock = now();
        match received {
            Ok(0) => layer.ended(wire, slot, 0, clock),
            Ok(length) => {
                layer.received(wire, slot, &buffer[..length], clock);
                // A short read has emptied the socket; the next byte makes a new edge. Only an end may hide behind it.
                if length < buffer.len() && !gone(event) {
                    return clock;
                }
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => return clock,
                io::ErrorKind::Interrupted => {}
                _ => layer.ended(wire, slot, errno(&error), clock),
            },
        }
    }
    wire.leave_unread(event);
    clock
}
