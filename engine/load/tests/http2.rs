//! HTTP/2: acts of a server are counted by kind, and permitted acts cost no error.

mod balance;
mod certificate;
mod fault_server;
mod h2_server;
#[path = "fault_server/loads.rs"]
mod loads;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fault_server::{Fault, FaultServer};
use h2_server::{H2Server, NOT_TLS, Request, answers, response, short_response};
use loads::{BACKENDS, assert_only, carry_out, errors, refusal};
use serde_json::{Value, json};
use touchstone_h2::frame::{self, Kind, flag, setting};
use touchstone_h2::{Code, literal};
use touchstone_load::asked::Desk;
use touchstone_load::job::{BackendChoice, Job};
use touchstone_load::result::LoadResult;
use touchstone_load::slices::job::SlicesJob;
use touchstone_load::slices::order::Order;
use touchstone_load::slices::{self, SlicesControl};

const BODY: &[u8] = b"Hello, World!";

/// A closed loop of `count` GETs over 4 connections of 8 streams, changed by fields of a job.
fn job(port: u16, backend: BackendChoice, count: u64, change: Value) -> Job {
    let mut job = json!({
        "url": format!("http://127.0.0.1:{port}"),
        "protocol": "h2c",
        "connections": 4,
        "streams": 8,
        "duration_s": 60,
        "timeout_s": 10,
        "max_requests": count,
        "requests": [{"target": "/a", "expect": {"status": [200], "body": {"kind": "exact", "value": "Hello, World!"}}}],
    });
    let fields = change.as_object().unwrap().clone();
    job.as_object_mut().unwrap().extend(fields);
    let mut job = Job::from_json(&job.to_string()).unwrap();
    job.backend = backend;
    job
}

/// A load on a server that follows a script, over each backend.
fn loaded(
    settings: &'static [(u16, u32)],
    script: impl Fn(&Request) -> (Vec<u8>, bool) + Send + Sync + Copy + 'static,
    change: &Value,
    look: impl Fn(&LoadResult, &H2Server),
) {
    for backend in BACKENDS {
        let server = H2Server::start(settings, script);
        let result = carry_out(&job(server.port, backend, 1_000, change.clone()));
        assert!(result.counts.sent > 0);
        look(&result, &server);
    }
}

fn right(request: &Request) -> (Vec<u8>, bool) {
    (short_response(request.stream, BODY), false)
}

/// The head of a response with this status, and its body.
fn with_status(stream: u32, status: &str) -> (Vec<u8>, Vec<u8>) {
    let (mut block, mut head, mut body) = (Vec::new(), Vec::new(), Vec::new());
    literal(b":status", status.as_bytes(), &mut block);
    frame::write_block(stream, &block, false, &mut head);
    frame::write(Kind::DATA, flag::END_STREAM, stream, BODY, &mut body);
    (head, body)
}

fn framed(kind: Kind, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write(kind, 0, stream, payload, &mut out);
    out
}

fn reset(stream: u32, code: Code) -> Vec<u8> {
    framed(Kind::RST_STREAM, stream, &code.0.to_be_bytes())
}

fn goaway(last: u32, code: Code) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write_goaway(last, code, &mut out);
    out
}

#[test]
fn every_response_is_checked_and_streams_and_connections_are_two_numbers() {
    loaded(&[], right, &json!({}), |result, server| {
        assert_eq!((result.counts.sent, result.counts.ok), (1_000, 1_000));
        assert_only(result, None);
        assert_eq!(server.count(|seen| &seen.requests), 1_000);
        assert_eq!(server.count(|seen| &seen.connections), 4);
        assert!(server.count(|seen| &seen.most_open) <= 8);
        let used = result.http2.as_ref().unwrap();
        assert_eq!((used.streams_allowed, used.at_stream_limit), (None, 0));
    });
}

#[test]
fn a_wrong_status_field_or_body_is_counted_as_that() {
    let script = |request: &Request| match request.total % 4 {
        0 => (short_response(request.stream, b"Hello, World?"), false),
        1 => (response(request.stream, &[("x-a", "2")], BODY), false),
        _ => (response(request.stream, &[("x-a", "1")], BODY), false),
    };
    let requests = json!([{"target": "/a", "expect": {"headers": [["x-a", "1"]], "body": {"kind": "exact", "value": "Hello, World!"}}}]);
    loaded(
        &[],
        script,
        &json!({ "requests": requests }),
        |result, _| {
            assert_eq!(errors(result, "wrong_header"), 500, "{:?}", result.counts);
            assert_eq!(result.counts.ok, 500);
        },
    );
    let status = |request: &Request| match request.total % 4 {
        0 => {
            let (head, body) = with_status(request.stream, "404");
            ([head, body].concat(), false)
        }
        _ => right(request),
    };
    loaded(&[], status, &json!({}), |result, _| {
        assert_eq!(errors(result, "wrong_status"), 250, "{:?}", result.counts);
        assert_only(result, Some("wrong_status"));
        assert_eq!(result.counts.status["404"], 250);
    });
    let body = |request: &Request| match request.total % 4 {
        0 => (short_response(request.stream, b"Hello, World?"), false),
        1 => (
            response(request.stream, &[], b"Hello, World? It goes on"),
            false,
        ),
        _ => right(request),
    };
    loaded(&[], body, &json!({}), |result, _| {
        assert_eq!(errors(result, "wrong_body"), 500, "{:?}", result.counts);
        let first = &result.first_errors[0];
        assert!(
            first
                .sent
                .as_ref()
                .unwrap()
                .starts_with("GET /a HTTP/2\r\n"),
            "{first:?}"
        );
        assert!(
            first
                .received
                .as_ref()
                .unwrap()
                .starts_with("HTTP/2 200\r\n"),
            "{first:?}"
        );
    });
}

#[test]
fn a_response_counts_with_its_own_head_whatever_came_meanwhile() {
    // The second of two requests in flight is answered between the head and the body of the first.
    let script = |request: &Request| {
        if request.number % 2 == 1 {
            return (Vec::new(), false);
        }
        let (head, body) = with_status(request.stream - 2, "200");
        let (other, whole) = with_status(request.stream, "201");
        ([head, other, whole, body].concat(), false)
    };
    let change = json!({"connections": 1, "streams": 2, "requests": [{
        "target": "/a",
        "expect": {"status": [200, 201], "body": {"kind": "exact", "value": "Hello, World!"}},
    }]});
    loaded(&[], script, &change, |result, _| {
        assert_eq!(result.counts.ok, 1_000, "{:?}", result.first_errors);
        let status = &result.counts.status;
        assert_eq!((status["200"], status["201"]), (500, 500));
    });
}

#[test]
fn bodies_are_sent_and_templates_filled_in() {
    let script = |request: &Request| {
        assert_eq!(request.fields[":method"], "POST");
        assert_eq!(
            request.fields["content-length"],
            request.body.len().to_string()
        );
        let path = request.fields[":path"].as_bytes();
        let long = request.fields["x-long"].len().to_string();
        let body = [path, b" ", long.as_bytes(), b" ", &request.body[..3]].concat();
        (
            response(request.stream, &[("content-type", "text/plain")], &body),
            false,
        )
    };
    let requests = json!([{
        "method": "POST",
        "target": "/{counter}",
        "headers": [["X-Long", "{x*30000}"]],
        "body": "{counter}-{x*20000}",
        "expect": {"content_type": "text/plain", "body": {"kind": "pattern", "value": "/([0-9]+) 30000 [0-9]+.*"}}
    }]);
    let change = json!({"requests": requests, "connections": 2, "streams": 2, "max_requests": 3});
    // A connection's window of 65,535 bytes, which this server never opens, is enough for three.
    loaded(&[], script, &change, |result, _| {
        assert_eq!(result.counts.ok, 3, "{:?}", result.first_errors);
    });
}

#[test]
fn the_servers_limit_of_streams_is_obeyed_and_named() {
    let limit = &[(setting::MAX_CONCURRENT_STREAMS, 3)];
    for change in [json!({}), json!({"loop": {"kind": "open", "rate": 20000}})] {
        loaded(limit, right, &change, |result, server| {
            assert_eq!(result.counts.ok, 1_000);
            assert!(server.count(|seen| &seen.most_open) <= 3);
            let used = result.http2.as_ref().unwrap();
            assert_eq!(used.streams_allowed, Some(3));
            assert!(used.at_stream_limit > 0, "{used:?}");
        });
    }
}

#[test]
fn a_table_that_the_server_refuses_is_not_used() {
    let none = &[(setting::HEADER_TABLE_SIZE, 0)];
    let script = |request: &Request| {
        assert_eq!(request.fields["x-a"], "b");
        right(request)
    };
    let change = json!({"requests": [{"target": "/long/path", "headers": [["X-A", "b"]]}]});
    loaded(none, script, &change, |result, _| {
        assert_eq!(result.counts.ok, 1_000)
    });
}

#[test]
fn a_stream_that_the_server_gives_up_fails_alone() {
    let script = |request: &Request| match request.total % 20 {
        0 => (reset(request.stream, Code(2)), false),
        _ => right(request),
    };
    loaded(&[], script, &json!({}), |result, server| {
        assert_eq!(errors(result, "stream_reset"), 50, "{:?}", result.counts);
        assert_only(result, Some("stream_reset"));
        assert_eq!(result.counts.ok, 950);
        assert!(result.first_errors[0].why.contains("INTERNAL_ERROR"));
        assert_eq!(server.count(|seen| &seen.connections), 4);
    });
}

#[test]
fn a_request_that_was_not_processed_is_sent_once_more_on_a_new_connection() {
    let refuses = |request: &Request| match request.number % 100 {
        0 => (reset(request.stream, Code::REFUSED_STREAM), false),
        _ => right(request),
    };
    loaded(&[], refuses, &json!({}), |result, _| {
        assert_only(result, None);
        assert_eq!((result.counts.sent, result.counts.ok), (1_000, 1_000));
        let used = result.http2.as_ref().unwrap();
        assert!(
            used.unprocessed > 0 && result.counts.repeated == used.unprocessed,
            "{used:?}"
        );
    });
    let always = |request: &Request| (reset(request.stream, Code::REFUSED_STREAM), false);
    loaded(&[], always, &json!({"max_requests": 40}), |result, _| {
        assert_eq!(
            errors(result, "stream_reset"),
            result.counts.sent,
            "{:?}",
            result.counts
        );
    });
}

#[test]
fn connections_that_are_recycled_cost_no_error() {
    // The rest of what is in flight is passed over by the server, as GOAWAY says.
    let recycles = |request: &Request| match request.number {
        ..50 => right(request),
        50 => (
            [goaway(request.stream, Code::NO_ERROR), right(request).0].concat(),
            false,
        ),
        _ => (Vec::new(), false),
    };
    for change in [
        json!({}),
        json!({"loop": {"kind": "open", "rate": 5000}}),
        json!({"requests": [{"method": "POST", "target": "/a", "body": "x"}]}),
    ] {
        loaded(&[], recycles, &change, |result, server| {
            assert_only(result, None);
            assert_eq!((result.counts.sent, result.counts.ok), (1_000, 1_000));
            let used = result.http2.as_ref().unwrap();
            assert!(used.going_away >= 15 && used.unprocessed > 0, "{used:?}");
            assert_eq!(
                server.count(|seen| &seen.connections),
                result.connections.opened
            );
        });
    }
}

#[test]
fn a_request_in_flight_is_answered_after_the_server_has_said_that_it_goes() {
    let change = json!({"keepalive": false, "streams": 1, "max_requests": 200});
    let goes = |request: &Request| {
        let bytes = [goaway(request.stream, Code::NO_ERROR), right(request).0];
        (bytes.concat(), false)
    };
    loaded(&[], goes, &change, |result, _| {
        assert_only(result, None);
        assert_eq!((result.counts.sent, result.counts.ok), (200, 200));
        assert_eq!(result.counts.repeated, 0);
    });
    // Where the server has not processed it, another connection carries it.
    let refuses = |request: &Request| match request.total % 10 {
        0 => (goaway(0, Code::NO_ERROR), false),
        _ => right(request),
    };
    let mut one = change;
    one["connections"] = json!(1);
    loaded(&[], refuses, &one, |result, _| {
        assert_only(result, None);
        assert_eq!((result.counts.sent, result.counts.ok), (200, 200));
        assert_eq!(result.counts.repeated, 22);
    });
}

#[test]
fn a_new_connection_that_allows_fewer_streams_is_given_its_own_requests() {
    // A connection allows 2 streams first, 8 later, and leaves those behind the 60th request to the next one.
    let script = |request: &Request| {
        let answer = right(request).0;
        let mut before = Vec::new();
        match request.number {
            10 => frame::write_settings(&[(setting::MAX_CONCURRENT_STREAMS, 8)], &mut before),
            60 => before = goaway(request.stream, Code::NO_ERROR),
            61.. => return (Vec::new(), false),
            _ => {}
        }
        ([before, answer].concat(), false)
    };
    let change = json!({"loop": {"kind": "open", "rate": 50000}, "connections": 2});
    let limit = &[(setting::MAX_CONCURRENT_STREAMS, 2)];
    loaded(limit, script, &change, |result, _| {
        assert_only(result, None);
        assert_eq!((result.counts.sent, result.counts.ok), (1_000, 1_000));
        assert!(result.http2.as_ref().unwrap().unprocessed > 0);
    });
}

#[test]
fn requests_under_which_a_kept_connection_is_closed_are_repeated_or_named() {
    let closes = |request: &Request| match request.number {
        1..20 => right(request),
        _ => (Vec::new(), true),
    };
    loaded(&[], closes, &json!({}), |result, _| {
        assert_only(result, None);
        assert_eq!(result.counts.ok, 1_000);
        assert!(result.counts.repeated > 0);
        assert!(result.connections.closed.under_request.is_some());
    });
    let post = json!({"requests": [{"method": "POST", "target": "/a", "body": "x"}]});
    for change in [post, json!({"repeat": false})] {
        loaded(&[], closes, &change, |result, _| {
            assert!(errors(result, "kept_connection_closed") > 0);
            assert_only(result, Some("kept_connection_closed"));
            assert_eq!(result.counts.repeated, 0);
            assert!(result.connections.closed.under_request.is_some());
        });
    }
}

#[test]
fn a_connection_whose_tls_breaks_is_malformed_and_its_requests_are_not_repeated() {
    let (config, _) = certificate::self_signed();
    let mut config = (*config).clone();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let breaks = |request: &Request| match request.total % 50 {
        0 => (NOT_TLS.to_vec(), false),
        _ => right(request),
    };
    let server = H2Server::over(&[], breaks, Some(Arc::new(config)));
    for backend in BACKENDS {
        let url = format!("https://127.0.0.1:{}", server.port);
        let change = json!({"url": url, "protocol": "h2"});
        let result = carry_out(&job(server.port, backend, 300, change));
        assert!(errors(&result, "malformed") > 0, "{:?}", result.counts);
        assert_only(&result, Some("malformed"));
        assert_eq!(result.counts.repeated, 0);
    }
}

#[test]
fn requests_that_a_server_leaves_behind_are_named() {
    let leaves = |request: &Request| match request.number {
        1..20 => right(request),
        _ => (goaway(request.stream, Code(2)), true),
    };
    let post = json!([{"method": "POST", "target": "/a", "body": "x"}]);
    loaded(&[], leaves, &json!({"requests": post}), |result, _| {
        assert!(errors(result, "going_away") > 0, "{:?}", result.counts);
        // A reset may have overtaken what the server said.
        let lost = errors(result, "going_away") + errors(result, "kept_connection_closed");
        assert_eq!(lost, result.counts.failed, "{:?}", result.counts);
        assert!(
            result
                .first_errors
                .iter()
                .any(|first| first.why.contains("INTERNAL_ERROR"))
        );
    });
}

#[test]
fn a_stream_without_an_answer_times_out_alone() {
    let silent = |request: &Request| match request.total {
        100 => (Vec::new(), false),
        _ => right(request),
    };
    loaded(&[], silent, &json!({"timeout_s": 1.5}), |result, server| {
        assert_eq!(errors(result, "timeout"), 1, "{:?}", result.counts);
        assert_eq!((result.counts.sent, result.counts.ok), (1_000, 999));
        assert_eq!(server.count(|seen| &seen.connections), 4);
    });
}

#[test]
fn a_window_that_never_opens_is_named() {
    let shut = &[(setting::INITIAL_WINDOW_SIZE, 0)];
    let change = json!({
        "timeout_s": 0.2,
        "max_requests": 4,
        "streams": 1,
        "requests": [{"method": "POST", "target": "/a", "body": "x"}],
    });
    loaded(shut, right, &change, |result, _| {
        assert_eq!(errors(result, "timeout"), 4, "{:?}", result.counts);
        assert!(result.first_errors[0].why.contains("gives no window"));
    });
}

/// Each of these is sent in place of every 50th response.
#[test]
fn a_server_that_breaks_the_rules_is_named_and_the_load_goes_on() {
    let cases: [(&[u8], &str); 8] = [
        (&[0x00, 0x01, b'A', 0x01, b'b'], "an upper case letter"),
        (&[0x00, 0x01, b'a', 0x01, b'\n'], "a control character"),
        (&[0x5c, 0x01, b'9'], "fewer bytes of body"),
        (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "COMPRESSION_ERROR"),
        (&[0x88], ":status twice"),
        (&[], "a frame on a stream that was never opened"),
        (&[0x00], "another frame inside a header block"),
        (&[0x01], "ENHANCE_YOUR_CALM"),
    ];
    for (number, (block, said)) in cases.into_iter().enumerate() {
        let script = move |request: &Request| {
            if !request.total.is_multiple_of(50) {
                return right(request);
            }
            let stream = request.stream;
            let bytes = match number {
                5 => framed(Kind::DATA, stream + 2_000_000, b"x"),
                6 => [
                    framed(Kind::HEADERS, stream, &[0x88]),
                    framed(Kind::PING, 0, &[0; 8]),
                ]
                .concat(),
                7 => framed(Kind::SETTINGS, 0, &[]).repeat(1_100),
                _ => {
                    let mut out = Vec::new();
                    let flags = flag::END_HEADERS | flag::END_STREAM;
                    let whole = [&[0x88], block].concat();
                    frame::write(Kind::HEADERS, flags, stream, &whole, &mut out);
                    out
                }
            };
            (bytes, false)
        };
        loaded(&[], script, &json!({"max_requests": 400}), |result, _| {
            assert!(
                errors(result, "malformed") >= 8,
                "{said}: {:?}",
                result.counts
            );
            assert_only(result, Some("malformed"));
            let first = &result.first_errors[0].why;
            assert!(first.contains(said), "{first}, not {said}");
            assert_eq!(result.counts.sent, 400);
        });
    }
}

#[test]
fn a_server_that_speaks_no_http2_is_named() {
    for (bytes, said) in [
        (
            &b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"[..],
            "the server answers HTTP/1.1 to HTTP/2",
        ),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the first bytes are not HTTP/2"),
        (b"", "where its settings were to come"),
    ] {
        for backend in BACKENDS {
            let why = refusal(&job(answers(bytes), backend, 10, json!({})));
            assert!(
                why.contains("no HTTP/2 with 127.0.0.1:") && why.contains(said),
                "{why}"
            );
            assert!(why.contains("--protocol h1"), "{why}");
        }
    }
}

#[test]
fn http2_goes_over_tls_where_alpn_agrees_on_it() {
    for (alpn, sound) in [(&b"h2"[..], true), (b"http/1.1", false), (b"", false)] {
        let (config, _) = certificate::self_signed();
        let mut config = (*config).clone();
        config.alpn_protocols = [alpn]
            .iter()
            .filter(|name| !name.is_empty())
            .map(|name| name.to_vec())
            .collect();
        let server = H2Server::over(&[], right, Some(Arc::new(config)));
        for backend in BACKENDS {
            let url = format!("https://127.0.0.1:{}", server.port);
            let job = job(
                server.port,
                backend,
                300,
                json!({"url": url, "protocol": "h2"}),
            );
            if sound {
                let result = carry_out(&job);
                assert_eq!(result.counts.ok, 300);
                assert_eq!(
                    result.tls.unwrap().negotiated[0].alpn.as_deref(),
                    Some("h2")
                );
            } else {
                let why = refusal(&job);
                assert!(why.contains("h2 in ALPN"), "{why}");
            }
        }
    }
}

#[test]
fn journeys_take_values_along() {
    let script = |request: &Request| {
        let body = if request.fields[":path"] == "/new" {
            format!("{{\"id\": \"n{}\"}}", request.total)
        } else {
            request.fields[":path"].clone()
        };
        let fields = [("set-cookie", "s=1"), ("content-type", "application/json")];
        (response(request.stream, &fields, body.as_bytes()), false)
    };
    let journeys = json!([{"name": "j", "steps": [
        {"request": {"target": "/new"}, "captures": {"id": {"json": "/id"}}},
        {"request": {"target": "/{capture.id}", "expect": {"body": {"kind": "exact", "value": "/{capture.id}"}}}},
    ]}]);
    let change = json!({"requests": [], "journeys": journeys, "streams": 1, "max_requests": 200});
    loaded(&[], script, &change, |result, _| {
        assert_eq!(
            result.counts.ok, result.counts.sent,
            "{:?}",
            result.first_errors
        );
        assert!(result.journeys[0].completed > 50);
    });
}

#[test]
fn slices_go_over_both_protocols() {
    let server = H2Server::start(&[], right);
    let silent = H2Server::start(&[], |request| match request.total {
        2 => (Vec::new(), false),
        _ => right(request),
    });
    let old = FaultServer::start(Fault::None, 1);
    let contender = |name: &str, protocol: &str, streams: u32, port: u16| {
        let url = format!("http://127.0.0.1:{port}/");
        json!({"name": name, "job": {
            "url": url, "protocol": protocol, "streams": streams, "connections": 2, "timeout_s": 1.5,
        }})
    };
    let contenders = [
        contender("one", "h2c", 4, server.port),
        contender("other", "h2c", 4, silent.port),
        contender("old", "h1", 1, old.address.port()),
    ];
    let turn = |contender| json!({"contender": contender, "seconds": 0.05});
    let order = json!({
        "order": "slices",
        "phase": "load",
        "turns": [turn(0), turn(1), turn(2), turn(0), turn(2), turn(1)],
    });
    let (sender, orders) = std::sync::mpsc::channel();
    sender.send(Order::parse(&order.to_string())).unwrap();
    drop(sender);
    let control = SlicesControl {
        interrupt: &AtomicBool::new(false),
        orders,
        desk: &Desk::default(),
        on_event: &mut |_| (),
    };
    let job = SlicesJob::from_json(&json!({ "contenders": contenders }).to_string()).unwrap();
    let result = slices::run(&job, control).unwrap();
    assert!(result.contenders.iter().all(|one| one.totals.ok > 0));
    let failed: u64 = result
        .slices
        .iter()
        .flat_map(|slice| slice.errors.values())
        .sum();
    assert_eq!(failed, 1, "the request without an answer, and no other");
    assert_eq!(
        result.contenders[0].totals.ok,
        server.count(|seen| &seen.requests)
    );
    assert_eq!(server.count(|seen| &seen.connections), 2);
    assert_eq!(
        result.contenders[2].totals.ok,
        old.count(|seen| &seen.requests)
    );
}

#[test]
fn te_may_say_trailers() {
    let script = |request: &Request| {
        assert!(request.fields["te"].eq_ignore_ascii_case("trailers"));
        right(request)
    };
    for value in ["trailers", "Trailers "] {
        let change = json!({"requests": [{"target": "/a", "headers": [["TE", value]]}]});
        loaded(&[], script, &change, |result, _| {
            assert_eq!(result.counts.ok, 1_000)
        });
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |change: Value| {
        let mut job = json!({"url": "http://127.0.0.1:1", "protocol": "h2c"});
        job.as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        Job::from_json(&job.to_string()).unwrap_err().to_string()
    };
    for (change, said) in [
        (json!({"pipeline": 2}), "pipeline is HTTP/1.1's"),
        (json!({"protocol": "h2"}), "must begin with https://"),
        (
            json!({"url": "https://127.0.0.1:1"}),
            "must begin with http://",
        ),
        (
            json!({"protocol": "h1", "streams": 2}),
            "streams are HTTP/2's",
        ),
        (json!({"streams": 0}), "streams must be 1 to 4096"),
        (
            json!({"streams": 2, "keepalive": false}),
            "streams above 1 need keepalive",
        ),
        (
            json!({"streams": 2, "journeys": [{"name": "j", "steps": [{"request": {}}]}]}),
            "journeys need streams of 1",
        ),
        (
            json!({"requests": [{"headers": [["Connection", "close"]]}]}),
            "Connection belongs to HTTP/1.1 alone",
        ),
        (
            json!({"requests": [{"headers": [["te", "gzip"]]}]}),
            "TE has no other value than trailers",
        ),
        (
            json!({"requests": [{"headers": [["TE", "trailers, deflate"]]}]}),
            "TE has no other value than trailers",
        ),
        (json!({"requests": [{"method": "CONNECT"}]}), "CONNECT"),
    ] {
        let why = refused(change);
        assert!(why.contains(said), "{why}, not {said}");
    }
}
