//! What works for the watched tree in processes of its own: databases, brokers, downstreams.

use crate::sampler::Sampler;
use crate::target::{Dependency, Target, WatchError};
use std::collections::BTreeMap;
use touchstone_sys::clock::{Nanos, seconds};

/// The CPU clocks of dependencies: read when asked for, without a thread of their own.
#[derive(Default)]
pub struct Dependencies {
    trees: Vec<(Dependency, Sampler)>,
}

/// CPU time of each tree so far, in the order of the dependencies.
pub type DependencyTimes = Vec<Nanos>;

impl Dependencies {
    /// Opens the trees; one that is named twice is read once.
    ///
    /// # Errors
    /// [`WatchError`] if one of the processes does not exist or `/proc` cannot be read.
    pub fn open<'a>(wanted: impl IntoIterator<Item = &'a Dependency>) -> Result<Self, WatchError> {
        let mut trees: Vec<(Dependency, Sampler)> = Vec::new();
        for dependency in wanted {
            if trees.iter().any(|(known, _)| known == dependency) {
                continue;
            }
            let target = Target {
                pid: dependency.pid,
                ..Target::default()
            };
            trees.push((dependency.clone(), Sampler::new(&target)?));
        }
        Ok(Self { trees })
    }

    /// CPU time so far, to the precision of the processes' CPU clocks.
    pub fn read(&mut self) -> DependencyTimes {
        self.trees.iter_mut().map(|(_, tree)| tree.cpu()).collect()
    }

    /// Whether a process belongs to one of the trees.
    #[must_use]
    pub fn contain(&self, pid: i32) -> bool {
        let mut trees = self.trees.iter();
        trees.any(|(_, tree)| tree.known_pids().any(|known| known == pid))
    }

    /// Seconds of CPU between two readings, by name, of those that `counts` says; `None` if there are none.
    #[must_use]
    pub fn between(
        &self,
        before: &DependencyTimes,
        after: &DependencyTimes,
        counts: impl Fn(&Dependency) -> bool,
    ) -> Option<BTreeMap<String, f64>> {
        let mut used = BTreeMap::new();
        for (((dependency, _), before), after) in self.trees.iter().zip(before).zip(after) {
            if counts(dependency) {
                *used.entry(dependency.name.clone()).or_default() +=
                    seconds(after.saturating_sub(*before));
            }
        }
        (!used.is_empty()).then_some(used)
    }
}
