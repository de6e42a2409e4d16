//! Getting a program's files out of the page cache, and proving it.

use crate::job::Job;
use crate::spawn;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use touchstone_sys::file::{forget_pages, resident_pages, write_back};

/// Drops the cached pages of the job's artifacts.
///
/// # Errors
/// With the reason when pages stayed: files that are mapped by a running process cannot be dropped, and the cache of the
/// whole machine (directory entries, shared libraries) needs the right to write `/proc/sys/vm/drop_caches`.
pub fn drop_pages(job: &Job) -> Result<(), String> {
    let files = artifacts(job);
    // Dirty pages cannot be dropped.
    write_back();
    let machine = fs::write("/proc/sys/vm/drop_caches", "3");
    for file in &files {
        forget(file)?;
    }
    let mut left = 0;
    for file in &files {
        left += pages_left(file)?;
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

fn forget(path: &Path) -> Result<(), String> {
    File::open(path)
        .and_then(|file| forget_pages(&file))
        .map_err(|e| format!("{}: {e}", path.display()))
}

fn pages_left(path: &Path) -> Result<usize, String> {
    File::open(path)
        .and_then(|file| resident_pages(&file))
        .map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_written_file_are_dropped() {
        let path = std::env::temp_dir().join(format!("touchstone-cache-{}", std::process::id()));
        fs::write(&path, vec![1u8; 1 << 20]).unwrap();
        File::open(&path).unwrap().sync_all().unwrap();
        assert!(pages_left(&path).unwrap() > 0);
        forget(&path).unwrap();
        let left = pages_left(&path).unwrap();
        fs::remove_file(&path).unwrap();
        // A temporary folder in memory has no page cache behind which a disk stands: nothing can be dropped there.
        assert!(left == 0 || left == 256, "{left} of 256 pages are left");
    }
}
