//! Ending a service under load: SIGTERM, and what became of every request and connection until the process has ended.
//!
//! One thread sends requests at a fixed rate over kept connections, as a client with a connection pool does, and holds
//! others open that rest, are silent, or have sent half of a request. It sends SIGTERM itself, so that signal, requests
//! and the end of the process are on one clock. [`job::Job`] is what goes in, [`result::StopResult`] what comes out,
//! [`outcome`] how a request that got no response is classified.

#![forbid(unsafe_code)]

mod client;
mod connection;
mod handover;
pub mod job;
mod outcome;
pub mod result;
mod run;
mod streams;
mod tally;

pub use job::Job;
pub use result::StopResult;
pub use run::stop;
