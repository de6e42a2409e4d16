//! A crew: processes that each do a part of one job, because one may open no more files than its limit, or because the work
//! is spread over several machines.
//!
//! A coordinator starts or reaches each as a [`Peer`], tells it what to do and hears what comes of it, in lines of JSON.
//! [`room`] and [`part`] say how much is whose, [`Sources`] and [`Ports`] from where it connects.

#![forbid(unsafe_code)]

mod peer;
mod ports;
mod share;
mod sources;

pub use peer::{Heard, Peer, say};
pub use ports::Ports;
pub use share::{part, room};
pub use sources::{PER_SOURCE, Sources};
