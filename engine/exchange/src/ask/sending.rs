//! Sending the requests of one order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::answer::Exchange;
use super::lanes::Lanes;
use super::order::{Send, Values};
use touchstone_sys::socket::Address;

use crate::capture::Capture;
use crate::client::{Answered, Connection, Unanswered};
use crate::events::Watched;
use crate::job;
use crate::request::{CompiledRequest, Origin};
use crate::response::Response;
use crate::socket::Opening;
use crate::target::Target;
use crate::template::{Key, Scope};
use crate::transport::Transport;

/// The longest time that an order may name, in seconds.
const LONGEST_S: f64 = 3_600.0;
/// Between two attempts at a request whose response is not right yet.
const PAUSE: Duration = Duration::from_millis(100);
/// Enough for a request's templates, patterns and response, all of which are on the heap.
const STACK: usize = 1 << 20;

/// A request that is sent on a connection that a load holds.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether it is a HEAD, whose response has no body.
    pub to_head: bool,
    /// Whether it may be sent once more if the server closed the connection under it (RFC 9110 section 9.2.2).
    pub is_idempotent: bool,
    /// Requests of one lane go over one connection; the others take any.
    pub lane: Option<u64>,
    /// When it has failed.
    pub deadline: Instant,
}

/// The connections of a load, between whose requests others are sent.
pub trait LoadConnections: Sync {
    /// Sends a request, and waits for its response.
    ///
    /// # Errors
    /// [`Unanswered`].
    fn exchange(&self, wanted: Wanted<'_>) -> Result<Answered, Unanswered>;
}

/// Carries out an order between the requests of a load, on its connections.
///
/// # Errors
/// A sentence on a part of the request that does not hold together.
pub fn send_between(
    order: &Send,
    load: &dyn LoadConnections,
    target: Target<Address>,
) -> Result<Vec<Exchange>, String> {
    let sending = Sending {
        order,
        load: Some(load),
        lanes: &Lanes::default(),
        target,
        transport: OnceLock::new(),
        timeout: limit("timeout_s", order.timeout_s)?,
        within: limit("within_s", order.within_s)?,
    };
    sending.carry_out()
}

/// A time that an order names.
///
/// # Errors
/// When it is no time, or longer than an hour.
pub(super) fn limit(name: &str, seconds: f64) -> Result<Duration, String> {
    if (0.0..=LONGEST_S).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!("{name} must be 0 to {LONGEST_S}"))
    }
}

/// What the requests of an order share.
pub(super) struct Sending<'a> {
    pub order: &'a Send,
    /// The load on whose connections they go; none: they have connections of their own.
    pub load: Option<&'a dyn LoadConnections>,
    pub lanes: &'a Lanes,
    pub target: Target<Address>,
    /// What connections of their own need, once the first is opened.
    pub transport: OnceLock<Result<Transport, String>>,
    pub timeout: Duration,
    pub within: Duration,
}

/// A request that is sent.
struct Sent<'a> {
    compiled: &'a CompiledRequest,
    bytes: &'a [u8],
    /// What opens the WebSocket that carries it, if it is a message.
    opening: Option<&'a Opening>,
    /// When it has failed; of a stream, where no event has come.
    deadline: Instant,
    /// Its events, if its response is a stream.
    watched: Option<Watched<'a>>,
}

impl Sending<'_> {
    /// Sends all requests; their exchanges in the order of their counters.
    ///
    /// # Errors
    /// A sentence on a part of the request that does not hold together.
    pub fn carry_out(&self) -> Result<Vec<Exchange>, String> {
        let repeat = self.order.repeat;
        let done = Mutex::new(BTreeMap::new());
        let next = AtomicU32::new(0);
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= repeat {
                    return;
                }
                let exchange = self.until_right(u64::from(number));
                done.lock()
                    .expect("no worker panics")
                    .insert(number, exchange);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.order.concurrent.min(repeat) {
                let worker = std::thread::Builder::new().stack_size(STACK);
                // A machine that gives no further thread has fewer under way.
                if worker.spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        done.into_inner()
            .expect("no worker panics")
            .into_values()
            .collect()
    }

    /// One request, again and again until its response is right or the time for that is over.
    fn until_right(&self, number: u64) -> Result<Exchange, String> {
        let Values {
            counter,
            seed,
            fresh,
            captured,
        } = &self.order.values;
        let counter = counter.wrapping_add(number);
        let key = Key {
            counter,
            seed: *seed,
            ..Key::default()
        };
        let scope = Scope {
            fresh,
            captured: Some(captured),
            only: Some(key),
            ..Scope::default()
        };
        let origin = Origin {
            url: &self.target.url,
            closes: false,
            is_h2: self.order.protocol.is_h2(),
            timeout: self.timeout,
        };
        let compiled = self.order.asked.compile(origin, scope)?;
        let mut compiled = compiled.over(self.order.protocol)?;
        let user = self.user().map(|lane| self.lanes.user(lane));
        if user.is_some() {
            compiled = compiled.with_cookies(&self.order.asked.request);
        }
        let key = Key {
            session: user.as_ref(),
            ..key
        };
        let captures = captures(&self.order.asked.captures)?;
        let mut bytes = Vec::new();
        compiled.render(key, &mut bytes, &mut Vec::new());
        let opening = compiled.opening(key);
        let until = Instant::now() + self.within;
        loop {
            let exchange = Exchange {
                counter,
                ..self.once(&compiled, &captures, (&bytes, opening.as_ref()))
            };
            if exchange.faults.is_empty() || Instant::now() >= until {
                return Ok(exchange);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn once(
        &self,
        compiled: &CompiledRequest,
        captures: &[(String, Capture)],
        (bytes, opening): (&[u8], Option<&Opening>),
    ) -> Exchange {
        let begun = Instant::now();
        let deadline = begun + self.timeout;
        let mut exchange = Exchange::default();
        let kept = self.kept(compiled);
        exchange.reused = kept.is_some();
        let mut wanted = Sent {
            compiled,
            bytes,
            opening,
            deadline,
            watched: Watched::new(compiled, Key::default()),
        };
        // A load's connections hand over whole responses, and a stream may have no end. A WebSocket has its own connection.
        let is_whole = wanted.watched.is_none() && opening.is_none();
        let load = self.load.filter(|_| is_whole);
        let answered = match (kept, load) {
            (None, Some(load)) => self.between(load, &wanted, &mut exchange),
            (None, None) => self.fresh(&mut wanted, &mut exchange),
            (Some(connection), _) => match self.over(connection, &mut wanted, &mut exchange) {
                Err(Unanswered { unseen: true, .. }) => {
                    (exchange.reused, exchange.repeated) = (false, true);
                    self.fresh(&mut wanted, &mut exchange)
                }
                other => other,
            },
        };
        exchange.took_s = begun.elapsed().as_secs_f64();
        match answered {
            Ok(Answered {
                response,
                first_byte,
            }) => {
                exchange.first_byte_s = Some((first_byte - begun).as_secs_f64());
                let faults = match wanted.watched {
                    Some(watched) => watched.faults(&response),
                    None => compiled.faults(&response, Key::default()),
                };
                self.note(compiled, captures, (&response, faults), &mut exchange);
            }
            Err(Unanswered {
                why,
                late,
                mismatch,
                ..
            }) => {
                exchange.mismatch = mismatch;
                let limit = self.timeout.as_secs_f64();
                let so_far = wanted.watched.as_ref().map(Watched::so_far);
                let why = match (late, so_far, why.is_empty()) {
                    (true, Some(so_far), _) => format!("no next event within {limit} s: {so_far}"),
                    (true, None, true) => format!("no whole answer within {limit} s"),
                    (true, None, false) => format!("no whole answer within {limit} s: {why}"),
                    (false, Some(so_far), _) => format!("no answer: {why}; {so_far}"),
                    (false, None, _) => format!("no answer: {why}"),
                };
                exchange.faults = vec![why.clone()];
                exchange.failure = Some(why);
            }
        }
        exchange
    }

    /// The lane that connections are kept in: only requests one after the other share one.
    fn lane(&self) -> Option<u64> {
        self.order.lane.filter(|_| self.order.concurrent == 1)
    }

    /// The lane whose cookies are sent and taken.
    fn user(&self) -> Option<u64> {
        self.order.lane.filter(|_| self.order.cookies)
    }

    /// The kept connection, for a request that may be sent once more if the server has closed it.
    fn kept(&self, compiled: &CompiledRequest) -> Option<Connection> {
        let kept = self.lanes.take(self.order.lane?, self.target.address);
        kept.filter(|_| compiled.is_idempotent && self.order.concurrent == 1)
    }

    /// Sends it between the requests of a load.
    fn between(
        &self,
        load: &dyn LoadConnections,
        sent: &Sent<'_>,
        exchange: &mut Exchange,
    ) -> Result<Answered, Unanswered> {
        exchange.address = Some(self.target.address);
        exchange.reused = true;
        let wanted = Wanted {
            bytes: sent.bytes,
            to_head: sent.compiled.is_head,
            is_idempotent: sent.compiled.is_idempotent,
            lane: self.lane(),
            deadline: sent.deadline,
        };
        load.exchange(wanted)
    }

    /// What one connection of its own needs. Its parts that take time are made once for the order.
    fn transport(&self) -> Result<Transport, String> {
        let made = || Transport::to(&self.target, self.order.protocol, &self.order.tls);
        let transport = self.transport.get_or_init(made).as_ref();
        transport.map(Transport::apart).map_err(Clone::clone)
    }

    fn fresh(&self, sent: &mut Sent<'_>, exchange: &mut Exchange) -> Result<Answered, Unanswered> {
        let transport = self.transport();
        let begun = Instant::now();
        let within = sent.deadline.saturating_duration_since(begun);
        let within = within.max(Duration::from_millis(1));
        let opened =
            transport.and_then(|transport| Connection::open(&transport, &self.target, within));
        exchange.connect_s = begun.elapsed().as_secs_f64();
        let address = self.target.address;
        let connection = opened.map_err(|error| Unanswered {
            unseen: true,
            ..Unanswered::because(format!("connecting to {address}: {error}"))
        })?;
        self.over(connection, sent, exchange)
    }

    fn over(
        &self,
        mut connection: Connection,
        sent: &mut Sent<'_>,
        exchange: &mut Exchange,
    ) -> Result<Answered, Unanswered> {
        exchange.address = Some(connection.address);
        let (to_head, deadline) = (sent.compiled.is_head, sent.deadline);
        let answered = match (&mut sent.watched, sent.opening) {
            (_, Some(opening)) => connection.exchange_message(opening, deadline),
            (None, None) => connection.exchange(sent.bytes, to_head, deadline),
            (Some(watched), None) => {
                let (mut came, mut until) = (0, deadline);
                connection.exchange_until(sent.bytes, to_head, deadline, |so_far| {
                    let enough = watched.is_enough(so_far);
                    if watched.came() > came {
                        came = watched.came();
                        until = Instant::now() + self.timeout;
                    }
                    (!enough).then_some(until)
                })
            }
        }?;
        if let Some(lane) = self.lane().filter(|_| answered.response.keep_alive) {
            self.lanes.keep(lane, connection);
        }
        Ok(answered)
    }

    /// Notes what came, and what is wrong with it.
    fn note(
        &self,
        compiled: &CompiledRequest,
        captures: &[(String, Capture)],
        (response, faults): (&Response, Vec<String>),
        exchange: &mut Exchange,
    ) {
        exchange.status = Some(response.status);
        let head = &*compiled.whole_head(response);
        let body = &*compiled.shown_body(head, &response.body);
        exchange.fields = fields(head);
        exchange.body_bytes = body.len() as u64;
        let shown = self
            .order
            .body_bytes
            .unwrap_or(u64::MAX)
            .min(exchange.body_bytes);
        exchange.body = STANDARD.encode(&body[..shown as usize]);
        exchange.faults = faults;
        if !exchange.faults.is_empty() {
            return;
        }
        if let Some(lane) = self.user() {
            self.lanes.take_cookies(lane, compiled, &response.head);
        }
        for (name, capture) in captures {
            match capture.take(head, body) {
                Ok(value) => {
                    exchange.captured.insert(name.clone(), value);
                }
                Err((_, why)) => exchange.faults.push(compiled.with_coding(why, head)),
            }
        }
    }
}

/// Captures by their names, compiled.
pub(super) fn captures(
    named: &BTreeMap<String, job::Capture>,
) -> Result<Vec<(String, Capture)>, String> {
    let compiled = named.iter().map(|(name, capture)| {
        let compiled =
            Capture::compile(capture).map_err(|why| format!("captures.{name}: {why}"))?;
        Ok((name.clone(), compiled))
    });
    compiled.collect()
}

fn fields(head: &[u8]) -> Vec<(String, String)> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
    lines
        .filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((text(&line[..colon]), text(&line[colon + 1..])))
        })
        .collect()
}
