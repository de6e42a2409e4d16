//! Reading orders, and having them carried out, several at once.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use touchstone_grpc::{Schema, outlines};
use touchstone_h2::frame::{self, FrameHead, Kind};
use touchstone_http::{Url, reach};
use touchstone_sys::socket::{Address, Stream};
use touchstone_tls::{Materials, Protocol, Tls};

use super::answer::{Answer, Outcome, UrlParts};
use super::lanes::Lanes;
use super::order::{Asked, Order, Send, Text, Values};
use super::sending::{Sending, captures, limit};
use crate::client::Connection;
use crate::request::Origin;
use crate::target::Target;
use crate::template::{Key, Scope, Template};
use crate::transport::Transport;

/// For a server that is asked whether it speaks HTTP/2.
const PATIENCE: Duration = Duration::from_secs(2);

/// Carries out orders until they end.
///
/// # Errors
/// When an answer cannot be written.
pub fn run(orders: impl BufRead, answers: impl Write + std::marker::Send) -> std::io::Result<()> {
    let session = Session {
        lanes: Lanes::default(),
        located: Mutex::new(HashMap::new()),
    };
    let answers = Mutex::new(answers);
    std::thread::scope(|scope| {
        for line in orders.lines() {
            let line = line?;
            let (session, answers) = (&session, &answers);
            let answer = move || {
                let answer = session.answer(&line);
                let text = serde_json::to_string(&answer).expect("an answer can be written");
                let mut out = answers.lock().unwrap_or_else(PoisonError::into_inner);
                // Nobody is left to hear of it where the reader is gone.
                let _ = writeln!(out, "{text}").and_then(|()| out.flush());
            };
            let worker = std::thread::Builder::new();
            worker.spawn_scoped(scope, answer)?;
        }
        Ok(())
    })
}

struct Session {
    lanes: Lanes,
    /// The address of each host and port that was asked, by authority.
    located: Mutex<HashMap<String, Address>>,
}

impl Session {
    fn answer(&self, line: &str) -> Answer {
        let order = match serde_json::from_str(line) {
            Ok(order) => order,
            Err(error) => {
                let any: Result<serde_json::Value, _> = serde_json::from_str(line);
                return Answer {
                    id: any.ok().and_then(|order| order["id"].as_u64()),
                    outcome: Outcome::Error(format!("the order cannot be read: {error}: {line}")),
                };
            }
        };
        let (id, outcome) = match order {
            Order::Send(order) => (order.id, self.send(&order)),
            Order::Render { id, values, texts } => (id, render(&values, &texts)),
            Order::Compile { id, requests } => (
                id,
                Ok(Outcome::Refused(requests.iter().map(refused).collect())),
            ),
            Order::Tls { id, settings } => (
                id,
                Ok(Outcome::Refused(settings.iter().map(unusable).collect())),
            ),
            Order::Methods { id, proto } => (id, methods(&proto)),
            Order::Url { id, url } => (id, parts(&url).map(Outcome::Url)),
            Order::Resolve { id, url } => (id, resolve(&url)),
            Order::Locate { id, url } => (id, self.locate(&url)),
            Order::SpeaksHttp2 { id, url } => (id, Ok(Outcome::Http2(self.speaks_http2(&url)))),
            Order::Release { id, lane } => (id, Ok(Outcome::Closed(self.lanes.release(lane)))),
        };
        Answer {
            id: Some(id),
            outcome: outcome.unwrap_or_else(Outcome::Error),
        }
    }

    fn send(&self, order: &Send) -> Result<Outcome, String> {
        let (timeout, within) = (
            limit("timeout_s", order.timeout_s)?,
            limit("within_s", order.within_s)?,
        );
        let url = url(&order.url)?;
        let address = self.address(&url);
        let sending = Sending {
            order,
            load: None,
            lanes: &self.lanes,
            target: Target {
                address: address.map_err(|error| format!("url {:?}: {error}", order.url))?,
                url,
            },
            transport: OnceLock::new(),
            timeout,
            within,
        };
        let exchanges = sending.carry_out()?;
        if exchanges.iter().any(|one| one.address.is_none()) {
            // It may come to listen at another of the host's addresses.
            self.located().remove(&sending.target.url.authority);
        }
        Ok(Outcome::Exchanges(exchanges))
    }

    fn locate(&self, text: &str) -> Result<Outcome, String> {
        let url = url(text)?;
        if let Some(socket) = &url.socket {
            Stream::to_unix(socket).map_err(|error| error.to_string())?;
            return Ok(Outcome::Address(Address::unix(socket)));
        }
        if let Some(known) = self.located().get(&url.authority) {
            return Ok(Outcome::Address(*known));
        }
        let found = url.addresses().and_then(|found| reach(&found));
        let address = found.map_err(|error| error.to_string())?.into();
        self.located().insert(url.authority, address);
        Ok(Outcome::Address(address))
    }

    /// The address that was located, or the first that answers; where none does, the first.
    fn address(&self, url: &Url) -> std::io::Result<Address> {
        if let Some(socket) = &url.socket {
            return Ok(Address::unix(socket));
        }
        if let Some(known) = self.located().get(&url.authority) {
            return Ok(*known);
        }
        let found = url.addresses()?;
        if let [only] = found[..] {
            return Ok(only.into());
        }
        let Ok(address) = reach(&found) else {
            return Ok(found[0].into());
        };
        let address = address.into();
        self.located().insert(url.authority.clone(), address);
        Ok(address)
    }

    fn speaks_http2(&self, text: &str) -> bool {
        let begins = || {
            let url = url(text).ok()?;
            let target = Target {
                address: self.address(&url).ok()?,
                url,
            };
            let mut connection = Connection::open(&Transport::default(), &target, PATIENCE).ok()?;
            // The client's connection preface with an empty SETTINGS frame (RFC 9113, section 3.4).
            let mut preface = frame::PREFACE.to_vec();
            frame::write_settings(&[], &mut preface);
            let deadline = Instant::now() + PATIENCE;
            let first = connection.first_bytes(&preface, frame::HEAD, deadline)?;
            let head = FrameHead::read(first.first_chunk()?);
            // Over HTTP/2 the server begins with its settings.
            Some(head.kind == Kind::SETTINGS && head.stream == 0)
        };
        begins().unwrap_or(false)
    }

    fn located(&self) -> std::sync::MutexGuard<'_, HashMap<String, Address>> {
        self.located.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn url(text: &str) -> Result<Url, String> {
    Url::parse(text).map_err(|error| error.to_string())
}

fn parts(text: &str) -> Result<UrlParts, String> {
    let url = url(text)?;
    Ok(UrlParts {
        tls: url.tls,
        origin: url.server(),
        host: url.host,
        port: url.port,
        target: url.path,
        socket: url.socket,
    })
}

fn methods(proto: &str) -> Result<Outcome, String> {
    let schema = Schema::read(Some(proto), &[])?;
    let found = outlines(&schema).into_iter().map(Into::into);
    Ok(Outcome::Methods(found.collect()))
}

fn resolve(text: &str) -> Result<Outcome, String> {
    let url = url(text)?;
    if let Some(socket) = &url.socket {
        return Ok(Outcome::Addresses(vec![Address::unix(socket)]));
    }
    let found = url.addresses().map_err(|error| error.to_string())?;
    Ok(Outcome::Addresses(
        found.into_iter().map(Address::from).collect(),
    ))
}

fn render(values: &Values, texts: &[Text]) -> Result<Outcome, String> {
    let scope = Scope {
        fresh: &values.fresh,
        captured: Some(&values.captured),
        only: Some(Key {
            counter: values.counter,
            seed: values.seed,
            ..Key::default()
        }),
        ..Scope::default()
    };
    let rendered = texts.iter().map(|one| {
        let template = Template::parse(&one.text, scope, one.place.into())?;
        Ok(String::from_utf8_lossy(template.fixed().unwrap_or_default()).into_owned())
    });
    rendered.collect::<Result<_, String>>().map(Outcome::Texts)
}

/// Why settings of TLS cannot be used; none if they can.
fn unusable(tls: &Tls) -> Option<String> {
    let read = Materials::read(tls, Protocol::H1, "localhost", true);
    let settings = read.and_then(|materials| materials.settings());
    settings.err().map(|error| error.to_string())
}

/// Why a request does not hold together; none if it does.
fn refused(asked: &Asked) -> Option<String> {
    let url = match url("http://localhost/") {
        Ok(url) => url,
        Err(why) => return Some(why),
    };
    let origin = Origin {
        url: &url,
        closes: false,
        // Whether the protocol fits is seen where it is known.
        is_h2: true,
        timeout: PATIENCE,
    };
    let scope = Scope {
        only: Some(Key::default()),
        ..Scope::default()
    };
    asked
        .compile(origin, scope)
        .err()
        .or_else(|| captures(&asked.captures).err())
}
