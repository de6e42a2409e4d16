//! On which CPUs threads may run.

use crate::done;
use std::io;

/// A set of CPUs, as the kernel takes it.
#[derive(Clone, Copy)]
pub struct CpuSet(libc::cpu_set_t);

const MOST: usize = libc::CPU_SETSIZE as usize;

impl CpuSet {
    /// These CPUs; numbers beyond the kernel's set (`CPU_SETSIZE`, 1,024) are dropped.
    #[must_use]
    pub fn of(cpus: &[usize]) -> Self {
        // SAFETY: an all-zero set is the empty set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        for &cpu in cpus.iter().filter(|cpu| **cpu < MOST) {
            // SAFETY: the number lies within the set.
            unsafe { libc::CPU_SET(cpu, &mut set) };
        }
        Self(set)
    }

    /// Those on which a thread may run; 0 is the calling one. `None` when it has gone.
    #[must_use]
    pub fn of_thread(tid: i32) -> Option<Self> {
        let mut set = Self::of(&[]);
        let room = size_of_val(&set.0);
        // SAFETY: room for a set of the given size.
        done(unsafe { libc::sched_getaffinity(tid, room, &raw mut set.0) }).ok()?;
        Some(set)
    }

    /// Whether it has this CPU.
    #[must_use]
    pub fn has(&self, cpu: usize) -> bool {
        // SAFETY: the number lies within the set.
        cpu < MOST && unsafe { libc::CPU_ISSET(cpu, &self.0) }
    }

    /// The numbers in it, ascending.
    #[must_use]
    pub fn numbers(&self) -> Vec<usize> {
        (0..MOST).filter(|cpu| self.has(*cpu)).collect()
    }

    /// Whether it has no CPU but these, each of which is named once.
    #[must_use]
    pub fn is_within(&self, cpus: &[usize]) -> bool {
        // SAFETY: a valid set.
        let all = usize::try_from(unsafe { libc::CPU_COUNT(&self.0) }).unwrap_or(0);
        cpus.iter().filter(|cpu| self.has(**cpu)).count() == all
    }

    /// Binds the calling thread, and those that it starts from here on.
    ///
    /// # Errors
    /// What the kernel answers when the machine, or the set that the process may use, has none of them.
    pub fn bind(&self) -> io::Result<()> {
        // SAFETY: a valid set and its size; 0 is the calling thread.
        done(unsafe { libc::sched_setaffinity(0, size_of_val(&self.0), &raw const self.0) })
    }
}

/// Binds the calling thread, and those that it starts from here on, to these CPUs.
///
/// # Errors
/// As [`CpuSet::bind`].
pub fn bind(cpus: &[usize]) -> io::Result<()> {
    CpuSet::of(cpus).bind()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> CpuSet {
        CpuSet::of_thread(0).unwrap()
    }

    #[test]
    fn a_thread_is_bound_to_what_the_machine_has_and_no_more() {
        std::thread::spawn(|| {
            let last = *own().numbers().last().unwrap();
            bind(&[last, 1_000_000]).unwrap();
            assert_eq!(own().numbers(), [last]);
            assert!(own().is_within(&[last]));
            assert!(!own().is_within(&[last + 1, 1_000_000]));
            assert!(bind(&[1_000_000]).is_err());
            assert_eq!(own().numbers(), [last]);
        })
        .join()
        .unwrap();
    }
}
