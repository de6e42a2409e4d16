//! A server in a container: what is started is the runtime's client, and the program comes behind it, in a control
//! group that the runtime makes.

use std::fs;
use std::path::{Path, PathBuf};
use touchstone_sys::clock::{Nanos, monotonic};

/// The files of runtimes (OCI) whose own process becomes the container's program by `execve`.
const RUNTIMES: [&str; 3] = ["runc", "crun", "youki"];

/// The program in the container, once the runtime has executed it.
#[derive(Debug, Clone)]
pub struct Contained {
    /// The container's first process.
    pub pid: i32,
    /// The control group that it was found in.
    pub group: PathBuf,
    /// When it was first seen to be the program and not the runtime; at most one poll late.
    pub seen: Nanos,
}

/// Looks for the program until it is there.
pub struct Lookout<'a> {
    groups: &'a [PathBuf],
    found: Option<Contained>,
}

impl<'a> Lookout<'a> {
    /// `groups` are the folders where the container's group may appear; without any, there is no container.
    pub const fn new(groups: &'a [PathBuf]) -> Self {
        Self {
            groups,
            found: None,
        }
    }

    /// Looks once more, unless it has been found.
    pub fn look(&mut self) -> Option<&Contained> {
        if self.found.is_none() {
            self.found = self.groups.iter().find_map(|group| program_in(group));
        }
        self.found.as_ref()
    }
}

fn program_in(group: &Path) -> Option<Contained> {
    let listed = fs::read_to_string(group.join("cgroup.procs")).ok()?;
    let pid = listed
        .lines()
        .filter_map(|line| line.parse().ok())
        .find(|pid: &i32| {
            let exe = fs::read_link(format!("/proc/{pid}/exe"));
            let name = fs::read_to_string(format!("/proc/{pid}/comm"));
            exe.is_ok_and(|exe| name.is_ok_and(|name| !is_runtime(&exe, name.trim_end())))
        })?;
    Some(Contained {
        pid,
        group: group.to_owned(),
        seen: monotonic(),
    })
}

/// Whether a process still executes the runtime, by its file and its name (`/proc/PID/comm`). runc executes a copy of
/// itself, in memory or behind a mount that is gone, and names each of its stages, such as `runc:[2:INIT]`.
fn is_runtime(exe: &Path, name: &str) -> bool {
    let shown = exe.to_string_lossy();
    let file = shown.trim_end_matches(" (deleted)");
    if file == "/" || name.starts_with("runc:[") || RUNTIMES.contains(&name) {
        return true;
    }
    if let Some(copy) = file.strip_prefix("/memfd:") {
        return RUNTIMES.iter().any(|runtime| copy.starts_with(runtime));
    }
    file.rsplit('/')
        .next()
        .is_some_and(|last| RUNTIMES.contains(&last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_runtime_is_told_from_the_program_that_it_becomes() {
        for (exe, name) in [
            ("/usr/sbin/runc", "runc"),
            ("/", "runc:[1:CHILD]"),
            ("/", "6"),
            ("/memfd:runc_cloned:/proc/self/exe (deleted)", "6"),
            ("/usr/bin/crun", "crun"),
            ("/runc (deleted)", "exe"),
        ] {
            assert!(is_runtime(Path::new(exe), name), "{exe} {name}");
        }
        for (exe, name) in [
            ("/ping", "ping"),
            ("/usr/bin/crunch", "crunch"),
            ("/app/runc/server", "server"),
            ("/memfd:x", "x"),
        ] {
            assert!(!is_runtime(Path::new(exe), name), "{exe} {name}");
        }
    }

    #[test]
    fn the_program_is_the_one_of_the_group_that_is_there() {
        let folder = std::env::temp_dir().join(format!("touchstone-group-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let groups = [folder.join("absent"), folder.clone()];
        let mut lookout = Lookout::new(&groups);
        assert!(lookout.look().is_none());
        fs::write(folder.join("cgroup.procs"), format!("{pid}\n")).unwrap();
        let before = monotonic();
        let found = lookout.look().unwrap().clone();
        assert_eq!((found.pid, found.group), (pid, folder.clone()));
        assert!(found.seen >= before);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(lookout.look().unwrap().seen, found.seen);
        fs::remove_dir_all(&folder).unwrap();
    }
}
