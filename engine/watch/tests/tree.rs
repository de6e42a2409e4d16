//! The sampler and the watcher against real processes.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use touchstone_sys::cpus::CpuSet;
use touchstone_sys::process::{Signal, signal, signal_group};
use touchstone_watch::{
    Depth, Phase, Sample, Sampler, Target, Watcher, WatcherSettings,
    clock::{Nanos, nanos},
    monotonic,
};

/// A shell in a process group of its own, ended with all of it.
struct Shell(Child);

impl Shell {
    fn run(script: &str) -> Self {
        let child = Command::new("sh")
            .args(["-c", script])
            .process_group(0)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    fn target(&self) -> Target {
        Target {
            pid: self.0.id() as i32,
            ..Target::default()
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = signal_group(self.0.id() as i32, Signal::Kill);
        let _ = self.0.wait();
    }
}

/// A folder in which a script says how far it is, removed with the test.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("touchstone-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Waits for a file that the script makes.
    fn wait_for(&self, name: &str) {
        let begin = Instant::now();
        while !self.0.join(name).exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no {name}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Resident bytes of files' pages in a process (proc_pid_status(5)).
fn files_mapped(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssFile:"));
    let kb = line.unwrap().split_whitespace().nth(1).unwrap();
    kb.parse::<u64>().unwrap() * 1024
}

fn quick(interval_ms: u64) -> WatcherSettings {
    WatcherSettings {
        interval: Duration::from_millis(interval_ms),
        ..WatcherSettings::default()
    }
}

/// The highest CPU on which this process may run.
fn last_cpu() -> usize {
    let own = CpuSet::of_thread(0).unwrap();
    *own.numbers().last().unwrap()
}

/// Samples until something holds, for at most 10 s.
fn until(sampler: &mut Sampler, holds: impl Fn(&Sample) -> bool) -> Sample {
    let begin = Instant::now();
    loop {
        let sample = sampler.sample(Depth::Deep, Phase::Load);
        if holds(&sample) || begin.elapsed() > Duration::from_secs(10) {
            return sample;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn children_and_grandchildren_are_counted_with_their_memory_and_descriptors() {
    let shell = Shell::run("sleep 60 & sh -c 'sleep 60 & wait' & wait");
    let mut sampler = Sampler::new(&shell.target()).unwrap();
    let held = until(&mut sampler, |s| s.resources.processes == 4).resources;
    assert_eq!((held.processes, held.threads), (4, 4));
    assert!(
        held.rss > 1 << 20,
        "four processes hold more than 1 MiB, not {}",
        held.rss
    );
    let (pss, anon) = (held.pss.unwrap(), held.anon.unwrap());
    assert!(anon > 0 && pss > anon && pss <= held.rss);
    // Every program of the machine maps the C library: its pages are the tree's all the same, once.
    let whole = files_mapped(shell.0.id()) + anon / 2;
    let footprint = held.footprint.unwrap();
    assert!(
        (whole..=held.rss).contains(&footprint),
        "{footprint}, PSS {pss}, at least {whole}, at most {}",
        held.rss
    );
    assert!(held.vm_peak > held.vm_hwm);
    assert!(held.fds.is_none_or(|n| n >= 12));
}

#[test]
fn the_memory_of_a_single_process_is_its_rss_which_no_part_exceeds() {
    let shell = Shell::run("exec sleep 60");
    let mut sampler = Sampler::new(&shell.target()).unwrap();
    let held = until(&mut sampler, |s| s.resources.pss > Some(0)).resources;
    assert_eq!(held.footprint, Some(held.rss));
    assert!(held.pss <= Some(held.rss) && held.anon <= Some(held.rss));
}

#[test]
fn who_is_never_waited_for_holds_a_place_like_a_thread_and_is_no_process() {
    let shell = Shell::run("for n in 1 2 3; do true & done; exec sleep 60");
    let mut sampler = Sampler::new(&shell.target()).unwrap();
    let held = until(&mut sampler, |s| {
        s.resources.threads == 4 && s.resources.processes == 1
    });
    assert_eq!((held.resources.threads, held.resources.processes), (4, 1));
}

#[test]
fn a_process_beyond_its_cpus_is_seen_although_it_has_ended_before_the_end() {
    let last = last_cpu();
    let folder = Folder::new("beyond");
    // The first command goes beyond until it is to end; what runs at the end may run on the given CPU only.
    let until = "touch begun; while [ ! -e end ]; do sleep 0.02; done";
    let all = format!("taskset -c 0-{last} sh -c '{until}'; touch ended");
    let place = folder.0.display();
    let shell = Shell::run(&format!(
        "cd {place}; taskset -cp {last} $$ >&2; {all}; exec sleep 60"
    ));
    folder.wait_for("begun");
    let target = Target {
        allowed_cpus: vec![last],
        ..shell.target()
    };
    let watcher = Watcher::start(&target, quick(20)).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    std::fs::write(folder.0.join("end"), "").unwrap();
    folder.wait_for("ended");
    std::thread::sleep(Duration::from_millis(250));
    let placement = watcher.finish(monotonic()).watch.placement.unwrap();
    assert_eq!(placement.allowed, [last]);
    if last == 0 {
        return; // There is no CPU to go beyond.
    }
    let stray = placement.beyond.first().unwrap();
    assert!(
        stray.thread.cpus.len() > 1 && stray.last_t < -0.2,
        "{stray:?}"
    );
}

#[test]
fn a_process_that_keeps_to_its_cpus_leaves_no_evidence() {
    let last = last_cpu();
    let folder = Folder::new("within");
    let begun = folder.0.join("begun");
    let shell = Shell::run(&format!(
        "taskset -cp {last} $$ >&2; touch {}; exec sleep 60",
        begun.display()
    ));
    folder.wait_for("begun");
    let target = Target {
        allowed_cpus: vec![last],
        ..shell.target()
    };
    let watcher = Watcher::start(&target, quick(20)).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let report = watcher.finish(monotonic());
    assert_eq!(report.watch.placement.unwrap().beyond, []);
    assert!(
        report
            .watch
            .wall_clock
            .is_some_and(|clock| clock.range_s < 1.0)
    );
}

#[test]
fn descriptors_are_held_against_the_limit_of_the_process_that_is_nearest_to_it() {
    let files: String = (3..9).map(|n| format!("exec {n}</dev/null; ")).collect();
    let shell = Shell::run(&format!("ulimit -n 64; {files} sleep 60 & wait"));
    let mut sampler = Sampler::new(&shell.target()).unwrap();
    let used = until(&mut sampler, |s| {
        s.fullest.is_some_and(|f| f.open >= 9 && f.limit == 64)
    });
    let Some(used) = used.fullest else {
        return; // Before Linux 6.2 the number of descriptors is not to be had so cheaply.
    };
    assert_eq!(used.limit, 64);
    assert!((9..64).contains(&used.open));
}

#[test]
fn a_quota_is_seen_of_the_group_in_which_the_process_really_is() {
    let group = std::path::PathBuf::from(format!(
        "/sys/fs/cgroup/cpu/touchstone-test-{}",
        std::process::id()
    ));
    let quota = std::fs::create_dir(&group)
        .and_then(|()| std::fs::write(group.join("cpu.cfs_quota_us"), "10000"));
    if quota.is_err() {
        let _ = std::fs::remove_dir(&group);
        return; // No version 1, or no permission.
    }
    let shell = Shell::run("while :; do :; done");
    std::fs::write(group.join("cgroup.procs"), shell.0.id().to_string()).unwrap();
    let watcher = Watcher::start(&shell.target(), quick(20)).unwrap();
    watcher.set_phase(Phase::Load);
    std::thread::sleep(Duration::from_secs(1));
    let watch = watcher.finish(monotonic()).watch;
    drop(shell);
    for _ in 0..50 {
        if std::fs::remove_dir(&group).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let window = watch.window.unwrap();
    assert!(window.throttled_periods > Some(0) && window.throttled_periods <= window.periods);
    assert!(window.throttled_s > Some(0.1));
    assert_eq!(watch.throttled[0].cgroup, group.display().to_string());
}

#[test]
fn cpu_time_is_read_between_samples_and_finer_than_the_ticks() {
    let shell = Shell::run("while :; do :; done");
    // No further sample is taken in the test's time.
    let watcher = Watcher::start(&shell.target(), quick(600_000)).unwrap();
    let (first, begin) = (watcher.cpu(), Instant::now());
    let mut readings = vec![first];
    while readings.len() < 20 {
        assert!(begin.elapsed() < Duration::from_secs(60), "{readings:?}");
        let now = watcher.cpu();
        if now > readings[readings.len() - 1] {
            readings.push(now);
        }
    }
    let used = readings[readings.len() - 1] - first;
    assert!(used <= begin.elapsed().into());
    // Ticks of 10 ms would give multiples of it.
    assert!(readings.iter().any(|reading| reading.0 % 10_000_000 != 0));
    drop(shell);
    assert!(
        watcher.cpu() >= readings[readings.len() - 1],
        "it never falls"
    );
}

#[test]
fn a_phase_that_is_marked_takes_no_sample() {
    let shell = Shell::run("exec sleep 60");
    let watcher = Watcher::start(&shell.target(), quick(600_000)).unwrap();
    watcher.mark(Phase::Load);
    watcher.mark(Phase::Off);
    let watch = watcher.finish(monotonic()).watch;
    let phases: Vec<Phase> = watch.series.iter().map(|point| point.phase).collect();
    assert_eq!(
        phases,
        [Phase::Warmup, Phase::Off],
        "the first and the last sample"
    );
}

#[test]
fn a_daemon_that_forked_twice_is_still_seen() {
    let shell = Shell::run("(sleep 60 &) ; sleep 60");
    std::thread::sleep(Duration::from_millis(200));
    // The intermediate shell has ended before the first sample: only the process group leads to the orphan.
    let mut sampler = Sampler::new(&shell.target()).unwrap();
    assert_eq!(
        until(&mut sampler, |s| s.resources.processes == 3)
            .resources
            .processes,
        3
    );
}

#[test]
fn a_daemon_in_a_session_of_its_own_is_seen_when_the_cgroup_lists_it() {
    let folder = std::env::temp_dir().join(format!("touchstone-group-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let list = folder.join("cgroup.procs");
    let shell = Shell::run(&format!(
        "(setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 30' &) ; sleep 60",
        list.display()
    ));
    let target = Target {
        cgroup_paths: vec![folder.clone()],
        ..shell.target()
    };
    while !list.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let seen = until(&mut Sampler::new(&target).unwrap(), |s| {
        s.resources.processes == 3
    })
    .resources
    .processes;
    let without = Sampler::new(&shell.target())
        .unwrap()
        .sample(Depth::Deep, Phase::Load);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((seen, without.resources.processes), (3, 2));
}

#[test]
fn other_processes_are_not_counted() {
    let other = Shell::run("sleep 60 & wait");
    let shell = Shell::run("exec sleep 60");
    let mut sampler = Sampler::new(&shell.target()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(
        sampler.sample(Depth::Deep, Phase::Load).resources.processes,
        1
    );
    drop(other);
}

/// The CPU time that a shell wrote down of itself with `times`.
fn own_cpu(file: &std::path::Path) -> Nanos {
    let text = std::fs::read_to_string(file).unwrap();
    let seconds = |time: &str| -> f64 {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    };
    let own = text.lines().next().unwrap();
    nanos(own.split(' ').map(seconds).sum())
}

#[test]
fn cpu_time_of_children_stays_counted_after_they_ended_and_never_falls() {
    // Long compared with the pause between two looks for new processes, which grows with their number on the machine.
    let folder = std::env::temp_dir().join(format!("touchstone-loops-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (reaped, orphan) = (folder.join("reaped"), folder.join("orphan"));
    // Each loop reports its own use: the clock of a shared machine may run twice as fast for one as for the other.
    let busy = |path: &std::path::Path| {
        let path = path.display();
        format!(
            "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done; times > {path}.part; mv {path}.part {path}"
        )
    };
    let shell = Shell::run(&format!(
        "sh -c '{}'; (sh -c '{}' &); sleep 600",
        busy(&reaped),
        busy(&orphan)
    ));
    let mut sampler = Sampler::new(&shell.target()).unwrap();
    let mut last = Nanos::ZERO;
    let begin = Instant::now();
    let mut ended_at = None;
    // A busy machine may let a loop wait for seconds: the end is what the second loop says, and half a second for init.
    while ended_at.is_none_or(|at: Instant| at.elapsed() < Duration::from_millis(500)) {
        assert!(
            begin.elapsed() < Duration::from_secs(300),
            "the loops did not end"
        );
        let sample = sampler.sample(Depth::Shallow, Phase::Load);
        assert!(
            sample.cpu >= last,
            "CPU time fell from {last:?} to {:?}",
            sample.cpu
        );
        last = sample.cpu;
        if ended_at.is_none() && orphan.exists() {
            ended_at = Some(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    // One loop was reaped by the shell, the other by init, and both must be in the sum.
    let (first, second) = (own_cpu(&reaped), own_cpu(&orphan));
    std::fs::remove_dir_all(&folder).unwrap();
    let (greater, lesser) = (first.max(second), first.min(second));
    let between = greater / 2..greater + lesser / 2;
    assert!(
        last > between.end,
        "loops of {first:?} and {second:?} were counted as {last:?}"
    );
    let ended = sampler.sample(Depth::Shallow, Phase::Load).ended;
    assert!(
        between.contains(&ended),
        "the greater of loops of {first:?} and {second:?} was counted as {ended:?}"
    );
}

#[test]
fn an_exit_is_seen_with_its_status_and_left_for_the_parent_to_reap() {
    let mut shell = Shell::run("sleep 0.2; exit 7");
    let mut sampler = Sampler::new(&shell.target()).unwrap();
    assert!(sampler.exited().is_none());
    until(&mut sampler, |s| s.resources.processes == 0);
    let exit = sampler.exited().unwrap();
    assert_eq!((exit.code, exit.signal), (Some(7), None));
    assert_eq!(shell.0.wait().unwrap().code(), Some(7));
}

#[test]
fn a_kill_is_told_from_an_exit() {
    let shell = Shell::run("exec sleep 60");
    let mut sampler = Sampler::new(&shell.target()).unwrap();
    signal(shell.0.id() as i32, Signal::Kill).unwrap();
    until(&mut sampler, |s| s.resources.processes == 0);
    assert_eq!(sampler.exited().unwrap().signal, Some(9));
}

#[test]
fn a_process_that_is_not_there_is_an_error_that_says_so() {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let pid = child.id() as i32;
    let error = Sampler::new(&Target {
        pid,
        ..Target::default()
    })
    .err()
    .unwrap();
    assert!(
        error
            .to_string()
            .contains(&format!("process {pid} cannot be watched"))
    );
}

#[test]
fn a_watcher_reports_phases_window_and_machine() {
    let shell = Shell::run("while :; do :; done");
    let settings = WatcherSettings {
        interval: Duration::from_millis(20),
        ..WatcherSettings::default()
    };
    let watcher = Watcher::start(&shell.target(), settings).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let origin = monotonic();
    watcher.set_phase(Phase::Load);
    std::thread::sleep(Duration::from_millis(600));
    watcher.set_phase(Phase::Idle);
    std::thread::sleep(Duration::from_millis(200));
    assert!(!watcher.exited());
    let report = watcher.finish(origin);
    let watch = &report.watch;
    let window = watch.window.unwrap();
    // It slept for 0.6 s; on a busy machine for longer.
    assert!((0.5..30.0).contains(&window.seconds));
    assert!(window.cpu_s > 0.0 && window.cpu_s <= window.seconds * 1.05);
    assert!(report.machine.is_some());
    for phase in [Phase::Warmup, Phase::Load, Phase::Idle] {
        assert!(
            watch.series.iter().any(|point| point.phase == phase),
            "{phase:?} is missing"
        );
    }
    assert!(
        watch
            .series
            .is_sorted_by(|a, b| a.t < b.t && a.cpu_s <= b.cpu_s)
    );
    assert!(watch.at_start.unwrap().t < 0.0 && watch.at_load_end.unwrap().resources.pss.is_some());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["watch"]["series"][0]["phase"], "warmup");
    assert!(json["watch"]["exited"].is_null() && json["machine"]["steal_s"].is_number());
}

#[test]
fn a_watcher_names_who_else_worked_in_the_window() {
    // The shell that works is the child of another one: no child of this process, which stands for the engine.
    let _other = Shell::run("sh -c 'while :; do :; done'; :");
    let shell = Shell::run("while :; do :; done");
    let watcher = Watcher::start(&shell.target(), quick(20)).unwrap();
    watcher.set_phase(Phase::Load);
    std::thread::sleep(Duration::from_millis(600));
    watcher.set_phase(Phase::Idle);
    std::thread::sleep(Duration::from_millis(100));
    let machine = watcher.finish(monotonic()).machine.unwrap();
    let watched = shell.0.id() as i32;
    assert!(
        machine.other_processes.iter().any(|one| one.name == "sh"),
        "{machine:?}"
    );
    assert!(machine.other_processes.iter().all(|one| one.pid != watched));
    assert!(machine.other_cpu_s >= machine.other_processes[0].cpu_s);
}

#[test]
fn a_watcher_sees_the_server_die() {
    let shell = Shell::run("sleep 0.1; exit 3");
    let settings = WatcherSettings {
        interval: Duration::from_millis(10),
        ..WatcherSettings::default()
    };
    let watcher = Watcher::start(&shell.target(), settings).unwrap();
    let begin = Instant::now();
    while !watcher.exited() && begin.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let exit = watcher.finish(monotonic()).watch.exited.unwrap();
    assert_eq!(exit.exit.code, Some(3));
}
