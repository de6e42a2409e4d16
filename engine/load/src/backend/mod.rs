//! The kernel interfaces that move the bytes. Each drives a [`Worker`], which knows them only as a
//! [`Wire`](crate::wire::Wire).

use crate::connector::Connector;
use crate::error::Error;
use crate::job::{BackendChoice, Job};
use crate::target::Target;
use crate::worker::Worker;
use layer::Layer;
use secured::Secured;
use touchstone_tls::Materials;

pub mod epoll;
pub mod layer;
pub mod secured;
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
            BackendChoice::IoUring => uring::probe().map(|()| Self::Uring),
            // Where connections are not kept, or need TLS, the gain is gone.
            BackendChoice::Auto
                if target.url.tls
                    || !job.keepalive
                    || job.requests_per_connection.is_some()
                    || uring::probe().is_err() =>
            {
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

/// Drives a worker until its run is over, over TLS where that is given.
///
/// # Errors
/// [`Error`] if the backend cannot be set up.
pub fn drive(
    backend: Backend,
    worker: &mut Worker,
    connector: Connector,
    tls: Option<&Materials>,
) -> Result<(), Error> {
    let Some(tls) = tls else {
        return run(backend, worker, connector);
    };
    let mut secured = Secured::new(worker, &tls.settings()?);
    run(backend, &mut secured, connector)?;
    secured.finish();
    Ok(())
}

fn run<L: Layer>(backend: Backend, layer: &mut L, connector: Connector) -> Result<(), Error> {
    match backend {
        Backend::Epoll => {
            epoll::drive(layer, &mut epoll::EpollWire::new(connector)?);
            Ok(())
        }
        Backend::Uring => uring::drive(layer, connector),
    }
}
