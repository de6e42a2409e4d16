//! `touchstone-engine slices` as it is used: orders on standard input, events, ends, exit codes.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use support::{ENGINE, Server, Signal, ask_json, signal};

/// A running slices job, its files removed with it.
struct Slices {
    child: Child,
    folder: PathBuf,
}

impl Slices {
    fn start(name: &str, job: &Value) -> Self {
        let folder = std::env::temp_dir().join(format!("slices-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("job.json"), job.to_string()).unwrap();
        let child = Command::new(ENGINE)
            .args(["slices", "--progress", "--job"])
            .arg(folder.join("job.json"))
            .arg("--out")
            .arg(folder.join("out.json"))
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child, folder }
    }

    fn order(&mut self, order: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{order}").unwrap();
    }

    /// Reads events up to one of a kind; gives them all.
    fn until(&mut self, event: &str) -> Vec<Value> {
        let mut lines = BufReader::new(self.child.stderr.as_mut().unwrap());
        let mut events = Vec::new();
        loop {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).unwrap() > 0, "{events:?}");
            let value: Value = serde_json::from_str(&line).unwrap();
            let found = value["event"] == event;
            events.push(value);
            if found {
                // What the reader has taken beyond this line is not looked at.
                return events;
            }
        }
    }

    /// Waits for the end: exit code, result, and what else was written to standard error.
    fn finish(mut self) -> (Option<i32>, Value, String) {
        drop(self.child.stdin.take());
        let errors = std::io::read_to_string(self.child.stderr.take().unwrap()).unwrap();
        let code = self.child.wait().unwrap().code();
        let result = std::fs::read_to_string(self.folder.join("out.json")).unwrap_or_default();
        (
            code,
            serde_json::from_str(&result).unwrap_or(Value::Null),
            errors,
        )
    }
}

impl Drop for Slices {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn traffic(server: &Server, path: &str) -> Value {
    json!({
        "url": format!("http://{}{path}", server.address()),
        "connections": 8,
        "watch": {"pid": server.pid(), "interval_s": 0.02},
    })
}

fn lap(phase: &str, contenders: &[u32]) -> Value {
    let turns: Vec<Value> = contenders
        .iter()
        .map(|contender| json!({"contender": contender, "seconds": 0.3}))
        .collect();
    json!({"order": "slices", "phase": phase, "turns": turns})
}

#[test]
fn what_a_dependency_uses_is_told_of_the_contender_whose_it_is() {
    let echo = Server::start(&["echo", "--port", "0"]);
    let null = Server::start(&["null", "--port", "0"]);
    let mut busy = Command::new("sh")
        .args(["-c", "while :; do :; done"])
        .spawn()
        .unwrap();
    let mut with = traffic(&echo, "/echo");
    with["watch"]["dependencies"] = json!([{"name": "database", "pid": busy.id()}]);
    let job = json!({"contenders": [
        {"name": "echo", "job": with},
        {"name": "null", "job": traffic(&null, "/")},
    ]});
    let mut slices = Slices::start("dependency", &job);
    slices.order(&lap("load", &[0, 1]));
    slices.order(&json!({"order": "end"}));
    let (code, result, errors) = slices.finish();
    busy.kill().unwrap();
    busy.wait().unwrap();
    assert_eq!(code, Some(0), "{errors}");
    let used = |index: usize| &result["slices"][index]["dependencies_cpu_s"];
    assert!(used(0)["database"].as_f64() > Some(0.0), "{result}");
    assert!(used(1).is_null(), "{result}");
}

#[test]
fn a_lap_is_ordered_told_and_charged_to_those_who_used_the_cpu() {
    let echo = Server::start(&["echo", "--port", "0", "--delay-ms", "1"]);
    let null = Server::start(&["null", "--port", "0"]);
    let job = json!({"contenders": [
        {"name": "echo", "job": traffic(&echo, "/echo")},
        {"name": "null", "job": traffic(&null, "/")},
    ]});
    let mut slices = Slices::start("lap", &job);
    slices.order(&lap("warmup", &[0, 1]));
    slices.order(&lap("load", &[0, 1, 1, 0]));
    slices.order(&json!({"order": "end"}));
    let (code, result, errors) = slices.finish();
    assert_eq!(code, Some(0), "{errors}");
    let events: Vec<Value> = errors
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    let expected = [
        "connected",
        "connected",
        "slice",
        "slice",
        "done",
        "slice",
        "slice",
        "slice",
        "slice",
        "done",
    ];
    assert_eq!(names, expected);
    assert_eq!(result["schema"], "touchstone.slices/2");
    assert_eq!(result["slices"].as_array().unwrap().len(), 6);
    assert!(events[2]["latency"]["histogram"].is_string());
    assert!(result["slices"][0]["latency"].get("histogram").is_none());
    assert!(result["slices"][2]["latency"]["histogram"].is_string());
    for slice in result["slices"].as_array().unwrap() {
        let own = slice["server_cpu_s"].as_f64().unwrap();
        let contender = slice["contender"].as_u64().unwrap() as usize;
        let other = slice["others_cpu_s"][1 - contender].as_f64().unwrap();
        assert!(slice["others_cpu_s"][contender].is_null());
        // The one that was off had nothing to do.
        assert!(own > 0.0 && other < 0.2 * own, "{slice}");
        assert!(slice.get("offered").is_none() && slice["rate"].as_f64().unwrap() > 0.0);
    }
    let cores = |slice: &Value| slice["reference_s"].as_f64().is_some_and(|time| time > 0.0);
    assert!(result["slices"].as_array().unwrap().iter().any(cores));
    let seen = ask_json(echo.address(), "GET", "/_stats")["requests"].clone();
    let sent = &result["contenders"][0]["totals"]["sent"];
    assert_eq!(sent, &seen);
    let phases: Vec<&Value> = result["contenders"][0]["watch"]["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| &point["phase"])
        .collect();
    for phase in ["warmup", "load", "off", "idle"] {
        assert!(
            phases.iter().any(|found| *found == phase),
            "{phase} is not in {phases:?}"
        );
    }
}

#[test]
fn the_end_of_the_orders_is_the_end_of_the_job() {
    let null = Server::start(&["null", "--port", "0"]);
    let job = json!({"contenders": [{"name": "null", "job": traffic(&null, "/")}]});
    let mut slices = Slices::start("eof", &job);
    slices.order(&lap("load", &[0]));
    slices.until("done");
    let (code, result, errors) = slices.finish();
    assert_eq!(
        (code, &result["interrupted"]),
        (Some(0), &Value::Bool(false)),
        "{errors}"
    );
    assert_eq!(result["slices"].as_array().unwrap().len(), 1);
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let null = Server::start(&["null", "--port", "0"]);
    let job = json!({"contenders": [{"name": "null", "job": traffic(&null, "/")}]});
    let mut slices = Slices::start("interrupt", &job);
    slices.order(&lap("load", &[0; 100]));
    slices.until("slice");
    signal(slices.child.id(), Signal::Interrupt);
    let (code, result, errors) = slices.finish();
    assert_eq!(
        (code, &result["interrupted"]),
        (Some(130), &Value::Bool(true)),
        "{errors}"
    );
    let measured = result["slices"].as_array().unwrap().len();
    assert!((1..100).contains(&measured), "{measured}");
    assert!(result["contenders"][0]["counts"]["ok"].as_u64().unwrap() > 0);
}

#[test]
fn what_makes_no_sense_is_malformed() {
    let null = Server::start(&["null", "--port", "0"]);
    let job = json!({"contenders": [{"name": "null", "job": traffic(&null, "/")}]});
    let mut slices = Slices::start("order", &job);
    slices.order(&lap("load", &[7]));
    let (code, _, errors) = slices.finish();
    assert_eq!(code, Some(2));
    assert!(errors.contains("turns[0].contender is 7"), "{errors}");

    let mut wrong = job.clone();
    wrong["contenders"][0]["job"]["warmup_s"] = json!(1);
    let (code, _, errors) = Slices::start("job", &wrong).finish();
    assert_eq!(code, Some(2));
    assert!(errors.contains("warmup_s"), "{errors}");

    let from_stdin = Command::new(ENGINE)
        .args(["slices", "--job", "-"])
        .output()
        .unwrap();
    assert_eq!(from_stdin.status.code(), Some(2));
}
