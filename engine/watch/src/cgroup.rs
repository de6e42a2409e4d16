//! The cgroup files of a contender, version 2 or 1: memory, its limit, and throttled CPU time.

use crate::procfs;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::Path;
use touchstone_sys::clock::Nanos;
use touchstone_sys::file;

/// One reading. Bytes, counts and times; `None` where no file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CgroupReading {
    /// Memory charged now (page cache included).
    pub memory: Option<u64>,
    /// The most that was ever charged.
    pub memory_peak: Option<u64>,
    /// The limit; `None` also when there is none.
    pub memory_limit: Option<u64>,
    /// How often the limit was hit.
    pub limit_hits: Option<u64>,
    /// Processes killed for want of memory.
    pub oom_kills: Option<u64>,
    /// CPU time used.
    pub cpu: Option<Nanos>,
    /// Time for which tasks were kept off the CPU by a quota.
    pub throttled: Option<Nanos>,
    /// Periods of the quota, while there was something to run.
    pub periods: Option<u64>,
    /// How many of them were cut short.
    pub throttled_periods: Option<u64>,
}

impl CgroupReading {
    /// What this reading lacks, from an earlier one.
    #[must_use]
    pub fn or(self, earlier: &Self) -> Self {
        Self {
            memory: self.memory.or(earlier.memory),
            memory_peak: self.memory_peak.or(earlier.memory_peak),
            memory_limit: self.memory_limit.or(earlier.memory_limit),
            limit_hits: self.limit_hits.or(earlier.limit_hits),
            oom_kills: self.oom_kills.or(earlier.oom_kills),
            cpu: self.cpu.or(earlier.cpu),
            throttled: self.throttled.or(earlier.throttled),
            periods: self.periods.or(earlier.periods),
            throttled_periods: self.throttled_periods.or(earlier.throttled_periods),
        }
    }
}

/// A file in one of its two spellings, and how its number is found.
struct Source {
    file: OwnedFd,
    key: &'static [u8],
    scale: u64,
    into: fn(&mut CgroupReading, u64),
}

/// The files of one or more cgroup directories, kept open.
#[derive(Default)]
pub struct Cgroup {
    sources: Vec<Source>,
    /// The list of processes; with version 1, that of the first controller, since all are joined alike.
    processes: Option<OwnedFd>,
}

type Entry = (
    &'static str,
    &'static [u8],
    u64,
    fn(&mut CgroupReading, u64),
);

/// Version 2 first in each pair; a directory has only the files of its own version and controllers.
const FILES: &[Entry] = &[
    ("memory.current", b"", 1, |r, v| r.memory = Some(v)),
    ("memory.usage_in_bytes", b"", 1, |r, v| r.memory = Some(v)),
    ("memory.peak", b"", 1, |r, v| r.memory_peak = Some(v)),
    ("memory.max_usage_in_bytes", b"", 1, |r, v| {
        r.memory_peak = Some(v)
    }),
    ("memory.max", b"", 1, |r, v| r.memory_limit = Some(v)),
    ("memory.limit_in_bytes", b"", 1, |r, v| {
        r.memory_limit = below_unlimited(v)
    }),
    ("memory.events", b"max", 1, |r, v| r.limit_hits = Some(v)),
    ("memory.failcnt", b"", 1, |r, v| r.limit_hits = Some(v)),
    ("memory.events", b"oom_kill", 1, |r, v| {
        r.oom_kills = Some(v)
    }),
    ("memory.oom_control", b"oom_kill", 1, |r, v| {
        r.oom_kills = Some(v)
    }),
    ("cpu.stat", b"usage_usec", 1000, |r, v| {
        r.cpu = Some(Nanos(v))
    }),
    ("cpuacct.usage", b"", 1, |r, v| r.cpu = Some(Nanos(v))),
    ("cpu.stat", b"throttled_usec", 1000, |r, v| {
        r.throttled = Some(Nanos(v))
    }),
    ("cpu.stat", b"throttled_time", 1, |r, v| {
        r.throttled = Some(Nanos(v))
    }),
    ("cpu.stat", b"nr_periods", 1, |r, v| r.periods = Some(v)),
    ("cpu.stat", b"nr_throttled", 1, |r, v| {
        r.throttled_periods = Some(v)
    }),
];

/// CPU time by CPU, which only version 1 counts, against a beginning.
pub struct CpuTimes {
    file: OwnedFd,
    begin: Vec<u64>,
}

impl CpuTimes {
    /// Reads the first of the directories that counts so. `None` if none does.
    pub fn open(directories: &[std::path::PathBuf], buffer: &mut [u8]) -> Option<Self> {
        let file = directories.iter().find_map(|directory| {
            let path = directory.join("cpuacct.usage_percpu");
            let path = CString::new(path.into_os_string().into_encoded_bytes()).ok()?;
            file::open(&path)
        })?;
        let begin = Self::read(&file, buffer)?;
        Some(Self { file, begin })
    }

    /// CPU time used since it was opened, on those CPUs that `counts` picks.
    pub fn since_begin(&self, buffer: &mut [u8], counts: impl Fn(usize) -> bool) -> Option<Nanos> {
        let now = Self::read(&self.file, buffer)?;
        let used = self.begin.iter().zip(now).enumerate();
        Some(
            used.filter(|(cpu, _)| counts(*cpu))
                .map(|(_, (begin, now))| Nanos(now.saturating_sub(*begin)))
                .sum(),
        )
    }

    /// `None` also where the buffer does not hold all of it.
    fn read(file: &OwnedFd, buffer: &mut [u8]) -> Option<Vec<u64>> {
        let text = file::read(file, buffer)?;
        text.ends_with(b"\n")
            .then(|| procfs::numbers(text).collect())
    }
}

/// Version 1 writes "no limit" as the largest page-aligned number.
fn below_unlimited(value: u64) -> Option<u64> {
    (value < u64::MAX >> 2).then_some(value)
}

impl Cgroup {
    /// Opens whatever files the directories have. A directory without any is not an error: nothing is read from it.
    pub fn open<P: AsRef<Path>>(directories: &[P]) -> Self {
        let mut sources = Vec::new();
        let mut processes = None;
        for directory in directories {
            let list = directory.as_ref().join("cgroup.procs");
            if let Ok(path) = CString::new(list.into_os_string().into_encoded_bytes()) {
                processes = processes.or_else(|| file::open(&path));
            }
            for (name, key, scale, into) in FILES {
                let path = directory.as_ref().join(name);
                let Ok(path) = CString::new(path.into_os_string().into_encoded_bytes()) else {
                    continue;
                };
                if let Some(opened) = file::open(&path) {
                    sources.push(Source {
                        file: opened,
                        key,
                        scale: *scale,
                        into: *into,
                    });
                }
            }
        }
        Self { sources, processes }
    }

    /// Puts the pids of the group's processes into `pids`, ascending. Only as many as fit into the buffer.
    pub fn members(&self, buffer: &mut [u8], pids: &mut Vec<i32>) {
        pids.clear();
        let text = self
            .processes
            .as_ref()
            .and_then(|file| file::read(file, buffer));
        let lines = text.unwrap_or_default().split(|byte| *byte == b'\n');
        pids.extend(lines.filter_map(|line| i32::try_from(procfs::number(line)?).ok()));
        pids.sort_unstable();
    }

    /// Reads all files again.
    pub fn read(&self, buffer: &mut [u8]) -> CgroupReading {
        let mut reading = CgroupReading::default();
        for source in &self.sources {
            let Some(text) = file::read(&source.file, buffer) else {
                continue;
            };
            let value = if source.key.is_empty() {
                procfs::number(text)
            } else {
                procfs::field(text, source.key)
            };
            if let Some(value) = value {
                (source.into)(&mut reading, value.saturating_mul(source.scale));
            }
        }
        reading
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
        let path =
            std::env::temp_dir().join(format!("touchstone-cgroup-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for (file, text) in files {
            std::fs::write(path.join(file), text).unwrap();
        }
        path
    }

    #[test]
    fn version_2_files_are_understood() {
        let path = directory(
            "v2",
            &[
                ("memory.current", "4096\n"),
                ("memory.max", "max\n"),
                ("memory.events", "low 0\nhigh 0\nmax 5\noom 1\noom_kill 1\n"),
                (
                    "cpu.stat",
                    "usage_usec 20\nuser_usec 10\nnr_throttled 3\nthrottled_usec 7\n",
                ),
            ],
        );
        let reading = Cgroup::open(&[&path]).read(&mut [0; procfs::BUFFER]);
        std::fs::remove_dir_all(path).unwrap();
        assert_eq!((reading.memory, reading.memory_limit), (Some(4096), None));
        assert_eq!((reading.limit_hits, reading.oom_kills), (Some(5), Some(1)));
        assert_eq!(
            (reading.cpu, reading.throttled),
            (Some(Nanos(20_000)), Some(Nanos(7_000)))
        );
    }

    #[test]
    fn version_1_files_are_understood_over_several_directories() {
        let memory = directory(
            "v1-memory",
            &[
                ("memory.usage_in_bytes", "8192\n"),
                ("memory.limit_in_bytes", "9223372036854771712\n"),
                (
                    "memory.oom_control",
                    "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
                ),
            ],
        );
        let cpu = directory(
            "v1-cpu",
            &[(
                "cpu.stat",
                "nr_periods 4\nnr_throttled 1\nthrottled_time 99\n",
            )],
        );
        let reading = Cgroup::open(&[&memory, &cpu]).read(&mut [0; procfs::BUFFER]);
        std::fs::remove_dir_all(memory).unwrap();
        std::fs::remove_dir_all(cpu).unwrap();
        assert_eq!((reading.memory, reading.memory_limit), (Some(8192), None));
        assert_eq!(
            (reading.oom_kills, reading.throttled),
            (Some(2), Some(Nanos(99)))
        );
        assert_eq!(
            (reading.periods, reading.throttled_periods),
            (Some(4), Some(1))
        );
    }

    #[test]
    fn cpu_time_is_counted_by_cpu_from_the_beginning() {
        let path = directory("percpu", &[("cpuacct.usage_percpu", "100 200 300 \n")]);
        let mut buffer = [0; procfs::BUFFER];
        let times = CpuTimes::open(std::slice::from_ref(&path), &mut buffer).unwrap();
        std::fs::write(path.join("cpuacct.usage_percpu"), "105 260 300 \n").unwrap();
        assert_eq!(
            times.since_begin(&mut buffer, |cpu| cpu != 0),
            Some(Nanos(60))
        );
        std::fs::write(path.join("cpuacct.usage_percpu"), "105 26").unwrap();
        assert_eq!(times.since_begin(&mut buffer, |_| true), None);
        std::fs::remove_dir_all(path).unwrap();
    }
}
