//! Servers that the lab itself needs: the null server (the tare) and the delayed echo (the downstream).
//!
//! Both are a [`worker::Worker`] a thread, each with its own `SO_REUSEPORT` listener and epoll instance, around a
//! [`worker::Service`] that says what is answered.

#![forbid(unsafe_code)]

pub mod echo;
mod h2;
mod head;
pub mod null;
mod response;
mod route;
mod socket;
mod tls;
mod websocket;
mod worker;

pub use response::Canned;
pub use route::{Route, RouteError, Routes};
pub use tls::{make_certificate, server_config};

use std::net::SocketAddr;

/// Where and with how many threads a server runs.
#[derive(Debug, Clone)]
pub struct Place {
    /// Address to listen on; port 0 lets the kernel choose.
    pub address: SocketAddr,
    /// Threads.
    pub workers: usize,
    /// CPUs, one for each worker in turn; empty leaves the threads to the scheduler.
    pub cpus: Vec<usize>,
}
