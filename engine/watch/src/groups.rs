//! The cgroups in which the watched processes really are, ours or not.
//!
//! A service manager or a container runtime may put a server into a cgroup of its own, with a quota that the lab does
//! not know of. `/proc/PID/cgroup` names it. A quota holds back all groups below it and is counted only where it is set,
//! so the groups above are read as well; a memory limit is read of the process's own group alone, since what is counted
//! above may be the neighbours' doing.

use crate::cgroup::{Cgroup, CgroupReading};
use crate::procfs::{self, PathBuffer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::AddAssign;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use touchstone_sys::clock::{Nanos, seconds};

/// How many groups are read at most.
const KEPT: usize = 32;

/// What the groups' quotas and limits did, summed over the groups, since each was first seen. `None` where no group says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Restraint {
    /// Time for which tasks were kept off the CPU, summed over CPUs.
    pub throttled: Option<Nanos>,
    /// Periods of the quotas, while there was something to run.
    pub periods: Option<u64>,
    /// How many of them were cut short.
    pub throttled_periods: Option<u64>,
    /// How often a memory limit was hit.
    pub limit_hits: Option<u64>,
    /// Processes killed for want of memory.
    pub oom_kills: Option<u64>,
}

/// A group whose quota cut periods short while it was watched.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct ThrottledGroup {
    /// Its directory.
    pub cgroup: String,
    /// Periods of its quota in all of the watch.
    pub periods: u64,
    /// How many of them were cut short.
    pub throttled_periods: u64,
    /// Seconds for which tasks were kept off the CPU, summed over CPUs.
    pub throttled_s: f64,
}

struct Place {
    directory: PathBuf,
    identity: (u64, u64),
    files: Cgroup,
    first: CgroupReading,
    last: CgroupReading,
    /// Whether a member is in it; otherwise it is above such a group.
    own: bool,
}

/// The groups found so far.
pub struct Groups {
    hierarchies: Vec<Hierarchy>,
    places: Vec<Place>,
    /// Hash of what `/proc/PID/cgroup` last said, of each process.
    known: Vec<(i32, u64)>,
}

/// Where a hierarchy is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hierarchy {
    /// Controllers of version 1; empty for version 2.
    controllers: Vec<String>,
    /// Which part of it is mounted.
    root: PathBuf,
    mounted_at: PathBuf,
}

impl Groups {
    /// Finds the mounted hierarchies, and begins with the groups that are known already.
    pub fn new(directories: &[PathBuf], buffer: &mut [u8]) -> Self {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mut groups = Self {
            hierarchies: mounts.lines().filter_map(hierarchy).collect(),
            places: Vec::new(),
            known: Vec::new(),
        };
        for directory in directories {
            groups.add(directory, true, buffer);
        }
        groups
    }

    /// The groups of a process that have a CPU quota now, its own and those above it.
    pub fn with_quota(pid: i32, buffer: &mut [u8]) -> Self {
        let mut groups = Self::new(&[], buffer);
        groups.follow(pid, buffer);
        groups.places.retain(|place| has_quota(&place.directory));
        groups
    }

    /// Where the groups are.
    pub fn directories(&self) -> Vec<String> {
        let places = self.places.iter();
        places.map(|p| p.directory.display().to_string()).collect()
    }

    /// Adds the groups of a process, if it is new or has moved.
    pub fn follow(&mut self, pid: i32, buffer: &mut [u8]) {
        let Some(text) = procfs::read_once(&PathBuffer::process(pid, "cgroup"), buffer) else {
            return;
        };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        match self.known.iter_mut().find(|(known, _)| *known == pid) {
            Some((_, known)) if *known == hash => return,
            Some((_, known)) => *known = hash,
            None => self.known.push((pid, hash)),
        }
        let text = String::from_utf8_lossy(text).into_owned();
        for line in text.lines() {
            let Some((hierarchy, inside)) = self.locate(line) else {
                continue;
            };
            let top = hierarchy.mounted_at.clone();
            let mut directory = top.join(inside);
            let mut own = true;
            loop {
                self.add(&directory, own, buffer);
                own = false;
                if directory == top || !directory.pop() {
                    break;
                }
            }
        }
    }

    /// The hierarchy of a line of `/proc/PID/cgroup` that can restrain CPU or memory, and the path within what is mounted.
    fn locate(&self, line: &str) -> Option<(&Hierarchy, PathBuf)> {
        let mut parts = line.splitn(3, ':').skip(1);
        let (names, path) = (parts.next()?, parts.next()?);
        let matters = names.is_empty() || names.split(',').any(|n| matches!(n, "cpu" | "memory"));
        let hierarchy = self.hierarchies.iter().find(|h| {
            let first = names.split(',').next().unwrap_or_default();
            (names.is_empty() && h.controllers.is_empty())
                || h.controllers.iter().any(|c| c == first)
        })?;
        let inside = Path::new(path).strip_prefix(&hierarchy.root).ok()?;
        // A group beyond the root of our namespace cannot be reached through our mounts.
        let reachable = inside
            .components()
            .all(|part| part != std::path::Component::ParentDir);
        (matters && reachable).then(|| (hierarchy, inside.to_owned()))
    }

    fn add(&mut self, directory: &Path, own: bool, buffer: &mut [u8]) {
        let Ok(facts) = std::fs::metadata(directory) else {
            return;
        };
        let identity = (facts.dev(), facts.ino());
        if let Some(place) = self.places.iter_mut().find(|p| p.identity == identity) {
            place.own |= own;
            return;
        }
        if self.places.len() >= KEPT {
            return;
        }
        let files = Cgroup::open(&[directory]);
        let first = files.read(buffer);
        self.places.push(Place {
            directory: directory.to_owned(),
            identity,
            files,
            first,
            last: first,
            own,
        });
    }

    /// Reads all groups again. Counts of a removed group stay in the sums.
    pub fn read(&mut self, buffer: &mut [u8]) -> Restraint {
        let mut sum = Restraint::default();
        for place in &mut self.places {
            place.last = place.files.read(buffer).or(&place.last);
            let (first, last) = (&place.first, &place.last);
            let minus = u64::saturating_sub;
            add(
                &mut sum.throttled,
                first.throttled,
                last.throttled,
                Nanos::saturating_sub,
            );
            add(&mut sum.periods, first.periods, last.periods, minus);
            add(
                &mut sum.throttled_periods,
                first.throttled_periods,
                last.throttled_periods,
                minus,
            );
            if place.own {
                add(
                    &mut sum.limit_hits,
                    first.limit_hits,
                    last.limit_hits,
                    minus,
                );
                add(&mut sum.oom_kills, first.oom_kills, last.oom_kills, minus);
            }
        }
        sum
    }

    /// The groups whose quota cut periods short since they were first seen.
    pub fn throttled(&self) -> Vec<ThrottledGroup> {
        let gain = |a: Option<u64>, b: Option<u64>| b.unwrap_or(0).saturating_sub(a.unwrap_or(0));
        let groups = self.places.iter().map(|place| ThrottledGroup {
            cgroup: place.directory.display().to_string(),
            periods: gain(place.first.periods, place.last.periods),
            throttled_periods: gain(place.first.throttled_periods, place.last.throttled_periods),
            throttled_s: seconds(
                place
                    .last
                    .throttled
                    .unwrap_or_default()
                    .saturating_sub(place.first.throttled.unwrap_or_default()),
            ),
        });
        groups.filter(|group| group.throttled_periods > 0).collect()
    }
}

/// Whether a group has a CPU quota: `cpu.max` of version 2, or `cpu.cfs_quota_us` of version 1.
fn has_quota(directory: &Path) -> bool {
    let first = |name| {
        let text = std::fs::read_to_string(directory.join(name)).ok()?;
        text.split_whitespace().next()?.parse::<i64>().ok()
    };
    // Without a limit the word is `max`, or the number -1.
    first("cpu.max").or_else(|| first("cpu.cfs_quota_us")) > Some(0)
}

/// Adds a growth to a sum, which is there as soon as one group says something.
fn add<T: Default + AddAssign>(
    sum: &mut Option<T>,
    first: Option<T>,
    last: Option<T>,
    minus: fn(T, T) -> T,
) {
    if let (Some(first), Some(last)) = (first, last) {
        *sum.get_or_insert_default() += minus(last, first);
    }
}

/// A line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)), if it is a cgroup's.
fn hierarchy(line: &str) -> Option<Hierarchy> {
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    let kind = after.next()?;
    let options = after.nth(1).unwrap_or_default();
    let controllers = match kind {
        "cgroup2" => Vec::new(),
        "cgroup" => options
            .split(',')
            .filter(|o| !matches!(*o, "rw" | "ro"))
            .map(str::to_owned)
            .collect(),
        _ => return None,
    };
    let mut before = before.split(' ').skip(3);
    Some(Hierarchy {
        controllers,
        root: before.next()?.into(),
        mounted_at: before.next()?.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(mounts: &str) -> Groups {
        Groups {
            hierarchies: mounts.lines().filter_map(hierarchy).collect(),
            places: Vec::new(),
            known: Vec::new(),
        }
    }

    const BOTH: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
        40 31 0:30 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";

    fn directory(groups: &Groups, line: &str) -> Option<PathBuf> {
        groups
            .locate(line)
            .map(|(hierarchy, inside)| hierarchy.mounted_at.join(inside))
    }

    #[test]
    fn a_line_leads_to_its_directory() {
        let groups = groups(BOTH);
        let at = |line| directory(&groups, line);
        assert_eq!(
            at("3:cpu,cpuacct:/a.slice/b"),
            Some("/sys/fs/cgroup/cpu,cpuacct/a.slice/b".into())
        );
        assert_eq!(
            at("0::/user.slice"),
            Some("/sys/fs/cgroup/unified/user.slice".into())
        );
        assert_eq!(
            at("4:memory:/docker/ab/child"),
            Some("/sys/fs/cgroup/memory/child".into())
        );
    }

    #[test]
    fn what_is_outside_of_the_mounts_or_restrains_nothing_is_left_alone() {
        let groups = groups(BOTH);
        let at = |line| directory(&groups, line);
        assert_eq!(at("4:memory:/elsewhere"), None);
        assert_eq!(at("0::/../other"), None);
        assert_eq!(at("3:cpuacct:/a"), None);
        assert_eq!(at("8:pids:/a"), None);
    }

    #[test]
    fn a_quota_is_told_from_none() {
        let folder = std::env::temp_dir().join(format!("touchstone-quota-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (file, text, is_one) in [
            ("cpu.max", "max 100000\n", false),
            ("cpu.max", "50000 100000\n", true),
            ("cpu.cfs_quota_us", "-1\n", false),
            ("cpu.cfs_quota_us", "150000\n", true),
        ] {
            std::fs::write(folder.join(file), text).unwrap();
            assert_eq!(has_quota(&folder), is_one, "{file}: {text}");
            std::fs::remove_file(folder.join(file)).unwrap();
        }
        assert!(!has_quota(&folder));
        std::fs::remove_dir(folder).unwrap();
    }

    #[test]
    fn the_groups_of_this_process_and_those_above_are_read_once() {
        let mut buffer = [0; procfs::BUFFER];
        let mut groups = Groups::new(&[], &mut buffer);
        let pid = i32::try_from(std::process::id()).unwrap();
        groups.follow(pid, &mut buffer);
        let count = groups.places.len();
        groups.follow(pid, &mut buffer);
        assert_eq!(groups.places.len(), count);
        let first = groups.read(&mut buffer);
        let second = groups.read(&mut buffer);
        assert!(second.throttled >= first.throttled);
    }
}
