//! Reading small kernel files without allocating: a file kept open and read anew from its start.

use std::ffi::CStr;
use std::io::Write as _;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A buffer that holds any of the files read here.
pub const BUFFER: usize = 8192;

/// A path built without the heap.
pub struct PathBuffer {
    bytes: [u8; 64],
}

impl PathBuffer {
    /// `/proc/PID/NAME`.
    pub fn process(pid: i32, name: &str) -> Self {
        let mut bytes = [0; 64];
        // 64 bytes hold the longest pid and name used here; the last byte stays 0.
        let _ = write!(&mut bytes[..63], "/proc/{pid}/{name}");
        Self { bytes }
    }

    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"/")
    }
}

/// Opens a path with extra flags beside `O_CLOEXEC`.
pub fn open(path: &PathBuffer, flags: i32) -> Option<OwnedFd> {
    open_c(path.as_c_str(), flags)
}

/// Opens a C path with extra flags beside `O_CLOEXEC`.
pub fn open_c(path: &CStr, flags: i32) -> Option<OwnedFd> {
    // SAFETY: the path ends in NUL and outlives the call.
    let fd = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) };
    // SAFETY: the descriptor has just been opened and belongs to no one else.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Reads a file from its start; `None` when the process behind it has gone or nothing is in it.
pub fn read<'b>(fd: &OwnedFd, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    // SAFETY: the buffer is valid for its length.
    let n = unsafe { libc::pread(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    usize::try_from(n)
        .ok()
        .filter(|n| *n > 0)
        .map(|n| &buffer[..n])
}

/// Opens, reads and closes a file.
pub fn read_once<'b>(path: &PathBuffer, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    read(&open(path, libc::O_RDONLY)?, buffer)
}

/// The first decimal number in `text`.
pub fn number(text: &[u8]) -> Option<u64> {
    let start = text.iter().position(u8::is_ascii_digit)?;
    let mut value = 0u64;
    for digit in text[start..].iter().take_while(|b| b.is_ascii_digit()) {
        value = value
            .checked_mul(10)?
            .checked_add(u64::from(digit - b'0'))?;
    }
    Some(value)
}

/// The number after a key at the start of a line: `VmHWM:   1234 kB`, `oom_kill 0`.
pub fn field(text: &[u8], key: &[u8]) -> Option<u64> {
    text.split(|b| *b == b'\n').find_map(|line| {
        let rest = line.strip_prefix(key)?;
        let first = *rest.first()?;
        (first == b':' || first == b' ').then(|| number(rest))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_taken_for_a_longer_one() {
        let text = b"oom_kill_disable 7\noom_kill 3\nVmHWM:\t  12 kB\n";
        assert_eq!(field(text, b"oom_kill"), Some(3));
        assert_eq!(field(text, b"VmHWM"), Some(12));
        assert_eq!(field(text, b"Vm"), None);
    }

    #[test]
    fn a_file_kept_open_is_read_anew() {
        let fd = open(
            &PathBuffer::process(std::process::id() as i32, "stat"),
            libc::O_RDONLY,
        )
        .unwrap();
        let mut buffer = [0; BUFFER];
        let first = read(&fd, &mut buffer).unwrap().to_vec();
        assert!(first.starts_with(std::process::id().to_string().as_bytes()));
        assert!(read(&fd, &mut buffer).is_some());
    }
}
