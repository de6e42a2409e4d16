//! The sampler and the watcher against real processes.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use touchstone_watch::{
    Depth, Phase, Sample, Sampler, Target, Watcher, WatcherSettings, monotonic_ns,
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
        // SAFETY: the group was made by `run` and its leader has not been reaped yet.
        unsafe { libc::kill(-(self.0.id() as i32), libc::SIGKILL) };
        let _ = self.0.wait();
    }
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
    assert!(anon > 0 && pss > anon && pss <= held.rss * 2);
    assert!(held.vm_peak > held.vm_hwm);
    assert!(held.fds.is_none_or(|n| n >= 12));
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
        "(setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 5' &) ; sleep 60",
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
fn strangers_are_not_counted() {
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

#[test]
fn cpu_time_of_children_stays_counted_after_they_ended_and_never_falls() {
    // Long beside the pause between two looks for new processes, which grows with their number on the machine.
    let busy = "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done";
    let done = std::env::temp_dir().join(format!("touchstone-loops-{}", std::process::id()));
    let shell = Shell::run(&format!(
        "sh -c '{busy}'; (sh -c '{busy}; : > {}' &); sleep 600",
        done.display()
    ));
    let mut sampler = Sampler::new(&shell.target()).unwrap();
    let mut last = 0;
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
            sample.cpu_ns >= last,
            "CPU time fell from {last} to {}",
            sample.cpu_ns
        );
        last = sample.cpu_ns;
        if ended_at.is_none() && done.exists() {
            ended_at = Some(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    std::fs::remove_file(&done).unwrap();
    // Both loops do the same work; one was reaped by the shell, the other by init, and both must be in the sum.
    let reference = {
        let shell = Shell::run(&format!("{busy}; sleep 60; :"));
        let mut sampler = Sampler::new(&shell.target()).unwrap();
        std::thread::sleep(Duration::from_secs(1));
        until(&mut sampler, |s| s.resources.processes == 2).cpu_ns
    };
    assert!(
        last > reference * 3 / 2,
        "two loops took {last} ns, one takes {reference} ns"
    );
    let ended = sampler.sample(Depth::Shallow, Phase::Load).ended_ns;
    assert!(
        ended > reference / 2 && ended < last * 3 / 4,
        "the greater of two loops of {last} ns took {ended} ns"
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
    // SAFETY: the process is our child and not reaped.
    unsafe { libc::kill(shell.0.id() as i32, libc::SIGKILL) };
    until(&mut sampler, |s| s.resources.processes == 0);
    assert_eq!(sampler.exited().unwrap().signal, Some(libc::SIGKILL));
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
    let origin = monotonic_ns();
    watcher.set_phase(Phase::Load);
    std::thread::sleep(Duration::from_millis(600));
    watcher.set_phase(Phase::Idle);
    std::thread::sleep(Duration::from_millis(200));
    assert!(!watcher.exited());
    let report = watcher.finish(origin);
    let watch = &report.watch;
    let window = watch.window.unwrap();
    assert!((0.5..2.0).contains(&window.seconds));
    assert!(window.cpu_s > 0.0 && window.cpu_s <= window.seconds * 1.05);
    assert!(report.machine.is_some());
    for phase in [Phase::Warmup, Phase::Load, Phase::Idle] {
        assert!(
            watch.series.iter().filter(|p| p.phase == phase).count() >= 3,
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
    let exit = watcher.finish(monotonic_ns()).watch.exited.unwrap();
    assert_eq!(exit.exit.code, Some(3));
}
