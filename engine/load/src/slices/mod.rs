//! Several contenders loaded in turn: connections to all of them stay open, and time is cut into slices.
//!
//! Each contender has its own threads, all on the engine's CPUs; a [`gate`] lets those of one through at a time. The
//! lab sends [`order`]s while the job goes on, and sees a [`record`] after each slice.

pub mod contender;
pub mod event;
pub mod gate;
pub mod job;
pub mod order;
pub mod part;
pub mod record;
pub mod result;
mod run;

pub use self::run::{SlicesControl, run};
