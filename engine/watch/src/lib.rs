//! Watching a process tree: memory, CPU, threads and descriptors, and catching a first response.
//!
//! * [`Sampler`] reads one [`Sample`] of a whole process tree when it is asked to (polled).
//! * [`Watcher`] runs a sampler on a thread of its own, at a fixed interval, and turns what it saw into
//!   the `watch` and `machine` objects of the protocol (`docs/engine-protocol.md`).
//! * [`cpus`] and [`files`] are what every part of the engine also settles for itself: where its threads run, and how
//!   many files it may open.
//!
//! Linux only: everything comes from `/proc`, the process CPU clock and the cgroup files.

pub mod cgroup;
pub mod clock;
pub mod cpus;
pub mod files;
pub mod machine;
mod member;
mod procfs;
pub mod report;
pub mod sample;
mod sampler;
mod tree;
mod watcher;

pub use clock::monotonic_ns;
pub use machine::{Machine, MachineReading};
pub use report::{Cost, Exit, Point, Report, Snapshot, Watch, Window};
pub use sample::{Depth, Phase, Resources, Sample};
pub use sampler::{Sampler, Target, WatchError};
pub use watcher::{Watcher, WatcherSettings};
