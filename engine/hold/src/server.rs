//! The server's memory: the sum over its process trees.

use crate::kernel::file_limit;
use crate::result::Memory;
use std::path::PathBuf;
use touchstone_exchange::JobError;
use touchstone_watch::{Depth, Exit, Phase, Sample, Sampler, Target};

/// Samplers of several roots.
pub struct Trees {
    samplers: Vec<Sampler>,
}

impl Trees {
    /// Opens the trees; a root that lies within another's tree is counted there and left out here.
    pub fn open(roots: &[i32], cgroup_paths: &[PathBuf]) -> Result<Self, JobError> {
        let mut samplers: Vec<Sampler> = Vec::new();
        for (number, &pid) in roots.iter().enumerate() {
            if samplers.iter().any(|s| s.pids().any(|known| known == pid)) {
                continue;
            }
            // A cgroup holds all processes of the server, so it is read once.
            let cgroup_paths = if number == 0 {
                cgroup_paths.to_vec()
            } else {
                Vec::new()
            };
            let target = Target {
                pid,
                cgroup_paths,
                ..Target::default()
            };
            let mut sampler = Sampler::new(&target).map_err(|e| JobError::Engine(e.to_string()))?;
            sampler.sample(Depth::Deep, Phase::Idle);
            samplers.push(sampler);
        }
        Ok(Self { samplers })
    }

    /// Reads all trees; a sum lacks no part, or is none.
    pub fn read(&mut self, depth: Depth) -> Memory {
        let samples: Vec<Sample> = self
            .samplers
            .iter_mut()
            .map(|s| s.sample(depth, Phase::Load))
            .collect();
        Memory::sum(&samples)
    }

    /// The first root that was seen to have ended.
    pub fn exited(&self) -> Option<Exit> {
        self.samplers.iter().find_map(Sampler::exited)
    }

    /// How many connections the server's processes may hold by their limits of open files.
    pub fn capacity(&self) -> Option<u64> {
        let limits = self.samplers.iter().flat_map(Sampler::pids).map(file_limit);
        limits.sum::<Option<u64>>()
    }
}
