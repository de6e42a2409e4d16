//! Journeys on a service that keeps notes: what one response holds is asked for by the next request.

mod balance;
mod notes_server;

use std::sync::atomic::AtomicBool;

use notes_server::NotesServer;
use serde_json::{Value, json};
use touchstone_load::control::Control;
use touchstone_load::job::Job;
use touchstone_load::result::LoadResult;
use touchstone_load::run::run;

fn carry_out(job: Value) -> LoadResult {
    let job = Job::from_json(&job.to_string()).unwrap();
    static INTERRUPT: AtomicBool = AtomicBool::new(false);
    let mut on_event = |_| {};
    let mut control = Control {
        interrupt: &INTERRUPT,
        on_event: &mut on_event,
        process_command: &[],
    };
    let result = run(&job, &mut control).unwrap();
    balance::assert_balanced(&result);
    result
}

/// Create, read, delete, and look that it is gone.
fn whole_life() -> Value {
    let note = json!({"id": {"type": "integer"}, "text": "note {counter} {fresh}"});
    json!([
        {"request": {"name": "create", "method": "POST", "target": "/notes", "body": "note {counter} {fresh}",
                     "expect": {"status": [201], "body": {"kind": "json", "fields": note, "exact": true}}},
         "captures": {"id": {"json": "/id"}, "place": {"header": "Location", "pattern": "/notes/(.*)"}}},
        {"request": {"name": "read", "target": "/notes/{capture.id}",
                     "expect": {"status": [200], "body": {"kind": "exact",
                                "value": "{\"id\":{capture.place},\"text\":\"note {counter} {fresh}\"}"}}}},
        {"request": {"name": "delete", "method": "DELETE", "target": "/notes/{capture.id}", "expect": {"status": [204]}}},
        {"request": {"name": "gone", "target": "/notes/{capture.id}", "expect": {"status": [404]}}},
    ])
}

fn job(server: &NotesServer, steps: Value) -> Value {
    json!({
        "url": server.url(), "connections": 4, "duration_s": 30, "timeout_s": 2,
        "journeys": [{"name": "life", "steps": steps}],
    })
}

fn with(mut job: Value, fields: Value) -> Value {
    job.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    job
}

#[test]
fn what_is_captured_is_asked_for_and_every_response_is_checked() {
    for backend in ["epoll", "io_uring"] {
        for threads in [1, 2] {
            let server = NotesServer::start();
            let limits = json!({"max_requests": 400, "threads": threads, "backend": backend});
            let result = carry_out(with(job(&server, whole_life()), limits));
            assert_eq!(
                (result.counts.ok, result.counts.sent),
                (400, 400),
                "{:?}",
                result.first_errors
            );
            let names: Vec<&str> = result
                .requests
                .iter()
                .map(|row| row.name.as_str())
                .collect();
            assert_eq!(
                names,
                ["life/create", "life/read", "life/delete", "life/gone"]
            );
            let created = result.requests[0].ok;
            assert!((100..=104).contains(&created), "{created}");
            assert_eq!(server.created(), created);
            let life = &result.journeys[0];
            assert_eq!((life.completed, life.failed), (result.requests[3].ok, 0));
            assert_eq!(life.duration.as_ref().unwrap().count, life.completed);
            assert_eq!(result.connections.opened, 4);
        }
    }
}

#[test]
fn a_wrong_response_ends_the_pass_and_the_next_begins_anew() {
    let server = NotesServer::start();
    server.forget_every(5);
    let result = carry_out(with(
        job(&server, whole_life()),
        json!({"max_requests": 300}),
    ));
    let life = &result.journeys[0];
    assert_eq!(life.failed, result.requests[1].errors);
    assert!(
        life.failed >= 10 && life.completed > life.failed,
        "{life:?}"
    );
    assert_eq!(result.counts.errors["wrong_status"], life.failed);
    assert_eq!(result.requests[2].errors, 0);
    // The evidence shows the request as it was sent, with the value that was captured.
    let sent = result.first_errors[0].sent.as_deref().unwrap();
    assert!(
        sent.starts_with("GET /notes/") && !sent.contains('{'),
        "{sent}"
    );
}

#[test]
fn a_response_that_holds_nothing_to_capture_is_wrong() {
    let server = NotesServer::start();
    let steps = json!([
        {"request": {"target": "/ping"}, "captures": {"id": {"json": "/id"}}},
        {"request": {"target": "/notes/{capture.id}"}},
    ]);
    let result = carry_out(with(job(&server, steps), json!({"max_requests": 20})));
    assert_eq!(result.counts.errors["wrong_body"], 20);
    assert_eq!(result.requests[1].sent, 0);
    assert_eq!(result.journeys[0].completed, 0);
}

#[test]
fn cookies_are_sent_back_within_a_pass() {
    let server = NotesServer::start();
    let steps = json!([
        {"request": {"name": "before", "target": "/whoami", "expect": {"body": {"kind": "exact", "value": "nobody"}}}},
        {"request": {"name": "login", "target": "/login?user=u{counter}"}},
        {"request": {"name": "after", "target": "/whoami",
                     "expect": {"body": {"kind": "exact", "value": "u{counter}"}}}},
    ]);
    let result = carry_out(with(job(&server, steps), json!({"max_requests": 60})));
    assert_eq!(result.counts.ok, 60, "{:?}", result.first_errors);
}

#[test]
fn cookies_go_where_path_domain_time_and_scheme_let_them() {
    let set = |target: &str, cookie: &str| json!({"request": {"target": target, "headers": [["X-Set", cookie]]}});
    let sent = |target: &str, cookies: &str| json!({"request": {"target": target, "expect": {"body": {"kind": "exact", "value": cookies}}}});
    let steps = json!([
        set("/shop/set?x=/y", "a=1"),
        sent("/cookies", "none"),
        sent("/shop/cookies?n={counter}", "a=1"),
        sent("/shopping/cookies", "none"),
        set("/shop/set", "b=2; Path=/"),
        sent("/shop/{counter}/cookies", "a=1; b=2"),
        set("/set", "c=3; Domain=other.test; Path=/"),
        set("/set", "d=4; Secure; Path=/"),
        sent("/cookies", "b=2"),
        set("/set", "b=; Path=/; expires=Thu, 01-Jan-1970 00:00:10 GMT"),
        sent("/shop/cookies", "a=1"),
    ]);
    let server = NotesServer::start();
    for backend in ["epoll", "io_uring"] {
        let limits = json!({"max_requests": 44, "backend": backend});
        let result = carry_out(with(job(&server, steps.clone()), limits));
        assert_eq!(result.counts.ok, 44, "{:?}", result.first_errors);
    }
}

#[test]
fn a_failure_names_the_cookie_that_was_not_sent() {
    let server = NotesServer::start();
    for (cookie, words) in [
        ("sid=1; Secure", "sid is Secure and was not sent over http"),
        (
            "sid=1; Domain=shop.test",
            "its Domain shop.test does not cover 127.0.0.1",
        ),
    ] {
        let steps = json!([
            {"request": {"target": "/set", "headers": [["X-Set", cookie]]}},
            {"request": {"target": "/cookies", "expect": {"body": {"kind": "exact", "value": "sid=1"}}}},
        ]);
        let result = carry_out(with(job(&server, steps), json!({"max_requests": 8})));
        let why = &result.first_errors[0].why;
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn a_user_thinks_before_going_on() {
    for loop_ in [
        json!({"kind": "closed"}),
        json!({"kind": "open", "rate": 60.0}),
    ] {
        let server = NotesServer::start();
        let steps = json!([
            {"request": {"name": "one", "target": "/ping"}, "think_s": 0.05},
            {"request": {"name": "two", "target": "/ping"}},
        ]);
        let limits = json!({"duration_s": 0.6, "loop": loop_});
        let result = carry_out(with(job(&server, steps), limits));
        let life = &result.journeys[0];
        assert!(life.duration.as_ref().unwrap().min >= 0.05, "{life:?}");
        // Four users, each through a pass in no less than 50 ms.
        assert!((4..=48).contains(&life.completed), "{life:?}");
        assert_eq!(
            result.counts.errors.values().sum::<u64>(),
            0,
            "{:?}",
            result.first_errors
        );
    }
}

#[test]
fn journeys_are_mixed_by_weight_and_take_rows_and_keys() {
    let server = NotesServer::start();
    let rows = std::env::temp_dir().join(format!("touchstone-rows-{}.csv", std::process::id()));
    std::fs::write(&rows, "name\nann\nbob\n").unwrap();
    let step = |target: &str| json!([{"request": {"target": target}}]);
    let job = json!({
        "url": server.url(), "connections": 2, "max_requests": 1000, "rows": rows, "seed": 3,
        "journeys": [
            {"name": "often", "weight": 9, "steps": step("/ping?who={row.name}&key={key:1..50:zipf}")},
            {"name": "rare", "steps": step("/ping?who={row.name}")},
        ],
    });
    let result = carry_out(job);
    std::fs::remove_file(&rows).unwrap();
    assert_eq!(result.counts.ok, 1000);
    let often = result.journeys[0].completed;
    assert!((850..=950).contains(&often), "{often}");
}

#[test]
fn a_journey_that_does_not_hold_together_is_refused_by_its_place() {
    let refused = |steps: Value, said: &str| {
        let job =
            json!({"url": "http://127.0.0.1:1", "journeys": [{"name": "life", "steps": steps}]});
        let why = match Job::from_json(&job.to_string()) {
            Err(error) => error.to_string(),
            Ok(job) => {
                let target = touchstone_load::target::permitted(&job).unwrap();
                touchstone_load::mix::Mix::compile(&job, &target)
                    .unwrap_err()
                    .to_string()
            }
        };
        assert!(why.contains(said), "{why}");
    };
    refused(json!([]), "every journey needs a step");
    refused(
        json!([{"request": {"target": "/{capture.id}"}, "captures": {"id": {"json": "/id"}}}]),
        "journeys[0] (life).steps[0].target: {capture.id}: no earlier step captures it",
    );
    refused(
        json!([{"request": {"target": "/"}, "captures": {"id": {"json": "id"}}}]),
        "journeys[0] (life).steps[0].captures.id",
    );
    refused(
        json!([{"request": {"target": "/"}, "think_s": -1}]),
        "think_s",
    );
}
