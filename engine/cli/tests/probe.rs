//! `probe` against services that are awkward: credentials, a picky POST, HTTP/2 only, a sudden death, a rate limit; and its
//! requests without `--unsafe`.

mod support;

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
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
        "--unsafe",
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
        "--unsafe",
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
    refused(
        &[&[&*url], &patience[..]].concat(),
        &["HTTP/2 only", "--protocol h2c"],
    );
}

#[test]
fn a_url_that_does_not_fit_the_protocol_is_refused_before_anything_is_sent() {
    for (protocol, url, word) in [
        ("h2", "http://127.0.0.1:1/", "https://"),
        ("h2c", "https://127.0.0.1:1/", "http://"),
    ] {
        let output = probe(&["--protocol", protocol, url]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(word));
    }
}

#[test]
fn a_service_that_speaks_something_else_is_named() {
    let address = serve(|_| Some(response("400 Bad Request", "no")));
    let plain = format!("http://{address}/");
    refused(
        &["--protocol", "h2c", &plain],
        &["HTTP/1.1", "--protocol h1"],
    );
    let secure = format!("https://{address}/");
    for protocol in ["h1", "h2"] {
        refused(
            &["--protocol", protocol, &secure],
            &["without TLS", "http://"],
        );
    }
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
    assert_eq!(table.status.code(), Some(1), "most cases were not played");
}

/// The first words of all requests, whichever connection they came on.
fn words_sent(arguments: &[&str]) -> (Output, Vec<String>) {
    let words = Arc::new(Mutex::new(Vec::new()));
    let seen = words.clone();
    let address = serve(move |request| {
        let (head, _) = request.split_once("\r\n\r\n")?;
        let word = head.split(' ').next().unwrap_or_default();
        seen.lock().unwrap().push(word.to_owned());
        Some(response("200 OK", "x"))
    });
    let url = format!("http://{address}/items/7");
    let output = probe(&[&[&*url], arguments].concat());
    let words = words.lock().unwrap().clone();
    (output, words)
}

#[test]
fn only_safe_methods_are_sent_unless_others_are_asked_for() {
    let category = ["--only=method", "--only=smuggling-cl-0-delete", "--json"];
    let (output, words) = words_sent(&category);
    let safe = ["GET", "HEAD", "OPTIONS", "TRACE"];
    let other = words.iter().find(|word| !safe.contains(&word.as_str()));
    assert_eq!(other, None);
    let report = report(&output);
    assert_eq!(report["unsafe"], false);
    assert!(
        report["left_out"].as_u64() > Some(10),
        "{}",
        report["left_out"]
    );
    let left = case(&report, "method-delete");
    assert_eq!(left["verdict"], "not_applicable");
    assert!(left["reason"].as_str().unwrap().contains("--unsafe"));

    let (table, _) = words_sent(&category[..2]);
    let said = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(
        said.contains("cases were left out because they send POST"),
        "{said}"
    );

    let (_, words) = words_sent(&["--only=method", "--unsafe"]);
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        assert!(words.iter().any(|word| word == method), "{words:?}");
    }
}

#[test]
fn what_sends_a_post_has_to_be_asked_for() {
    let output = probe(&["http://127.0.0.1:1/", "--post=/notes"]);
    assert_eq!(output.status.code(), Some(2));
    let (output, words) = words_sent(&["--only=method-delete"]);
    assert_eq!(output.status.code(), Some(2), "not one case was played");
    assert!(words.iter().all(|word| word == "GET"), "{words:?}");
    for said in [output.stderr, output.stdout] {
        assert!(String::from_utf8_lossy(&said).contains("--unsafe"));
    }
}

/// Probes a service that answers GET with 200 until it has answered `until` requests, and then by `after`.
fn probe_until(until: usize, after: impl Fn() -> String + Send + Sync + 'static) -> Value {
    let answered = AtomicUsize::new(0);
    let address = serve(move |request| {
        request.contains("\r\n\r\n").then(|| {
            match answered.fetch_add(1, Ordering::Relaxed) < until {
                true => response("200 OK", "x"),
                false => after(),
            }
        })
    });
    let url = format!("http://{address}/");
    let output = probe(&[
        &url,
        "--only=header",
        "--jobs=1",
        "--patience=0.5",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(1), "it did not come to its end");
    report(&output)
}

#[test]
fn what_follows_a_refusal_is_inconclusive_and_names_the_case() {
    for (status, words) in [
        ("429 Too Many Requests", "429 in place of 200"),
        ("403 Forbidden", "403 in place of 200"),
        ("503 Service Unavailable", "503 in place of 200"),
        ("404 Not Found", "404 in place of 200"),
    ] {
        let report = probe_until(20, move || response(status, "x"));
        let after = report["refused"]["after"].as_str().unwrap();
        let what = report["refused"]["what"].as_str().unwrap();
        assert!(what.contains(words), "{what}");
        assert_eq!(report["died_in"], Value::Null);
        assert!(report["counts"]["inconclusive"].as_u64() > Some(20));
        assert_eq!(report["counts"]["crash"], 0);
        let cases = report["cases"].as_array().unwrap();
        let first = cases.iter().position(|case| case["id"] == after).unwrap();
        for case in &cases[first..] {
            assert_eq!(case["verdict"], "inconclusive", "{case}");
            let reason = case["reason"].as_str().unwrap();
            assert!(reason.contains(words), "{reason}");
            assert!(reason.contains(after) || case["id"] == after, "{reason}");
        }
    }
}

#[test]
fn a_service_that_closes_every_connection_has_begun_to_refuse() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for (count, mut stream) in listener.incoming().flatten().enumerate() {
            let _ = stream.read(&mut [0; 4096]);
            if count < 20 {
                let _ = stream.write_all(response("200 OK", "x").as_bytes());
            }
        }
    });
    let output = probe(&[
        &url,
        "--only=header",
        "--jobs=1",
        "--patience=0.5",
        "--json",
    ]);
    let report = report(&output);
    let what = report["refused"]["what"].as_str().unwrap();
    assert!(what.contains("closed or reset"), "{what}");
    assert_eq!(report["counts"]["crash"], 0);
}

#[test]
fn a_body_that_changes_is_no_yardstick() {
    let answered = AtomicUsize::new(0);
    let address = serve(move |request| {
        request.contains("\r\n\r\n").then(|| {
            let count = answered.fetch_add(1, Ordering::Relaxed);
            response("200 OK", if count < 6 { "before" } else { "after" })
        })
    });
    let url = format!("http://{address}/");
    let output = probe(&[
        &url,
        "--only=target-query",
        "--only=target-query-empty",
        "--only=target-query-slash",
        "--json",
    ]);
    let report = report(&output);
    assert_eq!(report["counts"]["wrong"], 0, "{report}");
}
