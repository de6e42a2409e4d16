//! `probe` against services that are awkward: credentials, a picky POST, HTTP/2 only, a sudden death.

mod support;

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use support::ENGINE;

/// Serves each connection by `answer`, which gets the request's octets so far and says what to send, if
/// it is whole. The connection stays open after an answer.
fn serve(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || converse(stream, &*answer));
        }
    });
    address
}

fn converse(mut stream: TcpStream, answer: &dyn Fn(&str) -> Option<String>) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        request.extend_from_slice(&buffer[..count]);
        if let Some(response) = answer(&String::from_utf8_lossy(&request)) {
            request.clear();
            if stream.write_all(response.as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn response(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn probe(arguments: &[&str]) -> Output {
    Command::new(ENGINE)
        .arg("probe")
        .args(arguments)
        .output()
        .unwrap()
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn case<'a>(report: &'a Value, id: &str) -> &'a Value {
    let cases = report["cases"].as_array().unwrap();
    cases.iter().find(|case| case["id"] == id).unwrap()
}

fn refused(arguments: &[&str], words: &[&str]) {
    let output = probe(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for word in words {
        assert!(said.contains(word), "{said}");
    }
}

/// A notes service: a token for everything, and JSON alone for POST.
fn notes(request: &str) -> Option<String> {
    let (head, body) = request.split_once("\r\n\r\n")?;
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map_or(0, |length| length.parse().unwrap_or(0));
    if body.len() < length {
        return None;
    }
    Some(if !head.contains("\r\nAuthorization: Bearer t\r\n") {
        response("401 Unauthorized", "who?")
    } else if head.starts_with("POST ") {
        let typed = head.contains("\r\nContent-Type: application/json\r\n");
        match body.starts_with('{') && typed {
            true => response("201 Created", "made"),
            false => response("422 Unprocessable Content", "no JSON"),
        }
    } else {
        response("200 OK", "[]")
    })
}

#[test]
fn a_service_that_wants_credentials_says_so_and_gets_them() {
    let url = format!("http://{}/notes", serve(notes));
    refused(&[&url], &["401", "--header"]);
    let only = ["--only", "request-line-plain", "--json"];
    let output = probe(&[&[&*url, "--header", "Authorization: Bearer t"], &only[..]].concat());
    assert_eq!(
        case(&report(&output), "request-line-plain")["verdict"],
        "right"
    );
}

#[test]
fn a_picky_post_gets_its_own_body_and_no_other() {
    let url = format!("http://{}/notes", serve(notes));
    let own = [
        &*url,
        "--header=Authorization: Bearer t",
        "--post=/notes",
        "--post-body={\"text\":\"a\"}",
        "--post-type=application/json",
        "--json",
        "--only=framing-post-read",
        "--only=framing-post-binary",
        "--only=framing-body-read",
    ];
    let report = report(&probe(&own));
    assert_eq!(report["post"]["takes_anything"], false);
    let sent = case(&report, "framing-post-read")["sent"].as_str().unwrap();
    assert!(
        sent.contains("Content-Length: 12\\r\\n\\r\\n{\"text\":\"a\"}"),
        "{sent}"
    );
    assert_ne!(
        case(&report, "framing-post-read")["verdict"],
        "not_applicable"
    );
    assert_eq!(
        case(&report, "framing-post-binary")["verdict"],
        "not_applicable"
    );
}

#[test]
fn a_refused_post_costs_its_cases_and_no_more() {
    let url = format!("http://{}/notes", serve(notes));
    let output = probe(&[
        &url,
        "--header=Authorization: Bearer t",
        "--post=/notes",
        "--json",
        "--only=framing-post-read",
        "--only=request-line-plain",
    ]);
    let report = report(&output);
    assert_eq!(case(&report, "request-line-plain")["verdict"], "right");
    let lost = case(&report, "framing-post-read");
    assert_eq!(lost["verdict"], "not_applicable");
    assert_eq!(lost["reason"], "POST /notes was answered 422");
}

#[test]
fn a_service_that_speaks_http_2_alone_is_named() {
    let settings = "\0\0\0\x04\0\0\0\0\0";
    let address = serve(move |request| request.starts_with("PRI ").then(|| settings.into()));
    let patience = ["--patience", "0.3"];
    let url = format!("http://{address}/");
    refused(&[&[&*url], &patience[..]].concat(), &["HTTP/2 only"]);
}

#[test]
fn an_https_url_is_refused_before_anything_is_sent() {
    let output = probe(&["https://127.0.0.1:1/"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("http://"));
}

#[test]
fn a_service_that_dies_is_told_first_and_keeps_nothing_by_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let seen = AtomicUsize::new(0);
    // It answers plain requests until the first HEAD, and then nobody listens any more.
    let server = thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).unwrap_or(0);
            if buffer[..count].starts_with(b"HEAD") {
                return;
            }
            seen.fetch_add(1, Ordering::Relaxed);
            let _ = stream.write_all(response("200 OK", "x").as_bytes());
        }
    });
    let only = ["--only=method-head", "--only=host-missing", "--jobs=1"];
    let table = probe(&[&[&*url], &only[..]].concat());
    let said = String::from_utf8_lossy(&table.stdout).into_owned();
    server.join().unwrap();
    assert!(said.contains("THE SERVER DIED in the case"), "{said}");
    assert!(said.contains("it died: method-head"), "{said}");
}
