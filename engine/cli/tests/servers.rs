//! `null` and `echo` as processes: what they say, answer and count, and how they end.

mod support;

use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::{Server, ask, ask_json, until};

/// A connection that does not wait for ever.
fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
}

fn body(text: &str) -> &str {
    text.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

#[test]
fn null_serves_its_routes_and_ends_on_sigterm() {
    let server = Server::start(&[
        "null",
        "--workers",
        "2",
        "--route",
        "GET /ping=pong",
        "--route",
        "GET /=I am {query.name}",
    ]);
    assert_eq!(server.line["pid"], json!(server.pid()));
    assert_eq!(body(&ask(server.address(), "GET", "/ping")), "pong");
    assert_eq!(body(&ask(server.address(), "GET", "/?name=b")), "I am b");
    assert!(ask(server.address(), "GET", "/x").starts_with("HTTP/1.1 404 "));
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn null_answers_pipelined_requests_cut_anywhere() {
    let server = Server::start(&["null", "--body", "ok"]);
    let one = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
    let many = one.repeat(50);
    for step in [1, 7, 61, 4096] {
        let mut stream = connect(&server);
        stream.set_nodelay(true).unwrap();
        for part in many.as_bytes().chunks(step) {
            stream.write_all(part).unwrap();
        }
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(
            text.matches("HTTP/1.1 200 OK").count(),
            50,
            "in steps of {step}"
        );
    }
}

#[test]
fn null_does_not_grow_with_a_client_that_never_reads() {
    let server = Server::start(&["null", "--body", &"x".repeat(10_000)]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .set_write_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    let requests = "GET / HTTP/1.1\r\n\r\n".repeat(1000);
    // Up to 2 GB of answers are asked for; the writes end when the server stops reading.
    for _ in 0..200 {
        if stream.write_all(requests.as_bytes()).is_err() {
            break;
        }
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS")).unwrap();
    let kb: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kb < 120_000, "{line}");
}

#[test]
fn echo_answers_after_its_delay_never_before_and_counts() {
    let server = Server::start(&[
        "echo",
        "--delay-ms",
        "10",
        "--body",
        "{}",
        "--content-type",
        "application/json",
    ]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    for _ in 0..20 {
        let begin = Instant::now();
        stream
            .write_all(b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n")
            .unwrap();
        let mut buffer = [0; 200];
        let n = stream.read(&mut buffer).unwrap();
        assert!(begin.elapsed() >= Duration::from_millis(10));
        assert!(buffer[..n].ends_with(b"\r\n\r\n{}"));
    }
    for id in ["b", "a", "b"] {
        ask(server.address(), "GET", &format!("/echo?id={id}"));
    }
    assert!(ask(server.address(), "GET", "/other").starts_with("HTTP/1.1 404 "));
    let stats = ask_json(server.address(), "GET", "/_stats");
    assert_eq!(stats["paths"], json!({"/echo": 23, "/other": 1}));
    assert_eq!(
        (&stats["answered"], &stats["lost"]),
        (&json!(23), &json!(0))
    );
    assert_eq!(
        (&stats["ids"]["distinct"], &stats["ids"]["duplicates"]),
        (&json!(2), &json!(1))
    );
    // The kept connection, one for each other request, and the one that asks.
    assert_eq!(
        (
            &stats["connections"]["opened"],
            &stats["connections"]["open"]
        ),
        (&json!(6), &json!(2))
    );
    assert!(
        stats["late_s"]["p50"].as_f64() < stats["late_s"]["max"].as_f64().map(|max| max + 1e-6)
    );
    let log = ask_json(server.address(), "GET", "/_log?from=1");
    let ids: Vec<_> = log["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e[2].as_str().unwrap())
        .collect();
    assert_eq!((ids, &log["next"]), (vec!["a", "b"], &json!(3)));
    assert_eq!(
        ask_json(server.address(), "POST", "/_reset"),
        json!({"reset": true})
    );
    assert_eq!(ask_json(server.address(), "GET", "/_stats")["requests"], 0);
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn echo_keeps_order_on_a_connection_when_its_delay_shrinks() {
    let server = Server::start(&["echo", "--delay-ms", "5"]);
    let control = server.line["control"].as_str().unwrap().to_owned();
    ask(&control, "POST", "/_fail?mode=slow&delay_ms=400");
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"GET /echo HTTP/1.1\r\n\r\n").unwrap();
    until(|| ask_json(server.address(), "GET", "/_stats")["requests"] == 1);
    ask(&control, "POST", "/_fail?mode=status&code=503");
    stream
        .write_all(b"GET /echo HTTP/1.1\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (first, second) = (
        text.find("HTTP/1.1 200").unwrap(),
        text.find("HTTP/1.1 503").unwrap(),
    );
    assert!(first < second, "{text}");
}

#[test]
fn echo_fails_as_it_is_told_and_comes_back() {
    let server = Server::start(&["echo", "--delay-ms", "1", "--workers", "2"]);
    let control = server.line["control"].as_str().unwrap().to_owned();
    let mut held = connect(&server);
    held.write_all(b"GET /echo HTTP/1.1\r\n\r\n").unwrap();
    assert!(held.read(&mut [0; 100]).unwrap() > 0);

    assert_eq!(
        ask_json(&control, "POST", "/_fail?mode=refuse")["mode"],
        "refuse"
    );
    // Held connections end, and new ones are refused, as soon as the workers have heard of it.
    assert!(held.read(&mut [0; 100]).map_or(true, |n| n == 0));
    let begin = Instant::now();
    while TcpStream::connect(server.address()).is_ok() && begin.elapsed() < Duration::from_secs(10)
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(TcpStream::connect(server.address()).is_err());

    ask(&control, "POST", "/_fail?mode=status&code=500");
    let begin = Instant::now();
    while TcpStream::connect(server.address()).is_err() && begin.elapsed() < Duration::from_secs(10)
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(ask(server.address(), "GET", "/echo").starts_with("HTTP/1.1 500 "));
    ask(&control, "POST", "/_fail?mode=off");
    assert!(ask(server.address(), "GET", "/echo").starts_with("HTTP/1.1 200 "));
    assert!(ask(&control, "POST", "/_fail?mode=what").starts_with("HTTP/1.1 400 "));
    assert!(ask(&control, "GET", "/_fail").starts_with("HTTP/1.1 405 "));
}

#[test]
fn flags_that_make_no_sense_are_usage_errors() {
    for arguments in [
        &["null", "--route", "ping"][..],
        &["echo", "--delay-ms", "-1"],
        &["null", "--workers", "0"],
        &["what"],
    ] {
        let output = std::process::Command::new(support::ENGINE)
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty());
    }
}
