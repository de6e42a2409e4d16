//! `io_uring`: receives that stay armed, sends gathered until the thread waits, a system call for many requests.

mod buffers;

use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::time::Duration;

use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use touchstone_sys::socket::Stream;

use self::buffers::{Buffers, GROUP};
use super::layer::Layer;
use crate::clock::{Nanos, now};
use crate::connector::Connector;
use crate::error::{Error, errno};
use crate::wire::Wire;

/// Submissions gathered at most.
const SUBMISSIONS: u32 = 1024;

/// Completions that the kernel can hold for us, at least.
const COMPLETIONS: u32 = 4096;

/// And at most. What does not fit waits in a list of the kernel, a memory allocation each.
const MOST_COMPLETIONS: u32 = 8192;

/// Completions taken over at once.
const BATCH: usize = 512;

/// The longest request that is handed over without waiting for the one before it. A socket takes two such at once: a longer
/// one may still be on its way when a server that answers early has the next one sent, and the kernel keeps no order among
/// sends.
const AT_ONCE: usize = 16 * 1024;

const CONNECT: u64 = 0;
const RECEIVE: u64 = 1;
const SEND: u64 = 2;
const SEND_IN_TURN: u64 = 3;
const IGNORE: u64 = 4;

/// Which operation of which socket: the slot, 24 bits of its generation, the operation.
#[inline]
fn token(slot: u32, generation: u32, operation: u64) -> u64 {
    u64::from(slot) | u64::from(generation & 0x00ff_ffff) << 32 | operation << 56
}

fn create(slots: u32) -> io::Result<IoUring> {
    // One for each connection, for its receive.
    let completions = slots
        .next_power_of_two()
        .clamp(COMPLETIONS, MOST_COMPLETIONS);
    IoUring::builder()
        .setup_single_issuer()
        // Cheaper here than deferred task work: by 2 % at 64 connections, by 8 % at 1,000.
        .setup_coop_taskrun()
        .setup_submit_all()
        .setup_cqsize(completions)
        .build(SUBMISSIONS)
}

/// Whether this kernel offers what the backend needs (Linux 6.0), and allows it.
///
/// # Errors
/// [`Error::System`] with the kernel's answer.
pub fn probe() -> Result<(), Error> {
    let tried = create(1).and_then(|ring| {
        ring.submitter().register_files_sparse(1)?;
        Buffers::register(&ring.submitter(), 1).map(drop)
    });
    tried.map_err(|source| Error::System {
        what: "io_uring with multishot receive (Linux 6.0)".to_owned(),
        source,
    })
}

/// The part of the backend that the worker talks to.
struct UringWire {
    ring: IoUring,
    connector: Connector,
    generations: Vec<u32>,
    /// Sends that wait for one another.
    turns: Vec<Option<Box<Turns>>>,
    syscalls: u64,
}

struct Turns {
    /// What the kernel is reading.
    current: Piece,
    /// What follows.
    queued: VecDeque<Piece>,
}

/// Bytes of one send.
enum Piece {
    /// Bytes that last for the whole run.
    Lasting(*const u8, usize),
    /// A copy of others.
    Copy(Vec<u8>),
}

impl Piece {
    fn new(bytes: &[u8], lasting: bool) -> Self {
        if lasting {
            Self::Lasting(bytes.as_ptr(), bytes.len())
        } else {
            Self::Copy(bytes.to_vec())
        }
    }

    const fn place(&self) -> (*const u8, usize) {
        match self {
            Self::Lasting(bytes, length) => (*bytes, *length),
            Self::Copy(bytes) => (bytes.as_ptr(), bytes.len()),
        }
    }
}

impl UringWire {
    #[inline]
    fn push(&mut self, entry: &squeue::Entry) {
        loop {
            // SAFETY: what the entry points to stays valid until its completion: the mix's bytes for the whole run,
            // copies in `turns`.
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return;
            }
            self.syscalls += 1;
            let _ = self.ring.submit();
        }
    }

    fn wait(&mut self, timeout: Duration) {
        let time = Timespec::new()
            .sec(timeout.as_secs())
            .nsec(timeout.subsec_nanos());
        self.syscalls += 1;
        // A timeout, a signal, or a full completion queue: in each case the completions are looked at next.
        let _ = self
            .ring
            .submitter()
            .submit_with_args(1, &SubmitArgs::new().timespec(&time));
    }

    fn arm(&mut self, slot: u32, generation: u32) {
        let entry = opcode::RecvMulti::new(Fixed(slot), GROUP).build();
        self.push(&entry.user_data(token(slot, generation, RECEIVE)));
    }

    fn send_bytes(&mut self, slot: u32, bytes: *const u8, length: usize, operation: u64) {
        let generation = self.generations[slot as usize];
        // All or an error: a part that was sent would be ours to finish, behind what is queued already.
        let flags = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;
        let entry = opcode::Send::new(Fixed(slot), bytes, length as u32)
            .flags(flags)
            .build();
        let entry = entry.user_data(token(slot, generation, operation));
        let entry = if operation == SEND {
            entry.flags(squeue::Flags::SKIP_SUCCESS)
        } else {
            entry
        };
        self.push(&entry);
    }

    /// A send that others may wait for is complete: the next may go.
    fn sent(&mut self, slot: u32) {
        let Some(turns) = &mut self.turns[slot as usize] else {
            return;
        };
        match turns.queued.pop_front() {
            None => self.turns[slot as usize] = None,
            Some(next) => {
                turns.current = next;
                let (bytes, length) = turns.current.place();
                self.send_bytes(slot, bytes, length, SEND_IN_TURN);
            }
        }
    }
}

impl Wire for UringWire {
    fn open(&mut self, slot: u32, generation: u32) -> io::Result<(Stream, bool)> {
        self.syscalls += 6;
        let (socket, _) = self.connector.open(slot)?;
        self.ring
            .submitter()
            .register_files_update(slot, &[socket.as_raw_fd()])?;
        self.generations[slot as usize] = generation;
        let entry = opcode::PollAdd::new(Fixed(slot), libc::POLLOUT as u32).build();
        self.push(&entry.user_data(token(slot, generation, CONNECT)));
        // Even a connection that is established already goes through the completion, which arms its receive.
        Ok((socket, false))
    }

    #[inline]
    fn send(
        &mut self,
        slot: u32,
        _socket: &Stream,
        bytes: &[u8],
        lasting: bool,
    ) -> io::Result<usize> {
        let turns = &mut self.turns[slot as usize];
        if let Some(turns) = turns {
            turns.queued.push_back(Piece::new(bytes, lasting));
        } else if lasting && bytes.len() <= AT_ONCE {
            self.send_bytes(slot, bytes.as_ptr(), bytes.len(), SEND);
        } else {
            let current = Piece::new(bytes, lasting);
            let (at, length) = current.place();
            *turns = Some(Box::new(Turns {
                current,
                queued: VecDeque::new(),
            }));
            self.send_bytes(slot, at, length, SEND_IN_TURN);
        }
        Ok(bytes.len())
    }

    fn close(&mut self, slot: u32, socket: Stream) {
        let generation = self.generations[slot as usize];
        for operation in [RECEIVE, CONNECT, SEND_IN_TURN] {
            let entry = opcode::AsyncCancel::new(token(slot, generation, operation)).build();
            self.push(
                &entry
                    .flags(squeue::Flags::SKIP_SUCCESS)
                    .user_data(token(slot, generation, IGNORE)),
            );
        }
        // Submitted now: bytes of a cancelled send may go only when the kernel has let go of them.
        self.syscalls += 3;
        let _ = self.ring.submit();
        let _ = self.ring.submitter().register_files_update(slot, &[-1]);
        self.turns[slot as usize] = None;
        drop(socket);
    }

    fn syscalls(&self) -> u64 {
        self.syscalls
    }
}

/// Drives a worker until its run is over.
///
/// # Errors
/// [`Error::System`] if the kernel refuses the ring.
pub fn drive<L: Layer>(layer: &mut L, connector: Connector) -> Result<(), Error> {
    let refused = |source| Error::System {
        what: "setting up io_uring".to_owned(),
        source,
    };
    let slots = layer.worker().slots();
    let ring = create(slots).map_err(refused)?;
    ring.submitter()
        .register_files_sparse(slots)
        .map_err(refused)?;
    let mut buffers = Buffers::register(&ring.submitter(), slots).map_err(refused)?;
    let mut wire = UringWire {
        ring,
        connector,
        generations: vec![0; slots as usize],
        turns: (0..slots).map(|_| None).collect(),
        syscalls: 0,
    };
    let mut batch = [const { MaybeUninit::<cqueue::Entry>::uninit() }; BATCH];
    let mut clock = layer.tick(&mut wire, now(), 0);
    while !layer.worker().is_over() {
        wire.wait(layer.next_wake(clock).saturating_sub(clock).into());
        clock = now();
        // Not for as long as there are any: with thousands of busy connections they come as fast as they are handled,
        // and time has its demands all the same.
        let mut handled = 0;
        for _ in 0..COMPLETIONS as usize / BATCH {
            let completions = wire.ring.completion().fill(&mut batch);
            handled += completions.len();
            for completion in completions.iter() {
                handle(layer, &mut wire, &mut buffers, completion, clock);
            }
            if completions.len() < BATCH {
                break;
            }
            clock = now();
        }
        clock = layer.tick(&mut wire, clock, handled);
    }
    // The ring ends before the buffers that the kernel may still write to.
    drop(wire);
    Ok(())
}

#[inline]
fn handle<L: Layer>(
    layer: &mut L,
    wire: &mut UringWire,
    buffers: &mut Buffers,
    completion: &cqueue::Entry,
    clock: Nanos,
) {
    let (data, result, flags) = (
        completion.user_data(),
        completion.result(),
        completion.flags(),
    );
    let slot = data as u32;
    let current = layer.worker().generation(slot);
    let is_current = u64::from(current & 0x00ff_ffff) == data >> 32 & 0x00ff_ffff;
    match data >> 56 {
        RECEIVE => {
            if let Some(id) = cqueue::buffer_select(flags) {
                let length = result.max(0) as usize;
                if is_current && length > 0 {
                    // SAFETY: the buffer is ours until `used` gives it back.
                    let bytes = unsafe { &*buffers.bytes(id, length) };
                    layer.received(wire, slot, bytes, clock);
                }
                buffers.used(id, length, cqueue::buffer_more(flags));
            }
            if !is_current || layer.worker().generation(slot) != current {
                return;
            }
            if result == 0 {
                layer.ended(wire, slot, 0, clock);
            } else if result < 0 && result != -libc::ENOBUFS {
                layer.ended(wire, slot, -result, clock);
            } else if !cqueue::more(flags) {
                wire.arm(slot, current);
            }
        }
        CONNECT if is_current && layer.is_connecting(slot) => {
            match layer.worker().connection(slot).take_error() {
                None if result >= 0 => {
                    wire.arm(slot, current);
                    layer.connected(wire, slot, clock);
                }
                None => layer.ended(wire, slot, -result, clock),
                Some(error) => layer.ended(wire, slot, errno(&error), clock),
            }
        }
        // The receive that is armed tells of the end, once all that came before has been read.
        SEND | SEND_IN_TURN if is_current && result < 0 => layer.cannot_send(slot, -result),
        SEND_IN_TURN if is_current => wire.sent(slot),
        _ => {}
    }
}
