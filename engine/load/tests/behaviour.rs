//! How a run behaves against a server that is right.

mod balance;
mod fault_server;
#[path = "fault_server/loads.rs"]
mod loads;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fault_server::{Fault, FaultServer};
use loads::{BACKENDS, assert_only, carry_out, errors, job};
use touchstone_load::control::Control;
use touchstone_load::error::Error;
use touchstone_load::event::Event;
use touchstone_load::job::{Arrivals, Expect, ExpectBody, Loop, Step};
use touchstone_load::knee::{self, Objective};
use touchstone_load::run::run;

#[test]
fn a_bounded_count_is_sent_exactly() {
    for backend in BACKENDS {
        for threads in [1, 3] {
            for pipeline in [1, 7] {
                let server = FaultServer::start(Fault::None, 1);
                let mut job = job(&server, backend, 1_001);
                (job.threads, job.pipeline) = (threads, pipeline);
                let result = carry_out(&job);
                assert_eq!(
                    (result.counts.sent, result.counts.ok),
                    (1_001, 1_001),
                    "{:?}",
                    result.first_errors
                );
                assert_eq!(server.count(|counters| &counters.requests), 1_001);
                assert_eq!(server.count(|counters| &counters.connections), 8);
                assert_eq!(
                    result.bytes.received,
                    server.count(|counters| &counters.bytes)
                );
                assert_eq!(result.latency.as_ref().unwrap().count, 1_001);
                assert_only(&result, None);
            }
        }
    }
}

#[test]
fn every_request_has_a_fresh_key_and_the_response_must_echo_it() {
    for backend in BACKENDS {
        let server = FaultServer::start(Fault::None, 1);
        let mut job = job(&server, backend, 500);
        job.threads = 2;
        job.requests[0].method = "POST".to_owned();
        job.requests[0].body =
            Some("{\"name\":\"n-{counter}-{random}\",\"t\":{thread}}".to_owned());
        let echo = job.requests[0].body.clone().unwrap();
        job.requests[0].expect = Expect {
            body: Some(ExpectBody::Exact { value: echo }),
            ..Expect::default()
        };
        let result = carry_out(&job);
        assert_eq!(result.counts.ok, 500, "{:?}", result.first_errors);
        // A constant is then wrong all but once at most.
        job.requests[0].expect.body = Some(ExpectBody::Pattern {
            value: r#"\{"name":"n-7-[0-9a-f]{16}","t":[01]\}"#.to_owned(),
        });
        let result = carry_out(&job);
        assert_eq!(
            (result.counts.ok, errors(&result, "wrong_body")),
            (1, 499),
            "{:?}",
            result.first_errors
        );
    }
}

#[test]
fn a_connection_for_each_request_is_one() {
    for backend in BACKENDS {
        let server = FaultServer::start(Fault::None, 1);
        let mut job = job(&server, backend, 200);
        job.keepalive = false;
        let result = carry_out(&job);
        assert_eq!(result.counts.ok, 200, "{:?}", result.first_errors);
        assert_eq!(server.count(|counters| &counters.connections), 200);
        assert_eq!(result.connections.opened, 200);
        // Its latency holds the connecting, its service time does not.
        assert!(result.latency.unwrap().mean > result.service.unwrap().mean);
    }
}

#[test]
fn a_connection_carries_as_many_requests_as_it_may_and_no_more() {
    for backend in BACKENDS {
        for (per_connection, connections) in [(1, 200), (10, 20), (64, 4)] {
            let server = FaultServer::start(Fault::None, 1);
            let mut job = job(&server, backend, 200);
            (job.connections, job.requests_per_connection) = (1, Some(per_connection));
            let result = carry_out(&job);
            assert_eq!(result.counts.ok, 200, "{:?}", result.first_errors);
            assert_eq!(result.counts.failed, 0);
            // One that has its last answer may be followed by another before the load is over.
            let opened = server.count(|counters| &counters.connections);
            assert!(
                (connections..=connections + 1).contains(&opened),
                "{opened} for {per_connection}"
            );
            // The load closed them, and no server did.
            assert_eq!(result.connections.reconnects, 0);
        }
    }
}

#[test]
fn an_open_loop_sends_what_is_due_and_counts_waiting_from_then() {
    for (backend, keepalive) in [
        (BACKENDS[0], true),
        (BACKENDS[1], true),
        (BACKENDS[0], false),
    ] {
        // One connection and 5 ms a response: at most 200 a second can be answered of 400 offered.
        let server = FaultServer::start(Fault::Delay(Duration::from_millis(5)), 1);
        let mut job = job(&server, backend, 200);
        (job.connections, job.keepalive) = (1, keepalive);
        job.arrival = Loop::Open {
            rate: 400.0,
            arrivals: Arrivals::Uniform,
        };
        let result = carry_out(&job);
        assert_eq!(result.counts.ok, 200, "{:?}", result.counts);
        let (latency, service) = (result.latency.unwrap(), result.service.unwrap());
        assert!(
            latency.p99 > 10.0 * service.p50,
            "waiting counts: {} against {}",
            latency.p99,
            service.p50
        );
        assert!(result.lateness.unwrap().p50 < latency.p50 / 2.0);
        assert!(result.queue.unwrap().peak >= 90, "{:?}", result.queue);
        assert!(!result.generator.stands || result.rate.achieved >= 0.99 * 400.0);
    }
}

#[test]
fn what_the_generator_is_late_is_no_latency_of_the_server() {
    let server = FaultServer::start(Fault::None, 1);
    let mut job = job(&server, BACKENDS[0], 40);
    job.connections = 20;
    job.arrival = Loop::Open {
        rate: 40.0,
        arrivals: Arrivals::Poisson,
    };
    job.pacing_slot_s = Some(0.1);
    // A latency that held the lateness would be the greater one at every quantile, of every load. A server on a busy machine
    // is slower than that in one load, hardly in ten.
    let is_left_out = || {
        let result = carry_out(&job);
        let (latency, lateness) = (result.latency.unwrap(), result.lateness.unwrap());
        let mut quantiles = (1..20).map(|part| f64::from(part) / 20.0);
        quantiles.any(|quantile| latency.at(quantile) < lateness.at(quantile))
    };
    assert!((0..10).any(|_| is_left_out()));
}

#[test]
fn a_short_draw_of_random_arrivals_is_no_failure() {
    let server = FaultServer::start(Fault::None, 1);
    let mut job = job(&server, BACKENDS[0], 1);
    job.max_requests = None;
    job.duration_s = 0.5;
    job.arrival = Loop::Open {
        rate: 400.0,
        arrivals: Arrivals::Poisson,
    };
    let below = |reasons: &[String]| reasons.iter().any(|reason| reason.contains("offered"));
    // Every second draw of 200 arrivals has fewer than 198.
    let mut fewer = 0;
    for seed in 0..6 {
        job.seed = seed;
        let result = carry_out(&job);
        fewer += u32::from(result.counts.sent < 198);
        // A busy machine that stalls does so once; a draw is the same each time.
        let again = || below(&carry_out(&job).generator.reasons);
        let is_below = below(&result.generator.reasons) && again() && again();
        assert!(!is_below, "{:?}", result.generator.reasons);
    }
    assert!(fewer > 0, "no draw had fewer: it shows nothing");
    // 100 ms for each response and 8 connections: 80 of 400 a second, which no draw explains.
    let server = FaultServer::start(Fault::Delay(Duration::from_millis(100)), 1);
    job.url = server.url();
    let reasons = carry_out(&job).generator.reasons;
    assert!(below(&reasons), "{reasons:?}");
}

#[test]
fn a_slow_server_that_keeps_up_has_reached_the_rate() {
    let reported = |connections| {
        let server = FaultServer::start(Fault::Delay(Duration::from_millis(100)), 1);
        let mut job = job(&server, BACKENDS[0], 1);
        (job.max_requests, job.duration_s, job.connections) = (None, 2.0, connections);
        job.arrival = Loop::Open {
            rate: 100.0,
            arrivals: Arrivals::Uniform,
        };
        let result = carry_out(&job);
        assert!(result.rate.achieved < 99.0, "{:?}", result.rate);
        let mut reasons = result.generator.reasons.iter();
        reasons.any(|reason| reason.contains("were answered rightly"))
    };
    // Ten requests are under way at the end of two seconds; with four connections a queue is, too. A busy machine may
    // stall at the end of one load, hardly of three.
    assert!(
        !(reported(64) && reported(64) && reported(64)),
        "it answers all that comes"
    );
    assert!(reported(4), "it answers 40 of 100 a second");
}

#[test]
fn a_slow_server_has_a_knee() {
    let server = FaultServer::start(Fault::Delay(Duration::from_millis(100)), 1);
    let mut job = job(&server, BACKENDS[0], 1);
    (job.max_requests, job.duration_s, job.connections) = (None, 1.0, 16);
    job.series_interval_s = 0.1;
    let objective = Objective::parse("p90<1s").unwrap();
    let never = AtomicBool::new(false);
    let mut control = Control {
        interrupt: &never,
        on_event: &mut |_| (),
        process_command: &[],
    };
    let knee = knee::find(&job, objective, 100.0, &mut control, &mut |_| ()).unwrap();
    // A tenth of each trial's answers is under way at its end: were they missed, no rate would hold. 16 connections bear
    // 160 a second: fewer where a busy machine stalls, and never twice as many.
    let rate = knee.rate.unwrap_or_default();
    assert!((20.0..320.0).contains(&rate), "{knee:?}");
}

#[test]
fn a_stall_is_seen_by_every_request_that_was_due_in_it() {
    for backend in BACKENDS {
        let (every, for_) = (Duration::from_millis(1_000), Duration::from_millis(400));
        let server = FaultServer::start(Fault::Stall { every, for_ }, 1);
        let mut job = job(&server, backend, 1);
        job.max_requests = None;
        job.duration_s = 2.0;
        job.arrival = Loop::Open {
            rate: 500.0,
            arrivals: Arrivals::Uniform,
        };
        let result = carry_out(&job);
        assert_only(&result, None);
        // 400 of 1,000 requests were due in a stall; 200 of them waited more than half of it, and the worst all of it.
        let latency = result.latency.unwrap();
        assert_eq!(latency.count, 1_000);
        // Half of that, for a machine that is late itself. Were only the 8 that were sent to count, none of it was left.
        assert!(latency.at(0.8) >= 0.1, "{}", latency.at(0.8));
        assert!(latency.max >= 0.3, "{}", latency.max);
    }
}

#[test]
fn steps_are_reported_one_by_one() {
    let server = FaultServer::start(Fault::None, 1);
    let mut job = job(&server, BACKENDS[0], 1);
    job.max_requests = None;
    job.warmup_s = 0.2;
    let steps = vec![
        Step {
            rate: 200.0,
            seconds: 0.5,
        },
        Step {
            rate: 600.0,
            seconds: 0.5,
        },
    ];
    job.arrival = Loop::Steps {
        steps,
        arrivals: Arrivals::Uniform,
    };
    job.series_interval_s = 0.1;
    let mut other = job.requests[0].clone();
    other.name = Some("rare".to_owned());
    job.requests[0].weight = 3;
    job.requests.push(other);
    let result = carry_out(&job);
    let steps = result.steps.unwrap();
    assert_eq!((steps[0].sent, steps[1].sent), (100, 300));
    for (index, whole) in result.requests.iter().enumerate() {
        let parts: Vec<_> = steps.iter().map(|step| &step.requests[index]).collect();
        assert!(parts.iter().all(|part| part.name == whole.name));
        assert_eq!(parts.iter().map(|part| part.sent).sum::<u64>(), whole.sent);
        assert_eq!(parts.iter().map(|part| part.ok).sum::<u64>(), whole.ok);
        let known: u64 = parts
            .iter()
            .map(|part| part.latency.as_ref().unwrap().count)
            .sum();
        assert_eq!(known, whole.ok);
    }
    assert!(steps[1].requests[0].sent > steps[1].requests[1].sent);
    assert_eq!(result.counts.sent, 400);
    // 40 in the warm-up; a busy machine may send the last of them after its end.
    let sent = |phase: &str| {
        let points = result.series.iter().filter(|point| point.phase == phase);
        points.map(|point| point.sent).sum::<u64>()
    };
    assert!((1..=40).contains(&sent("warmup")), "{}", sent("warmup"));
    assert_eq!(sent("warmup") + sent("load") + sent("drain"), 440);
    assert_eq!(result.rate.offered, Some(400.0));
}

#[test]
fn a_mix_follows_its_weights() {
    let server = FaultServer::start(Fault::None, 1);
    let mut job = job(&server, BACKENDS[0], 4_000);
    let mut other = job.requests[0].clone();
    other.name = Some("rare".to_owned());
    job.requests[0].weight = 3;
    job.requests.push(other);
    let result = carry_out(&job);
    let shares: Vec<u64> = result.requests.iter().map(|request| request.sent).collect();
    assert_eq!(shares.iter().sum::<u64>(), 4_000);
    assert!((2_800..3_200).contains(&shares[0]), "{shares:?}");
}

#[test]
fn an_interrupted_run_still_gives_its_result() {
    for backend in BACKENDS {
        let server = FaultServer::start(Fault::None, 1);
        let mut job = job(&server, backend, 1);
        job.max_requests = None;
        job.series_interval_s = 0.05;
        let stop = AtomicBool::new(false);
        let mut on_event = |event: Event| {
            if matches!(event, Event::Progress { ok, .. } if ok > 0) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let result = run(
            &job,
            &mut Control {
                interrupt: &stop,
                on_event: &mut on_event,
                process_command: &[],
            },
        )
        .unwrap();
        assert!(result.interrupted && !result.generator.stands);
        assert!(result.counts.ok > 0 && result.window.measured_s < 60.0);
        assert_eq!(
            result.counts.ok + result.counts.unanswered,
            result.counts.sent
        );
    }
}

#[test]
fn nobody_listening_is_said_at_once() {
    for backend in BACKENDS {
        let server = FaultServer::start(Fault::None, 1);
        let mut job = job(&server, backend, 1);
        job.url = "http://127.0.0.1:1".to_owned();
        let never = AtomicBool::new(false);
        let refused = run(
            &job,
            &mut Control {
                interrupt: &never,
                on_event: &mut |_| (),
                process_command: &[],
            },
        );
        assert!(
            matches!(refused, Err(Error::Unreachable { .. })),
            "{refused:?}"
        );
    }
}
