//! Getting a program's files out of the page cache, and proving it.

use crate::job::Job;
use crate::spawn;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Drops the cached pages of the job's artifacts.
///
/// # Errors
/// With the reason when pages stayed: files that are mapped by a running process cannot be dropped, and the cache of the
/// whole machine (directory entries, shared libraries) needs the right to write `/proc/sys/vm/drop_caches`.
pub fn drop_pages(job: &Job) -> Result<(), String> {
    let files = artifacts(job);
    // Dirty pages cannot be dropped.
    // SAFETY: no arguments.
    unsafe { libc::sync() };
    let machine = fs::write("/proc/sys/vm/drop_caches", "3");
    for file in &files {
        forget(file)?;
    }
    let mut left = 0;
    for file in &files {
        left += resident_pages(file)?;
    }
    if left > 0 {
        return Err(format!(
            "{left} pages of the artifacts stayed in the page cache (a running process may have them mapped)"
        ));
    }
    machine.map_err(|e| {
        format!("the artifacts' pages were dropped, those of shared libraries and directories were not: /proc/sys/vm/drop_caches: {e}")
    })
}

/// The files whose pages matter.
fn artifacts(job: &Job) -> Vec<PathBuf> {
    let base = job.cwd.as_deref().unwrap_or(Path::new("."));
    let mut files = Vec::new();
    let named: Vec<PathBuf> = if job.artifacts.is_empty() {
        let arguments = job.argv[1..]
            .iter()
            .map(|a| base.join(a))
            .filter(|path| path.is_file());
        spawn::program(job).into_iter().chain(arguments).collect()
    } else {
        job.artifacts.iter().map(|path| base.join(path)).collect()
    };
    for path in named {
        collect(&path, &mut files);
    }
    files
}

/// A file, or all files under a folder; links to folders are not followed, so there is no circle.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
    } else if let Ok(entries) = fs::read_dir(path) {
        for entry in entries.filter_map(Result::ok) {
            if entry.file_type().is_ok_and(|t| !t.is_symlink()) || entry.path().is_file() {
                collect(&entry.path(), files);
            }
        }
    }
}

fn open(path: &Path) -> Result<File, String> {
    File::open(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn forget(path: &Path) -> Result<(), String> {
    let file = open(path)?;
    // SAFETY: no pointers; a length of 0 means up to the end.
    let code = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    if code == 0 {
        Ok(())
    } else {
        Err(format!("{}: posix_fadvise: error {code}", path.display()))
    }
}

/// How many pages of a file are in the page cache (mincore(2)).
fn resident_pages(path: &Path) -> Result<usize, String> {
    let file = open(path)?;
    let length = file
        .metadata()
        .map_err(|e| format!("{}: {e}", path.display()))?
        .len();
    let Ok(length @ 1..) = usize::try_from(length) else {
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
        return Err(format!(
            "{}: mmap: {}",
            path.display(),
            std::io::Error::last_os_error()
        ));
    }
    let mut pages = vec![0u8; length.div_ceil(4096)];
    // SAFETY: the mapping covers `length`, and the vector has a byte for each page (of at least 4,096 bytes).
    let done = unsafe { libc::mincore(place, length, pages.as_mut_ptr()) };
    // SAFETY: the mapping made above.
    unsafe { libc::munmap(place, length) };
    if done != 0 {
        return Err(format!(
            "{}: mincore: {}",
            path.display(),
            std::io::Error::last_os_error()
        ));
    }
    Ok(pages.iter().filter(|page| **page & 1 == 1).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_written_file_are_dropped() {
        let path = std::env::temp_dir().join(format!("touchstone-cache-{}", std::process::id()));
        fs::write(&path, vec![1u8; 1 << 20]).unwrap();
        File::open(&path).unwrap().sync_all().unwrap();
        assert!(resident_pages(&path).unwrap() > 0);
        forget(&path).unwrap();
        let left = resident_pages(&path).unwrap();
        fs::remove_file(&path).unwrap();
        // A temporary folder in memory has no page cache behind which a disk stands: nothing can be dropped there.
        assert!(left == 0 || left == 256, "{left} of 256 pages are left");
    }
}
