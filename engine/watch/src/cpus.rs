//! Binding threads to CPUs.

use std::io;

/// These CPUs as the kernel takes them; numbers beyond its set (`CPU_SETSIZE`, 1,024) are dropped.
#[must_use]
pub fn set(cpus: &[usize]) -> libc::cpu_set_t {
    // SAFETY: an all-zero set is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the number lies within the set.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    set
}

/// Binds the calling thread, and those that it starts from here on, to these CPUs.
///
/// # Errors
/// What the kernel answers when the machine, or the set that the process may use, has none of them.
pub fn bind(cpus: &[usize]) -> io::Result<()> {
    let set = set(cpus);
    // SAFETY: a valid set and its size; 0 is the calling thread.
    if unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The CPUs of the calling thread.
    fn bound() -> Vec<usize> {
        let mut set = set(&[]);
        // SAFETY: room for a set of the given size; every number asked for lies within it.
        unsafe {
            libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
            (0..libc::CPU_SETSIZE as usize)
                .filter(|cpu| libc::CPU_ISSET(*cpu, &set))
                .collect()
        }
    }

    #[test]
    fn a_thread_is_bound_to_what_the_machine_has_and_no_more() {
        std::thread::spawn(|| {
            let last = *bound().last().unwrap();
            bind(&[last, 1_000_000]).unwrap();
            assert_eq!(bound(), [last]);
            assert!(bind(&[1_000_000]).is_err());
            assert_eq!(bound(), [last]);
        })
        .join()
        .unwrap();
    }
}
