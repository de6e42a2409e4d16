//! The bounds of a server: how long it keeps a connection that is quiet, how many responses it gives on one, and how
//! large a request's head may be.
//!
//! Nothing is loaded: each bound is looked for with single requests, each on a connection of its own, while quiet
//! connections are watched. [`job::Job`] is what goes in, [`result::BoundsResult`] what comes out.

#![forbid(unsafe_code)]

mod client;
pub mod job;
mod quiet;
pub mod result;
mod run;
mod search;

pub use job::Job;
pub use result::BoundsResult;
pub use run::bounds;
