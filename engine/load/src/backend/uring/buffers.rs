//! Receive buffers that the kernel picks from a ring as bytes come: no memory belongs to an idle connection.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;
use touchstone_sys::memory::Pages;

/// Buffers in the ring at least, a power of two.
const ENTRIES: u32 = 16;

/// And at most. Where the responses of thousands of connections wait at once, a receive that finds no buffer ends and
/// has to be armed again: at 10,000 that costs 10 %.
const MOST_ENTRIES: u32 = 32;

/// Connections that share a buffer.
const SHARERS: u32 = 256;

/// Bytes of one buffer. With incremental consumption one holds hundreds of small responses back to back.
const SIZE: usize = 32 * 1024;

/// The buffer group's number.
pub const GROUP: u16 = 0;

/// `IOU_PBUF_RING_INC`, Linux 6.12: a receive takes a part of a buffer and leaves the rest.
const INCREMENTAL: u16 = 2;

/// The ring and the buffers in it.
pub struct Buffers {
    ring: Pages,
    memory: Pages,
    taken: Vec<u32>,
    tail: u16,
    incremental: bool,
}

impl Buffers {
    /// Registers the buffers of these connections with a ring.
    ///
    /// # Errors
    /// What the kernel answered.
    pub fn register(submitter: &Submitter<'_>, slots: u32) -> io::Result<Self> {
        let entries = (slots / SHARERS)
            .next_power_of_two()
            .clamp(ENTRIES, MOST_ENTRIES) as u16;
        let ring = Pages::new(usize::from(entries) * size_of::<BufRingEntry>())?;
        let memory = Pages::new(usize::from(entries) * SIZE)?;
        let mut buffers = Self {
            ring,
            memory,
            taken: vec![0; usize::from(entries)],
            tail: 0,
            incremental: true,
        };
        let address = buffers.ring().as_ptr() as u64;
        // SAFETY: the ring's memory lives until `buffers` is dropped, and that is after the io_uring.
        let registered =
            unsafe { submitter.register_buf_ring_with_flags(address, entries, GROUP, INCREMENTAL) };
        if registered.is_err() {
            buffers.incremental = false;
            // SAFETY: as above.
            unsafe { submitter.register_buf_ring_with_flags(address, entries, GROUP, 0) }?;
        }
        (0..entries).for_each(|id| buffers.offer(id));
        Ok(buffers)
    }

    fn ring(&self) -> NonNull<BufRingEntry> {
        self.ring.start().cast()
    }

    fn entries(&self) -> u16 {
        self.taken.len() as u16
    }

    /// Gives a whole buffer to the kernel.
    fn offer(&mut self, id: u16) {
        self.taken[usize::from(id)] = 0;
        // SAFETY: the index is inside the ring; the kernel reads an entry only below the tail.
        unsafe {
            let entry = &mut *self
                .ring()
                .as_ptr()
                .add(usize::from(self.tail & (self.entries() - 1)));
            entry.set_addr(self.memory.start().as_ptr().add(usize::from(id) * SIZE) as u64);
            entry.set_len(SIZE as u32);
            entry.set_bid(id);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(self.ring().as_ptr()).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }

    /// The bytes that a completion put into a buffer.
    #[inline]
    pub fn bytes(&self, id: u16, length: usize) -> *const [u8] {
        let from = usize::from(id) * SIZE + self.taken[usize::from(id)] as usize;
        // SAFETY: the kernel wrote `length` bytes there, inside the buffer.
        unsafe { std::ptr::slice_from_raw_parts(self.memory.start().as_ptr().add(from), length) }
    }

    /// The bytes have been used; `more` says that the kernel goes on with the same buffer.
    #[inline]
    pub fn used(&mut self, id: u16, length: usize, more: bool) {
        if self.incremental && more {
            self.taken[usize::from(id)] += length as u32;
        } else {
            self.offer(id);
        }
    }
}
