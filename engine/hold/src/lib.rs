//! Holding many connections, and reading the memory of server and kernel at each level.
//!
//! One process may open no more files than its limit, so the connections are held by a [`crew`] of processes ([`client`]),
//! each with its share and its own source addresses, here or on other machines ([`generators`]). [`run`] raises the
//! connections level by level, reads the memory of the server's process trees ([`server`]) and of the kernel ([`kernel`]),
//! and refuses a level that the machine's memory would not hold ([`budget`]).

#![forbid(unsafe_code)]

mod budget;
mod client;
mod crew;
pub mod event;
pub mod generators;
pub mod job;
pub mod kernel;
mod order;
pub mod result;
mod run;
mod serve;
mod server;

pub use event::Event;
pub use job::{Job, Mode};
pub use result::HoldResult;
pub use run::hold;
pub use serve::serve;
