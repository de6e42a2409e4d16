//! `touchstone-engine load` as it is used: jobs, flags, exit codes, signals, and several processes.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use touchstone_sys::process::{self, Signal};

const ENGINE: &str = env!("CARGO_BIN_EXE_touchstone-engine");

/// A server that is right; gives its URL and its counts of connections and requests.
fn server() -> (String, Arc<[AtomicU64; 2]>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let counts = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let theirs = Arc::clone(&counts);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let counts = Arc::clone(&theirs);
            counts[0].fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                let mut buffer = [0u8; 4096];
                while let Ok(got) = stream.read(&mut buffer) {
                    if got == 0
                        || stream
                            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong")
                            .is_err()
                    {
                        return;
                    }
                    counts[1].fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    (url, counts)
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let (url, _) = server();
    for form in [&[][..], &["--json"]] {
        let mut child = Command::new(ENGINE)
            .args(["load", &url, "-n", "10", "-c", "1"])
            .args(form)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn a_job_on_standard_input_gives_a_result_and_events() {
    let (url, counts) = server();
    let mut child = Command::new(ENGINE)
        .args(["load", "--job", "-", "--progress"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let job =
        serde_json::json!({"url": url, "connections": 4, "max_requests": 100, "duration_s": 60});
    child
        .stdin
        .take()
        .unwrap()
        .write_all(job.to_string().as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let result = json(&output);
    assert_eq!(result["schema"], "touchstone.load/2");
    assert_eq!(
        (&result["counts"]["ok"], counts[1].load(Ordering::SeqCst)),
        (&Value::from(100), 100)
    );
    let events = String::from_utf8(output.stderr).unwrap();
    let names: Vec<String> = events
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["event"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert!(
        names.contains(&"connected".to_owned()) && names.contains(&"progress".to_owned()),
        "{events}"
    );
}

#[test]
fn more_connections_than_files_are_spread_over_processes() {
    let (url, counts) = server();
    // 160 files: 60 connections a process.
    let script = format!(
        "ulimit -n 160 && exec {ENGINE} load {url} -c 200 -n 2000 -d 60s --warmup 100ms --json"
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let result = json(&output);
    assert_eq!(result["engine"]["processes"], 4);
    assert_eq!(result["connections"]["established"], 200);
    assert_eq!(counts[0].load(Ordering::SeqCst), 200);
    assert_eq!(
        (&result["counts"]["sent"], &result["counts"]["ok"]),
        (&Value::from(2000), &Value::from(2000))
    );
    assert_eq!(result["latency"]["count"], 2000);
    let series: u64 = result["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["ok"].as_u64().unwrap())
        .sum();
    assert_eq!(
        series,
        counts[1].load(Ordering::SeqCst),
        "warm-up is in the series as well"
    );
}

#[test]
fn an_interrupt_at_the_terminal_ends_the_run_and_the_result_is_still_written() {
    for several in [false, true] {
        let (url, counts) = server();
        let limit = if several { "ulimit -n 130 &&" } else { "" };
        let script = format!("{limit} exec {ENGINE} load {url} -c 60 -d 60s --json");
        let child = Command::new("sh")
            .args(["-c", &script])
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        while counts[1].load(Ordering::SeqCst) < 100 {
            std::thread::sleep(Duration::from_millis(10));
        }
        // As a terminal does: to all processes of the group, of which the engine is the leader.
        process::signal_group(child.id() as i32, Signal::Interrupt).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        let result = json(&output);
        assert_eq!(
            (&result["interrupted"], &result["generator"]["stands"]),
            (&Value::Bool(true), &Value::Bool(false))
        );
        assert!(result["counts"]["ok"].as_u64().unwrap() > 0);
    }
}

#[test]
fn exit_codes_tell_a_malformed_job_from_one_that_could_not_be_done() {
    let code = |words: &[&str]| {
        Command::new(ENGINE)
            .arg("load")
            .args(words)
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(code(&["http://192.0.2.1/"]), Some(2), "not this machine");
    assert_eq!(code(&["http://127.0.0.1:1/", "--steps", "x"]), Some(2));
    assert_eq!(code(&["http://127.0.0.1:1/", "-H", "no colon"]), Some(2));
    assert_eq!(code(&["http://127.0.0.1:1/"]), Some(1), "nobody listens");
}

#[test]
fn times_and_rates_that_no_machine_comes_to_are_refused_by_name() {
    let (url, _) = server();
    for (field, job) in [
        ("duration_s", r#""duration_s":1e300"#),
        ("timeout_s", r#""timeout_s":1e18"#),
        ("warmup_s", r#""warmup_s":1e300"#),
        ("series_interval_s", r#""series_interval_s":1e300"#),
        ("loop.rate", r#""loop":{"kind":"open","rate":1e30}"#),
        ("loop.from", r#""loop":{"kind":"ramp","from":1,"to":1e30}"#),
        (
            "step",
            r#""loop":{"kind":"steps","steps":[{"rate":1e30,"seconds":0.1}]}"#,
        ),
    ] {
        let mut child = Command::new(ENGINE)
            .args(["load", "--job", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let job = format!(r#"{{"url":"{url}","max_requests":1,{job}}}"#);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(job.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{field}: {said}");
        assert!(said.contains(field), "{field}: {said}");
    }
}

#[test]
fn a_person_reads_the_rate_the_latencies_and_the_verdict() {
    let (url, _) = server();
    let output = Command::new(ENGINE)
        .args([
            "load",
            &url,
            "-c",
            "4",
            "-n",
            "50",
            "--expect-body",
            "ping",
            "-d",
            "60s",
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "closed loop, 4 connections",
        "50 wrong, 0 failed",
        "wrong body",
        "first at",
        "pong",
        "generator",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}
