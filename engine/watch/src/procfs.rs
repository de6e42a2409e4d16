//! The names of kernel files, built without allocating, and the numbers in them.

use std::ffi::CStr;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use touchstone_sys::file;

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

    /// `/proc/PID/task/TID/NAME`.
    pub fn thread(pid: i32, tid: i32, name: &str) -> Self {
        let mut bytes = [0; 64];
        let _ = write!(&mut bytes[..63], "/proc/{pid}/task/{tid}/{name}");
        Self { bytes }
    }

    /// As system calls take it.
    pub fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"/")
    }

    /// Opens the file to be read.
    pub fn open(&self) -> Option<OwnedFd> {
        file::open(self.as_c_str())
    }
}

/// Opens, reads and closes a file.
pub fn read_once<'b>(path: &PathBuffer, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    file::read(&path.open()?, buffer)
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

/// All decimal numbers in `text`, in order.
pub fn numbers(text: &[u8]) -> impl Iterator<Item = u64> + '_ {
    text.split(|b| !b.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .filter_map(number)
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
}
