//! One process of the watched tree and its open files.

use crate::procfs::{self, PathBuffer};
use crate::sample::DescriptorUse;
use std::os::fd::OwnedFd;
use touchstone_sys::clock::Nanos;
use touchstone_sys::{clock, file};

/// The parts of `/proc/PID/stat` that matter here (proc_pid_stat(5)); times in ticks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stat {
    pub state: u8,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    pub major_faults: u64,
    pub user: u64,
    pub system: u64,
    pub reaped_user: u64,
    pub reaped_system: u64,
    pub threads: u32,
    pub started: u64,
    pub rss_pages: u64,
    /// The CPU on which its first thread has run last.
    pub processor: usize,
    pub exit_code: i32,
}

impl Stat {
    /// Parses a whole line; the command may hold spaces and brackets, so fields count from the last `)`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let after = text.iter().rposition(|b| *b == b')')? + 2;
        let mut fields = text.get(after..)?.split(|b| *b == b' ');
        let state = *fields.next()?.first()?;
        let mut stat = Self {
            state,
            ..Self::default()
        };
        // The next field is number 4 of the manual page.
        for (number, word) in (4..).zip(fields) {
            let value = procfs::number(word).unwrap_or(0);
            let signed = i32::try_from(value).unwrap_or(0);
            match number {
                4 => stat.parent = signed,
                5 => stat.group = signed,
                6 => stat.session = signed,
                12 | 13 => stat.major_faults += value,
                14 => stat.user = value,
                15 => stat.system = value,
                16 => stat.reaped_user = value,
                17 => stat.reaped_system = value,
                20 => stat.threads = u32::try_from(value).unwrap_or(u32::MAX),
                22 => stat.started = value,
                24 => stat.rss_pages = value,
                39 => stat.processor = usize::try_from(value).unwrap_or(usize::MAX),
                52 => stat.exit_code = signed,
                _ => {}
            }
        }
        (stat.started > 0 || stat.parent == 0).then_some(stat)
    }

    /// Opens, reads and parses the file of a process.
    pub fn of(pid: i32, buffer: &mut [u8]) -> Option<Self> {
        Self::parse(procfs::read_once(
            &PathBuffer::process(pid, "stat"),
            buffer,
        )?)
    }

    /// The same of one thread of a process.
    pub fn of_thread(pid: i32, tid: i32, buffer: &mut [u8]) -> Option<Self> {
        Self::parse(procfs::read_once(
            &PathBuffer::thread(pid, tid, "stat"),
            buffer,
        )?)
    }

    /// Neither zombie nor dead.
    pub fn alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// CPU time that one process has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cpu {
    pub total: Nanos,
    pub user: Nanos,
    pub system: Nanos,
}

impl Cpu {
    pub fn add(&mut self, other: Self) {
        self.total += other.total;
        self.user += other.user;
        self.system += other.system;
    }

    pub fn minus(self, other: Self) -> Self {
        Self {
            total: self.total.saturating_sub(other.total),
            user: self.user.saturating_sub(other.user),
            system: self.system.saturating_sub(other.system),
        }
    }
}

/// Memory that only a walk over the page tables tells, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    pub rss: Option<u64>,
    pub pss: Option<u64>,
    /// The part of `pss` that is files' pages: programs, libraries, mapped data.
    pub pss_file: Option<u64>,
    /// Those pages, whole.
    pub rss_file: Option<u64>,
    pub anon: Option<u64>,
    pub swap: Option<u64>,
    pub vm_peak: Option<u64>,
    pub vm_hwm: Option<u64>,
}

impl Memory {
    /// What several processes hold with shared pages counted once, where this holds the sums of their parts, and the
    /// largest `rss_file` of one. PSS counts of a file's page a part alone where processes outside map it as well, such as
    /// the library of another service's same runtime: at least what one of them maps is theirs.
    pub fn of_several(&self) -> Option<u64> {
        let shared_outside = self.rss_file.zip(self.pss_file);
        Some(self.pss? + shared_outside.map_or(0, |(whole, part)| whole.saturating_sub(part)))
    }
}

/// A process of the tree.
pub struct Member {
    pub pid: i32,
    pub stat: Stat,
    /// Own CPU time and that of reaped children, at the last reading.
    pub cpu: Cpu,
    /// The reaped children's part of it.
    pub reaped: Cpu,
    /// How much `reaped` grew at the last reading.
    pub reaped_gain: Cpu,
    /// How many files it may open; read with deep samples.
    fd_limit: Option<u64>,
    stat_file: OwnedFd,
    status_file: Option<OwnedFd>,
    fd_directory: Option<OwnedFd>,
}

impl Member {
    /// Opens the files of a process; `None` when it has gone.
    pub fn open(pid: i32, buffer: &mut [u8]) -> Option<Self> {
        let stat_file = PathBuffer::process(pid, "stat").open()?;
        let stat = Stat::parse(file::read(&stat_file, buffer)?)?;
        let mut member = Self {
            pid,
            stat,
            cpu: Cpu::default(),
            reaped: Cpu::default(),
            reaped_gain: Cpu::default(),
            fd_limit: None,
            stat_file,
            status_file: PathBuffer::process(pid, "status").open(),
            fd_directory: file::open_place(PathBuffer::process(pid, "fd").as_c_str()),
        };
        member.account();
        member.reaped_gain = Cpu::default();
        member.read_limits(buffer);
        Some(member)
    }

    /// Reads `stat` and the CPU clock again; false when the process has gone (a zombie has not).
    pub fn refresh(&mut self, buffer: &mut [u8]) -> bool {
        let Some(stat) = file::read(&self.stat_file, buffer).and_then(Stat::parse) else {
            return false;
        };
        self.stat = stat;
        self.account();
        true
    }

    /// Own CPU time at the last reading.
    pub fn own(&self) -> Nanos {
        self.cpu.minus(self.reaped).total
    }

    fn account(&mut self) {
        let tick = clock::tick();
        let stat = &self.stat;
        let own_ticks = tick * (stat.user + stat.system);
        // A zombie's CPU clock reads 0; its ticks stay.
        let own = clock::process_cpu(self.pid)
            .filter(|time| *time > Nanos::ZERO && stat.alive())
            .unwrap_or(own_ticks);
        let reaped = Cpu {
            total: tick * (stat.reaped_user + stat.reaped_system),
            user: tick * stat.reaped_user,
            system: tick * stat.reaped_system,
        };
        self.reaped_gain = reaped.minus(self.reaped);
        self.reaped = reaped;
        self.cpu = Cpu {
            total: own + reaped.total,
            user: tick * stat.user + reaped.user,
            system: tick * stat.system + reaped.system,
        };
    }

    /// Open descriptors. The directory's size is their number since Linux 6.2; before, and without permission, `None`.
    pub fn descriptors(&self) -> Option<u32> {
        let entries = file::size(self.fd_directory.as_ref()?).filter(|n| *n > 0)?;
        Some(u32::try_from(entries).unwrap_or(u32::MAX))
    }

    /// Its open descriptors and how many it may have.
    pub fn descriptor_use(&self) -> Option<DescriptorUse> {
        Some(DescriptorUse {
            open: self.descriptors()?,
            limit: self.fd_limit?,
        })
    }

    /// Reads its limit of open files again: a process may change it at any time.
    pub fn read_limits(&mut self, buffer: &mut [u8]) {
        let text = procfs::read_once(&PathBuffer::process(self.pid, "limits"), buffer);
        self.fd_limit = text.and_then(soft_limit_of_files).or(self.fd_limit);
    }

    /// Walks the page tables through `smaps_rollup`, and reads `status`.
    pub fn memory(&self, buffer: &mut [u8]) -> Memory {
        let mut memory = Memory::default();
        // Opened each time: the open file is bound to the address space of that moment, and an exec brings a new one.
        if let Some(text) =
            procfs::read_once(&PathBuffer::process(self.pid, "smaps_rollup"), buffer)
        {
            let bytes = |key: &[u8]| procfs::field(text, key).map(|kb| kb * 1024);
            memory.rss = bytes(b"Rss");
            memory.pss = bytes(b"Pss");
            memory.pss_file = bytes(b"Pss_File");
            memory.anon = bytes(b"Anonymous");
            memory.swap = bytes(b"Swap");
        }
        if let Some(text) = self
            .status_file
            .as_ref()
            .and_then(|file| file::read(file, buffer))
        {
            let bytes = |key: &[u8]| procfs::field(text, key).map(|kb| kb * 1024);
            memory.vm_peak = bytes(b"VmPeak");
            memory.vm_hwm = bytes(b"VmHWM");
            memory.rss_file = bytes(b"RssFile");
        }
        memory
    }
}

/// The soft limit of open files in `/proc/PID/limits` (proc_pid_limits(5)).
fn soft_limit_of_files(text: &[u8]) -> Option<u64> {
    let line = text
        .split(|b| *b == b'\n')
        .find_map(|line| line.strip_prefix(b"Max open files"))?;
    procfs::number(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_with_brackets_and_spaces_does_not_shift_the_fields() {
        let line = b"42 (a) b) S 7 42 42 0 -1 0 1 2 3 4 50 60 70 80 20 0 9 0 12345 1000 77 0";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.parent, stat.group, stat.session), (7, 42, 42));
        assert_eq!(
            (stat.major_faults, stat.user, stat.reaped_system),
            (7, 50, 80)
        );
        assert_eq!((stat.threads, stat.started, stat.rss_pages), (9, 12345, 77));
    }

    #[test]
    fn the_soft_limit_of_open_files_is_the_first_number() {
        let text =
            b"Max processes  7  8  processes\nMax open files            1024   20000   files\n";
        assert_eq!(soft_limit_of_files(text), Some(1024));
        assert_eq!(
            soft_limit_of_files(b"Max open files   unlimited  unlimited  files"),
            None
        );
    }

    #[test]
    fn the_own_process_is_read_with_fine_cpu_time() {
        let mut buffer = [0; procfs::BUFFER];
        let mut member = Member::open(std::process::id() as i32, &mut buffer).unwrap();
        assert!(member.refresh(&mut buffer));
        // Far finer than a tick: the test has hardly run.
        assert_ne!(member.cpu.total.0 % clock::tick().0, 0);
        assert!(member.stat.rss_pages > 0 && member.descriptors().is_none_or(|n| n >= 3));
        let memory = member.memory(&mut buffer);
        assert!(memory.pss > Some(0) && memory.vm_peak > memory.vm_hwm);
        assert!(memory.pss <= memory.rss && memory.anon <= memory.rss);
        let descriptors = member.descriptor_use();
        assert!(descriptors.is_none_or(|used| u64::from(used.open) < used.limit));
    }
}
