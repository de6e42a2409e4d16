//! What the timeline says of a server whose behaviour is known: this process itself.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use touchstone_sys::clock::{Nanos, thread_cpu};
use touchstone_watch::monotonic;
use touchstone_watch::timeline::{
    Flights, SocketWait, Timeline, TimelineSampler, TimelineSettings,
};

/// Looks for which each state lasts. How long they take depends on what else the machine does.
const LOOKS: u64 = 5;

/// Returns when the sampler has looked a few times from now on.
fn looked_at(sampler: &TimelineSampler) {
    more(LOOKS, || sampler.looks());
}

/// Returns when the sampler has found what is there now.
fn found(sampler: &TimelineSampler) {
    more(2, || sampler.searches());
}

/// Returns when a counter is larger by this number.
fn more(number: u64, counter: impl Fn() -> u64) {
    let begin = counter();
    while counter() < begin + number {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn settings(server: SocketAddr, addresses: Vec<SocketAddr>) -> TimelineSettings {
    TimelineSettings {
        pid: i32::try_from(std::process::id()).unwrap(),
        server,
        cgroup_paths: Vec::new(),
        dependencies: Vec::new(),
        addresses,
        generators: "",
        cpus: Vec::new(),
        interval: Duration::from_millis(1),
    }
}

/// Puts one request on its way, lets `serve` do something with its listener, and gives what was seen.
fn seen(serve: impl FnOnce(&TcpListener, &TimelineSampler)) -> (Timeline, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    let flights = Arc::new(Flights::of(1));
    let begin = monotonic();
    let sampler =
        TimelineSampler::start(settings(server, Vec::new()), vec![Arc::clone(&flights)]).unwrap();
    let mut client = TcpStream::connect(server).unwrap();
    let port = client.local_addr().unwrap().port();
    flights.opened(0, port);
    client.write_all(b"hello").unwrap();
    flights.sent(0, monotonic().0);
    serve(&listener, &sampler);
    flights.ended(0);
    looked_at(&sampler);
    (sampler.finish(begin, begin), port)
}

fn places(timeline: &Timeline, of: u16) -> Vec<SocketWait> {
    let ours = timeline.sockets.iter().filter(|span| span.2 == of);
    ours.map(|span| span.3).collect()
}

#[test]
fn a_request_is_seen_unaccepted_then_unread_then_read() {
    let (timeline, port) = seen(|listener, sampler| {
        looked_at(sampler);
        let (mut accepted, _) = listener.accept().unwrap();
        looked_at(sampler);
        accepted.read_exact(&mut [0; 5]).unwrap();
        looked_at(sampler);
    });
    let expected = [SocketWait::Unaccepted, SocketWait::Unread, SocketWait::Read];
    assert_eq!(places(&timeline, port), expected);
    let spans = &timeline.sockets;
    assert!(spans.windows(2).all(|pair| pair[0].1 == pair[1].0));
    assert!(
        timeline
            .looks
            .windows(2)
            .all(|pair| pair[0][0] < pair[1][0])
    );
}

#[test]
fn an_exchange_with_a_dependency_lasts_until_its_answer() {
    let dependency = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = dependency.local_addr().unwrap();
    let mut own = TcpStream::connect(address).unwrap();
    let port = own.local_addr().unwrap().port();
    let (mut theirs, _) = dependency.accept().unwrap();
    let begin = monotonic();
    let sampler = TimelineSampler::start(settings(address, vec![address]), Vec::new()).unwrap();
    found(&sampler);
    for _ in 0..2 {
        own.write_all(b"ask").unwrap();
        looked_at(&sampler);
        theirs.write_all(b"answer").unwrap();
        own.read_exact(&mut [0; 6]).unwrap();
        looked_at(&sampler);
    }
    let timeline = sampler.finish(begin, begin);
    let ours: Vec<_> = timeline
        .exchanges
        .iter()
        .filter(|one| one.3 == port)
        .collect();
    assert_eq!(ours.len(), 2, "{:?}", timeline.exchanges);
    for one in ours {
        let looks = timeline.looks.iter();
        let within = looks.filter(|look| one.0 <= look[0] && look[0] <= one.1);
        assert!(one.2 == 0 && within.count() as u64 >= LOOKS, "{one:?}");
    }
}

#[test]
fn work_of_a_thread_is_counted_by_its_name() {
    let (timeline, _) = seen(|_, sampler| {
        std::thread::scope(|scope| {
            let busy = std::thread::Builder::new().name("burner7".into());
            let work = || {
                found(sampler);
                let begin = thread_cpu();
                while thread_cpu() < begin + Nanos::from_millis(30) {}
            };
            busy.spawn_scoped(scope, work).unwrap();
        });
    });
    let kind = timeline.kinds.iter().position(|kind| kind == "burner");
    let kind = u32::try_from(kind.unwrap()).unwrap();
    let ran: i64 = timeline
        .runs
        .iter()
        .filter(|run| run.1 == kind)
        .map(|run| run.2)
        .sum();
    assert!(ran > 10_000, "{ran}");
}
