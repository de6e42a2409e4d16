//! Servers that answer a request before they have it whole: large bodies, refused at sight of the head.

mod certificate;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use touchstone_load::control::Control;
use touchstone_load::job::{BackendChoice, Job};
use touchstone_load::result::LoadResult;
use touchstone_load::run::run;

const BODY: usize = 6_000_000;

/// What the server does once it has answered.
#[derive(Clone, Copy)]
enum Then {
    /// Reads the body after a pause, and the next request.
    Reads,
    /// Closes with the body unread, which resets the connection behind the response.
    Closes,
    /// In place of all that: reads nothing for this long, and then looks whether the connection is there.
    Rests(Duration),
}

#[derive(Default)]
struct Seen {
    /// Heads of requests.
    heads: AtomicU64,
    /// Connections that were there when the server had rested.
    held: AtomicU64,
    /// Bytes that belong to no request, in a body or where a request should begin.
    strange: AtomicU64,
}

fn converse(stream: &mut (impl Read + Write), then: Then, seen: &Seen) -> std::io::Result<()> {
    let (mut left, mut head, mut buffer) = (0, Vec::new(), vec![0; 1 << 16]);
    // Compared at once: a debug build takes a second to look at a hundred million bytes one by one.
    let usual = vec![b'x'; buffer.len()];
    loop {
        if left == 0 {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
            if !head.ends_with(b"\r\n\r\n") {
                continue;
            }
            let begins = head.starts_with(b"POST / HTTP/1.1\r\n");
            seen.strange.fetch_add(u64::from(!begins), Ordering::SeqCst);
            seen.heads.fetch_add(1, Ordering::SeqCst);
            (left, head) = (BODY, Vec::new());
            let field = match then {
                Then::Closes => "Connection: close\r\n",
                Then::Reads | Then::Rests(_) => "",
            };
            let answer = format!("HTTP/1.1 413 Too Large\r\n{field}Content-Length: 0\r\n\r\n");
            stream.write_all(answer.as_bytes())?;
            stream.flush()?;
            if matches!(then, Then::Closes) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let room = buffer.len().min(left);
        let got = stream.read(&mut buffer[..room])?;
        if got == 0 {
            return Ok(());
        }
        left -= got;
        if buffer[..got] != usual[..got] {
            let strange = buffer[..got].iter().filter(|byte| **byte != b'x').count();
            seen.strange.fetch_add(strange as u64, Ordering::SeqCst);
        }
    }
}

/// Reads nothing. The kernel tells of a reset once, to who asks.
fn rest(stream: &TcpStream, then: Then, seen: &Seen) -> std::io::Result<()> {
    if let Then::Rests(time) = then {
        std::thread::sleep(time);
        let held = stream.take_error()?.is_none();
        seen.held.fetch_add(u64::from(held), Ordering::SeqCst);
    }
    Ok(())
}

fn server(then: Then, over_tls: bool) -> (String, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let scheme = if over_tls { "https" } else { "http" };
    let url = format!("{scheme}://{}/", listener.local_addr().unwrap());
    let (seen, config) = (
        Arc::new(Seen::default()),
        over_tls.then(|| certificate::self_signed().0),
    );
    let counts = Arc::clone(&seen);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (seen, config) = (Arc::clone(&counts), config.clone());
            // What the kernel holds back is dropped as the connection is reset.
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || match config {
                None if matches!(then, Then::Rests(_)) => rest(&stream, then, &seen),
                None => converse(&mut stream, then, &seen),
                Some(config) => {
                    let session = rustls::ServerConnection::new(config).unwrap();
                    let mut stream = rustls::StreamOwned::new(session, stream);
                    converse(&mut stream, then, &seen)
                }
            });
        }
    });
    (url, seen)
}

/// A dozen large requests over two connections, the same every time or rendered each time, as `change` makes them.
fn load(
    url: &str,
    backend: BackendChoice,
    fixed: bool,
    change: impl FnOnce(&mut Job),
) -> LoadResult {
    let body = if fixed {
        "x".repeat(BODY)
    } else {
        format!("{}{{key:8..8}}", "x".repeat(BODY - 1))
    };
    let request = serde_json::json!({"method": "POST", "body": body, "expect": {"status": [413]}});
    let mut job = Job::for_url(url);
    job.requests = vec![serde_json::from_value(request).unwrap()];
    (job.connections, job.duration_s, job.max_requests) = (2, 60.0, Some(12));
    job.backend = backend;
    change(&mut job);
    let control = &mut Control {
        interrupt: &AtomicBool::new(false),
        on_event: &mut |_| (),
        process_command: &[],
    };
    run(&job, control).unwrap()
}

/// Over TCP by each backend, and over TLS.
const WAYS: [(BackendChoice, bool); 3] = [
    (BackendChoice::Epoll, false),
    (BackendChoice::IoUring, false),
    (BackendChoice::Auto, true),
];

#[test]
fn the_next_request_goes_behind_the_rest_of_one_that_is_answered_already() {
    for (backend, over_tls) in WAYS {
        for fixed in [true, false] {
            let (url, seen) = server(Then::Reads, over_tls);
            let result = load(&url, backend, fixed, |_| ());
            let counts = &result.counts;
            assert_eq!((counts.sent, counts.ok), (12, 12), "{backend:?} {counts:?}");
            let strange = seen.strange.load(Ordering::SeqCst);
            // The last byte of a rendered body differs.
            let own = if fixed { 0 } else { 12 };
            assert!(strange <= own, "{backend:?} {strange}");
            assert_eq!(seen.heads.load(Ordering::SeqCst), 12);
        }
    }
}

#[test]
fn an_answer_is_read_though_the_server_closed_behind_it() {
    for (backend, over_tls) in WAYS {
        let (url, seen) = server(Then::Closes, over_tls);
        let result = load(&url, backend, true, |job| job.max_requests = Some(60));
        let counts = &result.counts;
        assert_eq!(counts.ok, 60, "{backend:?} {counts:?}");
        assert_eq!(seen.heads.load(Ordering::SeqCst), 60, "{backend:?}");
    }
}

#[test]
fn who_does_not_read_is_let_go_with_the_rest_unsent() {
    for (backend, over_tls) in &WAYS[..2] {
        let (url, seen) = server(Then::Rests(Duration::from_millis(800)), *over_tls);
        let result = load(&url, *backend, true, |job| {
            (job.connections, job.timeout_s, job.duration_s) = (1, 0.2, 2.0);
        });
        assert_eq!(result.counts.ok, 0);
        assert_eq!(result.counts.errors["timeout"], result.counts.sent);
        assert_eq!(seen.held.load(Ordering::SeqCst), 0, "{backend:?}");
    }
}
