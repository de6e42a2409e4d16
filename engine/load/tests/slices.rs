//! Several contenders loaded in turn: what is counted is the servers' own count, and none is in another's way.

mod balance;
mod fault_server;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use balance::assert_balanced;
use fault_server::{BODY, Fault, FaultServer};
use serde_json::{Value, json};
use touchstone_load::asked::Desk;
use touchstone_load::error::Error;
use touchstone_load::result::{HeldUp, Silence};
use touchstone_load::slices::event::SliceEvent;
use touchstone_load::slices::job::SlicesJob;
use touchstone_load::slices::order::{LapPhase, Order};
use touchstone_load::slices::record::SliceRecord;
use touchstone_load::slices::result::SlicesResult;
use touchstone_load::slices::{SlicesControl, run};

const BACKENDS: [&str; 2] = ["epoll", "io_uring"];

/// A closed loop of 4 connections whose responses must have the known body.
fn traffic(url: &str, backend: &str) -> Value {
    json!({
        "url": url,
        "connections": 4,
        "backend": backend,
        "timeout_s": 10,
        "requests": [{"target": "/", "expect": {"body": {"kind": "exact", "value": BODY}}}],
    })
}

fn job(threads: u32, traffic: &[Value]) -> SlicesJob {
    let contenders: Vec<Value> = traffic
        .iter()
        .enumerate()
        .map(|(index, traffic)| json!({"name": format!("c{index}"), "job": traffic}))
        .collect();
    let job = json!({"threads": threads, "gap_s": 0.002, "contenders": contenders});
    SlicesJob::from_json(&job.to_string()).unwrap()
}

/// Turns of 50 ms.
fn slices(phase: &str, contenders: &[usize]) -> String {
    turns(phase, contenders, 0.05)
}

fn turns(phase: &str, contenders: &[usize], seconds: f64) -> String {
    let turns: Vec<Value> = contenders
        .iter()
        .map(|contender| json!({"contender": contender, "seconds": seconds}))
        .collect();
    json!({"order": "slices", "phase": phase, "turns": turns}).to_string()
}

/// Carries out a job; `on_event` may send further orders.
fn follow(
    job: &SlicesJob,
    orders: &[String],
    interrupt: &AtomicBool,
    mut on_event: impl FnMut(&SliceEvent, &Sender<Result<Order, Error>>),
) -> Result<SlicesResult, Error> {
    let (sender, receiver) = channel();
    for order in orders {
        sender.send(Order::parse(order)).unwrap();
    }
    let mut sender = Some(sender);
    let mut left = orders.len();
    run(
        job,
        SlicesControl {
            interrupt,
            orders: receiver,
            desk: &Desk::default(),
            on_event: &mut |event| {
                if let Some(sender) = &sender {
                    on_event(&event, sender);
                }
                left -= usize::from(matches!(event, SliceEvent::Done { .. }));
                if left == 0 {
                    sender = None;
                }
            },
        },
    )
}

fn carry_out(job: &SlicesJob, orders: &[String]) -> SlicesResult {
    let result = follow(job, orders, &AtomicBool::new(false), |_, _| ()).unwrap();
    result.contenders.iter().for_each(assert_balanced);
    result
}

fn of(result: &SlicesResult, contender: usize) -> Vec<&SliceRecord> {
    let own = result.slices.iter();
    own.filter(|slice| slice.contender == contender).collect()
}

#[test]
fn what_is_counted_is_what_the_servers_counted() {
    for backend in BACKENDS {
        for threads in [1, 2] {
            let servers = [
                FaultServer::start(Fault::None, 1),
                FaultServer::start(Fault::Delay(Duration::from_millis(5)), 3),
                FaultServer::start(Fault::Status500, 10),
            ];
            let loads = servers
                .each_ref()
                .map(|server| traffic(&server.url(), backend));
            let orders = [
                slices("warmup", &[0, 1, 2]),
                slices("load", &[0, 1, 2, 2, 0, 1]),
            ];
            let result = carry_out(&job(threads, &loads), &orders);
            assert_eq!(result.slices.len(), 9);
            assert!(!result.interrupted);
            for (index, server) in servers.iter().enumerate() {
                let (whole, own) = (&result.contenders[index], of(&result, index));
                let sum = |field: fn(&SliceRecord) -> u64, from: usize| -> u64 {
                    own[from..].iter().map(|slice| field(slice)).sum()
                };
                assert_eq!(
                    whole.totals.sent,
                    server.count(|counters| &counters.requests)
                );
                assert_eq!(whole.totals.sent, sum(|slice| slice.sent, 0));
                assert_eq!(whole.counts.sent, sum(|slice| slice.sent, 1));
                assert_eq!(whole.counts.ok, sum(|slice| slice.ok, 1));
                assert!(whole.totals.sent > 0);
                assert!(own.iter().all(|slice| slice.completed == slice.sent));
                assert_eq!(server.count(|counters| &counters.connections), 4);
                assert_eq!(
                    (whole.connections.opened, whole.connections.reconnects),
                    (4, 0)
                );
                let counted: u64 = own[1..]
                    .iter()
                    .filter_map(|slice| slice.latency.as_ref())
                    .map(|latency| latency.count)
                    .sum();
                assert_eq!(
                    whole.latency.as_ref().map_or(0, |latency| latency.count),
                    counted
                );
            }
            let wrong = servers[2].count(|counters| &counters.faults);
            let seen: u64 = of(&result, 2)
                .iter()
                .map(|slice| slice.errors.get("wrong_status").copied().unwrap_or(0))
                .sum();
            assert_eq!(seen, wrong);
        }
    }
}

#[test]
fn turns_follow_each_other_and_never_overlap() {
    let servers = [
        FaultServer::start(Fault::None, 1),
        FaultServer::start(Fault::Delay(Duration::from_millis(20)), 1),
    ];
    let loads = servers
        .each_ref()
        .map(|server| traffic(&server.url(), "epoll"));
    let result = carry_out(&job(1, &loads), &[slices("load", &[0, 1, 1, 0, 1, 0])]);
    for pair in result.slices.windows(2) {
        assert!(pair[0].end + 0.002 <= pair[1].begin, "{pair:?}");
    }
    for slice in &result.slices {
        assert!((slice.sending_end - slice.begin - 0.05).abs() < 1e-6);
        assert!(slice.end >= slice.sending_end);
    }
    let order: Vec<usize> = result.slices.iter().map(|slice| slice.contender).collect();
    assert_eq!(order, [0, 1, 1, 0, 1, 0]);
}

#[test]
fn the_rate_of_a_server_that_waits_has_no_edges() {
    // 4 connections and 10 ms. In 55 ms six waves are sent: what is answered over the time would be 9 % too much.
    let server = FaultServer::start(Fault::Delay(Duration::from_millis(10)), 1);
    let turns = vec![json!({"contender": 0, "seconds": 0.055}); 15];
    let order = json!({"order": "slices", "phase": "load", "turns": turns}).to_string();
    let result = carry_out(&job(1, &[traffic(&server.url(), "epoll")]), &[order]);
    // By Little's law, with the response time that was seen: what the machine adds to 10 ms is in both. The median, for
    // a machine that stalls in some of the slices.
    let mut ratios: Vec<f64> = result
        .slices
        .iter()
        .filter_map(|slice| Some(slice.rate? * slice.latency.as_ref()?.p50 / 4.0))
        .collect();
    ratios.sort_by(f64::total_cmp);
    let middle = ratios[ratios.len() / 2];
    // Nothing is there of the 9 % too much. A generator that a busy machine keeps waiting sends less.
    assert!((0.8..1.04).contains(&middle), "{ratios:?}");
    let achieved = result.contenders[0].rate.achieved;
    let (least, most) = result
        .slices
        .iter()
        .filter_map(|slice| slice.rate)
        .fold((f64::MAX, 0.0f64), |(least, most), rate| {
            (least.min(rate), most.max(rate))
        });
    assert!((least..=most).contains(&achieved), "{achieved}");
}

#[test]
fn an_open_schedule_pauses_between_turns() {
    for arrivals in ["uniform", "poisson"] {
        for threads in [1, 2] {
            let server = FaultServer::start(Fault::None, 1);
            let other = FaultServer::start(Fault::None, 1);
            let mut load = traffic(&server.url(), "epoll");
            load["loop"] = json!({"kind": "open", "rate": 1_000.0, "arrivals": arrivals});
            let loads = [load, traffic(&other.url(), "epoll")];
            let result = carry_out(
                &job(threads, &loads),
                &[slices("load", &[0, 1, 0, 1, 0, 0])],
            );
            let whole = &result.contenders[0];
            let sent = server.count(|counters| &counters.requests);
            assert_eq!((whole.counts.sent, whole.counts.ok), (sent, sent));
            assert_eq!(whole.counts.unsent, 0);
            // Four turns of 50 ms: 200 requests, however long the other's turns were.
            if arrivals == "uniform" {
                assert_eq!(sent, 200);
                assert!(of(&result, 0).iter().all(|slice| slice.sent == 50));
            } else {
                assert!((130..280).contains(&sent), "{sent}");
            }
            let offered = whole.rate.offered.unwrap();
            assert!((offered - sent as f64 / 0.2).abs() < 1e-6, "{offered}");
        }
    }
}

#[test]
fn all_contenders_get_the_same_arrivals_however_long_they_warmed_up() {
    let servers = [
        FaultServer::start(Fault::None, 1),
        FaultServer::start(Fault::None, 1),
    ];
    let loads = servers.each_ref().map(|server| {
        let mut load = traffic(&server.url(), "epoll");
        load["loop"] = json!({"kind": "open", "rate": 1_000.0, "arrivals": "poisson"});
        load
    });
    let result = carry_out(
        &job(1, &loads),
        &[
            slices("warmup", &[0, 1, 0, 0]),
            slices("load", &[0, 1, 1, 0, 0, 1]),
        ],
    );
    let sent = |contender| {
        let own = of(&result, contender).into_iter();
        let laps = own.filter(|slice| slice.lap_phase == LapPhase::Load);
        laps.map(|slice| slice.sent).collect::<Vec<_>>()
    };
    assert_eq!(sent(0), sent(1));
    assert_eq!(sent(0).len(), 3);
    assert!(sent(0).iter().any(|n| *n != sent(0)[0]), "{:?}", sent(0));
}

#[test]
fn late_requests_of_an_open_turn_are_sent_and_are_no_throughput_of_it() {
    // One connection and 5 ms a response: 10 of the 50 that are due can be answered in the turn.
    let server = FaultServer::start(Fault::Delay(Duration::from_millis(5)), 1);
    let mut load = traffic(&server.url(), "epoll");
    load["connections"] = json!(1);
    load["loop"] = json!({"kind": "open", "rate": 1_000.0});
    let result = carry_out(&job(1, &[load]), &[slices("load", &[0, 0])]);
    for slice in &result.slices {
        let open = slice.open.unwrap();
        assert_eq!((slice.sent, slice.ok, open.unsent), (50, 50, 0));
        assert!(open.queued_at_end >= 35, "{open:?}");
        // A busy machine may answer nothing in time.
        assert!(slice.rate.is_none_or(|rate| rate <= 300.0) && open.offered == 1_000.0);
        assert!(slice.end > slice.sending_end + 0.1);
    }
    assert_eq!(server.count(|counters| &counters.requests), 100);
}

#[test]
fn a_contender_that_dies_harms_only_its_own_slices() {
    for backend in BACKENDS {
        let good = FaultServer::start(Fault::None, 1);
        // Every connection is reset at its first request, and after the listener is gone none is accepted.
        let mut dying = Some(FaultServer::start(Fault::Reset, 1));
        let mut loads = [
            traffic(&good.url(), backend),
            traffic(&dying.as_ref().unwrap().url(), backend),
        ];
        loads[1]["timeout_s"] = json!(60);
        let mut fatal = Vec::new();
        // Long enough for one request of each connection on a busy machine.
        let lap = turns("load", &[0, 1], 0.2);
        let begun = Instant::now();
        let result = follow(
            &job(1, &loads),
            &[lap.clone(), lap.clone(), lap],
            &AtomicBool::new(false),
            |event, _| match event {
                SliceEvent::Slice(record) if record.index == 0 => drop(dying.take()),
                SliceEvent::Fatal { contender, .. } => fatal.push(*contender),
                _ => (),
            },
        )
        .unwrap();
        assert!(
            begun.elapsed() < Duration::from_secs(45),
            "no timeout was waited for"
        );
        assert!(
            of(&result, 0)
                .iter()
                .all(|slice| slice.ok > 0 && slice.errors.is_empty())
        );
        let dead = of(&result, 1);
        // What crossed the end is sent again while there is a listener.
        let cut = dead[0].errors.contains_key("kept_connection_closed");
        assert!(cut || dead[0].repeated > 0, "{:?}", dead[0]);
        for slice in &dead[1..] {
            assert_eq!((slice.sent, slice.connections), (0, 0));
            assert!(slice.connection_errors.contains_key("refused") && slice.rate.is_none());
        }
        assert_eq!(fatal, [1], "reported once");
        assert!(
            result.contenders[0].generator.stands
                || !result.contenders[0].generator.reasons.is_empty()
        );
    }
}

#[test]
fn a_response_that_never_ends_is_a_timeout_of_its_slice() {
    for backend in BACKENDS {
        let good = FaultServer::start(Fault::None, 1);
        for fault in [Fault::Never, Fault::Endless] {
            // The turn's first request: a busy machine may have no time for a second one.
            let bad = FaultServer::start(fault, 1);
            let mut load = traffic(&bad.url(), backend);
            load["timeout_s"] = json!(0.2);
            load["connections"] = json!(1);
            let loads = [load, traffic(&good.url(), backend)];
            let result = carry_out(&job(1, &loads), &[slices("load", &[0, 1, 0, 1])]);
            for slice in of(&result, 0) {
                assert_eq!(slice.errors.get("timeout"), Some(&1), "{slice:?}");
                assert_eq!((slice.sent, slice.ok), (1, 0));
                assert!(!slice.first_errors.is_empty());
            }
            assert!(of(&result, 1).iter().all(|slice| slice.errors.is_empty()));
            assert_eq!(result.contenders[0].counts.unanswered, 0);
        }
    }
}

#[test]
fn a_connection_that_was_closed_between_turns_is_replaced_before_the_next_begins() {
    for backend in BACKENDS {
        let other = FaultServer::start(Fault::None, 1);
        let server = FaultServer::start(Fault::CloseIdleAfter(Duration::from_millis(25)), 1);
        // One request a turn of 2 ms; its connection is closed while the other one is loaded.
        let mut load = traffic(&server.url(), backend);
        load["loop"] = json!({"kind": "open", "rate": 500.0});
        load["connections"] = json!(3);
        let loads = [load, traffic(&other.url(), backend)];
        let turns: Vec<Value> = [(0, 0.002), (1, 0.3), (0, 0.002), (1, 0.3), (0, 0.002)]
            .iter()
            .map(|(contender, seconds)| json!({"contender": contender, "seconds": seconds}))
            .collect();
        let order = json!({"order": "slices", "phase": "load", "turns": turns});
        let result = carry_out(&job(1, &loads), &[order.to_string()]);
        let own = of(&result, 0);
        assert!(own.iter().all(|slice| (slice.sent, slice.ok) == (1, 1)));
        assert!(own[0].connection_errors.is_empty());
        for slice in &own[1..] {
            let closed = slice.connection_errors.get("closed_idle");
            assert_eq!(closed, Some(&1), "{slice:?}");
            assert_eq!(slice.connections, 3);
        }
        assert_eq!(result.contenders[0].connections.reconnects, 2);
    }
}

#[test]
fn an_interrupt_ends_the_job_after_the_slice_under_way() {
    let server = FaultServer::start(Fault::None, 1);
    let stop = AtomicBool::new(false);
    let result = follow(
        &job(1, &[traffic(&server.url(), "epoll")]),
        &[slices("load", &[0; 50])],
        &stop,
        |event, _| {
            if matches!(event, SliceEvent::Slice(record) if record.index == 1) {
                stop.store(true, Ordering::Relaxed);
            }
        },
    )
    .unwrap();
    assert!(result.interrupted && result.contenders[0].interrupted);
    assert_eq!(result.slices.len(), 2);
    assert_eq!(
        result.contenders[0].totals.sent,
        server.count(|counters| &counters.requests)
    );
}

#[test]
fn nobody_listening_is_told_and_is_no_error_of_the_others() {
    let good = FaultServer::start(Fault::None, 1);
    let gone = "127.0.0.1:1";
    let mut open = traffic(&format!("http://{gone}"), "epoll");
    open["loop"] = json!({"kind": "open", "rate": 1_000_000.0});
    let loads = [
        traffic(&format!("http://{gone}"), "epoll"),
        traffic(&good.url(), "epoll"),
        open,
    ];
    let mut reported = Vec::new();
    let result = follow(
        &job(1, &loads),
        &[slices("load", &[0, 1, 2])],
        &AtomicBool::new(false),
        |event, _| {
            if let SliceEvent::Fatal { contender, why, .. } = event {
                reported.push((*contender, why.clone()));
            }
        },
    )
    .unwrap();
    assert_eq!(reported.len(), 2);
    assert!(
        reported[0].0 == 0 && reported[0].1.contains(gone),
        "{reported:?}"
    );
    let refused = result.slices[0].connection_errors.get("refused");
    assert_eq!(refused, Some(&4));
    assert!(result.slices[1].ok > 0);
    // Its clock did not run: nothing was due, so nothing was left unsent.
    assert!(result.slices[2].open.is_none() && result.slices[2].rate.is_none());
    assert_eq!(result.contenders[2].counts.unsent, 0);
}

#[test]
fn a_connection_for_each_request_works_in_turns_as_well() {
    let server = FaultServer::start(Fault::None, 1);
    let mut load = traffic(&server.url(), "epoll");
    load["keepalive"] = json!(false);
    let result = carry_out(&job(1, &[load]), &[slices("load", &[0, 0])]);
    let whole = &result.contenders[0];
    assert!(whole.counts.ok > 0);
    assert_eq!(
        whole.totals.sent,
        server.count(|counters| &counters.requests)
    );
    assert_eq!(
        whole.counts.ok, whole.counts.sent,
        "{:?}",
        whole.counts.errors
    );
}

#[test]
fn an_order_that_makes_no_sense_is_an_error_of_the_job() {
    let server = FaultServer::start(Fault::None, 1);
    let job = job(1, &[traffic(&server.url(), "epoll")]);
    for order in [slices("load", &[1]), "{}".to_owned()] {
        let outcome = follow(&job, &[order], &AtomicBool::new(false), |_, _| ());
        assert!(matches!(outcome, Err(Error::Job(_))), "{outcome:?}");
    }
}

#[test]
fn more_connections_than_files_are_refused_with_both_numbers() {
    let mut load = traffic("http://127.0.0.1:1", "epoll");
    load["connections"] = json!(4_000_000_000u32);
    let outcome = follow(&job(1, &[load]), &[], &AtomicBool::new(false), |_, _| ());
    let why = outcome.unwrap_err().to_string();
    assert!(
        why.contains("4000000000 connections") && why.contains("open files"),
        "{why}"
    );
}

/// What a contender's result says of waits while others were served, and of time in which nobody was.
fn held_up(fault: Fault, every: u64, backend: &str, seconds: f64) -> (HeldUp, Silence) {
    let server = FaultServer::start(fault, every);
    let loads = [traffic(&server.url(), backend)];
    let orders = [
        turns("warmup", &[0], seconds),
        turns("load", &[0; 8], seconds),
    ];
    let result = carry_out(&job(1, &loads), &orders);
    let whole = &result.contenders[0];
    (whole.held_up, whole.silence.clone())
}

#[test]
fn a_connection_that_waits_while_others_are_served_is_seen_in_its_first_request_of_each_turn() {
    for backend in BACKENDS {
        // Longer than a turn: it answers nothing but what a turn begins with.
        let slow = Fault::DelayOn(Duration::from_millis(300));
        let (held_up, _) = self::held_up(slow, 4, backend, 0.1);
        // Eight turns. A wait in which a busy machine served nobody is none.
        assert!(held_up.answers >= 2, "{held_up:?}");
        assert!(held_up.connections >= Some(1), "{held_up:?}");
        // What was waited after the others had stopped is not in it: 0.1 s of each 0.3 s, twice that on a busy machine.
        assert!(held_up.seconds < 8.0 * 0.2, "{held_up:?}");
    }
}

#[test]
fn a_connection_that_is_served_slowly_gets_few_responses() {
    // The server has a thread for each connection, and a busy machine may let one of the others fall behind as well.
    for backend in BACKENDS {
        let [slow, sound] = [Fault::DelayOn(Duration::from_millis(20)), Fault::None].map(|fault| {
            let server = FaultServer::start(fault, 4);
            let loads = [traffic(&server.url(), backend)];
            let orders = [slices("warmup", &[0]), slices("load", &[0; 8])];
            let result = carry_out(&job(1, &loads), &orders);
            result.contenders[0].by_connection.expect("a closed loop")
        });
        assert!(slow.behind >= 1 && slow.share > 0.0, "{slow:?}");
        assert!(slow.fewest < slow.median / 4, "{slow:?}");
        assert!(sound.fewest <= sound.median, "{sound:?}");
        assert!(sound.share < slow.share, "{sound:?}, {slow:?}");
    }
}

#[test]
fn a_stall_of_all_connections_is_silence_and_holds_nobody_up() {
    for backend in BACKENDS {
        let stall = Fault::Stall {
            every: Duration::from_millis(150),
            for_: Duration::from_millis(90),
        };
        let (held_up, silence) = self::held_up(stall, 1, backend, 0.05);
        assert!(silence.seconds > 0.0, "{silence:?}");
        assert_eq!(silence.longer[0], (0.05, silence.seconds));
        assert!(
            held_up.seconds < silence.seconds,
            "{held_up:?}, {silence:?}"
        );
    }
}

#[test]
fn media_types_are_counted_for_each_response() {
    for backend in BACKENDS {
        let server = FaultServer::start(Fault::ChangedType, 10);
        let loads = [traffic(&server.url(), backend)];
        let orders = [slices("load", &[0; 3])];
        let result = carry_out(&job(2, &loads), &orders);
        let request = &result.contenders[0].requests[0];
        let counts: Vec<(Option<&str>, u64)> = request
            .media_types
            .iter()
            .map(|count| (count.media_type.as_deref(), count.responses))
            .collect();
        let other = server.count(|counters| &counters.faults);
        let plain = server.count(|counters| &counters.requests) - other;
        assert_eq!(
            counts,
            [(Some("text/plain"), plain), (Some("text/html"), other)]
        );
    }
}

#[test]
fn trials_with_acknowledgements_are_kept_of_all_turns_the_warm_up_included() {
    for backend in BACKENDS {
        let nagles = Fault::TwoWrites {
            nagle: true,
            apart: Duration::ZERO,
        };
        let server = FaultServer::start(nagles, 1);
        let loads = [traffic(&server.url(), backend)];
        let orders = [slices("warmup", &[0; 8]), slices("load", &[0])];
        let result = carry_out(&job(1, &loads), &orders);
        let whole = &result.contenders[0];
        let in_parts = whole.requests[0].in_parts.unwrap();
        // The measured turn has time for one of them at most.
        assert!(in_parts.trials > 2, "{in_parts:?}");
        assert!(in_parts.responses <= whole.counts.ok, "{in_parts:?}");
        assert!(in_parts.long > 0, "{in_parts:?}");
    }
}

#[test]
fn a_request_that_crosses_the_end_of_a_connection_that_rested_is_sent_again_if_it_may_be() {
    for backend in BACKENDS {
        for (method, may_be) in [("GET", true), ("POST", false)] {
            let least = Duration::from_millis(120);
            let servers = [
                FaultServer::start(Fault::ResetAfterRest(least), 1),
                FaultServer::start(Fault::None, 1),
            ];
            let mut loads = servers
                .each_ref()
                .map(|server| traffic(&server.url(), backend));
            loads[0]["requests"][0]["method"] = json!(method);
            let orders = [slices("load", &[0, 1, 1, 1, 0, 1, 1, 1, 0])];
            let result = carry_out(&job(1, &loads), &orders);
            let whole = &result.contenders[0];
            let ends = servers[0].count(|counters| &counters.faults);
            assert!(ends > 0);
            let (lost, repeated) = if may_be { (0, ends) } else { (ends, 0) };
            let class = "kept_connection_closed";
            assert_eq!(whole.counts.errors[class], lost, "{:?}", whole.counts);
            assert_eq!(whole.counts.repeated, repeated);
            assert_eq!(whole.connections.errors["closed_idle"], repeated);
            assert_eq!(whole.counts.ok, whole.counts.sent - lost);
            let right = servers[0].count(|counters| &counters.right);
            assert_eq!(whole.counts.ok, right, "{:?}", whole.counts);
        }
    }
}
