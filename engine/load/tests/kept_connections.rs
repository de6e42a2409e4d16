//! What a server does by right is not a failure: it closes kept connections, and a request that crosses the close is sent
//! once more where that is allowed.

mod balance;
mod closing_server;

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::Duration;

use balance::assert_balanced;
use closing_server::{BODY, Closes, ClosingServer};
use serde_json::{Value, json};
use touchstone_load::asked::Desk;
use touchstone_load::control::Control;
use touchstone_load::job::Job;
use touchstone_load::result::LoadResult;
use touchstone_load::run::run;
use touchstone_load::slices::job::SlicesJob;
use touchstone_load::slices::order::Order;
use touchstone_load::slices::{self, SlicesControl};

const BACKENDS: [&str; 2] = ["epoll", "io_uring"];
const TIMEOUT: &str =
    "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlate";
const OVERLOAD: &str = "HTTP/1.0 503 Service Unavailable\r\n\r\n";
/// Much longer than a busy machine takes between a connection and its first request.
const REST: Duration = Duration::from_millis(300);

/// The ways in which a load can be put on. Each is small, and closes of every kind fall into it.
const LOOPS: [&str; 9] = [
    "closed",
    "pipelined",
    "open",
    "poisson",
    "open and pipelined",
    "steps",
    "paced",
    "sliced",
    "sliced and open",
];

fn request(method: &str) -> Value {
    let body = (method == "POST").then_some("body");
    json!({"method": method, "target": "/", "body": body, "expect": {"body": {"kind": "exact", "value": BODY}}})
}

/// A load over 4 connections in one of the ways, by a number of requests where that is possible: a busy machine takes
/// longer for them.
fn job(server: &ClosingServer, kind: &str, backend: &str, request: &Value) -> Value {
    let mut job = json!({
        "url": server.url(), "backend": backend, "connections": 4, "timeout_s": 5, "series_interval_s": 0.1,
        "duration_s": 30, "max_requests": 80, "requests": [request],
    });
    let open = json!({"kind": "open", "rate": 300.0});
    match kind {
        "closed" => job["max_requests"] = json!(1000),
        "pipelined" => (job["pipeline"], job["max_requests"]) = (json!(5), json!(1000)),
        "open" | "sliced and open" => job["loop"] = open,
        "poisson" => job["loop"] = json!({"kind": "open", "rate": 300.0, "arrivals": "poisson"}),
        "open and pipelined" => {
            (job["loop"], job["pipeline"]) = (json!({"kind": "open", "rate": 3000.0}), json!(5));
        }
        "steps" => {
            let steps = json!([{"rate": 100.0, "seconds": 0.15}, {"rate": 400.0, "seconds": 0.15}]);
            job["loop"] = json!({"kind": "steps", "steps": steps});
            job.as_object_mut().unwrap().remove("max_requests");
        }
        "paced" => {
            let step = json!({"request": request, "think_s": 0.02});
            job.as_object_mut().unwrap().remove("requests");
            job["journeys"] = json!([{"name": "visit", "steps": [step, step]}]);
        }
        _ => {}
    }
    job
}

fn put_on(kind: &str, job: &Value) -> LoadResult {
    let never = AtomicBool::new(false);
    let result = if kind.starts_with("sliced") {
        let mut traffic = job.clone();
        for whole in ["duration_s", "max_requests", "series_interval_s"] {
            traffic.as_object_mut().unwrap().remove(whole);
        }
        let text =
            json!({"gap_s": 0.002, "contenders": [{"name": "one", "job": traffic}]}).to_string();
        let (sender, orders) = channel();
        let turns = vec![json!({"contender": 0, "seconds": 0.06}); 5];
        let order = json!({"order": "slices", "phase": "load", "turns": turns}).to_string();
        sender.send(Order::parse(&order)).unwrap();
        drop(sender);
        let control = SlicesControl {
            interrupt: &never,
            orders,
            desk: &Desk::default(),
            on_event: &mut |_| (),
        };
        let mut whole = slices::run(&SlicesJob::from_json(&text).unwrap(), control).unwrap();
        let sum: u64 = whole.slices.iter().map(|slice| slice.repeated).sum();
        assert_eq!(sum, whole.contenders[0].counts.repeated);
        whole.contenders.remove(0)
    } else {
        let mut control = Control {
            interrupt: &never,
            on_event: &mut |_| (),
            process_command: &[],
        };
        run(&Job::from_json(&job.to_string()).unwrap(), &mut control).unwrap()
    };
    assert_balanced(&result);
    result
}

/// Each way on each backend: what was asked of the server, and what was counted.
fn in_every_way(closes: Closes, look: impl Fn(&str, &ClosingServer, &LoadResult)) {
    for kind in LOOPS {
        for backend in BACKENDS {
            let server = ClosingServer::start(closes);
            let result = put_on(kind, &job(&server, kind, backend, &request("GET")));
            assert!(
                result.counts.ok > 10,
                "{kind}, {backend}: {:?}",
                result.counts
            );
            look(kind, &server, &result);
        }
    }
}

fn assert_none_failed(kind: &str, result: &LoadResult) {
    let counts = &result.counts;
    assert_eq!(
        (counts.wrong, counts.failed),
        (0, 0),
        "{kind}: {counts:?} {:?}",
        result.first_errors
    );
}

#[test]
fn a_limit_of_responses_that_is_announced_fails_no_request() {
    in_every_way(Closes::Announced(4), |kind, server, result| {
        assert_none_failed(kind, result);
        assert_eq!(server.count(|seen| &seen.answered), result.counts.sent);
        let announced = result.connections.closed.announced.as_ref().unwrap();
        assert_eq!(
            (announced.responses_least, announced.responses_most),
            (4, 4),
            "{kind}"
        );
        assert!(
            kind.contains("pipelined") || result.counts.repeated == 0,
            "{kind}"
        );
        assert!(result.connections.closed.under_request.is_none(), "{kind}");
        assert_eq!(result.connections.errors["closed_idle"], 0);
    });
}

#[test]
fn a_limit_of_responses_that_is_not_announced_has_requests_repeated() {
    for closes in [Closes::Silently(4), Closes::ByReset(4)] {
        in_every_way(closes, |kind, server, result| {
            assert_none_failed(kind, result);
            let (repeated, asked) = (result.counts.repeated, server.count(|seen| &seen.requests));
            let under = result.connections.closed.under_request.as_ref().unwrap();
            assert_eq!(
                (under.responses_least, under.responses_most),
                (4, 4),
                "{kind}"
            );
            if kind.contains("pipelined") {
                assert!(repeated >= under.count, "{kind}: {repeated} {under:?}");
            } else {
                assert_eq!(under.count, repeated, "{kind}");
                assert_eq!(asked, result.counts.sent + repeated, "{kind}");
            }
            assert_eq!(
                result.connections.errors["closed_idle"], under.count,
                "{kind}"
            );
        });
    }
}

#[test]
fn a_server_without_pipelining_answers_each_request_by_itself() {
    for backend in BACKENDS {
        let server = ClosingServer::start(Closes::Pipelined);
        let result = put_on(
            "pipelined",
            &job(&server, "pipelined", backend, &request("GET")),
        );
        assert_none_failed("pipelined", &result);
        assert!(result.counts.repeated > 0, "{:?}", result.counts);
    }
}

#[test]
fn a_connection_that_is_closed_at_rest_costs_no_request() {
    let slow = json!({"kind": "open", "rate": 40.0});
    for (notice, status) in [
        (None, None),
        (Some(TIMEOUT), Some("408")),
        (Some(OVERLOAD), Some("503")),
    ] {
        for backend in BACKENDS {
            let server = ClosingServer::start(Closes::AtRest(REST, notice));
            let mut job = job(&server, "open", backend, &request("GET"));
            (job["loop"], job["connections"]) = (slow.clone(), json!(16));
            job["max_requests"] = json!(24);
            let result = put_on("open", &job);
            if status == Some("503") {
                // A 503 that crosses a request looks like its response. On a busy machine some do.
                let counts = &result.counts;
                assert_eq!(
                    (counts.wrong, counts.failed),
                    (counts.errors["wrong_status"], 0)
                );
            } else {
                assert_none_failed("open", &result);
            }
            let (closed, errors) = (&result.connections.closed, &result.connections.errors);
            assert_eq!(errors["unasked_bytes"], 0);
            assert!(errors["closed_idle"] > 0);
            let seen = if let Some(status) = status {
                let notified = closed.notified.as_ref().unwrap();
                assert!(notified.status.keys().eq([status]), "{notified:?}");
                notified
            } else {
                closed.idle.as_ref().or(closed.unused.as_ref()).unwrap()
            };
            assert!(seen.rested_most_s > 0.9 * REST.as_secs_f64(), "{seen:?}");
        }
    }
}

#[test]
fn a_user_who_thinks_for_longer_than_the_server_waits_is_served() {
    for backend in BACKENDS {
        let server = ClosingServer::start(Closes::AtRest(REST, None));
        let mut job = job(&server, "paced", backend, &request("GET"));
        let step = json!({"request": request("GET"), "think_s": 1.5 * REST.as_secs_f64()});
        (job["journeys"][0]["steps"], job["max_requests"]) = (json!([step, step]), json!(12));
        let result = put_on("paced", &job);
        assert_none_failed("paced", &result);
        assert_eq!(result.journeys[0].failed, 0);
        assert!(
            result.connections.reconnects > 0,
            "{:?}",
            result.connections
        );
    }
}

#[test]
fn a_notice_that_crosses_a_request_is_no_response_to_it() {
    let rest = Duration::from_millis(60);
    for (method, failed) in [("GET", false), ("HEAD", false), ("POST", true)] {
        for backend in BACKENDS {
            let server = ClosingServer::start(Closes::Crossing(rest, TIMEOUT));
            let mut request = request(method);
            if method == "HEAD" {
                // This server answers HEAD as any other; nobody reads that far.
                request["expect"] = json!({"status": [200]});
            }
            let mut job = job(&server, "open", backend, &request);
            (job["loop"], job["connections"]) = (json!({"kind": "open", "rate": 40.0}), json!(16));
            job["max_requests"] = json!(24);
            let result = put_on("open", &job);
            let notified = result.connections.closed.notified.as_ref().unwrap();
            assert!(
                notified.rested_most_s > 0.9 * rest.as_secs_f64(),
                "{notified:?}"
            );
            let counts = &result.counts;
            if method == "HEAD" {
                assert_eq!(counts.errors["wrong_status"], 0, "{counts:?}");
            } else if failed {
                assert_eq!(
                    counts.errors["kept_connection_closed"], notified.count,
                    "{counts:?}"
                );
                assert_eq!((counts.failed, counts.repeated), (notified.count, 0));
            } else {
                assert_none_failed("open", &result);
                assert_eq!(counts.repeated, notified.count, "{counts:?}");
            }
        }
    }
}

#[test]
fn a_request_timeout_that_is_expected_is_a_response() {
    let server = ClosingServer::start(Closes::Crossing(Duration::ZERO, TIMEOUT));
    let mut request = request("GET");
    request["expect"] = json!({"status": [408]});
    let result = put_on("open", &job(&server, "open", "epoll", &request));
    assert_none_failed("open", &result);
    assert_eq!(result.counts.repeated, 0);
}

#[test]
fn what_may_not_be_repeated_fails_as_what_it_is() {
    for (method, repeat) in [("POST", true), ("PATCH", true), ("GET", false)] {
        for kind in ["closed", "pipelined", "open", "paced", "sliced"] {
            for backend in BACKENDS {
                let server = ClosingServer::start(Closes::Silently(4));
                let mut job = job(&server, kind, backend, &request(method));
                job["repeat"] = json!(repeat);
                let counts = put_on(kind, &job).counts;
                assert_eq!((counts.repeated, counts.wrong), (0, 0), "{kind}");
                assert_eq!(
                    counts.errors["kept_connection_closed"], counts.failed,
                    "{counts:?}"
                );
                assert!(counts.failed > 0, "{kind}: {counts:?}");
                assert_eq!(server.count(|seen| &seen.answered), counts.ok, "{kind}");
            }
        }
    }
}

#[test]
fn what_pipelining_had_only_gathered_was_never_sent_and_goes_elsewhere_whatever_it_is() {
    for backend in BACKENDS {
        let server = ClosingServer::start(Closes::Announced(3));
        let mut job = job(&server, "pipelined", backend, &request("POST"));
        job["connections"] = json!(1);
        let result = put_on("pipelined", &job);
        // Two of the pipeline's five requests are behind the third on the wire; what was to follow them is not.
        let closes = result.connections.closed.announced.as_ref().unwrap().count;
        assert!(result.counts.failed <= 4 * closes, "{:?}", result.counts);
        assert_eq!(server.count(|seen| &seen.answered), result.counts.ok);
        assert_eq!(result.counts.repeated, 0);
    }
}

#[test]
fn a_repeat_that_fails_is_one_failed_request() {
    for kind in ["closed", "pipelined", "open", "sliced"] {
        for backend in BACKENDS {
            let server = ClosingServer::start(Closes::ForGood(5));
            let mut job = job(&server, kind, backend, &request("GET"));
            job["connections"] = json!(1);
            let counts = put_on(kind, &job).counts;
            assert_eq!(counts.ok, 5, "{kind}: {counts:?}");
            assert!(
                counts.repeated >= 1 && counts.failed >= 1,
                "{kind}: {counts:?}"
            );
            // A fresh connection that is closed without a byte is a failure: nothing is sent a third time.
            let tried = server.count(|seen| &seen.requests);
            assert!(
                tried <= counts.sent + counts.repeated,
                "{kind}: {tried} {counts:?}"
            );
        }
    }
}

#[test]
fn a_bounded_count_is_sent_exactly_though_some_are_repeated() {
    for backend in BACKENDS {
        for (kind, pipeline) in [("closed", 1), ("pipelined", 5)] {
            let server = ClosingServer::start(Closes::Silently(3));
            let mut job = job(&server, kind, backend, &request("GET"));
            (job["max_requests"], job["pipeline"], job["duration_s"]) =
                (json!(101), json!(pipeline), json!(30));
            let result = put_on(kind, &job);
            assert_eq!((result.counts.sent, result.counts.ok), (101, 101));
            assert_eq!(server.count(|seen| &seen.answered), 101);
            assert_eq!(result.latency.unwrap().count, 101);
        }
    }
}

#[test]
fn the_latency_of_a_repeated_request_counts_from_when_it_was_due() {
    let late = Duration::from_millis(40);
    for kind in ["closed", "open", "sliced"] {
        let server = ClosingServer::start(Closes::Late(3, late));
        let result = put_on(kind, &job(&server, kind, "epoll", &request("GET")));
        assert_none_failed(kind, &result);
        let repeated = result.counts.repeated as f64;
        let latency = result.latency.unwrap();
        assert!(
            repeated >= 4.0 && latency.max >= late.as_secs_f64(),
            "{kind}: {repeated} {latency:?}"
        );
        if kind != "sliced" {
            // A slice's first requests are in no distribution.
            let sum = latency.mean * latency.count as f64;
            assert!(
                sum >= repeated * late.as_secs_f64(),
                "{kind}: {sum} {repeated}"
            );
        }
    }
}
