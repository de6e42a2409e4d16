//! gRPC calls over HTTP/2: planted faults are counted by kind, and what is permitted costs no error.

mod balance;
mod fault_server;
mod h2_server;
#[path = "fault_server/loads.rs"]
mod loads;

use h2_server::{H2Server, Request};
use loads::{BACKENDS, assert_only, carry_out, refusal};
use serde_json::{Value, json};
use touchstone_h2::frame::{self, Kind, flag};
use touchstone_h2::literal;
use touchstone_load::job::Job;
use touchstone_load::result::LoadResult;

const PROTO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/notes.proto");
const OK: &[(&str, &str)] = &[("grpc-status", "0")];
const HEAD: &[(&str, &str)] = &[("content-type", "application/grpc")];

/// A block of fields, behind `:status: 200` in a head.
fn block(stream: u32, status: &[u8], fields: &[(&str, &str)], ends: bool) -> Vec<u8> {
    let mut block = status.to_vec();
    for (name, value) in fields {
        literal(name.as_bytes(), value.as_bytes(), &mut block);
    }
    let mut out = Vec::new();
    frame::write_block(stream, &block, ends, &mut out);
    out
}

/// A response with a head, frames of DATA, and trailers.
fn reply(
    request: &Request,
    head: &[(&str, &str)],
    data: &[&[u8]],
    trailers: &[(&str, &str)],
) -> Vec<u8> {
    let stream = request.stream;
    let mut out = block(stream, &[0x88], head, false);
    for piece in data {
        frame::write(Kind::DATA, 0, stream, piece, &mut out);
    }
    out.extend(block(stream, &[], trailers, true));
    out
}

fn right(request: &Request) -> Vec<u8> {
    reply(request, HEAD, &[&request.body], OK)
}

/// A load of 400 calls over 4 connections, changed by the fields of a request.
fn loaded(
    change: &Value,
    script: impl Fn(&Request) -> Vec<u8> + Send + Sync + Copy + 'static,
    look: impl Fn(&LoadResult),
) {
    loaded_over((4, 8), change, script, look);
}

/// The same over this many connections, with this many streams on each.
fn loaded_over(
    (connections, streams): (u32, u32),
    change: &Value,
    script: impl Fn(&Request) -> Vec<u8> + Send + Sync + Copy + 'static,
    look: impl Fn(&LoadResult),
) {
    for backend in BACKENDS {
        let server = H2Server::start(&[], move |request| (script(request), false));
        let mut request = json!({"grpc": {"method": "test.notes.Notes/Echo", "proto": PROTO}, "body": r#"{"text": "a", "number": 7}"#});
        request
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let job = json!({
            "url": format!("http://127.0.0.1:{}", server.port),
            "protocol": "h2c",
            "connections": connections,
            "streams": streams,
            "duration_s": 60,
            "max_requests": 400,
            "requests": [request],
        });
        let mut job = Job::from_json(&job.to_string()).unwrap();
        job.backend = backend;
        let result = carry_out(&job);
        assert_eq!(result.counts.sent, 400);
        look(&result);
    }
}

/// Answers each tenth call with a fault.
fn faulty(
    right: impl Fn(&Request) -> Vec<u8> + Send + Sync + Copy + 'static,
    fault: impl Fn(&Request) -> Vec<u8> + Send + Sync + Copy + 'static,
) -> impl Fn(&Request) -> Vec<u8> + Send + Sync + Copy + 'static {
    move |request| {
        if request.total.is_multiple_of(10) {
            fault(request)
        } else {
            right(request)
        }
    }
}

/// Each tenth call gets a fault: it is counted in its class alone, and named.
fn each_tenth(
    change: &Value,
    class: &str,
    words: &str,
    fault: impl Fn(&Request) -> Vec<u8> + Send + Sync + Copy + 'static,
) {
    named(change, class, words, faulty(right, fault));
}

/// A load with a fault in each tenth call, which is counted in its class alone, and named.
fn named(
    change: &Value,
    class: &str,
    words: &str,
    script: impl Fn(&Request) -> Vec<u8> + Send + Sync + Copy + 'static,
) {
    loaded(change, script, |result| {
        assert_eq!(
            result.counts.errors[class], 40,
            "{:?}",
            result.counts.errors
        );
        assert_only(result, Some(class));
        assert_eq!(result.counts.ok, 360);
        let why = &result.first_errors[0].why;
        assert!(why.contains(words), "{why}");
    });
}

fn expects(body: &str) -> Value {
    json!({"expect": {"body": {"kind": "exact", "value": body}}})
}

#[test]
fn right_calls_are_counted_by_the_name_of_their_status() {
    let none = json!({});
    let same = expects(r#"{"number": "7", "text": "a"}"#);
    let fields = json!({"expect": {"body": {"kind": "json", "fields": {"text": "a", "number": 7}, "exact": true}}});
    let each = json!({"body": r#"{"text": "a{counter}"}"#, "expect": {"body": {"kind": "json", "fields": {"text": "a{counter}", "number": 0}}}});
    for change in [none, same, fields, each] {
        loaded(&change, right, |result| {
            assert_eq!(
                (result.counts.ok, result.counts.completed),
                (400, 400),
                "{:?}",
                result.first_errors
            );
            assert_eq!(result.counts.status["OK"], 400);
            assert!(result.requests[0].in_parts.is_none());
        });
    }
}

#[test]
fn a_body_counts_by_its_own_length_where_another_came_ahead_of_its_trailers() {
    let (short, long) = (b"\0\0\0\0\x02\x10\x07", b"\0\0\0\0\x05\x0a\x01a\x10\x07");
    let script = |request: &Request| {
        if request.number.is_multiple_of(2) {
            let mut out = reply(request, HEAD, &[long], OK);
            out.extend(block(request.stream - 2, &[], OK, true));
            return out;
        }
        let mut out = block(request.stream, &[0x88], HEAD, false);
        frame::write(Kind::DATA, 0, request.stream, short, &mut out);
        out
    };
    loaded_over((1, 2), &json!({}), script, |result| {
        assert_eq!(result.counts.ok, 400, "{:?}", result.first_errors);
        let bytes = 200 * (short.len() + long.len());
        assert_eq!(result.bytes.body, bytes as u64);
    });
}

#[test]
fn a_call_is_sent_as_grpc_wants_it() {
    let script = |request: &Request| {
        let field = |name: &str| request.fields.get(name).map_or("", String::as_str);
        let sent = [
            ":method",
            ":path",
            "content-type",
            "te",
            "grpc-timeout",
            "x-key",
        ]
        .map(field);
        let wanted = [
            "POST",
            "/test.notes.Notes/Echo",
            "application/grpc",
            "trailers",
            "5000m",
            "k",
        ];
        let sound = sent == wanted
            && request.body == b"\0\0\0\0\x05\x0a\x01a\x10\x07"
            && field("content-length").is_empty();
        if sound {
            right(request)
        } else {
            reply(
                request,
                HEAD,
                &[],
                &[("grpc-status", "3"), ("grpc-message", &format!("{sent:?}"))],
            )
        }
    };
    loaded(&json!({"headers": [["x-key", "k"]]}), script, |result| {
        assert_eq!(result.counts.ok, 400, "{:?}", result.first_errors)
    });
}

#[test]
fn a_status_with_a_sound_message_is_a_failure_with_its_code() {
    let fault = |request: &Request| {
        reply(
            request,
            HEAD,
            &[&request.body],
            &[("grpc-status", "13"), ("grpc-message", "disk%20full")],
        )
    };
    each_tenth(
        &json!({}),
        "grpc_status",
        "grpc-status INTERNAL (13): disk full",
        fault,
    );
}

#[test]
fn the_message_of_another_call_is_wrong() {
    let fault = |request: &Request| reply(request, HEAD, &[b"\0\0\0\0\x05\x0a\x01b\x10\x07"], OK);
    each_tenth(
        &expects(r#"{"text": "a", "number": 7}"#),
        "wrong_body",
        "the message is \"{\\\"text\\\":\\\"b",
        fault,
    );
}

#[test]
fn bytes_that_are_no_such_message_are_wrong() {
    let fault = |request: &Request| reply(request, HEAD, &[b"\0\0\0\0\x03\x0a\x09x"], OK);
    each_tenth(&json!({}), "wrong_body", "not a test.notes.Note", fault);
}

#[test]
fn trailers_that_are_missing_are_named() {
    let with_data = |request: &Request| {
        let mut out = block(request.stream, &[0x88], HEAD, false);
        frame::write(
            Kind::DATA,
            flag::END_STREAM,
            request.stream,
            &request.body,
            &mut out,
        );
        out
    };
    let with_empty_data = |request: &Request| {
        let mut out = block(request.stream, &[0x88], HEAD, false);
        frame::write(Kind::DATA, 0, request.stream, &request.body, &mut out);
        frame::write(Kind::DATA, flag::END_STREAM, request.stream, &[], &mut out);
        out
    };
    let with_head = |request: &Request| block(request.stream, &[0x88], HEAD, true);
    each_tenth(&json!({}), "malformed", "without trailers", with_data);
    each_tenth(&json!({}), "malformed", "without trailers", with_empty_data);
    each_tenth(&json!({}), "malformed", "without trailers", with_head);
    let without_status = |request: &Request| reply(request, HEAD, &[&request.body], &[("x", "y")]);
    each_tenth(&json!({}), "malformed", "no grpc-status", without_status);
}

#[test]
fn a_unary_call_has_one_message() {
    let two = |request: &Request| reply(request, HEAD, &[&request.body, &request.body], OK);
    each_tenth(&json!({}), "malformed", "2 messages", two);
    let none = |request: &Request| reply(request, HEAD, &[], OK);
    each_tenth(&json!({}), "malformed", "no message", none);
    let none_at_all = |request: &Request| block(request.stream, &[0x88], &[HEAD[0], OK[0]], true);
    each_tenth(&json!({}), "malformed", "no message", none_at_all);
}

#[test]
fn the_framing_of_a_message_holds() {
    let flagged =
        |request: &Request| reply(request, HEAD, &[b"\x01\0\0\0\x05\x0a\x01a\x10\x07"], OK);
    each_tenth(&json!({}), "malformed", "no grpc-encoding", flagged);
    let longer = |request: &Request| reply(request, HEAD, &[b"\0\0\0\0\x03\x0a\x01a\x10\x07"], OK);
    each_tenth(&json!({}), "malformed", "longer than announced", longer);
    let shorter = |request: &Request| reply(request, HEAD, &[b"\0\0\0\0\x09\x0a\x01a"], OK);
    each_tenth(
        &json!({}),
        "malformed",
        "announced with 9 bytes, and 3 came",
        shorter,
    );
    let unknown = |request: &Request| reply(request, HEAD, &[b"\x02\0\0\0\0"], OK);
    each_tenth(&json!({}), "malformed", "flag of the message is 2", unknown);
}

#[test]
fn what_is_no_grpc_is_named() {
    let page = |request: &Request| {
        h2_server::response(request.stream, &[("content-type", "text/html")], b"hello")
    };
    each_tenth(&json!({}), "wrong_header", "text/html", page);
    let web = |request: &Request| {
        reply(
            request,
            &[("content-type", "application/grpc-web")],
            &[&request.body],
            OK,
        )
    };
    each_tenth(&json!({}), "wrong_header", "application/grpc-web", web);
    let proxy = |request: &Request| block(request.stream, &[0x8d], &[], true);
    each_tenth(&json!({}), "wrong_status", "status 404", proxy);
}

#[test]
fn what_is_permitted_is_right() {
    // Heads that differ, bodies in pieces, metadata of bytes, compression that the call allows, an empty message.
    let odd = |request: &Request| match request.total % 5 {
        0 => reply(
            request,
            &[HEAD[0], ("x-tag-bin", "AAECAw=="), ("server", "odd")],
            &[&request.body],
            &[OK[0], ("y-bin", "AP8")],
        ),
        1 => {
            let (one, rest) = request.body.split_at(3);
            reply(
                request,
                &[("content-type", "application/grpc+proto")],
                &[one, b"", rest],
                OK,
            )
        }
        2 => reply(
            request,
            HEAD,
            &[b"\0\0\0\0\0"],
            &[("grpc-message", ""), OK[0]],
        ),
        3 => reply(
            request,
            &[HEAD[0], ("grpc-encoding", "identity")],
            &[&request.body],
            OK,
        ),
        _ => right(request),
    };
    loaded(&json!({}), odd, |result| {
        assert_eq!(result.counts.ok, 400, "{:?}", result.first_errors)
    });
}

#[test]
fn a_status_that_is_expected_is_right_in_trailers_only_and_behind_a_head() {
    let change =
        json!({"expect": {"grpc_status": ["NOT_FOUND"], "headers": [["grpc-message", "gone.*"]]}});
    let status = [HEAD[0], ("grpc-status", "5"), ("grpc-message", "gone")];
    let script = move |request: &Request| match request.total % 3 {
        0 => reply(request, HEAD, &[], &status[1..]),
        1 => block(
            request.stream,
            &[0x88],
            &[status[0], status[1], ("grpc-message", "gone for good")],
            true,
        ),
        _ => block(request.stream, &[0x88], &status, true),
    };
    loaded(&change, script, |result| {
        assert_eq!(result.counts.ok, 400, "{:?}", result.first_errors);
        assert_eq!(result.counts.status["NOT_FOUND"], 400);
    });
    loaded(&change, right, |result| {
        assert_eq!(result.counts.errors["grpc_status"], 400)
    });
}

#[test]
fn a_message_that_cannot_be_made_is_named() {
    let rows = std::env::temp_dir().join(format!("touchstone-grpc-{}.csv", std::process::id()));
    std::fs::write(&rows, "number\n1\nmany\n").unwrap();
    let server = H2Server::start(&[], |request| {
        let no_message = request.body == b"\0\0\0\0\x01\xff";
        let refused = &[("grpc-status", "13"), ("grpc-message", "no message")];
        (
            reply(
                request,
                HEAD,
                &[&request.body],
                if no_message { refused } else { OK },
            ),
            false,
        )
    });
    let job = json!({
        "url": format!("http://127.0.0.1:{}", server.port),
        "protocol": "h2c",
        "connections": 1,
        "max_requests": 10,
        "rows": rows,
        "requests": [{"grpc": {"method": "test.notes.Notes/Echo", "proto": PROTO}, "body": "{\"number\": \"{row.number}\"}"}],
    });
    let result = carry_out(&Job::from_json(&job.to_string()).unwrap());
    std::fs::remove_file(rows).unwrap();
    assert_eq!(
        (result.counts.ok, result.counts.errors["grpc_status"]),
        (5, 5)
    );
    assert!(
        result.first_errors[0]
            .why
            .contains("a message that was sent: this is not a test.notes.Note"),
        "{:?}",
        result.first_errors
    );
}

#[test]
fn what_does_not_hold_together_is_refused_before_anything_is_sent() {
    let refused = |request: Value, protocol: &str| {
        let job = json!({"url": "http://127.0.0.1:1", "protocol": protocol, "requests": [request]});
        let job = Job::from_json(&job.to_string()).unwrap();
        refusal(&job)
    };
    let grpc = json!({"method": "test.notes.Notes/Echo", "proto": PROTO});
    let cases = [
        (
            json!({"grpc": {"method": "test.notes.Notes/Echo"}}),
            "server reflection alone",
        ),
        (
            json!({"grpc": {"method": "test.notes.Notes", "proto": PROTO}}),
            "package.Service/Method",
        ),
        (
            json!({"grpc": {"method": "test.Other/Echo", "proto": PROTO}}),
            "it has test.notes.Notes",
        ),
        (
            json!({"grpc": {"method": "test.notes.Notes/Echo", "proto": "absent.proto"}}),
            "no such file",
        ),
        (
            json!({"grpc": grpc, "body": "{"}),
            "not a test.notes.Note in JSON",
        ),
        (json!({"grpc": grpc, "body": "{\"txt\": 1}"}), "txt"),
        (json!({"grpc": grpc, "target": "/"}), "leave both out"),
        (
            json!({"grpc": grpc, "encoding": "bytes"}),
            "written in JSON",
        ),
        (
            json!({"grpc": grpc, "expect": {"status": [200]}}),
            "name grpc_status",
        ),
        (
            json!({"grpc": grpc, "expect": {"grpc_status": ["FINE"]}}),
            "FINE",
        ),
        (
            json!({"grpc": grpc, "expect": {"body": {"kind": "json", "fields": {"txt": 1}}}}),
            "no field \"txt\"",
        ),
        (
            json!({"grpc": grpc, "expect": {"body": {"kind": "exact", "value": "a"}}}),
            "not a test.notes.Note in JSON",
        ),
        (json!({"expect": {"grpc_status": ["OK"]}}), "no `grpc`"),
    ];
    for (request, words) in cases {
        let why = refused(request, "h2c");
        assert!(why.contains(words), "{why}");
    }
    assert!(refused(json!({"grpc": grpc}), "h1").contains("gRPC needs HTTP/2"));
}

/// The notes with these numbers, as DATA frames.
fn notes(numbers: &[u8]) -> Vec<Vec<u8>> {
    let note = |number: &u8| [b"\0\0\0\0\x02\x10", &[*number][..]].concat();
    numbers.iter().map(note).collect()
}

fn streamed(request: &Request, numbers: &[u8], trailers: &[(&str, &str)]) -> Vec<u8> {
    let notes = notes(numbers);
    let data: Vec<&[u8]> = notes.iter().map(Vec::as_slice).collect();
    reply(request, HEAD, &data, trailers)
}

/// A load of calls that each have three messages, of which each tenth has a fault.
fn each_tenth_stream(
    stream: &Value,
    class: Option<&str>,
    words: &str,
    fault: impl Fn(&Request) -> Vec<u8> + Send + Sync + Copy + 'static,
) {
    let mut whole = json!({"kind": "messages", "events": 3, "counter": "json.number", "first": 1});
    let fields = stream.as_object().unwrap().clone();
    whole.as_object_mut().unwrap().extend(fields);
    let change =
        json!({"grpc": {"method": "test.notes.Notes/List", "proto": PROTO}, "stream": whole});
    let script = faulty(|request| streamed(request, &[1, 2, 3], OK), fault);
    let Some(class) = class else {
        return loaded(&change, script, |result| {
            assert_eq!(result.counts.ok, 400, "{:?}", result.first_errors);
            assert_eq!(result.events.as_ref().unwrap().count, 1_200);
        });
    };
    named(&change, class, words, script);
}

#[test]
fn messages_of_server_streaming_are_counted_and_checked_one_by_one() {
    let none = json!({});
    let right = |request: &Request| {
        // Two messages in one frame, and one in two.
        let whole = notes(&[1, 2, 3]).concat();
        reply(
            request,
            HEAD,
            &[&whole[..10], &whole[10..16], &whole[16..]],
            OK,
        )
    };
    each_tenth_stream(&none, None, "", right);
    let number =
        json!({"expect": {"kind": "json", "fields": {"number": {"type": "integer"}, "text": ""}}});
    each_tenth_stream(&number, None, "", right);
    let lost = |request: &Request| streamed(request, &[1, 3], OK);
    each_tenth_stream(&none, Some("lost_event"), "", lost);
    let doubled = |request: &Request| streamed(request, &[1, 2, 2, 3], OK);
    each_tenth_stream(&none, Some("doubled_event"), "", doubled);
    let wrong = |request: &Request| {
        reply(
            request,
            HEAD,
            &[&notes(&[1, 2]).concat(), b"\0\0\0\0\x05\x10\x03\x0a\x01x"],
            OK,
        )
    };
    let same =
        json!({"counter": null, "first": null, "expect": {"kind": "json", "fields": {"text": ""}}});
    each_tenth_stream(&same, Some("wrong_event"), "event 3", wrong);
}

#[test]
fn a_stream_ends_with_a_status_and_holds_to_the_framing() {
    let none = json!({});
    let failed = |request: &Request| {
        streamed(
            request,
            &[1, 2, 3],
            &[("grpc-status", "13"), ("grpc-message", "late")],
        )
    };
    each_tenth_stream(&none, Some("grpc_status"), "INTERNAL (13): late", failed);
    let at_once = |request: &Request| {
        block(
            request.stream,
            &[0x88],
            &[HEAD[0], ("grpc-status", "8")],
            true,
        )
    };
    each_tenth_stream(
        &none,
        Some("grpc_status"),
        "RESOURCE_EXHAUSTED (8)",
        at_once,
    );
    let cut = |request: &Request| {
        let mut out = block(request.stream, &[0x88], HEAD, false);
        let all = notes(&[1, 2, 3]).concat();
        frame::write(Kind::DATA, flag::END_STREAM, request.stream, &all, &mut out);
        out
    };
    each_tenth_stream(&none, Some("malformed"), "without trailers", cut);
    let short = |request: &Request| {
        reply(
            request,
            HEAD,
            &[&notes(&[1, 2]).concat(), b"\0\0\0\0\x09\x10"],
            OK,
        )
    };
    each_tenth_stream(&none, Some("lost_event"), "", short);
    let flagged = |request: &Request| reply(request, HEAD, &[b"\x01\0\0\0\x02\x10\x01"], OK);
    each_tenth_stream(&none, Some("malformed"), "compressed", flagged);
    let other = |request: &Request| reply(request, HEAD, &[b"\0\0\0\0\x02\x0a\x09"], OK);
    each_tenth_stream(&none, Some("malformed"), "none of the method's type", other);
}

#[test]
fn streams_and_methods_fit_together() {
    let refused = |method: &str, stream: Value| {
        let request = json!({"grpc": {"method": format!("test.notes.Notes/{method}"), "proto": PROTO}, "stream": stream});
        let job = json!({"url": "http://127.0.0.1:1", "protocol": "h2c", "requests": [request]});
        refusal(&Job::from_json(&job.to_string()).unwrap())
    };
    assert!(refused("List", json!(null)).contains("streams its responses"));
    assert!(refused("List", json!({"kind": "lines", "events": 1})).contains("are messages"));
    assert!(refused("Echo", json!({"kind": "messages", "events": 1})).contains("one message"));
    assert!(refused("Put", json!({"kind": "messages", "events": 1})).contains("leave stream out"));
    assert!(refused("Chat", json!(null)).contains("streams its responses"));
}

/// A call of a method that takes a stream, whose body holds two messages and is sent three times.
fn sent_as_stream(method: &str, more: &Value) -> Value {
    let grpc =
        json!({"method": format!("test.notes.Notes/{method}"), "proto": PROTO, "messages": 3});
    let mut change = json!({"grpc": grpc, "body": "{\"number\": 1} \n{\"number\": 2}"});
    change
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    change
}

/// A response with a fault.
type Fault = fn(&Request) -> Vec<u8>;

#[test]
fn messages_of_client_streaming_are_all_sent_and_have_one_reply() {
    // The reply has the number of messages that came.
    let count = |request: &Request| {
        let came = (request.body.len() / notes(&[1])[0].len()) as u8;
        reply(request, HEAD, &[&notes(&[came]).concat()], OK)
    };
    let expect = json!({"expect": {"body": {"kind": "json", "fields": {"number": 6}}}});
    let put = sent_as_stream("Put", &expect);
    loaded(&put, count, |result| {
        assert_eq!(result.counts.ok, 400, "{:?}", result.first_errors);
    });
    let faults: [(&str, &str, Fault); 4] = [
        ("wrong_body", "number", |request| {
            reply(request, HEAD, &[&notes(&[5]).concat()], OK)
        }),
        ("malformed", "2 messages came", |request| {
            reply(request, HEAD, &[&notes(&[6, 6]).concat()], OK)
        }),
        ("malformed", "no message", |request| {
            reply(request, HEAD, &[], OK)
        }),
        ("grpc_status", "INTERNAL (13)", |request| {
            reply(
                request,
                HEAD,
                &[&notes(&[6]).concat()],
                &[("grpc-status", "13")],
            )
        }),
    ];
    for (class, words, fault) in faults {
        named(&put, class, words, faulty(count, fault));
    }
}

#[test]
fn replies_of_bidirectional_streaming_are_counted_and_checked_one_by_one() {
    let stream = json!({"stream": {"kind": "messages", "events": 6, "expect": {"kind": "pattern", "value": ".*\"number\":[12][,}].*"}}});
    let chat = sent_as_stream("Chat", &stream);
    // Each message in a frame of its own, and all trailers behind them.
    let echo = |request: &Request| {
        let pieces: Vec<_> = request.body.chunks(3).collect();
        reply(request, HEAD, &pieces, OK)
    };
    loaded(&chat, echo, |result| {
        assert_eq!(result.counts.ok, 400, "{:?}", result.first_errors);
        assert_eq!(result.events.as_ref().unwrap().count, 2_400);
    });
    let lost = |request: &Request| {
        let first_five = notes(&[1, 2, 1, 2, 1]).concat();
        reply(request, HEAD, &[&first_five], OK)
    };
    named(&chat, "lost_event", "", faulty(echo, lost));
    // A server may end the call before it has read all.
    let early = |request: &Request| {
        block(
            request.stream,
            &[0x88],
            &[HEAD[0], ("grpc-status", "8")],
            true,
        )
    };
    loaded(&chat, faulty(echo, early), |result| {
        assert_eq!(
            result.counts.errors["grpc_status"], 40,
            "{:?}",
            result.counts.errors
        );
        assert_eq!(result.counts.status["RESOURCE_EXHAUSTED"], 40);
    });
}

#[test]
fn only_a_method_that_takes_a_stream_takes_several_messages() {
    let refused = |method: &str, messages: Value, body: &str| {
        let grpc = json!({"method": format!("test.notes.Notes/{method}"), "proto": PROTO, "messages": messages});
        let request = json!({"grpc": grpc, "body": body});
        let job = json!({"url": "http://127.0.0.1:1", "protocol": "h2c", "requests": [request]});
        refusal(&Job::from_json(&job.to_string()).unwrap())
    };
    assert!(refused("Echo", json!(2), "{}").contains("takes one message: leave messages out"));
    assert!(refused("Echo", json!(null), "{} {}").contains("takes one message"));
    assert!(refused("Put", json!(0), "{}").contains("1 to 100000"));
    assert!(refused("Put", json!(null), r#"{} {"txt": 1}"#).contains("message 2: "));
    assert!(refused("Put", json!(null), "{} {").contains("message 2: "));
}
