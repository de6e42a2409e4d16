//! A small HTTP/1.1 server for the probe's tests: right by default, wrong on purpose by switches.

mod body;
mod fault;
mod grammar;
mod head;
mod server;

pub use fault::Fault;
pub use server::Rig;
