//! One process that takes the place of another: the relay before both, and what they hold together.

use crate::job::{Job, Successor};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use touchstone_exchange::JobError;
use touchstone_relay::Relay;
use touchstone_sys::poll::Bell;
use touchstone_watch::{Depth, Phase, Sampler, Target};

/// A relay before the process that is ended, and later before its successor, on a thread of its own.
pub(crate) struct Relayed {
    /// Where clients connect to.
    pub address: SocketAddr,
    bell: Arc<Bell>,
    /// Each address that new connections are led to, and where that is acknowledged. Its end ends the thread.
    orders: Option<Sender<(SocketAddr, Sender<()>)>>,
    thread: Option<JoinHandle<()>>,
}

impl Relayed {
    /// A relay before this address if the job's successor listens at another one.
    ///
    /// # Errors
    /// When the machine has no port for it.
    pub fn start(job: &Job, to: SocketAddr) -> Result<Option<Self>, JobError> {
        let elsewhere = job.successor.as_ref().and_then(|one| one.address);
        elsewhere
            .map(|_| Self::before(to).map_err(|error| JobError::Engine(format!("relay: {error}"))))
            .transpose()
    }

    fn before(to: SocketAddr) -> io::Result<Self> {
        let bell = Arc::new(Bell::new()?);
        let mut relay = Relay::listen(&SocketAddr::new(to.ip(), 0), &bell)?;
        relay.lead_to(to);
        let address = relay.address()?;
        let (orders, taken) = channel::<(SocketAddr, Sender<()>)>();
        let rung = Arc::clone(&bell);
        let thread = std::thread::spawn(move || {
            loop {
                if !relay.turn(&rung) {
                    continue;
                }
                let Ok((to, done)) = taken.recv() else {
                    return;
                };
                relay.lead_to(to);
                // Nobody waits for it any more if the job has failed meanwhile.
                let _ = done.send(());
            }
        });
        Ok(Self {
            address,
            bell,
            orders: Some(orders),
            thread: Some(thread),
        })
    }

    /// Leads new connections to the successor from now on.
    ///
    /// # Errors
    /// When the relay has ended.
    pub fn lead_to_successor(&self, successor: &Successor) -> Result<(), JobError> {
        let ended = || JobError::Engine("the relay before the service ended".into());
        let address = successor.address.ok_or_else(ended)?;
        let (done, acknowledged) = channel();
        let orders = self.orders.as_ref().ok_or_else(ended)?;
        orders.send((address, done)).map_err(|_| ended())?;
        self.bell.ring();
        acknowledged.recv().map_err(|_| ended())
    }
}

impl Drop for Relayed {
    fn drop(&mut self) {
        drop(self.orders.take());
        self.bell.ring();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Memory of the process that is ended, and of both together. Bytes; `None` is "not read".
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub one: Option<u64>,
    pub both: Option<u64>,
}

/// Reads it on a thread of its own: page tables take longer than the time between two requests.
pub(crate) fn memory_of_both(job: &Job) -> Option<JoinHandle<Memory>> {
    let pids = [job.pid, job.successor.as_ref()?.pid];
    Some(std::thread::spawn(move || {
        let trees = pids.map(|pid| {
            let target = Target {
                pid,
                ..Target::default()
            };
            let sampler = Sampler::new(&target).ok();
            sampler.map(|mut one| one.sample(Depth::Deep, Phase::default()).resources)
        });
        let [Some(old), Some(new)] = trees else {
            return Memory {
                one: None,
                both: None,
            };
        };
        // The second process maps the same files. Its anonymous memory comes on top.
        let own = new.anon.map(|anon| anon + new.swap.unwrap_or(0));
        Memory {
            one: old.footprint,
            both: old.footprint.zip(own).map(|(one, own)| one + own),
        }
    }))
}
