//! https: the same load over TLS, with and without looking at the certificate.

mod certificate;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use touchstone_load::asked::Desk;
use touchstone_load::control::Control;
use touchstone_load::error::Error;
use touchstone_load::job::{BackendChoice, ExpectBody, Job};
use touchstone_load::result::LoadResult;
use touchstone_load::run::run;
use touchstone_load::slices::job::SlicesJob;
use touchstone_load::slices::order::Order;
use touchstone_load::slices::{self, SlicesControl};

/// A server with a certificate of its own making; gives its port, the certificate in PEM, and its count of requests.
fn server() -> (u16, String, Arc<AtomicU64>) {
    let (config, pem) = certificate::self_signed();
    let count = Arc::new(AtomicU64::new(0));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (config, seen) = (Arc::clone(&config), Arc::clone(&seen));
            std::thread::spawn(move || {
                let session = rustls::ServerConnection::new(config).unwrap();
                let mut stream = rustls::StreamOwned::new(session, stream);
                let (mut pending, mut buffer) = (Vec::new(), [0u8; 4096]);
                while let Ok(got) = stream.read(&mut buffer) {
                    if got == 0 {
                        return;
                    }
                    pending.extend_from_slice(&buffer[..got]);
                    while let Some(end) =
                        pending.windows(4).position(|window| window == b"\r\n\r\n")
                    {
                        pending.drain(..end + 4);
                        seen.fetch_add(1, Ordering::SeqCst);
                        let body = "x".repeat(40_000);
                        let answer = format!(
                            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                            body.len()
                        );
                        if stream.write_all(answer.as_bytes()).is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    (port, pem, count)
}

fn load(port: u16, change: impl FnOnce(&mut Job)) -> Result<LoadResult, Error> {
    let mut job = Job::for_url(&format!("https://127.0.0.1:{port}/"));
    (job.connections, job.duration_s, job.max_requests) = (4, 60.0, Some(200));
    change(&mut job);
    let never = AtomicBool::new(false);
    run(
        &job,
        &mut Control {
            interrupt: &never,
            on_event: &mut |_| (),
            process_command: &[],
        },
    )
}

#[test]
fn every_response_over_tls_is_checked() {
    let (port, _, count) = server();
    let request = |body: &str| {
        let text = serde_json::json!({"expect": {"body": {"kind": "exact", "value": body}}});
        vec![serde_json::from_value(text).unwrap()]
    };
    let result = load(port, |job| job.requests = request(&"x".repeat(40_000))).unwrap();
    assert_eq!(
        (result.counts.sent, result.counts.ok),
        (200, 200),
        "{:?}",
        result.first_errors.first()
    );
    assert_eq!(count.load(Ordering::SeqCst), 200);
    assert_eq!(result.bytes.body, 200 * 40_000);
    assert_eq!(result.engine.backend, "epoll");
    let wrong = load(port, |job| job.requests = request(&"y".repeat(40_000))).unwrap();
    assert_eq!(wrong.counts.errors["wrong_body"], 200);
    assert!(matches!(
        wrong.job.requests[0].expect.body,
        Some(ExpectBody::Exact { .. })
    ));
}

#[test]
fn a_connection_for_each_request_and_pipelining_work_over_tls() {
    let (port, ..) = server();
    assert_eq!(load(port, |job| job.pipeline = 5).unwrap().counts.ok, 200);
    let each = load(port, |job| {
        (job.keepalive, job.max_requests) = (false, Some(40))
    })
    .unwrap();
    assert_eq!((each.counts.ok, each.connections.opened), (40, 40));
}

#[test]
fn a_certificate_is_looked_at_where_that_is_asked_for() {
    let (port, certificate, _) = server();
    let refused = load(port, |job| job.tls.verify = Some(true));
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("unknown authority"), "{said}");
    let path = std::env::temp_dir().join(format!("touchstone-load-{}.pem", std::process::id()));
    std::fs::write(&path, certificate).unwrap();
    let trusted = load(port, |job| {
        job.tls.ca_file = Some(path.to_string_lossy().into_owned())
    });
    std::fs::remove_file(&path).unwrap();
    assert_eq!(trusted.unwrap().counts.ok, 200);
}

#[test]
fn handshakes_are_full_unless_they_may_be_resumed_and_both_are_counted() {
    let (port, ..) = server();
    for backend in [BackendChoice::Epoll, BackendChoice::IoUring] {
        for resume in [false, true] {
            let result = load(port, |job| {
                (job.keepalive, job.max_requests, job.backend) = (false, Some(60), backend);
                job.tls.resume = resume;
            })
            .unwrap();
            assert_eq!(result.counts.ok, 60, "{:?}", result.first_errors);
            let tls = result.tls.unwrap();
            assert_eq!(tls.full + tls.resumed, 60);
            // Connections that are opened at once have no session to resume yet.
            let resumed = if resume { 40..=59 } else { 0..=0 };
            assert!(resumed.contains(&tls.resumed), "{resume} {tls:?}");
            let negotiated = &tls.negotiated[0];
            assert_eq!(negotiated.version, "1.3");
            assert!(negotiated.cipher.starts_with("TLS_"), "{negotiated:?}");
            assert_eq!(negotiated.group.as_deref(), Some("X25519"));
            assert_eq!(negotiated.alpn, None, "the server takes no part in ALPN");
        }
    }
}

#[test]
fn every_load_works_over_both_backends() {
    let (port, ..) = server();
    for backend in [BackendChoice::Epoll, BackendChoice::IoUring] {
        for pipeline in [1, 5] {
            let result = load(port, |job| {
                (job.pipeline, job.backend) = (pipeline, backend)
            });
            let result = result.unwrap();
            assert_eq!(result.counts.ok, 200, "{:?}", result.first_errors);
        }
    }
}

#[test]
fn what_is_no_tls_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answers: [&[u8]; 3] = [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"220 mail ESMTP\r\n",
        b"",
    ];
    let sent = Arc::new(AtomicU64::new(0));
    let kind = Arc::clone(&sent);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answers[kind.load(Ordering::SeqCst) as usize]);
        }
    });
    for (kind, words) in [
        (0, "speaks HTTP without TLS"),
        (1, "not TLS, it sent \"220 mail"),
        (2, "closed the connection in the handshake"),
    ] {
        sent.store(kind, Ordering::SeqCst);
        for backend in [BackendChoice::Epoll, BackendChoice::IoUring] {
            let failed = load(port, |job| job.backend = backend).unwrap_err();
            assert!(matches!(failed, Error::Handshake { .. }), "{failed:?}");
            let said = failed.to_string();
            assert!(said.contains(words), "{said}");
        }
    }
}

#[test]
fn what_is_about_tls_is_refused_without_it() {
    let mut job = Job::for_url("http://127.0.0.1:1/");
    job.tls.resume = true;
    assert!(job.validate().unwrap_err().to_string().contains("https"));
}

#[test]
fn turns_work_over_tls() {
    let servers = [server(), server()];
    let contenders: Vec<_> = servers
        .iter()
        .map(|(port, ..)| {
            let url = format!("https://127.0.0.1:{port}/");
            serde_json::json!({"name": url.clone(), "job": {"url": url, "connections": 4}})
        })
        .collect();
    let job = serde_json::json!({"contenders": contenders}).to_string();
    let turn = |contender| serde_json::json!({"contender": contender, "seconds": 0.05});
    let order = serde_json::json!({
        "order": "slices", "phase": "load", "turns": [turn(0), turn(1), turn(0), turn(1)],
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
    let result = slices::run(&SlicesJob::from_json(&job).unwrap(), control).unwrap();
    assert!(
        result
            .slices
            .iter()
            .all(|slice| slice.ok > 0 && slice.errors.is_empty())
    );
    for (contender, (.., count)) in result.contenders.iter().zip(&servers) {
        assert_eq!(contender.totals.ok, count.load(Ordering::SeqCst));
        assert_eq!(contender.connections.opened, 4);
    }
}
