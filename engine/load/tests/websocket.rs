//! Messages over WebSockets: each way in which a server breaks the rules, or an echo is wrong, has its class, and none hangs.

mod balance;
mod fault_server;
#[path = "fault_server/loads.rs"]
mod loads;
mod socket_server;

use loads::{BACKENDS, assert_only, carry_out, errors, refusal};
use serde_json::{Value, json};
use socket_server::{Act, Answer, SOUND, SocketServer, frame, text};
use touchstone_load::job::{BackendChoice, Job};
use touchstone_load::result::LoadResult;

/// A closed loop of `count` messages, over one connection.
fn job(port: u16, backend: BackendChoice, count: u64, change: Value) -> Job {
    let mut job = json!({
        "url": format!("http://127.0.0.1:{port}"),
        "connections": 1,
        "duration_s": 60,
        "timeout_s": 10,
        "max_requests": count,
        "requests": [{"target": "/s", "body": "n-{counter}", "websocket": {"kind": "echo"}}],
    });
    job.as_object_mut()
        .unwrap()
        .extend(change.as_object().unwrap().clone());
    let mut job = Job::from_json(&job.to_string()).unwrap();
    job.backend = backend;
    job
}

fn loaded(act: Act, count: u64, change: Value, look: impl Fn(&LoadResult, u64)) {
    for backend in BACKENDS {
        let server = SocketServer::start(SOUND, act);
        let result = carry_out(&job(server.port, backend, count, change.clone()));
        look(&result, server.connections());
    }
}

fn just(bytes: &[u8]) -> Answer {
    Answer::Bytes(bytes.to_vec())
}

#[test]
fn a_right_echo_is_right_however_it_comes_and_its_connection_is_kept() {
    let acts: [Act; 6] = [
        |_, message| Answer::Bytes(text(message)),
        |_, message| {
            let (one, other) = message.split_at(1);
            let parts = [
                frame(0x01, one),
                frame(0x89, b"ping"),
                frame(0x00, b""),
                frame(0x80, other),
            ];
            Answer::Bytes(parts.concat())
        },
        |_, message| Answer::Bytes([frame(0x8a, b"unasked"), text(message)].concat()),
        |_, message| Answer::ByteByByte(text(message)),
        |_, message| Answer::Bytes([text(message), frame(0x89, &[b'x'; 125])].concat()),
        |_, message| Answer::Late(text(message)),
    ];
    for act in acts {
        loaded(act, 5, json!({}), |result, connections| {
            assert_eq!(
                (result.counts.ok, connections),
                (5, 1),
                "{:?}",
                result.first_errors
            );
            assert_only(result, None);
            assert_eq!(result.events.as_ref().unwrap().count, 5);
        });
    }
}

/// What a server does about a message, its class and its reason.
const FAULTS: [(&str, &str, Act); 26] = [
    ("malformed", "masked", |_, _| just(b"\x81\x81\0\0\0\0a")),
    ("malformed", "reserved bit", |_, m| {
        Answer::Bytes(frame(0xc1, m))
    }),
    ("malformed", "reserved bit", |_, m| {
        Answer::Bytes(frame(0x91, m))
    }),
    ("malformed", "reserved opcode", |_, m| {
        Answer::Bytes(frame(0x83, m))
    }),
    ("malformed", "reserved opcode", |_, _| just(b"\x8b\x00")),
    ("malformed", "fragmented", |_, _| just(b"\x09\x00")),
    ("malformed", "longer than 125", |_, _| {
        Answer::Bytes(frame(0x89, &[0; 126]))
    }),
    ("malformed", "no message before", |_, m| {
        Answer::Bytes(frame(0x80, m))
    }),
    ("malformed", "inside of a fragmented", |_, m| {
        Answer::Bytes([frame(0x01, m), text(m)].concat())
    }),
    ("malformed", "not UTF-8", |_, _| {
        Answer::Bytes(frame(0x81, b"\xff"))
    }),
    ("malformed", "fewest bytes", |_, _| {
        just(b"\x81\x7e\x00\x03n-1")
    }),
    ("malformed", "highest bit", |_, _| {
        just(b"\x82\x7f\xff\0\0\0\0\0\0\0")
    }),
    ("malformed", "larger than 16 MiB", |_, _| {
        just(b"\x82\x7f\0\0\0\x7f\0\0\0\0")
    }),
    ("malformed", "larger than 16 MiB", |_, _| {
        let part = frame(0x00, &[b'x'; 1 << 20]);
        Answer::Bytes([frame(0x01, b""), part.repeat(17)].concat())
    }),
    ("malformed", "half of a code", |_, _| just(b"\x88\x01\x03")),
    ("malformed", "must not be sent", |_, _| {
        just(b"\x88\x02\x03\xed")
    }),
    ("malformed", "reason of a close frame", |_, _| {
        just(b"\x88\x03\x03\xe8\xff")
    }),
    ("malformed", "reserved bit", |_, _| {
        just(b"HTTP/1.1 200 OK\r\n\r\n")
    }),
    ("wrong_event", "expected \"n-", |_, _| {
        Answer::Bytes(text(b"other"))
    }),
    ("wrong_event", "is binary", |_, m| {
        Answer::Bytes(frame(0x82, m))
    }),
    ("timeout", "no echo within the limit", |_, _| just(b"")),
    ("timeout", "no echo within the limit", |_, m| {
        Answer::Bytes(text(m)[..3].to_vec())
    }),
    ("timeout", "no echo within the limit", |_, _| {
        Answer::Bytes(frame(0x89, b"p").repeat(100))
    }),
    (
        "closed_before_response",
        "close code 1001 (going away): \"bye\"",
        |_, _| just(b"\x88\x05\x03\xe9bye"),
    ),
    ("closed_before_response", "without a close frame", |_, _| {
        Answer::Close(Vec::new())
    }),
    ("closed_before_response", "without a close frame", |_, m| {
        Answer::Close(text(m)[..3].to_vec())
    }),
];

#[test]
fn each_fault_of_a_server_has_its_class() {
    for (class, said, act) in FAULTS {
        let timeout_s = if class == "timeout" { 0.3 } else { 10.0 };
        loaded(act, 1, json!({"timeout_s": timeout_s}), |result, _| {
            let seen = &result.first_errors;
            assert_eq!(errors(result, class), 1, "{said}: {seen:?}");
            assert_only(result, Some(class));
            assert!(seen[0].why.contains(said), "{said}: {seen:?}");
            assert!(seen[0].sent.as_ref().unwrap().starts_with("n-"), "{seen:?}");
        });
    }
}

#[test]
fn an_echo_that_comes_twice_or_is_not_the_next_is_named_however_many_are_under_way() {
    let twice: Act = |_, m| Answer::Bytes(text(m).repeat(2));
    for pipeline in [1, 4] {
        loaded(twice, 8, json!({"pipeline": pipeline}), |result, _| {
            let events = result.events.as_ref().unwrap();
            assert!(events.doubled > 0, "{:?}", result.first_errors);
            assert_eq!((events.lost, events.disordered, events.wrong), (0, 0, 0));
        });
    }
    // The same payload in all messages: the second copy is there before its message is sent.
    let fixed = json!({"requests": [{"body": "same", "websocket": {"kind": "echo"}}]});
    loaded(twice, 4, fixed, |result, _| {
        assert!(
            result.events.as_ref().unwrap().doubled > 0,
            "{:?}",
            result.first_errors
        );
    });
}

#[test]
fn a_lost_echo_and_one_out_of_order_are_told_apart() {
    let pipeline = json!({"pipeline": 4});
    // The third message has no echo.
    let lost: Act = |number, m| {
        if number == 2 {
            just(b"")
        } else {
            Answer::Bytes(text(m))
        }
    };
    let soon = json!({"pipeline": 4, "timeout_s": 1.0});
    loaded(lost, 12, soon, |result, connections| {
        assert_eq!(
            (result.counts.ok, errors(result, "timeout")),
            (11, 1),
            "{:?}",
            result.first_errors
        );
        assert_eq!((result.events.as_ref().unwrap().lost, connections), (1, 1));
        assert_only(result, Some("timeout"));
    });
    // The third is echoed behind the fourth.
    let swapped: Act = |number, m| match number {
        2 => Answer::Keep(text(m)),
        _ => Answer::Bytes(text(m)),
    };
    loaded(swapped, 12, pipeline, |result, connections| {
        assert_eq!(
            (result.counts.ok, errors(result, "disordered_event")),
            (11, 1),
            "{:?}",
            result.first_errors
        );
        assert_eq!(
            (result.events.as_ref().unwrap().disordered, connections),
            (1, 1)
        );
        assert_only(result, Some("disordered_event"));
    });
}

#[test]
fn a_close_at_rest_is_the_servers_right() {
    let act: Act = |_, m| Answer::Bytes([text(m), b"\x88\x02\x03\xe8".to_vec()].concat());
    // A quarter of a second at rest, for a close that a busy machine brings late.
    let paced =
        json!({"loop": {"kind": "open", "rate": 4.0}, "duration_s": 1.3, "max_requests": null});
    loaded(act, 1, paced, |result, connections| {
        assert_eq!(
            result.counts.ok, result.counts.sent,
            "{:?}",
            result.first_errors
        );
        assert!(
            connections > 3 && result.connections.closed.announced.is_some(),
            "{:?}",
            result.connections.closed
        );
    });
}

#[test]
fn a_handshake_that_fails_is_explained() {
    let cases: [(&str, &str); 14] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "status 200"),
        (
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "status 404",
        ),
        (
            "HTTP/1.1 400 Bad\r\nSec-WebSocket-Version: 8\r\nContent-Length: 0\r\n\r\n",
            "status 400",
        ),
        (
            "HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
            "status 301",
        ),
        (
            &SOUND.replace("{accept}", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            "not that of the handshake's key",
        ),
        (
            &SOUND.replace("Sec-WebSocket-Accept: {accept}\r\n", ""),
            "no Sec-WebSocket-Accept",
        ),
        (
            &SOUND.replace(
                "\r\n\r\n",
                "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
            ),
            "an extension",
        ),
        (
            &SOUND.replace("\r\n\r\n", "\r\nSec-WebSocket-Protocol: chat\r\n\r\n"),
            "a subprotocol",
        ),
        (&SOUND.replace("HTTP/1.1", "HTTP/1.0"), "HTTP/1.0"),
        (
            &SOUND.replace("websocket", "h2c"),
            "no `Upgrade: websocket`",
        ),
        (
            &SOUND.replace("Connection: Upgrade", "Connection: keep-alive"),
            "no `Connection: Upgrade`",
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n", "does not begin with HTTP"),
        ("", "in time"),
        (
            &format!("HTTP/1.1 101 X\r\nX: {}", "x".repeat(70_000)),
            "64 KiB",
        ),
    ];
    for backend in BACKENDS {
        for (response, said) in cases {
            let server = SocketServer::start(response, |_, _| Answer::Close(Vec::new()));
            let timeout_s = if response.is_empty() { 0.3 } else { 10.0 };
            let change = json!({"timeout_s": timeout_s});
            let why = refusal(&job(server.port, backend, 1, change));
            assert!(
                why.contains("no WebSocket with 127.0.0.1") && why.contains(said),
                "{why}"
            );
        }
        let server = SocketServer::start("close", |_, _| Answer::Close(Vec::new()));
        let why = refusal(&job(server.port, backend, 1, json!({})));
        assert!(why.contains("the server closed the connection"), "{why}");
    }
}

#[test]
fn a_server_that_greets_is_used_once_it_has() {
    let request = |greetings: u32| {
        let socket = json!({"kind": "echo", "greetings": greetings});
        json!({"requests": [{"body": "n-{counter}", "websocket": socket}]})
    };
    for backend in BACKENDS {
        let greets = format!("{SOUND}\x01\x02he\0\x01l\0\x02lo");
        // The last part ends the greeting.
        let server =
            SocketServer::greeting(&greets, &frame(0x80, b"!"), |_, m| Answer::Bytes(text(m)));
        let result = carry_out(&job(server.port, backend, 5, request(1)));
        assert_eq!(
            (result.counts.ok, server.connections()),
            (5, 1),
            "{:?}",
            result.first_errors
        );
        let mut silent = request(2);
        silent["timeout_s"] = json!(0.3);
        let why = refusal(&job(server.port, backend, 5, silent));
        assert!(why.contains("did not greet"), "{why}");
    }
}

#[test]
fn what_does_not_go_over_one_handshake_is_refused() {
    let socket = json!({"kind": "echo"});
    let of = |one: Value, other: Value| {
        let job = json!({"url": "http://127.0.0.1:1", "requests": [one, other]});
        Job::from_json(&job.to_string()).unwrap_err().to_string()
    };
    let message = json!({"body": "a", "websocket": socket});
    for (other, said) in [
        (json!({}), "not both"),
        (
            json!({"body": "a", "target": "/b", "websocket": socket}),
            "must be equal",
        ),
        (
            json!({"body": "a", "headers": [["A", "b"]], "websocket": socket}),
            "must be equal",
        ),
        (
            json!({"body": "a", "websocket": {"kind": "echo", "greetings": 1}}),
            "must be equal",
        ),
        (
            json!({"body": "a", "websocket": socket, "stream": {"kind": "sse", "events": 1}}),
            "not a stream",
        ),
    ] {
        let why = of(message.clone(), other);
        assert!(why.contains(said), "{why}");
    }
    let journey = json!({"name": "j", "steps": [{"request": message}]});
    let job = json!({"url": "http://127.0.0.1:1", "journeys": [journey]});
    let why = Job::from_json(&job.to_string()).unwrap_err().to_string();
    assert!(why.contains("no journeys"), "{why}");
}
