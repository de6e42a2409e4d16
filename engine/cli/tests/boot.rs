//! `boot` with real servers, sound and broken.

mod support;

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::{ENGINE, Server, Signal, children, finish, free_port, job, signal, start_job, until};

fn boot_job(argv: &[&str], port: u16) -> Value {
    json!({
        "argv": argv,
        "url": format!("http://127.0.0.1:{port}"),
        "request": {
            "target": "/ping",
            "expect": {"status": [200], "body": {"kind": "exact", "value": "pong"}},
        },
        "timeout_s": 20.0,
    })
}

/// A shell that becomes, or starts, the null server.
fn shell(script: &str, port: u16) -> Value {
    let server = format!("{ENGINE} null --port {port} --body pong");
    boot_job(&["sh", "-c", &script.replace("SERVER", &server)], port)
}

fn run(job: &Value) -> Value {
    let done = support::job("boot", job);
    assert_eq!(done.code, Some(0), "{}", done.errors);
    assert_eq!(done.result["schema"], "touchstone.boot/1");
    done.result["runs"][0].clone()
}

#[test]
fn a_sound_server_is_timed_weighed_and_ended() {
    let port = free_port();
    let text = port.to_string();
    let mut job = boot_job(&[ENGINE, "null", "--port", &text, "--body", "pong"], port);
    job["repeats"] = json!(3);
    job["settle_s"] = json!(0.05);
    let done = support::job("boot", &job);
    assert_eq!(done.result["runs"].as_array().unwrap().len(), 3);
    assert_eq!(
        done.errors
            .lines()
            .filter(|l| l.contains("\"event\":\"run\""))
            .count(),
        3
    );
    for run in done.result["runs"].as_array().unwrap() {
        assert!(run["failure"].is_null(), "{run}");
        let (closed, open, first) = (
            &run["port_closed_s"],
            &run["port_open_s"],
            &run["first_response_s"],
        );
        assert!(
            open.as_f64() <= first.as_f64() && closed.as_f64() < open.as_f64(),
            "{run}"
        );
        assert!(run["rss"].as_u64() > Some(100_000) && run["cpu_s"].as_f64() > Some(0.0));
        assert!(run["vm_peak"].as_u64() > run["rss"].as_u64() && run["settled"]["pss"].is_u64());
        assert_eq!(
            (&run["answered_by_ours"], &run["stopped"]),
            (&json!(true), &json!("sigterm"))
        );
        assert_eq!(
            (&run["exit_code"], &run["cold_cache"]),
            (&json!(0), &json!(false))
        );
    }
}

#[test]
fn a_daemon_that_forked_away_is_still_ours_and_leaves_nothing() {
    let port = free_port();
    // The root ends at once; the server is in a session of its own, and its parent has ended.
    let run = run(&shell("setsid sh -c 'SERVER &' >/dev/null; exit 0", port));
    assert!(run["failure"].is_null(), "{run}");
    assert_eq!(
        (&run["answered_by_ours"], &run["stopped"]),
        (&json!(true), &json!("sigterm"))
    );
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn a_server_that_ignores_sigterm_is_killed_with_its_children() {
    let mut job = shell("trap '' TERM; sleep 300 & SERVER & wait; wait", free_port());
    // The ignored signal is inherited by the sleeper; the server handles it itself.
    job["stop_timeout_s"] = json!(0.3);
    let run = run(&job);
    assert!(run["failure"].is_null(), "{run}");
    assert_eq!(
        (&run["stopped"], &run["exit_signal"]),
        (&json!("sigkill"), &json!(9))
    );
}

#[test]
fn a_server_that_ends_before_it_answers_is_reported_with_code_and_log() {
    let log = std::env::temp_dir().join(format!("touchstone-boot-{}.log", std::process::id()));
    let mut job = shell("echo 'no such table' >&2; exit 3", free_port());
    job["log"] = json!(log);
    job["timeout_s"] = json!(60.0);
    let begin = Instant::now();
    let run = run(&job);
    std::fs::remove_file(log).unwrap();
    assert!(
        begin.elapsed() < Duration::from_secs(45),
        "the end must be noticed before the timeout"
    );
    assert_eq!(
        (&run["failure"], &run["exit_code"]),
        (&json!("exited"), &json!(3))
    );
    assert!(run["log_tail"].as_str().unwrap().contains("no such table"));
    assert!(run["first_response_s"].is_null() && run["rss"].is_null());
}

#[test]
fn a_server_that_never_answers_times_out() {
    let mut job = shell("exec sleep 300", free_port());
    job["timeout_s"] = json!(0.3);
    let run = run(&job);
    assert_eq!(run["failure"], "timeout");
    assert!(run["evidence"].as_str().unwrap().contains("was never open"));
}

#[test]
fn a_wrong_body_is_not_an_answer() {
    let port = free_port();
    let text = port.to_string();
    let mut job = boot_job(&[ENGINE, "null", "--port", &text, "--body", "pang"], port);
    // Long enough for a start on a busy machine.
    job["timeout_s"] = json!(3.0);
    let run = run(&job);
    assert_eq!(run["failure"], "wrong_response");
    assert!(run["evidence"].as_str().unwrap().contains("pang"));
    assert!(run["wrong_responses"].as_u64() > Some(0) && run["port_open_s"].is_null());
}

#[test]
fn a_stranger_on_the_port_is_found_before_and_beside_the_start() {
    let port = free_port();
    let text = port.to_string();
    let stranger = Server::start(&["null", "--port", &text, "--body", "pong"]);
    let before = run(&shell("exec sleep 300", port));
    assert_eq!(before["failure"], "foreign_listener");
    assert!(
        before["evidence"]
            .as_str()
            .unwrap()
            .contains(&format!("(pid {})", stranger.pid()))
    );
    drop(stranger);
    // The started tree never listens; a process outside it takes the port in the meantime.
    let mut job = shell("exec sleep 300", port);
    job["timeout_s"] = json!(20.0);
    let child = start_job("boot", &job);
    until(|| !children(child.id()).is_empty());
    let stranger = Server::start(&["null", "--port", &text, "--body", "pong"]);
    let run = finish(child).result["runs"][0].clone();
    assert_eq!(
        (&run["failure"], &run["answered_by_ours"]),
        (&json!("foreign_listener"), &json!(false))
    );
    assert!(
        run["evidence"]
            .as_str()
            .unwrap()
            .contains(&format!("(pid {})", stranger.pid()))
    );
}

#[test]
fn an_interrupt_ends_the_server_and_still_gives_a_result() {
    let mut job = shell("exec sleep 300", free_port());
    job["timeout_s"] = json!(60.0);
    job["log"] = Value::Null;
    let child = start_job("boot", &job);
    until(|| !children(child.id()).is_empty());
    signal(child.id(), Signal::Interrupt);
    let done = finish(child);
    assert_eq!(
        (done.code, &done.result["interrupted"]),
        (Some(130), &json!(true))
    );
    assert_eq!(done.result["runs"][0]["failure"], "interrupted");
}

#[test]
fn a_program_that_is_not_there_and_a_malformed_job_are_told_apart() {
    let run = run(&boot_job(&["./no-such-program"], free_port()));
    assert_eq!(run["failure"], "exec_failed");
    assert!(
        run["evidence"]
            .as_str()
            .unwrap()
            .contains("no-such-program")
    );
    let done = job("boot", &json!({"argv": [], "url": "http://127.0.0.1:1"}));
    assert_eq!(done.code, Some(2));
    assert!(done.errors.contains("argv is empty"), "{}", done.errors);
    let done = job(
        "boot",
        &json!({"argv": ["x"], "url": "http://127.0.0.1:1", "repeat": 1}),
    );
    assert_eq!(done.code, Some(2));
    assert!(
        done.errors.contains("unknown field `repeat`"),
        "{}",
        done.errors
    );
}

#[test]
fn a_cold_start_is_cold_or_says_why_not() {
    let port = free_port();
    let copy = std::env::temp_dir().join(format!("touchstone-cold-{}", std::process::id()));
    std::fs::copy(ENGINE, &copy).unwrap();
    let text = port.to_string();
    let mut job = boot_job(
        &[
            copy.to_str().unwrap(),
            "null",
            "--port",
            &text,
            "--body",
            "pong",
        ],
        port,
    );
    job["drop_page_cache"] = json!(true);
    let run = run(&job);
    std::fs::remove_file(copy).unwrap();
    assert!(run["failure"].is_null(), "{run}");
    assert_eq!(
        run["cold_cache"] == json!(true),
        run["warm_reason"].is_null(),
        "{run}"
    );
}

#[test]
fn a_server_is_started_with_its_environment_folder_and_cpu() {
    let folder = std::env::temp_dir().join(format!("touchstone-cwd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut job = shell(
        "echo $WORD $(pwd) $(grep Cpus_allowed_list /proc/self/status) >out; exec SERVER",
        free_port(),
    );
    job["env"] = json!({"WORD": "hello"});
    job["cwd"] = json!(folder);
    job["cpus"] = json!([0]);
    let run = run(&job);
    let text = std::fs::read_to_string(folder.join("out")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(run["failure"].is_null(), "{run}");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(
        (words[0], words[1], *words.last().unwrap()),
        ("hello", folder.to_str().unwrap(), "0")
    );
}
