//! Starting a server and timing its first valid response.
//!
//! The clock starts in the child, immediately before `execve`, and stops when the last byte of a response that is what
//! the job expects has been read. See [`job::Job`] for what goes in and [`result::BootResult`] for what comes out.

#![forbid(unsafe_code)]

mod cache;
mod container;
pub mod event;
pub mod job;
mod listener;
mod poll;
pub mod result;
mod run;
mod spawn;
mod stop;

pub use event::Event;
pub use job::Job;
pub use result::BootResult;
pub use run::{boot, boot_with};
