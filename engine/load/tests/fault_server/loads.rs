//! Short runs against a server of the test.

// Each test binary uses a part of this.
#![allow(dead_code)]

use std::sync::atomic::AtomicBool;

use touchstone_load::control::Control;
use touchstone_load::error::Error;
use touchstone_load::job::{BackendChoice, Job};
use touchstone_load::result::LoadResult;
use touchstone_load::run::run;

use crate::balance::assert_balanced;
use crate::fault_server::{BODY, FaultServer};

/// Both backends; every behaviour must be the same on each.
pub const BACKENDS: [BackendChoice; 2] = [BackendChoice::Epoll, BackendChoice::IoUring];

/// A closed loop of `count` requests over 8 connections, each of which must be answered with the known body.
pub fn job(server: &FaultServer, backend: BackendChoice, count: u64) -> Job {
    let mut job = Job::from_json(
        &serde_json::json!({
            "url": server.url(),
            "connections": 8,
            "duration_s": 60,
            "timeout_s": 10,
            "requests": [{
                "name": "lookup",
                "target": "/?name=bench-1207",
                "expect": {"status": [200], "body": {"kind": "exact", "value": BODY}},
            }],
        })
        .to_string(),
    )
    .unwrap();
    job.backend = backend;
    job.max_requests = Some(count);
    job
}

/// Carries a job out.
pub fn carry_out(job: &Job) -> LoadResult {
    attempt(job).unwrap()
}

/// Why a job is not carried out.
pub fn refusal(job: &Job) -> String {
    attempt(job).unwrap_err().to_string()
}

fn attempt(job: &Job) -> Result<LoadResult, Error> {
    let never = AtomicBool::new(false);
    let result = run(
        job,
        &mut Control {
            interrupt: &never,
            on_event: &mut |_| (),
            process_command: &[],
        },
    )?;
    assert_balanced(&result);
    Ok(result)
}

/// The count of one class of errors.
pub fn errors(result: &LoadResult, class: &str) -> u64 {
    result.counts.errors[class]
}

/// No other error was counted.
pub fn assert_only(result: &LoadResult, class: Option<&str>) {
    let all: u64 = result.counts.errors.values().sum();
    assert_eq!(
        all,
        class.map_or(0, |class| errors(result, class)),
        "{:?}",
        result.counts
    );
}
