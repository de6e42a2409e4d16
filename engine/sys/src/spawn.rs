//! Forking and executing a program, with the time of the `execve`.

use crate::clock::Nanos;
use crate::{clock, cpus, done};
use std::ffi::{CString, OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What is executed, and where.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The file, absolute.
    pub file: PathBuf,
    /// Its arguments, its own name first.
    pub argv: Vec<OsString>,
    /// All of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Its folder; `None` for this process's.
    pub folder: Option<PathBuf>,
    /// Standard output and standard error are appended here; `None` discards them.
    pub log: Option<PathBuf>,
    /// Directories of the cgroups that it is put into.
    pub cgroups: Vec<PathBuf>,
    /// The CPUs that it is given; empty leaves it this process's.
    pub cpus: Vec<usize>,
}

/// A started process, leader of a session and process group of its own. It ends with this process.
#[derive(Debug, Clone, Copy)]
pub struct Started {
    /// Its process id.
    pub pid: i32,
    /// `CLOCK_MONOTONIC` in the child, immediately before `execve`.
    pub executed: Nanos,
}

/// What the child tells: the time before `execve`, and an errno if it came back.
const TIME: usize = 8;
const ERRNO: usize = 4;

/// All that the child needs, made before the fork: after it, only async-signal-safe calls are allowed.
struct Prepared {
    file: CString,
    argv: Vec<CString>,
    environment: Vec<CString>,
    folder: Option<CString>,
    log: OwnedFd,
    null: OwnedFd,
    cgroups: Vec<OwnedFd>,
    cpus: Option<cpus::CpuSet>,
}

/// Starts a program: in its cgroups, on its CPUs, with its folder and log, and without this process's blocked signals.
///
/// # Errors
/// With a text that says which step failed and on what.
pub fn spawn(program: &Program) -> Result<Started, String> {
    let prepared = prepare(program)?;
    let argv = pointers(&prepared.argv);
    let environment = pointers(&prepared.environment);
    let (mut told, teller) = io::pipe().map_err(|e| format!("pipe: {e}"))?;
    // SAFETY: the child calls only async-signal-safe functions on memory prepared before, and then execve or _exit.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        return Err(format!("fork: {}", io::Error::last_os_error()));
    }
    if pid == 0 {
        // SAFETY: as above; all pointers stay valid in the child's copy of the memory.
        unsafe { child(&prepared, &argv, &environment, teller.as_raw_fd()) }
    }
    drop(teller);
    let mut text = Vec::with_capacity(TIME + ERRNO);
    let read = told.read_to_end(&mut text);
    match (<[u8; TIME]>::try_from(text.as_slice()), read) {
        (Ok(time), Ok(_)) => Ok(Started {
            pid,
            executed: Nanos(u64::from_ne_bytes(time)),
        }),
        _ => {
            // SAFETY: the child is ours and has called _exit.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            let code = text.get(TIME..).and_then(|rest| rest.try_into().ok());
            let why = code.map_or_else(
                || io::Error::other("it said nothing"),
                |code| io::Error::from_raw_os_error(i32::from_ne_bytes(code)),
            );
            Err(format!("{:?} cannot be executed: {why}", prepared.file))
        }
    }
}

fn prepare(program: &Program) -> Result<Prepared, String> {
    let environment = program.environment.iter().map(|(name, value)| {
        let mut entry = name.clone();
        entry.push("=");
        entry.push(value);
        c_string(&entry)
    });
    let null = Path::new("/dev/null");
    let log = program.log.as_deref().unwrap_or(null);
    let append = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o644)
        .open(log);
    let cgroups = program.cgroups.iter().map(|group| {
        let list = group.join("cgroup.procs");
        opened(&list, OpenOptions::new().write(true).open(&list))
    });
    Ok(Prepared {
        file: c_string(program.file.as_os_str())?,
        argv: program
            .argv
            .iter()
            .map(|a| c_string(a))
            .collect::<Result<_, _>>()?,
        environment: environment.collect::<Result<_, _>>()?,
        folder: program
            .folder
            .as_ref()
            .map(|folder| c_string(folder.as_os_str()))
            .transpose()?,
        log: opened(log, append)?,
        null: opened(null, File::open(null))?,
        cgroups: cgroups.collect::<Result<_, _>>()?,
        cpus: (!program.cpus.is_empty()).then(|| cpus::CpuSet::of(&program.cpus)),
    })
}

/// # Safety
/// Only to be called in a freshly forked child.
unsafe fn child(
    prepared: &Prepared,
    argv: &[*const libc::c_char],
    environment: &[*const libc::c_char],
    report: i32,
) -> ! {
    // SAFETY: every call is async-signal-safe, every pointer was made before the fork.
    unsafe {
        let ready = settle(prepared);
        if ready {
            let time = clock::monotonic().0.to_ne_bytes();
            libc::write(report, time.as_ptr().cast(), TIME);
            libc::execve(prepared.file.as_ptr(), argv.as_ptr(), environment.as_ptr());
        }
        let error = (*libc::__errno_location()).to_ne_bytes();
        if !ready {
            libc::write(report, [0u8; TIME].as_ptr().cast(), TIME);
        }
        libc::write(report, error.as_ptr().cast(), ERRNO);
        libc::_exit(127)
    }
}

/// Puts the child where it belongs; false with errno set where that could not be done.
///
/// # Safety
/// As [`child`].
unsafe fn settle(prepared: &Prepared) -> bool {
    // SAFETY: as in `child`.
    unsafe {
        let mut ok = libc::setsid() >= 0;
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        for group in &prepared.cgroups {
            // "0" is the writer itself.
            ok = ok && libc::write(group.as_raw_fd(), c"0".as_ptr().cast(), 1) == 1;
        }
        if let Some(cpus) = &prepared.cpus {
            ok = ok && cpus.bind().is_ok();
        }
        ok = ok && libc::dup2(prepared.null.as_raw_fd(), 0) >= 0;
        ok = ok && libc::dup2(prepared.log.as_raw_fd(), 1) >= 0;
        ok = ok && libc::dup2(prepared.log.as_raw_fd(), 2) >= 0;
        if let Some(folder) = &prepared.folder {
            ok = ok && done(libc::chdir(folder.as_ptr())).is_ok();
        }
        if ok {
            // The engine ignores SIGPIPE and may block signals; a server must not inherit that.
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        }
        ok
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

fn opened(path: &Path, file: io::Result<File>) -> Result<OwnedFd, String> {
    file.map(OwnedFd::from)
        .map_err(|e| format!("{} cannot be opened: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Ending, reap};

    fn ended(pid: i32) -> Ending {
        loop {
            if let Some(ending) = reap(pid) {
                return ending;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    #[test]
    fn a_program_gets_its_arguments_environment_folder_log_and_cpus() {
        let log = std::env::temp_dir().join(format!("touchstone-spawn-{}", std::process::id()));
        let cpu = *cpus::CpuSet::of_thread(0)
            .unwrap()
            .numbers()
            .last()
            .unwrap();
        let script = "echo $0 $WORD $PWD; grep Cpus_allowed_list /proc/self/status; exit 3";
        let program = Program {
            file: "/bin/sh".into(),
            argv: ["sh", "-c", script, "zero"].map(OsString::from).into(),
            environment: vec![
                ("WORD".into(), "word".into()),
                ("PATH".into(), "/usr/bin:/bin".into()),
            ],
            folder: Some("/usr".into()),
            log: Some(log.clone()),
            cgroups: Vec::new(),
            cpus: vec![cpu],
        };
        let before = clock::monotonic();
        let started = spawn(&program).unwrap();
        assert!(started.executed > before && started.executed < clock::monotonic());
        assert_eq!(ended(started.pid), Ending::Code(3));
        let text = std::fs::read_to_string(&log).unwrap();
        std::fs::remove_file(&log).unwrap();
        assert_eq!(text, format!("zero word /usr\nCpus_allowed_list:\t{cpu}\n"));
    }

    #[test]
    fn what_cannot_be_executed_is_named_with_the_reason() {
        let program = |file: &str, folder: Option<&str>| Program {
            file: file.into(),
            argv: vec![file.into()],
            folder: folder.map(PathBuf::from),
            ..Program::default()
        };
        let of = |program| spawn(&program).unwrap_err();
        assert!(of(program("/no/such/file", None)).contains("No such file"));
        assert!(of(program("/etc/passwd", None)).contains("Permission denied"));
        assert!(of(program("/bin/true", Some("/no/such/folder"))).contains("No such file"));
    }
}
