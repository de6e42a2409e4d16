//! The probe against a sound server of HTTP/2, another implementation (the `h2` crate), and against the same server behind a
//! relay that plants one fault in its frames.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use touchstone_h2::frame::{FrameHead, HEAD, Kind, flag};
use touchstone_probe::case::Case;
use touchstone_probe::catalogue;
use touchstone_probe::dial::Dial;
use touchstone_probe::runner::{self, Options, Outcome};
use touchstone_probe::target::Target;
use touchstone_probe::template::Values;
use touchstone_probe::verdict::Verdict;
use touchstone_tls::Protocol;

/// Starts the sound server: `/hello` answers thirteen octets, `/echo` its content, every other path 404.
fn sound() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    listener.set_nonblocking(true).expect("a socket");
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .expect("a runtime");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(stream));
            }
        });
    });
    address
}

async fn connection(stream: tokio::net::TcpStream) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        tokio::spawn(answer(request, respond));
    }
}

async fn answer(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<bytes::Bytes>,
) -> Option<()> {
    let (head, mut content) = request.into_parts();
    let mut received = Vec::new();
    while let Some(part) = content.data().await {
        let part = part.ok()?;
        content.flow_control().release_capacity(part.len()).ok()?;
        received.extend_from_slice(&part);
    }
    content.trailers().await.ok()?;
    let (status, body) = match head.uri.path() {
        "/hello" => (200, b"Hello, world!".to_vec()),
        "/echo" => (200, received),
        _ => (404, b"nothing".to_vec()),
    };
    let body = if head.method == http::Method::HEAD {
        Vec::new()
    } else {
        body
    };
    let response = http::Response::builder().status(status).body(()).ok()?;
    let mut stream = respond.send_response(response, body.is_empty()).ok()?;
    if !body.is_empty() {
        stream.send_data(body.into(), true).ok()?;
    }
    Some(())
}

/// Whether a relay passes a frame on.
type Keep = fn(FrameHead) -> bool;

/// A relay to the server, which passes on those of its frames that `keep` keeps.
fn relay(server: SocketAddr, keep: Keep) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(upstream) = TcpStream::connect(server) else {
                return;
            };
            let (mut from, mut to) = (
                client.try_clone().expect("a socket"),
                upstream.try_clone().expect("a socket"),
            );
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(std::net::Shutdown::Write);
            });
            thread::spawn(move || pass_on(upstream, client, keep));
        }
    });
    address
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, keep: Keep) {
    let mut head = [0; HEAD];
    while from.read_exact(&mut head).is_ok() {
        let frame = FrameHead::read(&head);
        let mut payload = vec![0; frame.length];
        if from.read_exact(&mut payload).is_err() {
            break;
        }
        if keep(frame) && to.write_all(&[&head[..], &payload].concat()).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

fn probe(address: SocketAddr, keep: impl Fn(&Case) -> bool) -> Vec<Outcome> {
    let dial = Dial {
        address,
        protocol: Protocol::H2c,
        tls: None,
    };
    let values = Values {
        host: address.to_string(),
        ..Values::sample()
    };
    let target = Target::meet(dial, values, Duration::from_secs(5)).expect("it answers");
    let cases = catalogue::embedded(Protocol::H2c).expect("the cases load");
    let cases: Vec<Case> = cases.into_iter().filter(|case| keep(case)).collect();
    let options = Options {
        jobs: 32,
        unsafe_methods: true,
        ..Options::default()
    };
    runner::run(&cases, &target, &options, &|_| {}).0
}

fn ids(outcomes: &[Outcome], verdict: Verdict) -> BTreeSet<&str> {
    let of = outcomes.iter().filter(|outcome| outcome.verdict == verdict);
    of.map(|outcome| outcome.case.id.as_str()).collect()
}

/// The one rule that this server does not keep: it passes over pseudo-fields in trailers.
const PASSED_OVER: &str = "request-pseudo-trailers";

#[test]
fn a_sound_server_has_nothing_wrong() {
    let outcomes = probe(sound(), |_| true);
    let wrong: Vec<String> = outcomes
        .iter()
        .filter(|one| {
            let fine = [Verdict::Right, Verdict::Tolerated, Verdict::NotApplicable];
            !fine.contains(&one.verdict) && !one.case.id.starts_with(PASSED_OVER)
        })
        .map(|one| format!("{} {:?} {:?}", one.case.id, one.verdict, one.reason))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let right = ids(&outcomes, Verdict::Right).len();
    assert!(
        right > 240,
        "only {right} cases are right; the rest is tolerated"
    );
    // Without a limit on streams there is none to pass.
    let idle = ids(&outcomes, Verdict::NotApplicable);
    assert!(idle.iter().all(|id| *id == "stream-limit"), "{idle:?}");
}

/// What a relay keeps back, a case that has to be wrong then, and one that must not be.
#[test]
fn each_planted_fault_shows_in_its_cases() {
    let faults: [(Keep, &str, &str); 5] = [
        (|head| head.kind != Kind::PING, "ping-one", "settings-one"),
        (
            |head| head.kind != Kind::DATA,
            "error-of-stream-next-goes-on",
            "ping-one",
        ),
        (
            |head| head.kind != Kind::RST_STREAM,
            "request-field-connection-close",
            "window-zero",
        ),
        (
            |head| head.kind != Kind::HEADERS || head.stream != 3,
            "stream-two",
            "ping-two",
        ),
        (
            |head| head.kind != Kind::SETTINGS || !head.has(flag::ACK) || head.stream != 0,
            "settings-one",
            "ping-one",
        ),
    ];
    let server = sound();
    for (keep, wrong, right) in faults {
        let address = relay(server, keep);
        // The yardstick needs whole answers, which some of the faults prevent.
        let target = |address| Dial {
            address,
            protocol: Protocol::H2c,
            tls: None,
        };
        let values = Values::sample();
        let mut met =
            Target::meet(target(server), values, Duration::from_secs(5)).expect("it answers");
        met.dial = target(address);
        for (id, is_wrong) in [(wrong, true), (right, false)] {
            let cases = catalogue::embedded(Protocol::H2c).expect("the cases load");
            let case = cases
                .iter()
                .find(|case| case.id == id)
                .expect("there is such a case");
            let timing = touchstone_probe::script::Timing {
                patience: Duration::from_millis(600),
                ..Default::default()
            };
            let seen =
                touchstone_probe::script::play(case, &met, timing, None).expect("it connects");
            let verdict = touchstone_probe::verdict::judge(case, &seen, &met.baseline);
            assert_eq!(
                verdict == Verdict::Wrong,
                is_wrong,
                "{id}: {}",
                touchstone_probe::words::seen(&seen)
            );
        }
    }
}
