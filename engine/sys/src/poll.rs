//! Waiting for descriptors: ppoll, epoll, and a bell that wakes an epoll instance from another thread.

use crate::{count, done, own};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Something can be read, or the other end has closed.
    Read,
    /// Something can be written.
    Write,
    /// Either of these.
    Both,
}

/// Waits until a descriptor is ready; false when it was not in time.
#[must_use]
pub fn ready(fd: BorrowedFd<'_>, side: Side, patience: Duration) -> bool {
    let mut entry = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: match side {
            Side::Read => libc::POLLIN,
            Side::Write => libc::POLLOUT,
            Side::Both => libc::POLLIN | libc::POLLOUT,
        },
        revents: 0,
    };
    let time = timespec(patience);
    // SAFETY: one valid entry, a valid time, no signal mask.
    unsafe { libc::ppoll(&raw mut entry, 1, &raw const time, std::ptr::null()) > 0 }
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}

/// What an epoll instance tells of a descriptor.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Event(libc::epoll_event);

impl Event {
    /// Nothing, to make room with.
    pub const NONE: Self = Self(libc::epoll_event { events: 0, u64: 0 });

    /// The token of its registration.
    #[inline]
    #[must_use]
    pub fn token(&self) -> u64 {
        self.0.u64
    }

    #[inline]
    fn has(self, bits: i32) -> bool {
        self.0.events & bits as u32 != 0
    }

    /// There is something to read.
    #[inline]
    #[must_use]
    pub fn readable(&self) -> bool {
        self.has(libc::EPOLLIN)
    }

    /// There is room to write.
    #[inline]
    #[must_use]
    pub fn writable(&self) -> bool {
        self.has(libc::EPOLLOUT)
    }

    /// The other end writes no more.
    #[inline]
    #[must_use]
    pub fn ended(&self) -> bool {
        self.has(libc::EPOLLRDHUP)
    }

    /// An error, or closed on both sides.
    #[inline]
    #[must_use]
    pub fn failed(&self) -> bool {
        self.has(libc::EPOLLERR | libc::EPOLLHUP)
    }
}

/// An epoll instance.
pub struct Epoll {
    epoll: OwnedFd,
    fine: bool,
}

impl Epoll {
    /// An empty one.
    ///
    /// # Errors
    /// When the process may open no more files.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        let epoll = own(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        Ok(Self { epoll, fine: true })
    }

    /// Registers a descriptor for reading, level-triggered.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn add_reading(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        self.add(fd.as_fd(), token, libc::EPOLLIN)
    }

    /// Registers a connection once, for everything, edge-triggered.
    ///
    /// # Errors
    /// As [`Self::add_reading`].
    pub fn add_connection(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        let all = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        self.add(fd.as_fd(), token, all)
    }

    /// Registers a listener or a bell, edge-triggered.
    ///
    /// # Errors
    /// As [`Self::add_reading`].
    pub fn add_edge(&self, fd: impl AsFd, token: u64) -> io::Result<()> {
        self.add(fd.as_fd(), token, libc::EPOLLIN | libc::EPOLLET)
    }

    fn add(&self, fd: BorrowedFd<'_>, token: u64, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: token,
        };
        let fd = fd.as_raw_fd();
        // SAFETY: a valid event; the descriptor is open.
        done(unsafe {
            libc::epoll_ctl(
                self.epoll.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                fd,
                &raw mut event,
            )
        })
    }

    /// Waits for events, without end if `patience` is `None`; gives those that came. To the nanosecond where the kernel can
    /// (epoll_pwait2, Linux 5.11); before that through ppoll(2), which takes nanoseconds as well.
    #[inline]
    pub fn wait<'e>(&mut self, events: &'e mut [Event], patience: Option<Duration>) -> &'e [Event] {
        let time = patience.map(timespec);
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let n = if self.fine {
            self.wait_finely(events, time)
        } else {
            self.wait_by_ppoll(events, time)
        };
        &events[..n]
    }

    #[inline]
    fn wait_finely(&mut self, events: &mut [Event], time: *const libc::timespec) -> usize {
        let no_mask = std::ptr::null::<libc::sigset_t>();
        // SAFETY: room for the given number of events, a valid time or none, no signal mask.
        let n = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                events.as_mut_ptr(),
                events.len() as i32,
                time,
                no_mask,
                8,
            )
        };
        usize::try_from(n).unwrap_or_else(|_| {
            self.fine = io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS);
            0
        })
    }

    fn wait_by_ppoll(&self, events: &mut [Event], time: *const libc::timespec) -> usize {
        let fd = self.epoll.as_raw_fd();
        let mut entry = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one valid entry; room for the given number of events; `Event` is laid out as the kernel's.
        let n = unsafe {
            libc::ppoll(&raw mut entry, 1, time, std::ptr::null());
            libc::epoll_wait(fd, events.as_mut_ptr().cast(), events.len() as i32, 0)
        };
        usize::try_from(n).unwrap_or(0)
    }
}

/// A counter that wakes an epoll instance (eventfd(2)).
pub struct Bell(OwnedFd);

impl Bell {
    /// A silent one.
    ///
    /// # Errors
    /// When the process may open no more files.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no pointers.
        own(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) }).map(Self)
    }

    /// Wakes the threads that wait for it.
    pub fn ring(&self) {
        let one = 1u64;
        // SAFETY: eight valid bytes. A counter that is full has rung already.
        let _ = count(unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) });
    }

    /// Lets it be rung again.
    pub fn silence(&self) {
        let mut rung = 0u64;
        // SAFETY: room for eight bytes. One that has not been rung stays silent.
        let _ = count(unsafe { libc::read(self.0.as_raw_fd(), (&raw mut rung).cast(), 8) });
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Bell {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn woken(epoll: &mut Epoll) -> Vec<u64> {
        let mut events = [Event::NONE; 4];
        let came = epoll.wait(&mut events, Some(Duration::from_millis(1)));
        came.iter().map(Event::token).collect()
    }

    #[test]
    fn a_bell_wakes_until_it_is_silenced() {
        let (mut epoll, bell) = (Epoll::new().unwrap(), Bell::new().unwrap());
        epoll.add_reading(&bell, 7).unwrap();
        assert_eq!(woken(&mut epoll), []);
        bell.ring();
        assert_eq!(woken(&mut epoll), [7]);
        bell.silence();
        assert_eq!(woken(&mut epoll), []);
    }

    #[test]
    fn where_the_kernel_lacks_the_fine_wait_the_other_does_the_same() {
        let (mut epoll, bell) = (Epoll::new().unwrap(), Bell::new().unwrap());
        epoll.fine = false;
        epoll.add_edge(&bell, 9).unwrap();
        assert_eq!(woken(&mut epoll), []);
        bell.ring();
        assert_eq!(woken(&mut epoll), [9]);
        assert_eq!(woken(&mut epoll), [], "an edge comes once");
    }

    #[test]
    fn a_pipe_with_bytes_is_ready_and_one_without_is_not() {
        let (empty, _keep) = std::io::pipe().unwrap();
        let (full, mut write) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut write, b"x").unwrap();
        assert!(ready(full.as_fd(), Side::Read, Duration::ZERO));
        assert!(!ready(empty.as_fd(), Side::Read, Duration::ZERO));
    }
}
