//! The kernel interfaces that move the bytes. The logic of a worker knows only [`Wire`].

use std::io;
use std::os::fd::RawFd;

use crate::connector::Connector;
use crate::error::Error;
use crate::job::{BackendChoice, Job};
use crate::target::Target;
use crate::worker::Worker;

pub mod epoll;
pub mod tls;
pub mod uring;

/// What a worker asks of its backend.
pub trait Wire {
    /// Begins a connection in a slot: its socket, and whether it is established already.
    ///
    /// # Errors
    /// What the kernel answered.
    fn open(&mut self, slot: u32, generation: u32) -> io::Result<(RawFd, bool)>;

    /// Sends bytes, or as many as the socket takes. `lasting` says that they stay where they are for the whole run.
    ///
    /// # Errors
    /// What the kernel answered; a full socket is `Ok(0)`.
    fn send(&mut self, slot: u32, fd: RawFd, bytes: &[u8], lasting: bool) -> io::Result<usize>;

    /// Closes the slot's socket.
    fn close(&mut self, slot: u32, fd: RawFd);

    /// System calls so far.
    fn syscalls(&self) -> u64;
}

/// A backend that is to be had here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// Edge-triggered epoll.
    Epoll,
    /// `io_uring` with multishot receive.
    Uring,
}

impl Backend {
    /// The backend for a job: as asked, or the cheaper of those that the kernel allows.
    ///
    /// # Errors
    /// [`Error::Job`] or [`Error::System`] if `io_uring` is demanded and cannot be had.
    pub fn choose(job: &Job, target: &Target) -> Result<Self, Error> {
        match job.backend {
            BackendChoice::Epoll => Ok(Self::Epoll),
            BackendChoice::IoUring if target.tls => Err(Error::Job(
                "https goes over epoll only: leave the backend to auto".to_owned(),
            )),
            BackendChoice::IoUring => uring::probe().map(|()| Self::Uring),
            // Where every request has a connection of its own, or needs TLS, the gain is gone.
            BackendChoice::Auto if target.tls || !job.keepalive || uring::probe().is_err() => {
                Ok(Self::Epoll)
            }
            BackendChoice::Auto => Ok(Self::Uring),
        }
    }

    /// Its name in the protocol.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Epoll => "epoll",
            Self::Uring => "io_uring",
        }
    }
}

/// Drives a worker until its run is over.
///
/// # Errors
/// [`Error`] if the backend cannot be set up.
pub fn drive(
    backend: Backend,
    worker: &mut Worker,
    connector: Connector,
    job: &Job,
    target: &Target,
) -> Result<(), Error> {
    match backend {
        Backend::Epoll if target.tls => {
            let inner = epoll::EpollWire::new(connector)?;
            let mut wire = tls::TlsWire::new(inner, &job.tls, target, worker.slots())?;
            tls::drive(worker, &mut wire);
            Ok(())
        }
        Backend::Epoll => {
            epoll::drive(worker, &mut epoll::EpollWire::new(connector)?);
            Ok(())
        }
        Backend::Uring => uring::drive(worker, connector),
    }
}
