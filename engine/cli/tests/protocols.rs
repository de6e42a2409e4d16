//! The null server in each protocol, as `ask`, `boot`, `hold` and `load` see it.

mod support;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{ENGINE, Server, free_port, job};

/// A certificate and its key, in a folder of the test's own.
struct Certificate {
    cert: String,
    key: String,
}

fn certificate(test: &str) -> Certificate {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("protocols-{test}"));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let made = Certificate {
        cert: path("cert.pem"),
        key: path("key.pem"),
    };
    let (cert, key) = (
        format!("--cert={}", made.cert),
        format!("--key={}", made.key),
    );
    let status = Command::new(ENGINE)
        .args(["certificate", &cert, &key, "localhost", "127.0.0.1"])
        .status();
    assert!(status.unwrap().success());
    made
}

impl Certificate {
    fn flags(&self) -> [&str; 4] {
        ["--tls-cert", &self.cert, "--tls-key", &self.key]
    }
}

/// Every protocol, with the scheme that it goes with.
const SPOKEN: [(&str, &str); 4] = [
    ("http", "h1"),
    ("http", "h2c"),
    ("https", "h1"),
    ("https", "h2"),
];

/// What comes of one order of `ask` that sends.
fn asked(url: &str, protocol: &str, request: &Value, repeat: u32) -> Vec<Value> {
    let order = json!({
        "order": "send", "id": 1, "url": url, "protocol": protocol, "repeat": repeat, "lane": 1, "timeout_s": 5.0,
        "asked": {"request": request}, "values": {"counter": 0, "seed": 1, "fresh": "f"},
    });
    let mut engine = Command::new(ENGINE)
        .arg("ask")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(engine.stdin.take().unwrap(), "{order}").unwrap();
    let out = engine.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    answer["exchanges"].as_array().unwrap().clone()
}

#[test]
fn a_service_is_asked_in_each_protocol() {
    let made = certificate("ask");
    let body = "x".repeat(100_000);
    let routes = ["--route", "POST /a=taken", "--route", "GET /b=found"];
    let long = ["--route", &format!("GET /long={body}")];
    let plain = Server::start(&[&["null"], &routes[..], &long[..]].concat());
    let secure = Server::start(&[&["null"], &routes[..], &long[..], &made.flags()].concat());
    for (scheme, protocol) in SPOKEN {
        let server = if scheme == "https" { &secure } else { &plain };
        let url = format!("{scheme}://{}", server.address());
        let found = asked(
            &url,
            protocol,
            &json!({"target": "/b", "expect": {"body": {"kind": "exact", "value": "found"}}}),
            3,
        );
        for (number, one) in found.iter().enumerate() {
            assert_eq!(
                (&one["status"], &one["faults"]),
                (&json!(200), &json!([])),
                "{url} {protocol}: {one}"
            );
            assert_eq!(one["reused"], json!(number > 0), "{url} {protocol}");
        }
        let post = json!({"method": "POST", "target": "/a", "body": "y".repeat(100_000),
            "expect": {"body": {"kind": "exact", "value": "taken"}}});
        assert_eq!(asked(&url, protocol, &post, 1)[0]["faults"], json!([]));
        let head = json!({"method": "HEAD", "target": "/b", "expect": {"status": [200]}});
        let head = &asked(&url, protocol, &head, 1)[0];
        assert_eq!(
            (&head["faults"], &head["body_bytes"]),
            (&json!([]), &json!(0)),
            "{url} {protocol}"
        );
        let long = &asked(&url, protocol, &json!({"target": "/long"}), 1)[0];
        assert_eq!(long["body_bytes"], json!(body.len()), "{url} {protocol}");
        let wrong = json!({"target": "/none", "expect": {"status": [200]}});
        let wrong = &asked(&url, protocol, &wrong, 1)[0];
        assert_eq!(
            (&wrong["status"], &wrong["failure"]),
            (&json!(404), &Value::Null)
        );
    }
}

#[test]
fn a_server_that_speaks_something_else_is_named_at_once() {
    let made = certificate("mismatch");
    let plain = Server::start(&["null"]);
    let secure = Server::start(&[&["null"], &made.flags()[..]].concat());
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closes = silent.local_addr().unwrap();
    std::thread::spawn(move || silent.incoming().for_each(drop));
    let old = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let answers = old.local_addr().unwrap();
    std::thread::spawn(move || {
        for peer in old.incoming().flatten() {
            let mut peer = peer;
            let mut request = [0; 24];
            let _ = std::io::Read::read(&mut peer, &mut request);
            let _ = peer.write_all(
                b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    });
    for (url, protocol, words) in [
        (
            format!("https://{}", plain.address()),
            "h1",
            "speaks HTTP without TLS",
        ),
        (
            format!("https://{}", plain.address()),
            "h2",
            "speaks HTTP without TLS",
        ),
        (format!("https://{closes}"), "h1", "in the handshake"),
        (
            format!("http://{answers}"),
            "h2c",
            "answers HTTP/1.1 to HTTP/2",
        ),
        (format!("http://{closes}"), "h2c", "may not speak it"),
    ] {
        let one = &asked(&url, protocol, &json!({"target": "/"}), 1)[0];
        let failure = one["failure"].as_str().unwrap();
        assert!(failure.contains(words), "{url} {protocol}: {failure}");
        assert_eq!(one["mismatch"], json!(true), "{url} {protocol}: {failure}");
        assert!(one["took_s"].as_f64().unwrap() < 4.0, "{one}");
    }
    // TLS where it is not expected is not a mismatch that a client of HTTP/1.1 can see for sure, and no answer.
    let one = &asked(
        &format!("http://{}", secure.address()),
        "h1",
        &json!({"target": "/"}),
        1,
    )[0];
    assert!(one["status"].is_null(), "{one}");
}

#[test]
fn a_start_is_timed_in_each_protocol() {
    let made = certificate("boot");
    for (scheme, protocol) in SPOKEN {
        let port = free_port().to_string();
        let mut argv = vec![ENGINE, "null", "--port", &port, "--body", "pong"];
        if scheme == "https" {
            argv.extend(made.flags());
        }
        let done = job(
            "boot",
            &json!({
                "argv": argv,
                "url": format!("{scheme}://127.0.0.1:{port}"),
                "protocol": protocol,
                "request": {"target": "/ping", "expect": {"body": {"kind": "exact", "value": "pong"}}},
                "timeout_s": 20.0,
            }),
        );
        let run = &done.result["runs"][0];
        assert!(
            run["failure"].is_null(),
            "{protocol}: {run} {}",
            done.errors
        );
        let first_response = run["first_response_s"].as_f64().unwrap();
        assert!(first_response >= run["port_open_s"].as_f64().unwrap());
    }
}

#[test]
fn connections_are_held_in_each_protocol() {
    let made = certificate("hold");
    let plain = Server::start(&["null", "--body", "pong"]);
    let secure = Server::start(&[&["null", "--body", "pong"], &made.flags()[..]].concat());
    for (scheme, protocol) in SPOKEN {
        let server = if scheme == "https" { &secure } else { &plain };
        let done = job(
            "hold",
            &json!({
                "url": format!("{scheme}://{}/", server.address()),
                "protocol": protocol,
                "request": {"expect": {"body": {"kind": "exact", "value": "pong"}}},
                "levels": [0, 40],
                "mode": "traffic",
                "watch": [server.pid()],
                "settle_s": 0.02,
                "traffic_s": 0.2,
                "traffic_rate": 200.0,
                "after_close_s": 0.02,
            }),
        );
        assert_eq!(done.code, Some(0), "{protocol}: {}", done.errors);
        let level = &done.result["levels"][1];
        for key in ["held", "established", "answered"] {
            assert_eq!(level[key], json!(40), "{protocol}: {key}: {level}");
        }
        assert_eq!((&level["failed"], &level["lost"]), (&json!({}), &json!({})));
        let traffic = &level["traffic"];
        assert!(traffic["requests"].as_u64().unwrap() > 0, "{traffic}");
        assert_eq!(traffic["requests"], traffic["ok"], "{protocol}: {traffic}");
    }
}

#[test]
fn a_load_goes_to_the_null_server_in_each_protocol() {
    let made = certificate("load");
    let plain = Server::start(&["null", "--body", "pong"]);
    let secure = Server::start(&[&["null", "--body", "pong"], &made.flags()[..]].concat());
    for (scheme, protocol) in SPOKEN {
        let server = if scheme == "https" { &secure } else { &plain };
        let done = job(
            "load",
            &json!({
                "url": format!("{scheme}://{}/", server.address()),
                "protocol": protocol,
                "connections": 4,
                "loop": {"kind": "closed"},
                "duration_s": 0.2,
                "requests": [{"target": "/", "expect": {"body": {"kind": "exact", "value": "pong"}}}],
            }),
        );
        assert_eq!(done.code, Some(0), "{protocol}: {}", done.errors);
        let counts = &done.result["counts"];
        assert!(counts["ok"].as_u64() > Some(0), "{protocol}: {counts}");
        assert_eq!(counts["failed"], json!(0), "{protocol}: {counts}");
        let tls = &done.result["tls"];
        assert_eq!(tls.is_null(), scheme == "http", "{protocol}: {tls}");
    }
}
