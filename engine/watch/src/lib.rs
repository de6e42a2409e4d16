//! Watching a process tree: memory, CPU, threads and descriptors, and catching a first response.
//!
//! * [`Sampler`] reads one [`Sample`] of a whole process tree when it is asked to (polled).
//! * [`Watcher`] runs a sampler on a thread of its own, at a fixed interval, and turns its samples into
//!   the `watch` and `machine` objects of the protocol (`docs/engine-protocol.md`).
//!
//! Linux only: everything comes from `/proc`, the process CPU clock and the cgroup files.

#![forbid(unsafe_code)]

pub mod cgroup;
pub mod dependencies;
pub mod disk;
mod exit;
pub mod groups;
pub mod machine;
mod member;
pub mod network;
pub mod other_processes;
pub mod placement;
mod procfs;
pub mod quotas;
pub mod report;
mod roster;
pub mod sample;
mod sampler;
pub mod speed;
mod target;
pub mod timeline;
mod tree;
pub mod wall_clock;
mod watcher;

pub use dependencies::{Dependencies, DependencyTimes};
pub use disk::DiskWatch;
pub use exit::Exit;
pub use machine::{Machine, MachineReading};
pub use network::Sent;
pub use other_processes::{OtherProcess, OtherProcesses, ProcessTimes};
pub use report::{Cost, Point, Report, Snapshot, Watch, Window};
pub use sample::{Depth, Phase, Resources, Sample};
pub use sampler::Sampler;
pub use speed::{SpeedReading, SpeedWatch};
pub use target::{Dependency, Target, WatchError};
pub use touchstone_sys::clock::{self, Nanos, monotonic};
pub use touchstone_sys::{cpus, limits as files};
pub use watcher::{Watcher, WatcherSettings};
