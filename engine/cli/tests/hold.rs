//! `hold` on real servers, at a small scale.

mod support;

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use support::{Server, Signal, children, finish, job, signal, start_job, until};

fn hold_job(servers: &[&Server], levels: &[u64]) -> Value {
    json!({
        "url": format!("http://{}/hello", servers[0].address()),
        "request": {"expect": {"body": {"kind": "exact", "value": "Hello, world!"}}},
        "levels": levels,
        "watch": servers.iter().map(|s| s.pid()).collect::<Vec<_>>(),
        "processes": 2,
        "settle_s": 0.1,
        "traffic_s": 0.5,
        "after_close_s": 0.2,
    })
}

const HELLO: &[&str] = &["null", "--body", "Hello, world!"];

#[test]
fn every_level_is_held_answered_and_read_on_several_processes() {
    let first = Server::start(HELLO);
    let port = first.address().rsplit_once(':').unwrap().1.to_owned();
    let second = Server::start(&[HELLO, &["--port", &port]].concat());
    let mut wanted = hold_job(&[&first, &second], &[0, 200, 1200]);
    wanted["mode"] = json!("traffic");
    let done = job("hold", &wanted);
    assert_eq!(done.code, Some(0), "{}", done.errors);
    assert_eq!(
        (&done.result["schema"], &done.result["processes"]),
        (&json!("touchstone.hold/1"), &json!(2))
    );
    let levels = done.result["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 3);
    for (level, connections) in levels.iter().zip([0, 200, 1200]) {
        for key in ["connections", "held", "established", "answered"] {
            assert_eq!(level[key], json!(connections), "{key}: {level}");
        }
        assert_eq!((&level["failed"], &level["lost"]), (&json!({}), &json!({})));
        let idle = &level["idle"];
        // The listeners, pipes and epoll instances of two processes, and the connections.
        assert!(
            idle["server"]["fds"].is_null()
                || idle["server"]["fds"].as_u64() >= Some(connections + 8)
        );
        assert_eq!(idle["server"]["processes"], 2);
        assert!(idle["server"]["pss"].as_u64() > idle["server"]["anon"].as_u64());
        assert!(idle["kernel"]["tcp_in_use"].as_u64() >= Some(2 * connections));
        assert!(idle["client"]["processes"].as_u64() >= Some(3));
    }
    let traffic = &levels[2]["traffic"];
    assert!(
        traffic["requests"].as_u64() > Some(0) && traffic["requests"] == traffic["ok"],
        "{traffic}"
    );
    assert!(
        traffic["connections_used"].as_u64() <= Some(1200)
            && traffic["server_cpu_s"].as_f64() > Some(0.0)
    );
    assert_eq!(done.result["after_close"]["server"]["processes"], 2);
    let after = done.result["after_close"]["server"]["fds"].as_u64();
    assert!(
        after.is_none_or(|n| n < 100),
        "{after:?} descriptors stayed open"
    );
    assert!(done.result["server_exited"].is_null());
    assert_eq!(
        done.errors
            .lines()
            .filter(|l| l.contains("\"event\":\"level\""))
            .count(),
        3
    );
}

#[test]
fn websockets_are_opened_held_and_asked() {
    let server = Server::start(HELLO);
    let mut wanted = hold_job(&[&server], &[0, 600]);
    wanted["request"] =
        json!({"target": "/w", "body": "still there", "websocket": {"kind": "echo"}});
    wanted["mode"] = json!("traffic");
    let done = job("hold", &wanted);
    assert_eq!(done.code, Some(0), "{}", done.errors);
    let level = &done.result["levels"][1];
    assert_eq!(
        (&level["held"], &level["answered"]),
        (&json!(600), &json!(600)),
        "{level}"
    );
    assert_eq!((&level["failed"], &level["lost"]), (&json!({}), &json!({})));
    let traffic = &level["traffic"];
    assert!(
        traffic["requests"].as_u64() > Some(0) && traffic["requests"] == traffic["ok"],
        "{traffic}"
    );
    wanted["request"]["websocket"]["greetings"] = json!(1);
    wanted["timeout_s"] = json!(0.3);
    let level = &job("hold", &wanted).result["levels"][1];
    assert_eq!(
        (&level["held"], &level["failed"]["timeout"]),
        (&json!(0), &json!(600)),
        "{level}"
    );
    wanted["protocol"] = json!("h2c");
    let refused = job("hold", &wanted);
    assert!(
        refused.code == Some(2) && refused.errors.contains("held over HTTP/1.1"),
        "{}",
        refused.errors
    );
}

#[test]
fn a_large_first_level_is_approached_by_a_trial() {
    let server = Server::start(HELLO);
    let done = job("hold", &hold_job(&[&server], &[3000]));
    let levels = done.result["levels"].as_array().unwrap();
    assert_eq!(
        (levels.len(), &levels[0]["held"]),
        (1, &json!(3000)),
        "{}",
        done.errors
    );
    assert_eq!(
        (&levels[0]["answered"], &levels[0]["refused"]),
        (&json!(3000), &Value::Null)
    );
}

#[test]
fn wrong_answers_are_failures_with_evidence() {
    let server = Server::start(&["null", "--body", "Hello, word!"]);
    let done = job("hold", &hold_job(&[&server], &[50]));
    let level = &done.result["levels"][0];
    assert_eq!(
        (&level["held"], &level["failed"]["wrong_response"]),
        (&json!(0), &json!(50))
    );
    assert!(level["evidence"].as_str().unwrap().contains("Hello, word!"));
}

/// The number of a process's open files.
fn files(pid: u32) -> usize {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd"));
    files.map_or(0, Iterator::count)
}

#[test]
fn connections_that_end_with_a_dead_server_are_counted_and_its_death_is_said() {
    let server = Server::start(HELLO);
    let pid = server.pid();
    let mut wanted = hold_job(&[&server], &[100, 200]);
    wanted["settle_s"] = json!(2.0);
    let child = start_job("hold", &wanted);
    until(|| files(pid) >= 100);
    signal(pid, Signal::Kill);
    let done = finish(child);
    assert_eq!(done.code, Some(0), "{}", done.errors);
    let levels = done.result["levels"].as_array().unwrap();
    let last = levels.last().unwrap();
    let ended = last["closed"]["idle"]["count"].as_u64();
    assert!(ended > Some(0) && last["held"] == json!(0), "{last}");
    assert_eq!(done.result["server_exited"]["pid"], json!(pid));
}

/// Answers each connection's request, and closes the connection a little later; ends with the test's process.
fn impatient_server(patience: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let mut held = VecDeque::new();
        loop {
            while let Ok((mut stream, _)) = listener.accept() {
                stream.set_nonblocking(false).unwrap();
                let mut request = [0; 1024];
                if stream.read(&mut request).is_ok_and(|n| n > 0) {
                    let body = "Hello, world!";
                    let _ = write!(
                        stream,
                        "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{body}"
                    );
                    held.push_back((Instant::now(), stream));
                }
            }
            while held
                .front()
                .is_some_and(|(since, _)| since.elapsed() > patience)
            {
                held.pop_front();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    address
}

#[test]
fn a_server_that_closes_what_is_held_is_not_asked_for_ever_new_connections() {
    let address = impatient_server(Duration::from_millis(1400));
    let wanted = json!({
        "url": format!("http://{address}/hello"),
        "levels": [1500, 3000],
        "open_rate": 500.0,
        "watch": [std::process::id()],
        "settle_s": 0.1,
        "after_close_s": 0.1,
    });
    let done = job("hold", &wanted);
    assert_eq!(done.code, Some(0), "{}", done.errors);
    let levels = done.result["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 1, "the next level was tried: {levels:?}");
    let level = &levels[0];
    let closed = &level["closed"]["idle"];
    assert!(closed["count"].as_u64() > Some(15), "{level}");
    assert!(closed["rested_least_s"].as_f64() >= Some(1.0), "{level}");
    assert_eq!(level["lost"], json!({}), "a close at rest is not a loss");
    assert!(level["established"].as_u64() < Some(1500), "{level}");
    assert!(
        done.errors.contains("\"event\":\"progress\""),
        "{}",
        done.errors
    );
}

#[test]
fn a_level_is_refused_before_it_hurts() {
    let server = Server::start(HELLO);
    // The reserve is all but the whole memory of the machine, so nothing may be taken.
    let mut wanted = hold_job(&[&server], &[0, 5000]);
    wanted["reserve"] = json!(0.999);
    let done = job("hold", &wanted);
    let level = &done.result["levels"][1];
    assert_eq!((done.code, &level["held"]), (Some(0), &json!(0)));
    assert!(
        level["refused"]["reason"]
            .as_str()
            .unwrap()
            .contains("must stay"),
        "{level}"
    );
    // And what the server's limit of open files does not allow is not tried.
    let done = job("hold", &hold_job(&[&server], &[0, 100_000_000]));
    assert!(
        done.result["levels"][1]["refused"]["reason"]
            .as_str()
            .unwrap()
            .contains("may open")
    );
}

#[test]
fn an_interrupt_leaves_a_result_and_no_process() {
    let server = Server::start(HELLO);
    let mut wanted = hold_job(&[&server], &[100]);
    wanted["settle_s"] = json!(60.0);
    let child = start_job("hold", &wanted);
    let engine = child.id();
    until(|| files(server.pid()) >= 100);
    let children = children(engine);
    assert_eq!(children.len(), 2);
    signal(engine, Signal::Interrupt);
    let done = finish(child);
    assert_eq!(
        (done.code, &done.result["interrupted"]),
        (Some(130), &json!(true))
    );
    for pid in children {
        assert!(
            !std::path::Path::new(&format!("/proc/{pid}")).exists(),
            "{pid} is left"
        );
    }
}

#[test]
fn jobs_that_make_no_sense_are_malformed() {
    for (key, value) in [
        ("levels", json!([5, 1])),
        ("watch", json!([])),
        ("reserve", json!(2)),
        ("levls", json!([1])),
    ] {
        let server = json!({"url": "http://127.0.0.1:1", "levels": [1], "watch": [1]});
        let mut wanted = server.clone();
        wanted[key] = value;
        let done = job("hold", &wanted);
        assert_eq!(done.code, Some(2), "{key}: {}", done.errors);
        assert!(done.errors.contains(key), "{}", done.errors);
    }
}
