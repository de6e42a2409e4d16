//! Forking and executing the server, with the time of the `execve`.

use crate::job::Job;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use touchstone_watch::cpus;

/// A started process, leader of a session and process group of its own.
#[derive(Debug, Clone, Copy)]
pub struct Started {
    pub pid: i32,
    /// `CLOCK_MONOTONIC` in the child, immediately before `execve`.
    pub exec_ns: u64,
}

/// What the child tells: the time before `execve`, and an errno if it came back.
const TIME: usize = 8;
const ERRNO: usize = 4;

/// All that the child needs, made before the fork: after it, only async-signal-safe calls are allowed.
struct Prepared {
    program: CString,
    argv: Vec<CString>,
    envp: Vec<CString>,
    cwd: Option<CString>,
    log: OwnedFd,
    null: OwnedFd,
    cgroups: Vec<OwnedFd>,
    cpus: Option<libc::cpu_set_t>,
}

/// Starts the job's program.
///
/// # Errors
/// With a text that says which step failed and on what.
pub fn spawn(job: &Job) -> Result<Started, String> {
    let prepared = prepare(job)?;
    let argv = pointers(&prepared.argv);
    let envp = pointers(&prepared.envp);
    let (read_end, write_end) = pipe().map_err(|e| format!("pipe: {e}"))?;
    // SAFETY: the child calls only async-signal-safe functions on memory prepared before, and then execve or _exit.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        return Err(format!("fork: {}", io::Error::last_os_error()));
    }
    if pid == 0 {
        // SAFETY: as above; all pointers stay valid in the child's copy of the memory.
        unsafe { child(&prepared, &argv, &envp, write_end.as_raw_fd()) }
    }
    drop(write_end);
    let mut told = [0u8; TIME + ERRNO];
    let got = read_all(&read_end, &mut told);
    if got != TIME {
        // SAFETY: the child is ours and has called _exit.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
        let code = i32::from_ne_bytes([told[TIME], told[TIME + 1], told[TIME + 2], told[TIME + 3]]);
        let why = io::Error::from_raw_os_error(code);
        return Err(format!("{:?} cannot be executed: {why}", prepared.program));
    }
    let mut time = [0; TIME];
    time.copy_from_slice(&told[..TIME]);
    Ok(Started {
        pid,
        exec_ns: u64::from_ne_bytes(time),
    })
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
        .find(|file| executable(file))
}

fn executable(file: &Path) -> bool {
    let Ok(path) = c_string(file.as_os_str()) else {
        return false;
    };
    // SAFETY: the path ends in NUL.
    file.is_file() && unsafe { libc::access(path.as_ptr(), libc::X_OK) } == 0
}

fn prepare(job: &Job) -> Result<Prepared, String> {
    let file = program(job).ok_or_else(|| format!("{:?} is not in PATH", job.argv[0]))?;
    let file = std::path::absolute(&file).map_err(|e| format!("{}: {e}", file.display()))?;
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
    let envp = environment.into_iter().map(|(mut name, value)| {
        name.push("=");
        name.push(value);
        c_string(&name)
    });
    let log = job.log.as_deref().unwrap_or(Path::new("/dev/null"));
    let cgroups = job
        .cgroup_paths
        .iter()
        .map(|group| open(&group.join("cgroup.procs"), libc::O_WRONLY));
    Ok(Prepared {
        program: c_string(file.as_os_str())?,
        argv: job
            .argv
            .iter()
            .map(|a| c_string(OsStr::new(a)))
            .collect::<Result<_, _>>()?,
        envp: envp.collect::<Result<_, _>>()?,
        cwd: job
            .cwd
            .as_ref()
            .map(|c| c_string(c.as_os_str()))
            .transpose()?,
        log: open(log, libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND)?,
        null: open(Path::new("/dev/null"), libc::O_RDONLY)?,
        cgroups: cgroups.collect::<Result<_, _>>()?,
        cpus: (!job.cpus.is_empty()).then(|| cpus::set(&job.cpus)),
    })
}

/// # Safety
/// Only to be called in a freshly forked child.
unsafe fn child(
    prepared: &Prepared,
    argv: &[*const libc::c_char],
    envp: &[*const libc::c_char],
    report: i32,
) -> ! {
    // SAFETY: every call is async-signal-safe, every pointer was made before the fork.
    unsafe {
        let mut ok = libc::setsid() >= 0;
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        for group in &prepared.cgroups {
            // "0" is the writer itself.
            ok &= libc::write(group.as_raw_fd(), c"0".as_ptr().cast(), 1) == 1;
        }
        if let Some(cpus) = &prepared.cpus {
            ok &= libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), cpus) == 0;
        }
        ok &= libc::dup2(prepared.null.as_raw_fd(), 0) >= 0;
        ok &= libc::dup2(prepared.log.as_raw_fd(), 1) >= 0;
        ok &= libc::dup2(prepared.log.as_raw_fd(), 2) >= 0;
        if let Some(cwd) = &prepared.cwd {
            ok &= libc::chdir(cwd.as_ptr()) == 0;
        }
        // The engine ignores SIGPIPE and may block signals; a server must not inherit that.
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut now: libc::timespec = std::mem::zeroed();
        if ok {
            libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now);
            let ns = (now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64).to_ne_bytes();
            libc::write(report, ns.as_ptr().cast(), TIME);
            libc::execve(prepared.program.as_ptr(), argv.as_ptr(), envp.as_ptr());
        }
        let error = (*libc::__errno_location()).to_ne_bytes();
        if !ok {
            libc::write(report, [0u8; TIME].as_ptr().cast(), TIME);
        }
        libc::write(report, error.as_ptr().cast(), ERRNO);
        libc::_exit(127)
    }
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings
        .iter()
        .map(|s| s.as_ptr())
        .chain([std::ptr::null()])
        .collect()
}

fn c_string(text: &OsStr) -> Result<CString, String> {
    CString::new(text.as_bytes()).map_err(|_| format!("{text:?} holds a NUL byte"))
}

fn open(path: &Path, flags: i32) -> Result<OwnedFd, String> {
    let c_path = c_string(path.as_os_str())?;
    // SAFETY: the path ends in NUL; the mode is read only with O_CREAT.
    let fd = unsafe { libc::open(c_path.as_ptr(), flags | libc::O_CLOEXEC, 0o644) };
    if fd < 0 {
        return Err(format!(
            "{} cannot be opened: {}",
            path.display(),
            io::Error::last_os_error()
        ));
    }
    // SAFETY: the descriptor has just been opened.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both have just been opened.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Reads until the end of file or the buffer is full.
fn read_all(fd: &OwnedFd, buffer: &mut [u8]) -> usize {
    let mut filled = 0;
    while filled < buffer.len() {
        let rest = &mut buffer[filled..];
        // SAFETY: the rest of the buffer is valid for its length.
        let n = unsafe { libc::read(fd.as_raw_fd(), rest.as_mut_ptr().cast(), rest.len()) };
        match usize::try_from(n) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    filled
}
