//! What the lab asks between the requests of a load goes over the load's own connections, and is in none of its counts.

mod balance;
mod closing_server;
mod fault_server;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use balance::assert_balanced;
use closing_server::{Closes, ClosingServer};
use fault_server::{BODY, Fault, FaultServer};
use serde_json::{Value, json};
use touchstone_exchange::ask::{Exchange, Outcome, Send};
use touchstone_load::asked::Desk;
use touchstone_load::slices::event::SliceEvent;
use touchstone_load::slices::job::SlicesJob;
use touchstone_load::slices::order::Order;
use touchstone_load::slices::result::SlicesResult;
use touchstone_load::slices::{SlicesControl, run};

const BACKENDS: [&str; 2] = ["epoll", "io_uring"];
const LOOPS: [&str; 2] = ["closed", "open"];

fn job(url: &str, body: &str, (backend, kind): (&str, &str)) -> SlicesJob {
    let mut traffic = json!({
        "url": url, "connections": 4, "backend": backend, "timeout_s": 0.3,
        "requests": [{"target": "/", "expect": {"body": {"kind": "exact", "value": body}}}],
    });
    if kind == "open" {
        traffic["loop"] = json!({"kind": "open", "rate": 200.0});
    }
    let job =
        json!({"threads": 2, "gap_s": 0.002, "contenders": [{"name": "one", "job": traffic}]});
    SlicesJob::from_json(&job.to_string()).unwrap()
}

fn order(url: &str, body: &str, more: Value) -> Send {
    let mut order = json!({
        "id": 1, "url": url, "repeat": 20, "concurrent": 5, "timeout_s": 5.0,
        "values": {"counter": 1, "seed": 1, "fresh": "abc"},
        "asked": {"request": {"target": "/?{fresh}", "expect": {"body": {"kind": "exact", "value": body}}}},
    });
    let fields = order.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    serde_json::from_value(order).unwrap()
}

/// Asks while turns are under way, and has the job end when all is answered.
fn ask(job: &SlicesJob, orders: Vec<Send>) -> (SlicesResult, Vec<Vec<Exchange>>) {
    let desk = Arc::new(Desk::default());
    let (sender, receiver) = channel();
    let (is_connected, connected) = channel();
    let turns =
        json!({"order": "slices", "phase": "warmup", "turns": [{"contender": 0, "seconds": 0.05}]});
    let next = move || sender.send(Order::parse(&turns.to_string()));
    next().unwrap();
    let asking: JoinHandle<Vec<Vec<Exchange>>> = {
        let desk = Arc::clone(&desk);
        std::thread::spawn(move || {
            connected.recv().unwrap();
            let answers = orders.iter().map(|order| desk.carry_out(0, order).outcome);
            let exchanges = answers.map(|outcome| match outcome {
                Outcome::Exchanges(exchanges) => exchanges,
                other => panic!("{other:?}"),
            });
            exchanges.collect()
        })
    };
    let mut next = Some(next);
    let control = SlicesControl {
        interrupt: &AtomicBool::new(false),
        orders: receiver,
        desk: &desk,
        on_event: &mut |event| {
            if matches!(event, SliceEvent::Connected { .. }) {
                is_connected.send(()).unwrap();
            }
            if matches!(event, SliceEvent::Done { .. }) {
                if asking.is_finished() {
                    next = None;
                } else if let Some(next) = &next {
                    next().unwrap();
                }
            }
        },
    };
    let result = run(job, control).unwrap();
    assert_balanced(&result.contenders[0]);
    (result, asking.join().unwrap())
}

#[test]
fn the_loads_own_connections_carry_it_and_no_count_has_it() {
    for backend in BACKENDS {
        for kind in LOOPS {
            let server = FaultServer::start(Fault::None, 1);
            let url = server.url();
            let alone = json!({"concurrent": 1, "repeat": 8, "lane": 3});
            let orders = vec![order(&url, BODY, json!({})), order(&url, BODY, alone)];
            let (result, answers) = ask(&job(&url, BODY, (backend, kind)), orders);
            let asked: Vec<&Exchange> = answers.iter().flatten().collect();
            assert_eq!(asked.len(), 28);
            assert!(
                asked
                    .iter()
                    .all(|one| one.faults.is_empty() && one.status == Some(200))
            );
            assert_eq!(
                server.count(|seen| &seen.connections),
                4,
                "{backend} {kind}"
            );
            let sent = result.contenders[0].totals.sent;
            assert_eq!(
                server.count(|seen| &seen.requests),
                sent + 28,
                "{backend} {kind}"
            );
            assert!(sent > 0);
        }
    }
}

#[test]
fn what_is_wrong_with_a_response_is_said_to_the_asker_alone() {
    let server = FaultServer::start(Fault::None, 1);
    let url = server.url();
    let orders = vec![order(&url, "something else", json!({}))];
    let (result, answers) = ask(&job(&url, BODY, ("epoll", "closed")), orders);
    assert!(
        answers[0]
            .iter()
            .all(|one| one.faults.len() == 1 && one.failure.is_none())
    );
    assert_eq!(
        result.contenders[0].totals.sent,
        result.contenders[0].totals.ok
    );
}

#[test]
fn a_request_without_an_answer_has_failed_when_the_turn_is_over() {
    for kind in LOOPS {
        let server = FaultServer::start(Fault::NeverForQueries, 1);
        let url = server.url();
        let one = json!({"repeat": 6, "concurrent": 3});
        let (result, answers) = ask(
            &job(&url, BODY, ("epoll", kind)),
            vec![order(&url, BODY, one)],
        );
        assert_eq!(answers[0].len(), 6, "{kind}");
        assert!(
            answers[0].iter().all(|one| one.failure.is_some()),
            "{kind}: {:?}",
            answers[0]
        );
        let totals = &result.contenders[0].totals;
        assert_eq!(totals.sent, totals.ok, "{kind}");
    }
}

#[test]
fn a_connection_that_is_closed_under_it_is_replaced_and_it_is_sent_once_more() {
    for closes in [
        Closes::Silently(7),
        Closes::Announced(7),
        Closes::ByReset(7),
    ] {
        for backend in BACKENDS {
            let server = ClosingServer::start(closes);
            let url = server.url();
            let job = job(&url, closing_server::BODY, (backend, "closed"));
            let many = json!({"repeat": 60});
            let (_, answers) = ask(&job, vec![order(&url, closing_server::BODY, many)]);
            let right = answers[0]
                .iter()
                .filter(|one| one.faults.is_empty())
                .count();
            // One that meets two closes has failed: by chance one in 49, of these 60 hardly ever as many as 11.
            assert!(right >= 50, "{backend}: {:?}", answers[0]);
        }
    }
}

#[test]
fn what_is_asked_makes_no_turn_longer() {
    for kind in LOOPS {
        let server = FaultServer::start(Fault::Delay(Duration::from_millis(30)), 1);
        let url = server.url();
        let mut job = job(&url, BODY, ("epoll", kind));
        let traffic = &mut job.contenders[0].job;
        traffic.timeout_s = 5.0;
        if kind == "open" {
            let sparse = json!({"kind": "open", "rate": 20.0});
            traffic.arrival = serde_json::from_value(sparse).unwrap();
        }
        let many = json!({"repeat": 120, "concurrent": 8, "timeout_s": 30.0});
        let (result, answers) = ask(&job, vec![order(&url, BODY, many)]);
        assert!(answers[0].iter().all(|one| one.faults.is_empty()));
        // In 50 ms each of the 4 connections takes 2 requests, or a third at its end: 10 turns. Sent in the drains as well, all
        // 120 would take one turn or two.
        let turns = result.slices.len();
        assert!(turns >= 8, "{kind}: {turns}");
    }
}

#[test]
fn a_reset_under_a_request_that_is_not_sent_again_is_its_reason() {
    for backend in BACKENDS {
        let server = FaultServer::start(Fault::Reset, 1);
        let url = server.url();
        let mut order = order(&url, BODY, json!({}));
        order.asked.request.method = "POST".to_owned();
        let (_, answers) = ask(&job(&url, BODY, (backend, "open")), vec![order]);
        let reasons: Vec<&str> = answers[0]
            .iter()
            .filter_map(|one| one.failure.as_deref())
            .collect();
        assert!(
            reasons.iter().any(|why| why.contains("reset by peer")),
            "{backend}: {reasons:?}"
        );
    }
}
