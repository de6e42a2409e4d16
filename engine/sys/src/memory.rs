//! Whole pages of memory, for what the kernel and this process share.

use std::io;
use std::ptr::{NonNull, null_mut};

/// Zeroed memory on pages of its own, unmapped when dropped. A page takes memory only once it is touched.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    length: usize,
}

impl Pages {
    /// Memory of a number of bytes, rounded up to whole pages.
    ///
    /// # Errors
    /// When there is no room for them, or none were asked for.
    pub fn new(length: usize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping touches nothing else.
        let memory = unsafe { libc::mmap(null_mut(), length, access, kind, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    /// The first byte; valid for reads and writes of the whole length until this is dropped.
    #[inline]
    #[must_use]
    pub const fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped with this length in `new`, and nobody else's to unmap.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_begin_on_a_page_and_are_given_back() {
        let page = crate::process::page_bytes();
        let pages = Pages::new(100_000).unwrap();
        let start = pages.start().as_ptr() as u64;
        assert_eq!(start % page, 0);
        let mapped = || {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            maps.lines().any(|line| {
                let (from, rest) = line.split_once('-').unwrap();
                let (to, _) = rest.split_once(' ').unwrap();
                let number = |text| u64::from_str_radix(text, 16).unwrap();
                (number(from)..number(to)).contains(&(start + 99_999))
            })
        };
        assert!(mapped());
        drop(pages);
        assert!(!mapped());
        assert!(Pages::new(0).is_err());
    }
}
