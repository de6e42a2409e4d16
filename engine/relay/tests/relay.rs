//! The relay between a client and an echo, both of this test.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write, pipe};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;
use touchstone_relay::{Relay, run};
use touchstone_sys::poll::Bell;

const PATIENCE: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(80);

/// Sends back each byte that it gets, on each connection, until its end.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut room = [0; 4096];
                while let Ok(n @ 1..) = stream.read(&mut room) {
                    if stream.write_all(&room[..n]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

struct Relayed {
    address: SocketAddr,
    orders: Option<std::io::PipeWriter>,
    answers: BufReader<std::io::PipeReader>,
    thread: Option<JoinHandle<()>>,
}

impl Relayed {
    fn to(to: SocketAddr) -> Self {
        let bell = Arc::new(Bell::new().unwrap());
        let relay = Relay::listen(&"127.0.0.1:0".parse().unwrap(), &bell).unwrap();
        let address = relay.address().unwrap();
        let (read, orders) = pipe().unwrap();
        let (answers, write) = pipe().unwrap();
        let thread = thread::spawn(move || run(relay, bell, BufReader::new(read), write).unwrap());
        let mut found = Self {
            address,
            orders: Some(orders),
            answers: BufReader::new(answers),
            thread: Some(thread),
        };
        found.order(&format!(r#"{{"order":"aim","to":"{to}"}}"#));
        found
    }

    fn tell(&mut self, line: &str) -> Value {
        writeln!(self.orders.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    fn order(&mut self, line: &str) -> Value {
        let answer = self.tell(line);
        assert_eq!(answer["error"], Value::Null);
        answer["counts"].clone()
    }

    fn act(&mut self, act: &str) -> Value {
        self.order(&format!(r#"{{"order":"act","act":{{"kind":{act}}}}}"#))
    }

    fn count(&mut self) -> Value {
        self.order(r#"{"order":"count"}"#)
    }

    fn client(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.set_nodelay(true).unwrap();
        client
    }
}

impl Drop for Relayed {
    fn drop(&mut self) {
        drop(self.orders.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

fn ask(client: &mut TcpStream, bytes: &[u8]) -> Duration {
    let begin = Instant::now();
    client.write_all(bytes).unwrap();
    let mut room = vec![0; bytes.len()];
    client.read_exact(&mut room).unwrap();
    assert_eq!(room, bytes);
    begin.elapsed()
}

fn is_silent(client: &mut TcpStream) -> bool {
    client.set_read_timeout(Some(SHORT)).unwrap();
    let silent = client.read(&mut [0]);
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    matches!(silent, Err(e) if e.kind() == ErrorKind::WouldBlock)
}

fn is_cut(client: &mut TcpStream) -> bool {
    matches!(client.read(&mut [0]), Err(e) if e.kind() == ErrorKind::ConnectionReset)
}

#[test]
fn bytes_of_any_length_come_back_and_are_counted() {
    let mut relay = Relayed::to(echo());
    let mut client = relay.client();
    ask(&mut client, b"one");
    let long: Vec<u8> = (0..3_000_000u32).map(|n| n as u8).collect();
    let (mut half, sent) = (client.try_clone().unwrap(), long.clone());
    let writer = thread::spawn(move || half.write_all(&sent).unwrap());
    let mut back = vec![0; long.len()];
    client.read_exact(&mut back).unwrap();
    writer.join().unwrap();
    assert!(back == long);
    let counts = relay.count();
    assert_eq!(counts["accepted"], 1);
    assert_eq!(counts["open"], 1);
    assert_eq!(counts["from_service"], 3_000_003);
    assert_eq!(counts["from_dependency"], 3_000_003);
}

#[test]
fn each_question_after_an_answer_is_a_turn_and_so_is_a_connection() {
    let mut relay = Relayed::to(echo());
    let mut client = relay.client();
    for _ in 0..5 {
        ask(&mut client, b"?");
    }
    ask(&mut relay.client(), b"?");
    assert_eq!(relay.count()["turns"], 6);
}

#[test]
fn an_end_is_passed_on_after_the_last_byte() {
    let mut relay = Relayed::to(echo());
    let mut client = relay.client();
    client.write_all(b"last words").unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut all = Vec::new();
    client.read_to_end(&mut all).unwrap();
    assert_eq!(all, b"last words");
    let begin = Instant::now();
    while relay.count()["open"] != 0 {
        assert!(begin.elapsed() < PATIENCE);
    }
}

#[test]
fn a_stall_holds_bytes_and_new_connections_and_gives_them_back() {
    let mut relay = Relayed::to(echo());
    let mut client = relay.client();
    ask(&mut client, b"before");
    relay.act(r#""stall""#);
    client.write_all(b"held").unwrap();
    let mut late = relay.client();
    late.write_all(b"late").unwrap();
    assert!(is_silent(&mut client) && is_silent(&mut late));
    relay.act(r#""pass""#);
    for (client, wanted) in [(&mut client, b"held"), (&mut late, b"late")] {
        let mut room = [0; 4];
        client.read_exact(&mut room).unwrap();
        assert_eq!(&room, wanted);
    }
}

#[test]
fn a_client_that_gives_up_within_a_stall_is_passed_on_with_its_bytes() {
    let dependency = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut relay = Relayed::to(dependency.local_addr().unwrap());
    let client = relay.client();
    let (mut theirs, _) = dependency.accept().unwrap();
    relay.act(r#""stall""#);
    (&client).write_all(b"work").unwrap();
    drop(client);
    thread::sleep(SHORT);
    relay.act(r#""pass""#);
    let mut all = Vec::new();
    theirs.read_to_end(&mut all).unwrap();
    assert_eq!(all, b"work");
}

#[test]
fn a_slow_dependency_answers_after_the_delay_and_in_order() {
    let mut relay = Relayed::to(echo());
    let mut client = relay.client();
    ask(&mut client, b"before");
    relay.act(r#""slow","delay_s":0.06,"jitter_s":0.02"#);
    for _ in 0..3 {
        assert!(ask(&mut client, b"x") >= Duration::from_millis(40));
    }
    let sent: Vec<u8> = (0..200).collect();
    for byte in &sent {
        client.write_all(&[*byte]).unwrap();
    }
    let mut back = vec![0; sent.len()];
    client.read_exact(&mut back).unwrap();
    assert_eq!(back, sent);
}

#[test]
fn a_drip_gives_a_few_bytes_per_second_and_ends_with_the_act() {
    let mut relay = Relayed::to(echo());
    let mut client = relay.client();
    relay.act(r#""drip","bytes_per_s":200.0"#);
    assert!(ask(&mut client, &[7; 40]) >= Duration::from_millis(150));
    client.write_all(&[7; 100_000]).unwrap();
    thread::sleep(SHORT);
    relay.act(r#""pass""#);
    client.read_exact(&mut vec![0; 100_000]).unwrap();
    ask(&mut client, b"after");
}

#[test]
fn a_closed_port_refuses_cuts_and_opens_again() {
    let mut relay = Relayed::to(echo());
    let mut client = relay.client();
    ask(&mut client, b"before");
    for _ in 0..2 {
        let cut = relay.act(r#""refuse""#)["cut"].as_u64().unwrap();
        assert!(cut >= 1 && is_cut(&mut client));
        let refused = TcpStream::connect(relay.address).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        relay.act(r#""pass""#);
        client = relay.client();
        ask(&mut client, b"after");
    }
}

#[test]
fn a_reset_cuts_what_is_open_and_serves_what_comes() {
    let mut relay = Relayed::to(echo());
    let mut client = relay.client();
    ask(&mut client, b"before");
    assert_eq!(relay.act(r#""reset""#)["cut"], 1);
    assert!(is_cut(&mut client));
    ask(&mut relay.client(), b"after");
}

#[test]
fn a_full_dependency_serves_its_oldest_connections_alone() {
    let mut relay = Relayed::to(echo());
    let mut clients: Vec<_> = (0..3).map(|_| relay.client()).collect();
    for client in &mut clients {
        ask(client, b"before");
    }
    assert_eq!(relay.act(r#""limit","connections":2"#)["cut"], 1);
    assert!(is_cut(&mut clients[2]));
    ask(&mut clients[0], b"served");
    ask(&mut clients[1], b"served");
    assert_eq!(relay.client().read(&mut [0]).unwrap(), 0);
    assert_eq!(relay.count()["turned_away"], 1);
    relay.act(r#""pass""#);
    ask(&mut relay.client(), b"after");
}

#[test]
fn a_dependency_that_is_gone_costs_the_connection() {
    let mut relay = Relayed::to("127.0.0.1:1".parse().unwrap());
    assert!(is_cut(&mut relay.client()));
    assert_eq!(relay.count()["open"], 0);
}

#[test]
fn an_order_that_cannot_be_read_is_refused_by_name() {
    let mut relay = Relayed::to(echo());
    for line in [
        "{}",
        r#"{"order":"act","act":{"kind":"explode"}}"#,
        "no json",
    ] {
        let error = relay.tell(line)["error"].as_str().unwrap().to_owned();
        assert!(
            error.contains("cannot be read") && error.contains(line),
            "{error}"
        );
    }
    ask(&mut relay.client(), b"goes on");
}

#[test]
fn an_act_whose_numbers_make_no_sense_changes_nothing() {
    let mut relay = Relayed::to(echo());
    for (act, said) in [
        (r#""drip","bytes_per_s":0"#, "bytes_per_s must be above 0"),
        (r#""drip","bytes_per_s":-5"#, "bytes_per_s must be above 0"),
        (r#""slow","delay_s":-1,"jitter_s":0"#, "must be at least 0"),
    ] {
        let line = format!(r#"{{"order":"act","act":{{"kind":{act}}}}}"#);
        let error = relay.tell(&line)["error"].as_str().unwrap().to_owned();
        assert!(error.contains(said), "{error}");
    }
    ask(&mut relay.client(), b"goes on");
}

#[test]
fn a_drip_of_ages_does_not_break_the_relay() {
    let mut relay = Relayed::to(echo());
    relay.act(r#""drip","bytes_per_s":1e-10"#);
    let mut client = relay.client();
    client.write_all(b"for a long time").unwrap();
    assert!(is_silent(&mut client));
    relay.act(r#""pass""#);
    client.read_exact(&mut [0; 15]).unwrap();
}

#[test]
fn a_reset_that_follows_an_end_reaches_the_service() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let relayed = Relayed::to(listener.local_addr().unwrap());
    let mut service = TcpStream::connect(relayed.address).unwrap();
    service.set_read_timeout(Some(PATIENCE)).unwrap();
    let (dependency, _) = listener.accept().unwrap();
    drop(dependency);
    assert_eq!(service.read(&mut [0; 1]).unwrap(), 0);
    service.write_all(b"too late").unwrap();
    let begun = Instant::now();
    while service.take_error().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "no reset came");
        thread::sleep(Duration::from_millis(1));
    }
}
