//! The echo: `GET /echo` and `GET /echo?id=N` are answered after an exact delay, and everything is counted. It stands for
//! whatever a service calls.

mod control;
mod service;
mod settings;
mod stats;
mod wheel;

pub use settings::Settings;

use crate::Place;
use crate::socket;
use crate::worker::Worker;
use service::Echo;
use settings::FaultCell;
use stats::Stats;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use touchstone_sys::cpus;
use touchstone_sys::poll::Bell;
use touchstone_sys::process::exact_timers;
use touchstone_sys::socket::Stream;

/// What workers and control share.
pub(crate) struct Shared {
    settings: Settings,
    stats: Stats,
    fault: FaultCell,
    stopping: AtomicBool,
    bells: Vec<Arc<Bell>>,
}

impl Shared {
    fn ring(&self) {
        self.bells.iter().for_each(|bell| bell.ring());
    }
}

/// A running echo. Dropping it stops it.
pub struct Server {
    address: SocketAddr,
    control: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Bound and never listening: keeps the port while connections are refused.
    _reserved: Stream,
}

impl Server {
    /// Listens and serves; `control_port` 0 lets the kernel choose.
    ///
    /// # Errors
    /// When an address cannot be bound or a thread not be started.
    pub fn start(place: &Place, control_port: u16, settings: Settings) -> io::Result<Self> {
        let reserved = socket::bind(&place.address)?;
        let address = reserved.local_address()?;
        let control = TcpListener::bind(SocketAddr::new(address.ip(), control_port))?;
        let workers = place.workers.max(1);
        let bells = (0..workers)
            .map(|_| Bell::new().map(Arc::new))
            .collect::<io::Result<Vec<_>>>()?;
        let shared = Arc::new(Shared {
            settings,
            stats: Stats::new(workers),
            fault: FaultCell::default(),
            stopping: AtomicBool::new(false),
            bells,
        });
        let control_address = control.local_addr()?;
        let mut server = Self {
            address,
            control: control_address,
            shared,
            threads: Vec::new(),
            _reserved: reserved,
        };
        for number in 0..workers {
            let rebind = move || socket::listen(&address);
            let service = Echo::new(number, Arc::clone(&server.shared));
            let bell = Arc::clone(&server.shared.bells[number]);
            let worker = Worker::new(service, rebind()?, bell, Box::new(rebind))?;
            let cpu = place.cpus.get(number % place.cpus.len().max(1)).copied();
            server.spawn(format!("echo-{number}"), move || {
                if cpu.is_some_and(|cpu| cpus::bind(&[cpu]).is_err()) {
                    eprintln!("worker {number} cannot be bound to CPU {cpu:?}: it runs where the scheduler puts it");
                }
                // The default slack of timers, 50 us, would make every answer late by as much.
                exact_timers();
                worker.run();
            })?;
        }
        let shared = Arc::clone(&server.shared);
        server.spawn("control".into(), move || control::serve(&control, &shared))?;
        Ok(server)
    }

    /// Where `/echo` is.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where control stays reachable whatever the fault.
    #[must_use]
    pub fn control(&self) -> SocketAddr {
        self.control
    }

    fn spawn(&mut self, name: String, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.threads
            .push(std::thread::Builder::new().name(name).spawn(work)?);
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.ring();
        // Wakes the control thread.
        drop(TcpStream::connect(self.control));
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
