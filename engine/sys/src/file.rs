//! Files: small ones of the kernel, read from their start without allocating; directories; and the page cache.

use crate::{count, done, own};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Opens a file to be read, without allocating. `None` when it is not there or may not be read.
#[must_use]
pub fn open(path: &CStr) -> Option<OwnedFd> {
    open_with(path, libc::O_RDONLY)
}

/// Opens a directory whose entries are to be listed.
#[must_use]
pub fn open_directory(path: &CStr) -> Option<OwnedFd> {
    open_with(path, libc::O_RDONLY | libc::O_DIRECTORY)
}

/// Opens a directory only to be asked for its [`size`], which takes fewer rights than listing it.
#[must_use]
pub fn open_place(path: &CStr) -> Option<OwnedFd> {
    open_with(path, libc::O_PATH | libc::O_DIRECTORY)
}

fn open_with(path: &CStr, flags: i32) -> Option<OwnedFd> {
    // SAFETY: the path ends in NUL and outlives the call.
    own(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) }).ok()
}

/// Reads a file from its start; `None` when there is nothing in it, or the process behind it has gone.
#[must_use]
pub fn read<'b>(fd: &OwnedFd, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    // SAFETY: the buffer is valid for its length.
    let n = unsafe { libc::pread(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    count(n).ok().filter(|n| *n > 0).map(|n| &buffer[..n])
}

/// The size that a file or directory states, in bytes; of `/proc/PID/fd` it is the number of entries (Linux 6.2).
#[must_use]
pub fn size(fd: &OwnedFd) -> Option<u64> {
    // SAFETY: an all-zero stat is a valid value to be overwritten.
    let mut facts: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `facts` outlives the call, which writes one stat at most.
    let code = unsafe { libc::fstat(fd.as_raw_fd(), &raw mut facts) };
    done(code).ok()?;
    u64::try_from(facts.st_size).ok()
}

/// Calls `each` with the name of every entry of a directory, from its beginning. The buffer holds some entries at a time.
pub fn entries(directory: &OwnedFd, buffer: &mut [u8], mut each: impl FnMut(&[u8])) {
    let fd = directory.as_raw_fd();
    // SAFETY: the descriptor is an open directory.
    unsafe { libc::lseek(fd, 0, libc::SEEK_SET) };
    loop {
        // SAFETY: the buffer is valid for its length.
        let n =
            unsafe { libc::syscall(libc::SYS_getdents64, fd, buffer.as_mut_ptr(), buffer.len()) };
        let Some(n) = usize::try_from(n).ok().filter(|n| *n > 0) else {
            return;
        };
        names(&buffer[..n], &mut each);
    }
}

/// Takes the names out of a run of `struct linux_dirent64` (getdents64(2)): inode 8 bytes, offset 8, record length 2,
/// type 1, then the name up to a NUL.
fn names(mut records: &[u8], each: &mut impl FnMut(&[u8])) {
    const NAME: usize = 19;
    while records.len() > NAME {
        let length = usize::from(u16::from_ne_bytes([records[16], records[17]]));
        let Some(record) = records.get(..length).filter(|_| length > NAME) else {
            return;
        };
        each(record[NAME..].split(|b| *b == 0).next().unwrap_or_default());
        records = &records[length..];
    }
}

/// Whether this process may execute a file.
#[must_use]
pub fn may_execute(path: &Path) -> bool {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: the path ends in NUL.
    path.is_file() && unsafe { libc::access(name.as_ptr(), libc::X_OK) } == 0
}

/// Writes all dirty pages of the machine to their disks (sync(2)).
pub fn write_back() {
    // SAFETY: no arguments.
    unsafe { libc::sync() };
}

/// Asks the kernel to drop a file's pages from the page cache; those that are dirty or mapped stay.
///
/// # Errors
/// What the kernel answers.
pub fn forget_pages(file: &File) -> io::Result<()> {
    // SAFETY: no pointers; a length of 0 means up to the end.
    let code = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// How many pages of a file are in the page cache (mincore(2)).
///
/// # Errors
/// When the file cannot be mapped.
pub fn resident_pages(file: &File) -> io::Result<usize> {
    let Ok(length @ 1..) = usize::try_from(file.metadata()?.len()) else {
        return Ok(0);
    };
    // SAFETY: a fresh read-only mapping of the whole file, unmapped below, never dereferenced.
    let place = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let mut pages = vec![0u8; length.div_ceil(4096)];
    // SAFETY: the mapping covers `length`, and the vector has a byte for each page (of at least 4,096 bytes).
    let asked = done(unsafe { libc::mincore(place, length, pages.as_mut_ptr()) });
    // SAFETY: the mapping made above.
    unsafe { libc::munmap(place, length) };
    asked.map(|()| pages.iter().filter(|page| **page & 1 == 1).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_kept_open_is_read_anew_from_its_start() {
        let file = open(c"/proc/self/stat").unwrap();
        let mut buffer = [0; 4096];
        let first = read(&file, &mut buffer).unwrap().to_vec();
        assert!(first.starts_with(std::process::id().to_string().as_bytes()));
        assert!(read(&file, &mut buffer).is_some_and(|again| again[..4] == first[..4]));
        assert!(open(c"/proc/self/no such file").is_none());
    }

    #[test]
    fn every_entry_is_named_however_small_the_buffer_is() {
        let directory = open_directory(c"/proc/self").unwrap();
        let list = |room: usize| {
            let mut found = Vec::new();
            entries(&directory, &mut vec![0; room], |name| {
                found.push(name.to_vec());
            });
            found
        };
        let all = list(32 * 1024);
        assert!(all.contains(&b"status".to_vec()) && all.contains(&b"fd".to_vec()));
        assert_eq!(list(280), all);
    }

    #[test]
    fn what_may_be_executed_is_told_from_what_may_not() {
        assert!(may_execute(Path::new("/bin/sh")));
        assert!(!may_execute(Path::new("/etc/passwd")));
        assert!(!may_execute(Path::new("/bin")));
    }
}
