//! What a job starts, and where.

use crate::job::Job;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use touchstone_sys::file::may_execute;
use touchstone_sys::process::{self, Program, Started};

/// Starts the job's program.
///
/// # Errors
/// With a text that says which step failed and on what.
pub fn spawn(job: &Job) -> Result<Started, String> {
    let file = program(job).ok_or_else(|| format!("{:?} is not in PATH", job.argv[0]))?;
    let file = std::path::absolute(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    process::spawn(&Program {
        file,
        argv: job.argv.iter().map(OsString::from).collect(),
        environment: environment(job),
        folder: job.cwd.clone(),
        log: job.log.clone(),
        cgroups: job.cgroup_paths.clone(),
        cpus: job.cpus.clone(),
    })
}

fn environment(job: &Job) -> Vec<(OsString, OsString)> {
    let mut environment: Vec<(OsString, OsString)> = Vec::new();
    if job.inherit_env {
        environment.extend(
            std::env::vars_os().filter(|(name, _)| !job.env.contains_key(&*name.to_string_lossy())),
        );
    }
    environment.extend(
        job.env
            .iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    environment
}

/// The file that a program name stands for, as execvp(3) would find it, seen from the job's folder.
pub fn program(job: &Job) -> Option<PathBuf> {
    let name = Path::new(&job.argv[0]);
    let base = job.cwd.as_deref().unwrap_or(Path::new("."));
    if job.argv[0].contains('/') {
        return Some(base.join(name));
    }
    let path = job
        .env
        .get("PATH")
        .map(OsString::from)
        .or_else(|| std::env::var_os("PATH"))?;
    std::env::split_paths(&path)
        .map(|folder| base.join(folder).join(name))
        .find(|file| may_execute(file))
}
