//! The kernel interfaces that move the bytes. Each drives a [`Worker`], which knows them only as a
//! [`Wire`](crate::wire::Wire).

use crate::connector::Connector;
use crate::error::Error;
use crate::job::{BackendChoice, Job};
use crate::target::Target;
use crate::worker::Worker;

pub mod epoll;
pub mod tls;
#[expect(
    unsafe_code,
    reason = "the kernel and this process share the rings and their buffers"
)]
pub mod uring;

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
            BackendChoice::IoUring if target.url.tls => Err(Error::Job(
                "https goes over epoll only: leave the backend to auto".to_owned(),
            )),
            BackendChoice::IoUring => uring::probe().map(|()| Self::Uring),
            // Where every request has a connection of its own, or needs TLS, the gain is gone.
            BackendChoice::Auto if target.url.tls || !job.keepalive || uring::probe().is_err() => {
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
        Backend::Epoll if target.url.tls => {
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
