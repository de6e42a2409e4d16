//! Several contenders loaded in turn: connections to all of them stay open, and time is cut into slices.
//!
//! Each contender has its own [`crew`]: threads on the engine's CPUs, where a [`gate`] lets those of one through at a time,
//! or processes on other machines that have such threads. The lab sends [`order`]s while the job goes on, and sees a
//! [`record`] after each slice.

pub mod contender;
pub mod crew;
pub mod event;
pub mod gate;
pub mod job;
pub mod local;
pub mod order;
pub mod part;
pub mod record;
pub mod remote;
pub mod result;
mod run;
pub(crate) mod serve;

pub use self::run::{SlicesControl, run};
