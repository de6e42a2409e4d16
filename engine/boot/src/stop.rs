//! Ending a process tree so that nothing is left.

use crate::result::Stopped;
use std::time::Duration;
use touchstone_sys::clock::{Nanos, monotonic};
use touchstone_sys::process::{self, Signal, group_of, signal, signal_group};
use touchstone_watch::Exit;
use touchstone_watch::{Depth, Phase, Sampler};

/// How the tree ended.
pub struct Ending {
    pub how: Stopped,
    pub exit: Option<Exit>,
    /// From the first signal until nothing was left.
    pub took: Nanos,
    /// Processes that even SIGKILL did not end in time.
    pub left: Vec<i32>,
}

/// Between looks at the tree.
const LOOK: Duration = Duration::from_millis(1);
/// What SIGKILL cannot end within this hangs in the kernel.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// SIGTERM to the whole tree, SIGKILL to what is left after `patience`; reaps those that are children of the caller.
pub fn stop(sampler: &mut Sampler, root: i32, patience: Duration) -> Ending {
    let begin = monotonic();
    let mut exit = reap(sampler, root);
    let mut how = Stopped::Exited;
    if !living(sampler).is_empty() {
        how = Stopped::Sigterm;
        send(sampler, root, Signal::Terminate);
        exit = exit.or(wait(sampler, root, patience));
    }
    if !living(sampler).is_empty() {
        how = Stopped::Sigkill;
        let deadline = monotonic() + KILL_PATIENCE.into();
        while !living(sampler).is_empty() && monotonic() < deadline {
            // Again and again: a process may have forked between the look and the signal.
            send(sampler, root, Signal::Kill);
            exit = exit.or(wait(sampler, root, Duration::from_millis(50)));
        }
    }
    exit = exit.or_else(|| reap(sampler, root));
    Ending {
        how,
        exit,
        took: monotonic() - begin,
        left: living(sampler),
    }
}

/// Pids of the tree that live now.
pub fn living(sampler: &mut Sampler) -> Vec<i32> {
    sampler.scan_now();
    sampler.sample(Depth::Shallow, Phase::Idle);
    sampler.pids().collect()
}

/// To the root's process group, and to members that have left it. Who has ended meanwhile needs no signal.
fn send(sampler: &Sampler, root: i32, sent: Signal) {
    // The group is the root's own, made at the fork.
    let _ = signal_group(root, sent);
    for pid in sampler.pids() {
        if group_of(pid).is_some_and(|group| group != root) {
            let _ = signal(pid, sent);
        }
    }
}

fn wait(sampler: &mut Sampler, root: i32, patience: Duration) -> Option<Exit> {
    let deadline = monotonic().saturating_add(patience.into());
    let mut exit = None;
    loop {
        exit = exit.or_else(|| reap(sampler, root));
        if living(sampler).is_empty() || monotonic() >= deadline {
            return exit;
        }
        std::thread::sleep(LOOK);
    }
}

/// Reaps the ended members that are the caller's children, and only those; gives the root's exit.
fn reap(sampler: &mut Sampler, root: i32) -> Option<Exit> {
    sampler.sample(Depth::Shallow, Phase::Idle);
    let mut exit = None;
    for pid in sampler.known_pids().chain([root]).collect::<Vec<_>>() {
        if let Some(ending) = process::reap(pid).filter(|_| pid == root) {
            exit = Some(Exit::new(pid, Some(ending), monotonic()));
        }
    }
    exit
}
