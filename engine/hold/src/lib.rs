//! Holding many connections, and reading the memory of server and kernel at each level.
//!
//! One process may open no more files than its limit, so the connections are held by child processes
//! ([`client`]), each with its share and its own source addresses, or by processes on other machines ([`generators`]). The
//! parent ([`run`]) raises them level by level, reads
//! the memory of the server's process trees ([`server`]) and of the kernel ([`kernel`]), and refuses a level that the
//! machine's memory would not hold ([`budget`]).

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
mod source;

pub use event::Event;
pub use job::{Job, JobError, Mode};
pub use result::HoldResult;
pub use run::hold;
pub use serve::serve;
