//! Streamed responses: each fault of an event is named, and what the formats allow is not.

mod balance;
mod certificate;
mod fault_server;
mod h2_server;
#[path = "fault_server/loads.rs"]
mod loads;
mod stream_server;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use h2_server::{H2Server, Request};
use loads::{BACKENDS, assert_only, carry_out, errors, refusal};
use serde_json::{Value, json};
use stream_server::{Part, StreamServer, chunked, event};
use touchstone_h2::frame::{self, Kind, flag};
use touchstone_h2::literal;
use touchstone_load::job::{BackendChoice, Job};
use touchstone_load::result::{Events, LoadResult};

/// A closed loop of 4 streams over 2 connections.
fn job(port: u16, backend: BackendChoice, stream: &Value, change: Value) -> Job {
    let mut job = json!({
        "url": format!("http://127.0.0.1:{port}"),
        "connections": 2,
        "duration_s": 60,
        "timeout_s": 10,
        "max_requests": 4,
        "requests": [{"target": "/s", "stream": stream}],
    });
    job.as_object_mut()
        .unwrap()
        .extend(change.as_object().unwrap().clone());
    let mut job = Job::from_json(&job.to_string()).unwrap();
    job.backend = backend;
    job
}

fn sse(events: u32) -> Value {
    json!({"kind": "sse", "events": events, "counter": "json.n"})
}

/// What comes of a stream of these parts, over each backend.
fn streamed(parts: &[Part], stream: &Value, look: impl Fn(&LoadResult, &Events, u64)) {
    for backend in BACKENDS {
        let server = StreamServer::start(parts.to_vec());
        let result = carry_out(&job(server.port, backend, stream, json!({})));
        assert_eq!(result.counts.sent, 4);
        let events = result.events.as_ref().unwrap();
        look(&result, events, server.connections.load(Ordering::SeqCst));
    }
}

/// A chunked event stream of these numbers, each in a chunk of its own.
fn numbers(numbers: &[i64]) -> Vec<Part> {
    let chunks = numbers.iter().map(|number| Part::Chunk(event(*number)));
    let head = [chunked("text/event-stream; charset=utf-8")];
    head.into_iter().chain(chunks).chain([Part::End]).collect()
}

#[test]
fn a_right_stream_is_right_and_its_connection_is_kept() {
    streamed(
        &numbers(&[0, 1, 2, 3, 4]),
        &sse(5),
        |result, events, connections| {
            assert_eq!(
                (result.counts.ok, connections),
                (4, 2),
                "{:?}",
                result.first_errors
            );
            assert_only(result, None);
            assert_eq!(
                (events.count, events.first.as_ref().unwrap().count),
                (20, 4)
            );
            assert_eq!(events.gap.as_ref().unwrap().count, 16);
            assert!(events.delay.is_none() && events.open_most <= 2);
            assert!(
                result.requests[0].in_parts.is_none(),
                "no rest of a response was waited for"
            );
        },
    );
}

#[test]
fn a_lost_a_doubled_and_a_disordered_event_are_named() {
    for (sent, class, counted) in [
        (&[0, 1, 3, 4][..], "lost_event", [4, 0, 0]),
        (&[0, 1, 2, 3], "lost_event", [4, 0, 0]),
        (&[0, 3], "lost_event", [12, 0, 0]),
        (&[0, 1, 1, 2, 3, 4], "doubled_event", [0, 4, 0]),
        (&[0, 1, 1, 3, 4], "lost_event", [4, 4, 0]),
        (&[0, 2, 1, 3, 4], "disordered_event", [0, 0, 4]),
        (&[0, 1, 900, 2, 3, 4], "disordered_event", [0, 0, 4]),
    ] {
        streamed(&numbers(sent), &sse(5), |result, events, _| {
            assert_eq!(
                errors(result, class),
                4,
                "{sent:?}: {:?}",
                result.first_errors
            );
            assert_only(result, Some(class));
            assert_eq!(
                [events.lost, events.doubled, events.disordered],
                counted,
                "{sent:?}"
            );
            assert_eq!(result.counts.wrong, 4);
        });
    }
}

#[test]
fn an_event_of_another_request_is_wrong() {
    let mine = json!({"kind": "sse", "events": 2, "expect": {"kind": "json", "fields": {"n": {"type": "integer"}}}});
    streamed(&numbers(&[0, 1]), &mine, |result, _, _| {
        assert_only(result, None)
    });
    let another =
        json!({"kind": "sse", "events": 2, "expect": {"kind": "json", "fields": {"n": 0}}});
    streamed(&numbers(&[0, 1]), &another, |result, events, _| {
        assert_only(result, Some("wrong_event"));
        assert_eq!((errors(result, "wrong_event"), events.wrong), (4, 4));
        let why = &result.first_errors[0].why;
        assert!(
            why.contains("event 2 of the stream: the field \"n\" is 1"),
            "{why}"
        );
    });
}

#[test]
fn what_the_format_allows_is_no_fault() {
    let odd = "\u{feff}: hello\r\rretry: 10\r\nid: 0\ndata: {\"n\":\r\ndata: 0, \"t\":\"€é\"}\n\n:\n\nevent: x\n\n\
               foo: bar\rdata:{\"n\":1}\r\rid\ndata: {\"n\":2}\n\ndata: {\"n\":3";
    for piece in [1, 3, 1000] {
        let chunks = odd.as_bytes().chunks(piece).map(|bytes| {
            let head = format!("{:x};ext=1\r\n", bytes.len()).into_bytes();
            Part::Raw([&head, bytes, &b"\r\n"[..]].concat())
        });
        let head = [chunked("Text/Event-Stream")];
        let parts: Vec<Part> = head.into_iter().chain(chunks).chain([Part::End]).collect();
        streamed(&parts, &sse(3), |result, events, _| {
            assert_eq!(result.counts.ok, 4, "{:?}", result.first_errors);
            assert_eq!(events.count, 12);
        });
    }
}

#[test]
fn events_of_another_type_do_not_count() {
    let tick = |number: i64| Part::Chunk(format!("event: tick\n{}", event(number)));
    let ping = || Part::Chunk("event: ping\ndata: {}\n\n".to_owned());
    let parts = [
        chunked("text/event-stream"),
        ping(),
        tick(0),
        ping(),
        tick(1),
        ping(),
        Part::End,
    ];
    let stream = json!({"kind": "sse", "events": 2, "counter": "id", "first": 0, "event": "tick"});
    streamed(&parts, &stream, |result, events, _| {
        assert_only(result, None);
        assert_eq!(events.count, 8);
    });
}

#[test]
fn a_stream_that_goes_on_is_left_and_that_is_no_failure() {
    let endless = (0..100).flat_map(|number| [Part::Chunk(event(number)), Part::Pause(5)]);
    let parts: Vec<Part> = [chunked("text/event-stream")]
        .into_iter()
        .chain(endless)
        .collect();
    streamed(&parts, &sse(3), |result, events, connections| {
        assert_only(result, None);
        assert_eq!((result.counts.ok, events.count), (4, 12));
        assert!(connections >= 4, "{connections}");
        // What was waited for after the last event is none of the stream's time: that ends with its third event.
        let (first, gap) = (events.first.as_ref().unwrap(), events.gap.as_ref().unwrap());
        let longest = result.latency.as_ref().unwrap().max;
        assert!(longest <= 1.01 * (first.max + 2.0 * gap.max), "{longest}");
        assert!(result.connections.errors.values().all(|count| *count == 0));
    });
}

#[test]
fn a_body_ends_with_the_connection_and_lines_need_no_last_end() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n";
    let parts = [
        Part::Raw(head.to_vec()),
        Part::Raw(b"{\"n\":1}\n\n{\"n\"".to_vec()),
        Part::Pause(2),
        Part::Raw(b":2}\r\n{\"n\":3}".to_vec()),
        Part::Close,
    ];
    let stream = json!({"kind": "lines", "events": 3, "counter": "json.n", "first": 1});
    streamed(&parts, &stream, |result, events, _| {
        assert_only(result, None);
        assert_eq!(events.count, 12);
    });
    let stream = json!({"kind": "lines", "events": 3, "counter": "json.n", "first": 0});
    streamed(&parts, &stream, |result, events, _| {
        assert_only(result, Some("lost_event"));
        assert_eq!(events.lost, 4);
    });
}

#[test]
fn chunks_are_events_whatever_reads_they_come_in() {
    let parts = [
        chunked("text/plain"),
        Part::Chunk("17".to_owned()),
        Part::Raw(b"3\r\n1".to_vec()),
        Part::Pause(2),
        Part::Raw(b"8 \r\n2\r\n19\r\n".to_vec()),
        Part::End,
    ];
    let stream = json!({"kind": "chunks", "events": 3, "counter": "data"});
    streamed(&parts, &stream, |result, _, _| assert_only(result, None));
}

#[test]
fn a_burst_shows_and_a_stall_is_the_longest_gap() {
    let all: String = (0..4).map(event).collect();
    let parts = [
        chunked("text/event-stream"),
        Part::Pause(80),
        Part::Chunk(all),
        Part::End,
    ];
    streamed(&parts, &sse(4), |result, events, _| {
        assert_only(result, None);
        assert_eq!((events.lasting, events.in_burst), (4, 4));
    });
    let mut parts = numbers(&[0, 1, 2, 3]);
    parts.insert(3, Part::Pause(100));
    streamed(&parts, &sse(4), |_, events, _| {
        assert_eq!((events.lasting, events.in_burst), (4, 0));
        let gap = events.gap.as_ref().unwrap();
        assert!(gap.max >= 0.1 && gap.p50 < gap.max);
    });
}

#[test]
fn each_event_of_a_stream_may_take_as_long_as_a_response() {
    let mut parts = numbers(&[0, 1, 2, 3]);
    (1..5).for_each(|place| parts.insert(place * 2, Part::Pause(150)));
    let server = StreamServer::start(parts);
    let slow = json!({"timeout_s": 0.4});
    let result = carry_out(&job(server.port, BackendChoice::Epoll, &sse(4), slow));
    assert_eq!(result.counts.ok, 4, "{:?}", result.first_errors);
    let mut parts = numbers(&[0, 2, 3]);
    parts.insert(4, Part::Pause(1_000));
    let server = StreamServer::start(parts);
    let stalled = json!({"timeout_s": 0.2});
    let result = carry_out(&job(server.port, BackendChoice::Epoll, &sse(4), stalled));
    assert_only(&result, Some("timeout"));
    let why = &result.first_errors[0].why;
    assert!(
        why.contains("3 of 4 events had come, 1 missing before them"),
        "{why}"
    );
    assert_eq!(result.events.unwrap().lost, 4);
}

#[test]
fn a_response_that_is_no_such_stream_is_named_by_its_head() {
    for (head, class) in [
        ("200 OK\r\nContent-Type: text/plain", "wrong_header"),
        ("200 OK", "wrong_header"),
        (
            "503 Busy\r\nContent-Type: text/event-stream",
            "wrong_status",
        ),
        (
            "200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip",
            "wrong_header",
        ),
    ] {
        let head = format!("HTTP/1.1 {head}\r\nTransfer-Encoding: chunked\r\n\r\n");
        let parts = [
            Part::Raw(head.into_bytes()),
            Part::Chunk(event(0)),
            Part::End,
        ];
        for backend in BACKENDS {
            let server = StreamServer::start(parts.to_vec());
            let result = carry_out(&job(server.port, backend, &sse(1), json!({})));
            assert_only(&result, Some(class));
            assert_eq!(errors(&result, class), 4);
        }
    }
}

/// A stream over HTTP/2: each event in frames of a few bytes; it ends, or is left open.
fn frames(request: &Request, ends: bool) -> (Vec<u8>, bool) {
    let mut block = vec![0x88];
    literal(b"content-type", b"text/event-stream", &mut block);
    let mut out = Vec::new();
    frame::write_block(request.stream, &block, false, &mut out);
    for number in 0..3 {
        for piece in event(number).as_bytes().chunks(7) {
            frame::write(Kind::DATA, 0, request.stream, piece, &mut out);
        }
    }
    if ends {
        frame::write(Kind::DATA, flag::END_STREAM, request.stream, &[], &mut out);
    }
    (out, false)
}

#[test]
fn http2_carries_streams_in_clear_and_over_tls() {
    let (config, _) = certificate::self_signed();
    let mut config = Arc::unwrap_or_clone(config);
    config.alpn_protocols = vec![b"h2".to_vec()];
    for tls in [None, Some(Arc::new(config))] {
        for backend in BACKENDS {
            for ends in [true, false] {
                let over_tls = tls.is_some();
                let server = H2Server::over(&[], move |request| frames(request, ends), tls.clone());
                let scheme = if over_tls { "https" } else { "http" };
                let spoken = json!({
                    "url": format!("{scheme}://127.0.0.1:{}", server.port),
                    "protocol": if over_tls { "h2" } else { "h2c" },
                    "streams": 2,
                });
                let result = carry_out(&job(server.port, backend, &sse(3), spoken));
                assert_eq!(result.counts.ok, 4, "{:?}", result.first_errors);
                assert_eq!(result.events.as_ref().unwrap().count, 12);
                assert_eq!(
                    server.count(|seen| &seen.connections),
                    2,
                    "streams are called off"
                );
            }
        }
    }
}

#[test]
fn frames_are_chunks_over_http2() {
    let script = |request: &Request| {
        let mut out = Vec::new();
        frame::write_block(request.stream, &[0x88], false, &mut out);
        for number in [b"1", b"2", b"3"] {
            frame::write(Kind::DATA, 0, request.stream, number, &mut out);
        }
        frame::write(Kind::DATA, flag::END_STREAM, request.stream, b"4", &mut out);
        (out, false)
    };
    let server = H2Server::start(&[], script);
    let stream = json!({"kind": "chunks", "events": 4, "counter": "data", "first": 1});
    let spoken = json!({"protocol": "h2c"});
    let result = carry_out(&job(server.port, BackendChoice::Epoll, &stream, spoken));
    assert_only(&result, None);
    assert_eq!(result.counts.ok, 4);
}

#[test]
fn a_stamp_gives_the_time_on_the_way() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n".to_vec();
    let parts = [
        Part::Raw(head),
        Part::Raw(b"1000000000\n4000000000000\n".to_vec()),
        Part::Close,
    ];
    let stream = json!({"kind": "lines", "events": 2, "stamp": "data"});
    streamed(&parts, &stream, |result, events, _| {
        assert_only(result, None);
        assert_eq!((events.delay.as_ref().unwrap().count, events.ahead), (4, 4));
    });
}

#[test]
fn what_does_not_fit_a_stream_is_refused() {
    let text = |request: Value| {
        let job = json!({"url": "http://127.0.0.1:1", "requests": [request]});
        refusal(&Job::from_json(&job.to_string()).unwrap())
    };
    for (request, said) in [
        (
            json!({"stream": {"kind": "sse", "events": 0}}),
            "stream.events: ",
        ),
        (
            json!({"method": "HEAD", "stream": {"kind": "sse", "events": 1}}),
            "stream: the response to HEAD",
        ),
        (
            json!({"expect": {"body": {"kind": "exact", "value": "x"}}, "stream": {"kind": "sse", "events": 1}}),
            "expect.body: a streamed response is checked event by event",
        ),
    ] {
        let why = text(request);
        assert!(why.contains(said), "{why}");
    }
}
