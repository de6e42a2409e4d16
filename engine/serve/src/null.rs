//! The null server: canned responses at the least cost. The same load on it is the ceiling of generator, kernel and
//! machine.

use crate::Place;
use crate::head::Request;
use crate::route::Routes;
use crate::socket;
use crate::tls::ServerConfig;
use crate::worker::{Order, Peer, Service, Worker};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use touchstone_sys::cpus;
use touchstone_sys::poll::Bell;

struct Null {
    routes: Arc<Routes>,
    tls: Option<Arc<ServerConfig>>,
}

impl Service for Null {
    fn request(&mut self, _peer: Peer, request: &Request<'_>, out: &mut Vec<u8>) {
        self.routes.answer(request, out);
    }

    fn answers_at_once(&self) -> bool {
        true
    }

    fn tls(&self) -> Option<Arc<ServerConfig>> {
        self.tls.clone()
    }

    fn order(&mut self) -> Order {
        // The bell rings once, at the end.
        Order::Stop
    }
}

/// A running null server. Dropping it stops it.
pub struct Server {
    address: SocketAddr,
    bells: Vec<Arc<Bell>>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Listens and serves, over TLS if its settings are given.
    ///
    /// # Errors
    /// When the address cannot be bound or a thread not be started.
    pub fn start(
        place: &Place,
        routes: Routes,
        tls: Option<Arc<ServerConfig>>,
    ) -> io::Result<Self> {
        let routes = Arc::new(routes);
        let first = socket::bind(&place.address)?;
        let address = first.local_address()?;
        let mut sockets = vec![first];
        for _ in 1..place.workers.max(1) {
            sockets.push(socket::bind(&address)?);
        }
        let mut server = Self {
            address,
            bells: Vec::new(),
            threads: Vec::new(),
        };
        for (number, socket) in sockets.into_iter().enumerate() {
            let bell = Arc::new(Bell::new()?);
            let service = Null {
                routes: Arc::clone(&routes),
                tls: tls.clone(),
            };
            let rebind = Box::new(move || socket::listen(&address));
            let worker = Worker::new(service, socket.listen()?, Arc::clone(&bell), rebind)?;
            let cpu = place.cpus.get(number % place.cpus.len().max(1)).copied();
            server.bells.push(bell);
            server.threads.push(std::thread::Builder::new().name(format!("null-{number}")).spawn(move || {
                if cpu.is_some_and(|cpu| cpus::bind(&[cpu]).is_err()) {
                    eprintln!("worker {number} cannot be bound to CPU {cpu:?}: it runs where the scheduler puts it");
                }
                worker.run();
            })?);
        }
        Ok(server)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.bells.iter().for_each(|bell| bell.ring());
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
