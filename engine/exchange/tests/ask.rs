//! The session as its callers use it: orders in, answers out, and a server between them.

use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use touchstone_exchange::ask;

/// What a server answers to a request's line and fields; nothing closes the connection.
type Answers = dyn Fn(&str) -> Option<String> + Send + Sync;

/// A server on this address, and how many connections it has taken.
fn serve(address: &str, answers: Arc<Answers>) -> Option<(SocketAddr, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind(address).ok()?;
    let (address, taken) = (
        listener.local_addr().unwrap(),
        Arc::new(AtomicUsize::new(0)),
    );
    let count = Arc::clone(&taken);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            count.fetch_add(1, Ordering::SeqCst);
            let answers = Arc::clone(&answers);
            std::thread::spawn(move || converse(stream, &*answers));
        }
    });
    Some((address, taken))
}

fn converse(stream: TcpStream, answers: &Answers) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        head.push_str(&String::from_utf8_lossy(&body));
        match answers(&head) {
            Some(answer) => writer.write_all(answer.as_bytes()).unwrap_or(()),
            None => return,
        }
    }
}

fn pong(_: &str) -> Option<String> {
    Some("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\npong".to_owned())
}

/// The answers to orders that are given together, by their numbers.
fn told(orders: &[Value]) -> Vec<Value> {
    let lines: String = orders.iter().map(|order| format!("{order}\n")).collect();
    let mut out = Vec::new();
    ask::run(Cursor::new(lines), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let mut answers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

fn send(url: &str, request: Value, more: Value) -> Value {
    let mut order = json!({
        "id": 1,
        "order": "send",
        "url": url,
        "asked": {"request": request},
        "values": {"counter": 1, "seed": 1, "fresh": "f"},
        "timeout_s": 2.0
    });
    for (name, value) in more.as_object().unwrap() {
        if name == "captures" {
            order["asked"]["captures"] = value.clone();
        } else {
            order[name] = value.clone();
        }
    }
    order
}

fn one(order: Value) -> Value {
    told(&[order])[0]["exchanges"][0].clone()
}

#[test]
fn a_request_is_rendered_sent_and_checked_and_its_values_are_captured() {
    let echo = |head: &str| {
        let body = head.replace(['\r', '\n'], "|");
        Some(format!(
            "HTTP/1.1 200 OK\r\nX-Id: 7\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    };
    let (address, _) = serve("127.0.0.1:0", Arc::new(echo)).unwrap();
    let request = json!({
        "method": "POST",
        "target": "/{counter}/{capture.key}",
        "headers": [["X-Fresh", "{fresh}"]],
        "body": "{x*3}",
        "expect": {"body": {"kind": "pattern", "value": "POST /{counter}/a%20b HTTP/1.1.*{fresh}.*xxx"}}
    });
    let values = json!({"counter": 5, "seed": 1, "fresh": "abc", "captured": {"key": "a b"}});
    let more = json!({"values": values, "captures": {"id": {"header": "x-id"}}, "repeat": 2});
    let found = told(&[send(&format!("http://{address}"), request, more)]);
    let exchanges = found[0]["exchanges"].as_array().unwrap();
    assert_eq!(exchanges.len(), 2);
    for (number, exchange) in exchanges.iter().enumerate() {
        assert_eq!(exchange["faults"], json!([]), "{exchange}");
        assert_eq!(exchange["counter"], 5 + number);
        assert_eq!(exchange["captured"], json!({"id": "7"}));
        assert_eq!(exchange["address"], address.to_string());
        assert!(exchange["took_s"].as_f64() >= exchange["first_byte_s"].as_f64());
    }
}

#[test]
fn idempotent_requests_of_a_lane_share_a_connection() {
    let (address, taken) = serve("127.0.0.1:0", Arc::new(pong)).unwrap();
    let url = format!("http://{address}");
    let lane = json!({"lane": 1, "repeat": 5});
    let found = told(&[send(&url, json!({}), lane.clone())]);
    let reused: Vec<bool> = found[0]["exchanges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["reused"] == true)
        .collect();
    assert_eq!(reused, [false, true, true, true, true]);
    assert_eq!(taken.load(Ordering::SeqCst), 1);
    told(&[send(&url, json!({"method": "POST"}), lane)]);
    assert_eq!(
        taken.load(Ordering::SeqCst),
        6,
        "what may not be repeated is sent on a fresh one"
    );
    told(&[send(
        &url,
        json!({}),
        json!({"lane": 1, "repeat": 4, "concurrent": 2}),
    )]);
    assert_eq!(taken.load(Ordering::SeqCst), 10);
}

#[test]
fn a_request_that_crosses_a_close_is_sent_once_more() {
    let asked = AtomicUsize::new(0);
    let closes = move |head: &str| {
        let second = asked.fetch_add(1, Ordering::SeqCst) == 1;
        if second { None } else { pong(head) }
    };
    let (address, taken) = serve("127.0.0.1:0", Arc::new(closes)).unwrap();
    let order = send(
        &format!("http://{address}"),
        json!({}),
        json!({"lane": 1, "repeat": 2}),
    );
    let found = told(&[order]);
    assert_eq!(found[0]["exchanges"][1]["repeated"], true, "{found:?}");
    assert_eq!(found[0]["exchanges"][1]["faults"], json!([]));
    assert_eq!(taken.load(Ordering::SeqCst), 2);
}

#[test]
fn cookies_of_a_lane_are_sent_back_where_that_is_asked_for() {
    let sets = |head: &str| {
        let body = if head.contains("Cookie: a=1") {
            "in"
        } else {
            "out"
        };
        let set = "Set-Cookie: a=1; Path=/";
        Some(format!(
            "HTTP/1.1 200 OK\r\n{set}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    };
    let (address, _) = serve("127.0.0.1:0", Arc::new(sets)).unwrap();
    let url = format!("http://{address}");
    for (cookies, last) in [(true, "aW4="), (false, "b3V0")] {
        let more = json!({"lane": 1, "cookies": cookies, "repeat": 2});
        let found = told(&[send(&url, json!({}), more)]);
        assert_eq!(found[0]["exchanges"][0]["body"], "b3V0");
        assert_eq!(found[0]["exchanges"][1]["body"], last);
    }
}

#[test]
fn a_request_is_sent_again_until_its_response_is_right() {
    let asked = AtomicUsize::new(0);
    let recovers = move |head: &str| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => Some("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n".to_owned()),
        _ => pong(head),
    };
    let (address, _) = serve("127.0.0.1:0", Arc::new(recovers)).unwrap();
    let url = format!("http://{address}");
    assert_eq!(
        one(send(&url, json!({}), json!({"within_s": 5.0})))["status"],
        200
    );
}

#[test]
fn the_address_that_answers_is_used_for_all() {
    let Some((six, _)) = serve("[::1]:0", Arc::new(pong)) else {
        return;
    };
    let url = format!("http://localhost:{}/", six.port());
    let orders = [
        json!({"id": 1, "order": "resolve", "url": url}),
        json!({"id": 2, "order": "locate", "url": url}),
        json!({"id": 3, "order": "locate", "url": "http://127.0.0.1:1"}),
    ];
    let found = told(&orders);
    // A machine may have no IPv6 address for the name.
    if !found[0].to_string().contains("[::1]") {
        return;
    }
    assert_eq!(found[1]["address"], six.to_string());
    assert!(found[2]["error"].as_str().unwrap().contains("refused"));
    assert_eq!(
        one(send(&url, json!({}), json!({})))["address"],
        six.to_string()
    );
}

/// A server that sends these pieces of a response, one after the other, and ends the connection behind them or leaves it open.
fn streams(pieces: &'static [&'static str], ends: bool, pause_ms: u64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut line = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while reader.read_line(&mut line).unwrap_or(0) > 2 {
                line.clear();
            }
            for piece in pieces {
                stream.write_all(piece.as_bytes()).unwrap();
                stream.flush().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(pause_ms));
            }
            // The client goes first where the server goes on.
            if !ends {
                let _ = reader.read_line(&mut line);
            }
        }
    });
    format!("http://{address}")
}

const SSE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const CHUNKS: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const GZIP: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n";
const PLAIN: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
const A: &str = "id: 1\ndata: a\n\n";
const B: &str = "id: 2\ndata: b\n\n";

/// Sends a request for a stream of events to a server of these pieces; a sentence must be among the faults, or there is none.
fn streamed(pieces: &'static [&'static str], ends: bool, stream: &Value, said: &str) {
    let url = streams(pieces, ends, 5);
    let mut order = send(&url, json!({}), json!({"timeout_s": 0.3}));
    order["asked"]["stream"] = stream.clone();
    let found = one(order);
    let faults = found["faults"].to_string();
    let right = if said.is_empty() {
        faults == "[]"
    } else {
        faults.contains(said)
    };
    assert!(right, "{pieces:?} {stream}: {found}");
}

#[test]
fn a_stream_is_checked_event_by_event_and_left_when_its_events_have_come() {
    let wanted = json!({"kind": "sse", "events": 2, "counter": "id", "first": 1});
    streamed(&[SSE, A, "id: 2", "\ndata: b\n\n"], false, &wanted, "");
    streamed(&[SSE, A, B], true, &wanted, "");
    streamed(
        &[SSE, B, "id: 3\ndata: c\n\n"],
        true,
        &wanted,
        "missing is 1",
    );
    streamed(&[SSE, A], true, &wanted, "1 of 2 came");
    let late = "no next event within 0.3 s: 1 of 2";
    streamed(&[SSE, A], false, &wanted, late);
    streamed(&[GZIP, A], true, &wanted, "Content-Encoding");
    streamed(&[PLAIN, A], true, &wanted, "the content type is");
}

#[test]
fn chunks_and_lines_of_a_stream_are_counted() {
    let of = |kind: &str, events: u32| json!({"kind": kind, "events": events});
    let apart = &[CHUNKS, "1\r\na\r\n", "2\r\nbc\r\n0\r\n\r\n"];
    streamed(apart, true, &of("chunks", 2), "");
    let at_once = &[CHUNKS, "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"];
    streamed(at_once, true, &of("chunks", 2), "");
    streamed(at_once, true, &of("chunks", 3), "2 of 3 came");
    streamed(&[PLAIN, "a\nb"], true, &of("lines", 2), "");
    streamed(&[PLAIN, "a\nb"], false, &of("lines", 2), "no next event");
}

#[test]
fn each_event_of_a_stream_may_take_as_long_as_a_response() {
    let pieces: &'static [&'static str] = &[SSE, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A];
    let mut order = send(
        &streams(pieces, false, 45),
        json!({}),
        json!({"timeout_s": 0.5}),
    );
    order["asked"]["stream"] = json!({"kind": "sse", "events": 16});
    let found = one(order);
    assert_eq!(found["faults"], json!([]), "{found}");
    assert!(found["took_s"].as_f64().unwrap() > 0.5);
}

#[test]
fn what_comes_is_read_as_the_load_generator_reads_it() {
    let fields: String = (0..300).map(|n| format!("X-{n}: v\r\n")).collect();
    for (answer, said) in [
        (
            format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\n\r\nok"),
            "",
        ),
        (
            "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2, 2\r\n\r\nok".to_owned(),
            "",
        ),
        (
            "HTTP/1.1 200 OK\r\nX : a\r\n\r\n".to_owned(),
            "white space between the name of a field",
        ),
        (
            "HTTP/1.1 200 OK\r\nX: \0\r\n\r\n".to_owned(),
            "control character",
        ),
        (
            format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "a".repeat(70_000)),
            "longer than 64 KiB",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort".to_owned(),
            "closed after",
        ),
    ] {
        let asked = AtomicUsize::new(0);
        let once =
            move |_: &str| (asked.fetch_add(1, Ordering::SeqCst) == 0).then(|| answer.clone());
        let (address, _) = serve("127.0.0.1:0", Arc::new(once)).unwrap();
        let url = format!("http://{address}");
        let orders = [send(
            &url,
            json!({}),
            json!({"lane": 1, "repeat": 1, "timeout_s": 0.3}),
        )];
        let found = told(&orders)[0]["exchanges"][0].clone();
        let failure = found["failure"].as_str().unwrap_or_default();
        let drips = said == "closed after" && failure.contains("no whole answer within 0.3 s");
        assert!(
            failure.contains(said) && (said.is_empty() == failure.is_empty()) || drips,
            "{said}: {found}"
        );
    }
}

#[test]
fn nothing_is_sent_to_look_at_a_request_a_text_or_a_url() {
    let steps = json!([
        {"request": {"headers": [["Content-Length", "9"]]}},
        {"request": {"expect": {"body": {"kind": "pattern", "value": "("}}}},
        {"request": {}, "captures": {"id": {"pattern": "("}}},
        {"request": {}}
    ]);
    let values = json!({"counter": 7, "seed": 1, "fresh": "f", "captured": {"id": "a/b"}});
    let texts = json!([{"text": "{counter}-{capture.id:url}"}, {"text": "/{capture.id}", "place": "target"}]);
    let found = told(&[
        json!({"id": 1, "order": "compile", "requests": steps}),
        json!({"id": 2, "order": "render", "values": values, "texts": texts}),
        json!({"id": 3, "order": "url", "url": " http://h:1/a b#c"}),
        json!({"id": 4, "order": "url", "url": "h:1"}),
        json!({"id": 5, "order": "render", "values": values, "texts": [{"text": "{capture.other}"}]}),
    ]);
    let refused = found[0]["refused"].as_array().unwrap();
    assert!(
        refused[0]
            .as_str()
            .unwrap()
            .starts_with("headers.Content-Length: "),
        "{refused:?}"
    );
    assert!(
        refused[1].as_str().unwrap().starts_with("expect.body: "),
        "{refused:?}"
    );
    assert!(
        refused[2].as_str().unwrap().starts_with("captures.id: "),
        "{refused:?}"
    );
    assert_eq!(refused[3], Value::Null);
    assert_eq!(found[1]["texts"], json!(["7-a%2Fb", "/a/b"]));
    assert_eq!(found[2]["url"]["target"], "/a%20b");
    assert!(found[3]["error"].as_str().unwrap().contains("http://"));
    assert!(
        found[4]["error"]
            .as_str()
            .unwrap()
            .contains("no earlier step captures it")
    );
}

#[test]
fn an_order_that_cannot_be_read_is_answered() {
    let mut out = Vec::new();
    ask::run(Cursor::new("{\"id\": 1}\n{\n"), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let answers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        answers.iter().any(|answer| answer["id"] == 1)
            && answers.iter().any(|answer| answer["id"].is_null())
    );
    assert!(
        answers
            .iter()
            .all(|answer| answer["error"].to_string().contains("cannot be read"))
    );
}

#[test]
fn a_server_of_http2_alone_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut preface = [0; 24];
            if stream.read_exact(&mut preface).is_ok() {
                let _ = stream.write_all(b"\0\0\0\x04\0\0\0\0\0");
            }
        }
    });
    let (other, _) = serve("127.0.0.1:0", Arc::new(|_: &str| None)).unwrap();
    let found = told(&[
        json!({"id": 1, "order": "speaks_http2", "url": format!("http://{address}")}),
        json!({"id": 2, "order": "speaks_http2", "url": format!("http://{other}")}),
    ]);
    assert_eq!(
        (&found[0]["http2"], &found[1]["http2"]),
        (&json!(true), &json!(false))
    );
}
