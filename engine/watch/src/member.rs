//! One process of the watched tree and its open files.

use crate::procfs::{self, PathBuffer};
use crate::{clock, machine};
use std::os::fd::{AsRawFd, OwnedFd};

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

    /// Neither zombie nor dead.
    pub fn alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// What one process has used, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cpu {
    pub total_ns: u64,
    pub user_ns: u64,
    pub system_ns: u64,
}

impl Cpu {
    pub fn add(&mut self, other: Self) {
        self.total_ns += other.total_ns;
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
    }

    pub fn minus(self, other: Self) -> Self {
        Self {
            total_ns: self.total_ns.saturating_sub(other.total_ns),
            user_ns: self.user_ns.saturating_sub(other.user_ns),
            system_ns: self.system_ns.saturating_sub(other.system_ns),
        }
    }
}

/// Memory that only a walk over the page tables tells, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    pub pss: Option<u64>,
    pub anon: Option<u64>,
    pub swap: Option<u64>,
    pub vm_peak: Option<u64>,
    pub vm_hwm: Option<u64>,
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
    stat_file: OwnedFd,
    status_file: Option<OwnedFd>,
    fd_directory: Option<OwnedFd>,
}

impl Member {
    /// Opens the files of a process; `None` when it has gone.
    pub fn open(pid: i32, buffer: &mut [u8]) -> Option<Self> {
        let stat_file = procfs::open(&PathBuffer::process(pid, "stat"), libc::O_RDONLY)?;
        let stat = Stat::parse(procfs::read(&stat_file, buffer)?)?;
        let mut member = Self {
            pid,
            stat,
            cpu: Cpu::default(),
            reaped: Cpu::default(),
            reaped_gain: Cpu::default(),
            stat_file,
            status_file: procfs::open(&PathBuffer::process(pid, "status"), libc::O_RDONLY),
            fd_directory: procfs::open(
                &PathBuffer::process(pid, "fd"),
                libc::O_PATH | libc::O_DIRECTORY,
            ),
        };
        member.account();
        member.reaped_gain = Cpu::default();
        Some(member)
    }

    /// Reads `stat` and the CPU clock anew; false when the process has gone (a zombie has not).
    pub fn refresh(&mut self, buffer: &mut [u8]) -> bool {
        let Some(stat) = procfs::read(&self.stat_file, buffer).and_then(Stat::parse) else {
            return false;
        };
        self.stat = stat;
        self.account();
        true
    }

    fn account(&mut self) {
        let tick = machine::tick_ns();
        let stat = &self.stat;
        let own_ticks = (stat.user + stat.system) * tick;
        // A zombie's CPU clock reads 0; its ticks stay.
        let own = clock::process_cpu_ns(self.pid)
            .filter(|ns| *ns > 0 && stat.alive())
            .unwrap_or(own_ticks);
        let reaped = Cpu {
            total_ns: (stat.reaped_user + stat.reaped_system) * tick,
            user_ns: stat.reaped_user * tick,
            system_ns: stat.reaped_system * tick,
        };
        self.reaped_gain = reaped.minus(self.reaped);
        self.reaped = reaped;
        self.cpu = Cpu {
            total_ns: own + reaped.total_ns,
            user_ns: stat.user * tick + reaped.user_ns,
            system_ns: stat.system * tick + reaped.system_ns,
        };
    }

    /// Open descriptors. The directory's size is their number since Linux 6.2; before, and without permission, `None`.
    pub fn descriptors(&self) -> Option<u32> {
        let directory = self.fd_directory.as_ref()?;
        // SAFETY: an all-zero stat is a valid value to be overwritten, and fstat writes at most one.
        let mut facts: libc::stat = unsafe { std::mem::zeroed() };
        let done = unsafe { libc::fstat(directory.as_raw_fd(), &raw mut facts) };
        (done == 0 && facts.st_size > 0).then(|| u32::try_from(facts.st_size).unwrap_or(u32::MAX))
    }

    /// Walks the page tables through `smaps_rollup`, and reads `status`.
    pub fn memory(&self, buffer: &mut [u8]) -> Memory {
        let mut memory = Memory::default();
        // Opened each time: the open file is bound to the address space of that moment, and an exec brings a new one.
        if let Some(text) =
            procfs::read_once(&PathBuffer::process(self.pid, "smaps_rollup"), buffer)
        {
            let bytes = |key: &[u8]| procfs::field(text, key).map(|kb| kb * 1024);
            memory.pss = bytes(b"Pss");
            memory.anon = bytes(b"Anonymous");
            memory.swap = bytes(b"Swap");
        }
        if let Some(text) = self
            .status_file
            .as_ref()
            .and_then(|file| procfs::read(file, buffer))
        {
            let bytes = |key: &[u8]| procfs::field(text, key).map(|kb| kb * 1024);
            memory.vm_peak = bytes(b"VmPeak");
            memory.vm_hwm = bytes(b"VmHWM");
        }
        memory
    }
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
    fn the_own_process_is_read_with_fine_cpu_time() {
        let mut buffer = [0; procfs::BUFFER];
        let mut member = Member::open(std::process::id() as i32, &mut buffer).unwrap();
        assert!(member.refresh(&mut buffer));
        // Far finer than a tick: the test has hardly run.
        assert_ne!(member.cpu.total_ns % machine::tick_ns(), 0);
        assert!(member.stat.rss_pages > 0 && member.descriptors().is_none_or(|n| n >= 3));
        let memory = member.memory(&mut buffer);
        assert!(memory.pss > Some(0) && memory.vm_peak > memory.vm_hwm);
    }
}
