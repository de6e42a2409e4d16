//! Against a server that lies, the engine's counts are the server's own.

mod balance;
mod fault_server;
#[path = "fault_server/loads.rs"]
mod loads;

use std::sync::mpsc;
use std::time::Duration;

use fault_server::{Fault, FaultServer, QuickServer};
use loads::{BACKENDS, assert_only, carry_out, errors, job, refusal};
use touchstone_load::job::{BackendChoice, Expect, ExpectBody, Job};
use touchstone_load::result::InParts;

/// A fault on every 20th request is counted in its class as often as the server did it, and nowhere else.
fn counted_as(fault: Fault, class: &str) {
    for backend in BACKENDS {
        let server = FaultServer::start(fault, 20);
        let result = carry_out(&job(&server, backend, 2_000));
        assert_eq!(result.counts.sent, 2_000);
        assert_eq!(server.count(|counters| &counters.requests), 2_000);
        assert_eq!(server.count(|counters| &counters.faults), 100);
        assert_eq!(
            errors(&result, class),
            100,
            "{fault:?} {backend:?}: {:?}",
            result.counts
        );
        assert_eq!(result.counts.ok, server.count(|counters| &counters.right));
        assert_only(&result, Some(class));
        assert_eq!(result.first_errors.len(), 20);
        for first in &result.first_errors {
            assert_eq!(serde_json::to_value(first.class).unwrap(), class);
            let sent = first.sent.as_ref().unwrap();
            assert!(
                sent.starts_with("GET /?name=bench-1207 HTTP/1.1\r\n"),
                "{first:?}"
            );
        }
    }
}

#[test]
fn five_percent_of_status_500_are_wrong_statuses() {
    counted_as(Fault::Status500, "wrong_status");
}

#[test]
fn a_changed_body_of_the_same_length_is_a_wrong_body() {
    counted_as(Fault::ChangedBody, "wrong_body");
}

#[test]
fn a_changed_media_type_is_a_wrong_header() {
    for (content_type, headers) in [
        (Some("text/plain"), vec![]),
        (None, vec![("content-type", "text/plain(;.*)?")]),
    ] {
        for backend in BACKENDS {
            let server = FaultServer::start(Fault::ChangedType, 20);
            let mut job = job(&server, backend, 2_000);
            let expect = &mut job.requests[0].expect;
            expect.content_type = content_type.map(str::to_owned);
            expect.headers = headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            let result = carry_out(&job);
            assert_eq!(errors(&result, "wrong_header"), 100, "{:?}", result.counts);
            assert_eq!(result.counts.ok, server.count(|counters| &counters.right));
            assert_eq!(result.counts.completed, 2_000);
            assert_only(&result, Some("wrong_header"));
            let first = &result.first_errors[0];
            assert!(first.why.contains("text/html"), "{first:?}");
            assert!(first.received.as_ref().unwrap().contains("text/html"));
        }
    }
}

/// The head that is remembered must be a right one, and a first response must not be taken for it unseen.
#[test]
fn a_head_that_is_always_wrong_is_wrong_every_time() {
    for backend in BACKENDS {
        let server = FaultServer::start(Fault::ChangedType, 1);
        let mut job = job(&server, backend, 300);
        job.requests[0].expect.content_type = Some("text/plain".to_owned());
        let result = carry_out(&job);
        assert_eq!(errors(&result, "wrong_header"), 300, "{:?}", result.counts);
        assert_eq!(result.counts.ok, 0);
    }
}

#[test]
fn a_pattern_that_does_not_compile_is_an_error_before_anything_is_opened() {
    let server = FaultServer::start(Fault::None, 1);
    for in_headers in [false, true] {
        let mut job = job(&server, BACKENDS[0], 1);
        let expect = &mut job.requests[0].expect;
        if in_headers {
            expect.headers = vec![("ETag".to_owned(), "v[0-9".to_owned())];
        } else {
            expect.body = Some(ExpectBody::Pattern {
                value: "v[0-9".to_owned(),
            });
        }
        let why = refusal(&job);
        assert!(
            why.contains("requests[0] (lookup)") && why.contains(r#""v[0-9""#),
            "{why}"
        );
    }
    assert_eq!(server.count(|counters| &counters.connections), 0);
}

#[test]
fn a_truncated_body_is_closed_mid_response() {
    counted_as(Fault::Truncated, "closed_mid_response");
}

/// Where a fault closes the connection without a byte, and nothing is repeated.
#[test]
fn a_close_without_a_byte_is_told_by_whether_the_connection_had_served() {
    for (fault, on_fresh) in [
        (Fault::SilentClose, "closed_before_response"),
        (Fault::Reset, "reset"),
    ] {
        for (every, keepalive, repeat) in [(20, true, false), (1, true, true), (20, false, true)] {
            for backend in BACKENDS {
                let server = FaultServer::start(fault, every);
                let mut job = job(&server, backend, 400);
                (job.keepalive, job.repeat) = (keepalive, repeat);
                let result = carry_out(&job);
                let (kept, fresh) = (
                    errors(&result, "kept_connection_closed"),
                    errors(&result, on_fresh),
                );
                assert_eq!(kept + fresh, result.counts.failed, "{:?}", result.counts);
                assert_eq!(result.counts.ok + result.counts.failed, 400);
                let faults = server.count(|counters| &counters.faults);
                assert_eq!(kept + fresh + result.counts.repeated, faults);
                match (keepalive, repeat) {
                    // Every first request of a connection is cut: the eight that had rested before are repeated, once.
                    (true, true) => assert_eq!((fresh, result.counts.repeated), (400, 8)),
                    (true, false) => assert!(kept > fresh && result.counts.repeated == 0),
                    (false, _) => assert_eq!((kept, result.counts.repeated), (0, 0)),
                }
            }
        }
    }
}

#[test]
fn garbage_is_malformed() {
    counted_as(Fault::Garbage, "malformed");
}

#[test]
fn a_body_with_a_length_and_chunks_is_malformed() {
    counted_as(Fault::TwoEnds, "malformed");
}

#[test]
fn bytes_beyond_the_length_are_malformed() {
    counted_as(Fault::TooLong, "malformed");
}

#[test]
fn a_response_that_never_comes_is_a_timeout_and_stays_in_the_distribution() {
    for backend in BACKENDS {
        // On five of the eight connections, at the same time. A right response takes no machine as long as this limit.
        let server = FaultServer::start(Fault::Never, 50);
        let mut job = job(&server, backend, 250);
        job.timeout_s = 1.5;
        let result = carry_out(&job);
        assert_eq!(server.count(|counters| &counters.faults), 5);
        assert_eq!(errors(&result, "timeout"), 5, "{:?}", result.counts);
        assert_eq!(result.counts.ok, 245);
        assert_only(&result, Some("timeout"));
        let latency = result.latency.unwrap();
        assert_eq!(latency.count, 250);
        assert!(
            latency.max >= 1.5,
            "the time waited is recorded: {}",
            latency.max
        );
        // 5 of 250 waited 1.5 s or longer: the 99th percentile is among them.
        assert!(latency.p99 >= 1.5 && latency.p50 < 1.5);
    }
}

/// A body without an end has its timeout like any other, though there is always something to read.
#[test]
fn who_sends_without_end_times_out() {
    for backend in BACKENDS {
        let server = FaultServer::start(Fault::Endless, 1);
        let mut job = job(&server, backend, 4);
        job.connections = 1;
        job.requests[0].expect = Expect::default();
        job.timeout_s = 0.2;
        let result = carry_out(&job);
        assert_eq!(errors(&result, "timeout"), 4, "{:?}", result.counts);
        assert_only(&result, Some("timeout"));
    }
}

/// With many connections and a server that is quicker than the check of its answers, there is always another response
/// to look at. Time has its demands all the same: the run ends.
#[test]
fn a_run_ends_though_responses_never_do() {
    for backend in BACKENDS {
        let server = QuickServer::start();
        let mut job = Job::from_json(
            &serde_json::json!({
                "url": server.url(),
                "connections": 6000,
                "duration_s": 1,
                "timeout_s": 30,
                "requests": [{
                    "name": "list",
                    "target": "/",
                    "expect": {"status": [200], "body": {"kind": "json", "fields": {"last": 1}}},
                }],
            })
            .to_string(),
        )
        .unwrap();
        job.backend = backend;
        let (done, ended) = mpsc::channel();
        std::thread::spawn(move || done.send(Box::new(carry_out(&job))));
        let result = ended
            .recv_timeout(Duration::from_secs(60))
            .expect("the run goes on and on");
        assert!(result.counts.ok > 0, "{:?}", result.counts);
        assert_only(&result, None);
        // Little's law: the window of one second, and what was under way at its end, which is a response each.
        let latency = result.latency.unwrap();
        let busy = result.counts.ok as f64 * latency.mean / 6000.0;
        let last = latency.max;
        assert!(
            busy < 1.5 + last,
            "{backend:?} sent for {busy:.1} s, a response took {last:.1} s at most"
        );
    }
}

/// What is right in an unusual form is right, and nothing is counted against it.
fn accepted(fault: Fault) {
    accepted_at_depth(fault, 1);
}

fn accepted_at_depth(fault: Fault, pipeline: u32) {
    for backend in BACKENDS {
        let server = FaultServer::start(fault, 3);
        let mut job = job(&server, backend, 300);
        job.pipeline = pipeline;
        if fault == Fault::Large {
            job.requests[0].expect = Expect::default();
        }
        let result = carry_out(&job);
        assert_eq!(server.count(|counters| &counters.faults), 100);
        assert_eq!(
            result.counts.ok, 300,
            "{fault:?} {backend:?}: {:?} {:?}",
            result.counts, result.first_errors
        );
        assert_eq!(
            result.bytes.received,
            server.count(|counters| &counters.bytes)
        );
        assert_only(&result, None);
    }
}

/// One read brings the end of a response and the beginning of the next, while the requests that follow are gathered:
/// they belong on this connection and on no other.
#[test]
fn pipelined_responses_may_be_cut_inside() {
    accepted_at_depth(Fault::Large, 7);
}

#[test]
fn a_dripped_response_is_right() {
    accepted(Fault::Drip);
}

#[test]
fn a_chunked_response_with_trailers_is_right() {
    accepted(Fault::Chunked);
}

#[test]
fn interim_responses_are_skipped() {
    accepted(Fault::Interim);
}

#[test]
fn a_delayed_response_is_right() {
    accepted(Fault::Delay(Duration::from_millis(3)));
}

#[test]
fn a_close_after_a_whole_response_is_no_error() {
    for fault in [Fault::ConnectionClose, Fault::CloseDelimited] {
        for backend in BACKENDS {
            let server = FaultServer::start(fault, 10);
            let result = carry_out(&job(&server, backend, 500));
            assert_eq!(
                result.counts.ok, 500,
                "{fault:?} {backend:?}: {:?}",
                result.first_errors
            );
            assert_only(&result, None);
            // Eight at first, and one more after each of the fifty closes, except those at the very end.
            assert_eq!(
                result.connections.opened,
                server.count(|counters| &counters.connections)
            );
            assert!(
                (50..=58).contains(&result.connections.opened),
                "{:?}",
                result.connections
            );
            assert_eq!(result.connections.reconnects, result.connections.opened - 8);
        }
    }
}

#[test]
fn an_idle_close_is_counted_and_costs_no_request() {
    for backend in BACKENDS {
        // The last nine requests give the last close time to come.
        let server = FaultServer::start(Fault::CloseIdle, 10);
        let mut job = job(&server, backend, 209);
        // Slow enough that a connection rests 80 ms between two requests, so that the close finds it idle.
        job.arrival = touchstone_load::job::Loop::Open {
            rate: 100.0,
            arrivals: touchstone_load::job::Arrivals::Uniform,
        };
        let result = carry_out(&job);
        assert_eq!(result.counts.ok, 209, "{:?}", result.counts);
        let closes = server.count(|counters| &counters.faults);
        // The last closes may come after the end of the run.
        let seen = result.connections.errors["closed_idle"];
        assert!(
            (closes.saturating_sub(2)..=closes).contains(&seen),
            "{seen} of {closes}"
        );
        // On a busy machine a close may cross the next request, which is then sent again.
        assert!(result.counts.repeated < seen, "{:?}", result.counts);
    }
}

/// What is said of responses that come in two parts.
fn in_parts(nagle: bool, apart: Duration, backend: BackendChoice) -> InParts {
    let server = FaultServer::start(Fault::TwoWrites { nagle, apart }, 1);
    let result = carry_out(&job(&server, backend, 400));
    assert_eq!(result.counts.ok, 400, "{:?}", result.counts);
    result.requests[0].in_parts.unwrap()
}

#[test]
fn an_acknowledgement_brings_the_rest_that_nagles_algorithm_holds_back_and_no_other() {
    for backend in BACKENDS {
        let held = in_parts(true, Duration::ZERO, backend);
        assert!(held.long > held.responses / 2, "{backend:?}: {held:?}");
        assert!(held.trials > 3, "{backend:?}: {held:?}");
        assert!(held.trials_long < held.trials / 2, "{backend:?}: {held:?}");
        // It works between its writes.
        let late = in_parts(false, Duration::from_millis(40), backend);
        assert!(late.long > late.responses / 2, "{backend:?}: {late:?}");
        assert!(late.trials > 3, "{backend:?}: {late:?}");
        assert!(late.trials_long > late.trials / 2, "{backend:?}: {late:?}");
    }
}

#[test]
fn a_large_body_needs_no_copy_to_be_checked() {
    for backend in BACKENDS {
        let server = FaultServer::start(Fault::Large, 1);
        let mut job = job(&server, backend, 40);
        let expected = "x".repeat(1 << 20);
        job.requests[0].expect.body = Some(ExpectBody::Exact {
            value: expected.clone(),
        });
        let result = carry_out(&job);
        assert_eq!(
            result.counts.ok,
            40,
            "{:?}",
            result.first_errors.first().map(|first| &first.why)
        );
        assert_eq!(result.bytes.body, 40 << 20);
        let wrong = expected.replacen("xx", "xy", 1);
        job.requests[0].expect.body = Some(ExpectBody::Exact { value: wrong });
        assert_eq!(errors(&carry_out(&job), "wrong_body"), 40);
    }
}

#[test]
fn a_head_and_a_204_have_no_body() {
    for backend in BACKENDS {
        let server = FaultServer::start(Fault::NoContent, 2);
        let mut job = job(&server, backend, 400);
        job.requests[0].method = "HEAD".to_owned();
        job.requests[0].expect.status = Some(vec![200, 204]);
        let result = carry_out(&job);
        assert_eq!(
            (result.counts.ok, result.bytes.body),
            (400, 0),
            "{:?}",
            result.first_errors
        );
        assert_eq!(
            (result.counts.status["200"], result.counts.status["204"]),
            (200, 200)
        );
    }
}
