//! Samples of a process tree, taken when asked for.

use crate::cgroup::{Cgroup, CpuTimes};
use crate::exit::Exit;
use crate::groups::{Groups, Restraint, ThrottledGroup};
use crate::member::{Cpu, Member, Memory, Stat};
use crate::placement::{Placement, PlacementLog};
use crate::procfs::BUFFER;
use crate::roster::Roster;
use crate::sample::{Depth, DescriptorUse, Phase, Resources, Sample};
use crate::target::{Target, WatchError};
use crate::tree::{Bounds, ProcessList};
use touchstone_sys::clock::{Nanos, monotonic, thread_cpu};
use touchstone_sys::process::page_bytes;

/// Scanning `/proc` for new processes may take at most this share of the time, as 1/N.
const SCAN_SHARE: u64 = 100;
/// Scans after which processes known as others are looked at again: they may have changed their group.
const OTHERS_AGAIN: u32 = 16;

/// Reads a process tree. Files stay open between samples, buffers are kept, and nothing is allocated per sample unless
/// the tree has grown.
pub struct Sampler {
    bounds: Bounds,
    cgroup: Cgroup,
    groups: Groups,
    restraint: Restraint,
    placement: PlacementLog,
    members: Vec<Member>,
    others: Vec<i32>,
    /// Processes that the cgroup lists.
    listed: Vec<i32>,
    list: ProcessList,
    buffer: Box<[u8; BUFFER]>,
    /// What processes took with them that no living member has inherited.
    departed: Cpu,
    departed_faults: u64,
    ended: Nanos,
    highest: Cpu,
    faults: u64,
    page: u64,
    next_scan: Nanos,
    scans: u32,
    exit: Option<Exit>,
}

impl Sampler {
    /// Opens the files of the tree as it is now.
    ///
    /// # Errors
    /// When the root does not exist or `/proc` cannot be read.
    pub fn new(target: &Target) -> Result<Self, WatchError> {
        let list = ProcessList::open().ok_or(WatchError::NoProc)?;
        let mut buffer = Box::new([0; BUFFER]);
        let root = Member::open(target.pid, buffer.as_mut_slice())
            .ok_or(WatchError::NoProcess { pid: target.pid })?;
        let leads = |id: i32| (id == target.pid).then_some(id);
        let bounds = Bounds {
            root: target.pid,
            group: leads(root.stat.group),
            session: leads(root.stat.session),
            subreaper: target.subreaper,
            since: root.stat.started,
        };
        let mut members = Vec::with_capacity(64);
        members.push(root);
        let times = CpuTimes::open(&target.cgroup_paths, buffer.as_mut_slice());
        Ok(Self {
            bounds,
            cgroup: Cgroup::open(&target.cgroup_paths),
            groups: Groups::new(&target.cgroup_paths, buffer.as_mut_slice()),
            restraint: Restraint::default(),
            placement: PlacementLog::new(&target.allowed_cpus, times),
            members,
            others: Vec::with_capacity(1024),
            listed: Vec::with_capacity(1024),
            list,
            buffer,
            departed: Cpu::default(),
            departed_faults: 0,
            ended: Nanos::ZERO,
            highest: Cpu::default(),
            faults: 0,
            page: page_bytes(),
            next_scan: Nanos::ZERO,
            scans: 0,
            exit: None,
        })
    }

    /// CPU time of the tree until now, without a look at anything else.
    pub fn cpu(&mut self) -> Nanos {
        self.scan_if_due(Depth::Shallow);
        self.refresh(monotonic());
        self.highest.total = self.highest.total.max(self.roster().cpu());
        self.highest.total
    }

    /// Takes one sample. After the root's exit, what is left of the tree is still sampled.
    pub fn sample(&mut self, depth: Depth, phase: Phase) -> Sample {
        let at = monotonic();
        self.scan_if_due(depth);
        self.refresh(at);
        let mut sample = Sample {
            at,
            phase,
            resources: self.holdings(),
            ..Sample::default()
        };
        sample.cpu = self.highest.total;
        sample.user = self.highest.user;
        sample.system = self.highest.system;
        sample.major_faults = self.faults;
        sample.ended = self.ended;
        sample.fullest = self.fullest();
        sample.cgroup = self.cgroup.read(self.buffer.as_mut_slice());
        if depth == Depth::Deep {
            self.walk(&mut sample.resources);
            self.look_around();
        }
        let buffer = self.buffer.as_mut_slice();
        self.placement.observe(&self.members, depth, at, buffer);
        sample.restraint = self.restraint;
        sample
    }

    /// Whether threads went beyond the CPUs that the tree was given; `None` where that was not said.
    #[must_use]
    pub fn placement(&self, origin: Nanos) -> Option<Placement> {
        self.placement.report(origin)
    }

    /// The cgroups of the tree's processes whose quota cut periods short.
    #[must_use]
    pub fn throttled(&self) -> Vec<ThrottledGroup> {
        self.groups.throttled()
    }

    /// How the root ended, if it has: seen at a sample. Its own parent may still reap it; the sampler does not.
    #[must_use]
    pub fn exited(&self) -> Option<Exit> {
        self.exit
    }

    /// Pids of the living members, the root first while it lives.
    pub fn pids(&self) -> impl Iterator<Item = i32> + '_ {
        self.members
            .iter()
            .filter(|m| m.stat.alive())
            .map(|m| m.pid)
    }

    /// Pids of all members, ended ones that have not been reaped included.
    pub fn known_pids(&self) -> impl Iterator<Item = i32> + '_ {
        self.members.iter().map(|m| m.pid)
    }

    /// The members and their CPU time as the last sample saw them, from which it can be read on.
    pub(crate) fn roster(&self) -> Roster {
        let members: Vec<(i32, Nanos)> = self
            .members
            .iter()
            .map(|member| (member.pid, member.own()))
            .collect();
        let own: Nanos = members.iter().map(|(_, own)| *own).sum();
        Roster {
            members,
            rest: self.highest.total.saturating_sub(own),
        }
    }

    /// Has the next sample look for new processes, however lately that was done.
    pub fn scan_now(&mut self) {
        self.next_scan = Nanos::ZERO;
    }

    fn scan_if_due(&mut self, depth: Depth) {
        if monotonic() >= self.next_scan || depth == Depth::Deep {
            let before = thread_cpu();
            self.scan();
            // CPU time, not elapsed time: a thread that waits for its CPU costs nothing.
            let took = thread_cpu().saturating_sub(before);
            self.next_scan = monotonic() + took * SCAN_SHARE;
        }
    }

    /// Adds processes that have come to belong to the tree; grandchildren of the same scan included.
    fn scan(&mut self) {
        self.scans = self.scans.wrapping_add(1);
        if self.scans.is_multiple_of(OTHERS_AGAIN) {
            self.others.clear();
        }
        let Self {
            list,
            members,
            others,
            listed,
            cgroup,
            bounds,
            buffer,
            ..
        } = self;
        let pids = list.read();
        cgroup.members(buffer.as_mut_slice(), listed);
        others.retain(|pid| pids.binary_search(pid).is_ok() && listed.binary_search(pid).is_err());
        loop {
            let before = members.len();
            for &pid in pids {
                let known =
                    members.iter().any(|m| m.pid == pid) || others.binary_search(&pid).is_ok();
                if known {
                    continue;
                }
                let Some(stat) = Stat::of(pid, buffer.as_mut_slice()) else {
                    continue;
                };
                if listed.binary_search(&pid).is_ok()
                    || bounds.contain(pid, &stat, |parent| members.iter().any(|m| m.pid == parent))
                {
                    members.extend(Member::open(pid, buffer.as_mut_slice()));
                } else if let Err(place) = others.binary_search(&pid) {
                    others.insert(place, pid);
                }
            }
            if members.len() == before {
                break;
            }
            // A child may have a lower pid than its parent when pids have wrapped: look at the other processes once more.
            others.clear();
        }
    }

    /// Reads all members again, drops those that have gone, and keeps their CPU time unless a parent inherited it.
    fn refresh(&mut self, at: Nanos) {
        let Self {
            members,
            buffer,
            departed,
            departed_faults,
            ended,
            exit,
            bounds,
            ..
        } = self;
        let mut gone = Cpu::default();
        let mut gone_faults = 0;
        members.retain_mut(|member| {
            let present = member.refresh(buffer.as_mut_slice());
            if member.pid == bounds.root && exit.is_none() && !(present && member.stat.alive()) {
                *exit = Some(Exit::observe(
                    member.pid,
                    present.then_some(member.stat.exit_code),
                    at,
                ));
            }
            if !present {
                gone.add(member.cpu);
                *ended = (*ended).max(member.cpu.total);
                gone_faults += member.stat.major_faults;
            }
            present
        });
        let mut inherited = Cpu::default();
        let mut now = Cpu::default();
        let mut faults = 0;
        for member in members.iter() {
            inherited.add(member.reaped_gain);
            now.add(member.cpu);
            faults += member.stat.major_faults;
        }
        departed.add(gone.minus(inherited));
        if inherited == Cpu::default() {
            *departed_faults += gone_faults;
        }
        now.add(*departed);
        self.highest = Cpu {
            total: self.highest.total.max(now.total),
            user: self.highest.user.max(now.user),
            system: self.highest.system.max(now.system),
        };
        self.faults = self.faults.max(faults + self.departed_faults);
    }

    /// What `stat` and the descriptors' directory tell.
    fn holdings(&self) -> Resources {
        let mut sum = Resources {
            fds: Some(0),
            ..Resources::default()
        };
        for member in &self.members {
            // One that has ended and that nobody has waited for keeps its place among all tasks of the machine.
            if !member.stat.alive() {
                sum.threads += 1;
                continue;
            }
            sum.processes += 1;
            sum.threads += member.stat.threads;
            sum.rss += member.stat.rss_pages * self.page;
            sum.fds = sum.fds.zip(member.descriptors()).map(|(a, b)| a + b);
        }
        if sum.processes == 0 {
            sum.fds = None;
        }
        sum.footprint = (sum.processes == 1).then_some(sum.rss);
        sum
    }

    fn fullest(&self) -> Option<DescriptorUse> {
        let living = self.members.iter().filter(|m| m.stat.alive());
        living
            .filter_map(Member::descriptor_use)
            .reduce(DescriptorUse::nearer)
    }

    /// What changes seldom: limits of open files, and the cgroups with what they did.
    fn look_around(&mut self) {
        let buffer = self.buffer.as_mut_slice();
        for member in self.members.iter_mut().filter(|m| m.stat.alive()) {
            member.read_limits(buffer);
            self.groups.follow(member.pid, buffer);
        }
        self.restraint = self.groups.read(buffer);
    }

    /// Adds what only page tables and `status` tell. A sum lacks a process that could not be read, so then it is none.
    fn walk(&mut self, resources: &mut Resources) {
        let add =
            |sum: &mut Option<u64>, part: Option<u64>| *sum = sum.zip(part).map(|(a, b)| a + b);
        let zero = Some(0);
        let mut sum = Memory {
            rss: zero,
            pss: zero,
            pss_file: zero,
            rss_file: zero,
            anon: zero,
            swap: zero,
            vm_peak: zero,
            vm_hwm: zero,
        };
        for member in self.members.iter().filter(|m| m.stat.alive()) {
            let memory = member.memory(self.buffer.as_mut_slice());
            // It may have ended in between: then it holds nothing any more.
            if memory.vm_hwm.is_none() && memory.pss.is_none() {
                continue;
            }
            add(&mut sum.rss, memory.rss);
            add(&mut sum.pss, memory.pss);
            add(&mut sum.pss_file, memory.pss_file);
            sum.rss_file = sum.rss_file.zip(memory.rss_file).map(|(a, b)| a.max(b));
            add(&mut sum.anon, memory.anon);
            add(&mut sum.swap, memory.swap);
            add(&mut sum.vm_peak, memory.vm_peak);
            add(&mut sum.vm_hwm, memory.vm_hwm);
        }
        if resources.processes > 0 {
            (resources.pss, resources.anon, resources.swap) = (sum.pss, sum.anon, sum.swap);
            (resources.vm_peak, resources.vm_hwm) = (sum.vm_peak, sum.vm_hwm);
            // From the same walk as PSS, so that a part is never larger than the whole.
            resources.rss = sum.rss.unwrap_or(resources.rss);
            resources.footprint = match resources.processes {
                1 => Some(resources.rss),
                _ => sum.of_several(),
            };
        }
    }
}
