//! HTTP/2 under a worker: what a thread and each of its connections keep for it, and requests as header blocks.
//!
//! Requests are written once, by `touchstone-exchange`, in the form of HTTP/1.1; here that form is taken apart. The block
//! of a request that is the same every time is made once.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use touchstone_exchange::code;
use touchstone_exchange::h2_fields::{body, fields, head_end, lower_names};
use touchstone_h2::{Client, Code, Encoder, Order, Room};
use touchstone_http::Head;

use crate::clock::Nanos;
use crate::connection::{InFlight, Partial};
use crate::job::Job;
use crate::mix::Mix;
use crate::request::CompiledRequest;
use crate::template::Key;

/// A change of the size of a dynamic table to 0 (RFC 7541, section 6.3).
const NO_TABLE: u8 = 0x20;

/// What was done over HTTP/2 in a whole job, warm-up included.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Http2Use {
    /// The fewest streams that the server allowed on a connection (`MAX_CONCURRENT_STREAMS`); null if it never allowed fewer
    /// than the job's `streams`.
    pub streams_allowed: Option<u32>,
    /// Requests that took the last stream which the server allowed, where that was fewer than the job's `streams`: others
    /// waited for them.
    pub at_stream_limit: u64,
    /// Connections on which the server said that it takes no more requests (`GOAWAY`).
    pub going_away: u64,
    /// Requests that the server declared unprocessed, by `GOAWAY` or `REFUSED_STREAM`, and that were sent once more.
    pub unprocessed: u64,
}

impl Http2Use {
    /// With what another thread did.
    #[must_use]
    pub fn with(self, other: &Self) -> Self {
        Self {
            streams_allowed: least(self.streams_allowed, other.streams_allowed),
            at_stream_limit: self.at_stream_limit + other.at_stream_limit,
            going_away: self.going_away + other.going_away,
            unprocessed: self.unprocessed + other.unprocessed,
        }
    }
}

fn least(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    one.into_iter().chain(other).min()
}

/// A request in flight on a stream, and what has come of its response.
#[derive(Debug)]
pub struct Exchange {
    /// The request.
    pub request: InFlight,
    /// Its response, once something has come that is not as it was the last time.
    pub partial: Option<Box<Partial>>,
    /// The head that has come, if it is known to be right and `partial` does not hold it.
    pub known_head: Option<Arc<KnownHead>>,
    /// The body of a gRPC call, if it is known and has come, so that the trailers are left.
    pub known_body: Option<Arc<[u8]>>,
}

impl Exchange {
    /// Since when its response has been waited for, or the next event of a stream.
    #[must_use]
    pub fn waits_since(&self) -> Nanos {
        self.request.waits_since(self.partial.as_deref())
    }

    /// Whether something of the response has come.
    #[must_use]
    pub const fn has_begun(&self) -> bool {
        self.known_head.is_some() || self.partial.is_some()
    }
}

/// The head of a right response.
#[derive(Debug)]
pub struct KnownHead {
    /// The parsed head.
    pub head: Head,
    /// Its text, in the form of HTTP/1.1.
    pub text: Vec<u8>,
    /// The text of the trailers; empty unless it is that of a gRPC call.
    pub trailers: Vec<u8>,
    /// The status that is counted: of a gRPC call its code.
    pub status: u16,
}

/// A connection's HTTP/2.
#[derive(Debug)]
pub struct Link {
    /// Frames and streams.
    pub client: Client<Exchange>,
    /// The entries in the server's dynamic table.
    order: Order,
    /// Whether the next block says that the server's table is not used.
    gives_up_table: bool,
    /// The known head that the last one on this connection equals.
    pub noted: Option<Arc<KnownHead>>,
    /// The error with which the server said that it goes away.
    pub away: Option<Code>,
}

impl Link {
    /// A connection that has sent nothing.
    #[must_use]
    pub fn new(streams: u16) -> Self {
        Self {
            client: Client::new(u32::from(streams)),
            order: Order::default(),
            gives_up_table: false,
            noted: None,
            away: None,
        }
    }

    /// How many requests may be in flight.
    #[inline]
    #[must_use]
    pub fn room(&self) -> u16 {
        self.client.most().min(u32::from(u16::MAX)) as u16
    }

    /// The requests in flight.
    pub fn requests(&self) -> impl Iterator<Item = &InFlight> {
        self.client.all().map(|(_, exchange)| &exchange.request)
    }

    /// Since when the response of a request in flight has been waited for, or the next event of a stream.
    #[must_use]
    pub fn waits_since(&self) -> Nanos {
        let exchanges = self.client.all();
        let since = exchanges.map(|(_, exchange)| exchange.waits_since());
        since.min().unwrap_or(Nanos::MAX)
    }

    /// When the oldest request in flight was sent.
    #[must_use]
    pub fn oldest_sent(&self) -> Nanos {
        let sent = self.requests().map(|request| request.sent);
        sent.min().unwrap_or(Nanos::MAX)
    }
}

/// What a thread keeps for its connections' HTTP/2.
#[derive(Debug)]
pub struct Multiplexer {
    /// By slot: the HTTP/2 of a connection that was greeted.
    pub links: Vec<Option<Box<Link>>>,
    /// By kind: the head of a right response, which came last in one piece with its body.
    pub heads: Vec<Option<Arc<KnownHead>>>,
    /// Requests as header blocks.
    pub requests: RequestBlocks,
    /// Room for what is read.
    pub room: Room,
    /// What was done.
    pub used: Http2Use,
}

impl Multiplexer {
    /// That of a job, if it speaks HTTP/2.
    #[must_use]
    pub fn of(job: &Job, mix: &Mix, connections: u32) -> Option<Box<Self>> {
        let speaks = job.protocol.is_h2();
        speaks.then(|| Box::new(Self::new(job, mix, connections)))
    }

    /// For the requests of a mix, over this many connections.
    #[must_use]
    pub fn new(job: &Job, mix: &Mix, connections: u32) -> Self {
        Self {
            links: (0..connections).map(|_| None).collect(),
            heads: mix.requests().iter().map(|_| None).collect(),
            requests: RequestBlocks::new(job, mix),
            room: Room::default(),
            used: Http2Use::default(),
        }
    }

    /// Remembers the head of a right response to a kind of request.
    /// The trailers of a gRPC call are behind it.
    pub fn remember(&mut self, kind: usize, head: Head, whole: &[u8]) {
        let known = &mut self.heads[kind];
        let (text, trailers) = whole.split_at(head.len);
        let is_same = |known: &Arc<KnownHead>| known.text == text && known.trailers == trailers;
        if !known.as_ref().is_some_and(is_same) {
            let code = code(whole).filter(|_| head.status == 200);
            *known = Some(Arc::new(KnownHead {
                head,
                text: text.to_vec(),
                trailers: trailers.to_vec(),
                status: code.unwrap_or(head.status),
            }));
        }
    }

    /// Goes by what a server has set.
    pub fn obey(&mut self, slot: u32) {
        let Some(link) = &mut self.links[slot as usize] else {
            return;
        };
        if let Some(limit) = link.client.held_to() {
            self.used.streams_allowed = least(self.used.streams_allowed, Some(limit));
        }
        if link.client.has_small_table() && link.order != Order::PLAIN {
            link.order = Order::PLAIN;
            link.gives_up_table = true;
        }
    }
}

/// What a thread needs to write requests as header blocks.
#[derive(Debug)]
pub struct RequestBlocks {
    scheme: &'static str,
    encoder: Encoder,
    /// By kind: the body of a fixed request.
    bodies: Vec<Vec<u8>>,
    text: Vec<u8>,
    block: Vec<u8>,
}

impl RequestBlocks {
    fn new(job: &Job, mix: &Mix) -> Self {
        let scheme = if job.url.starts_with("https://") {
            "https"
        } else {
            "http"
        };
        let constants = mix
            .requests()
            .iter()
            .flat_map(|request| constants(request, scheme));
        Self {
            scheme,
            encoder: Encoder::new(constants),
            bodies: mix.requests().iter().map(fixed_body).collect(),
            text: Vec::new(),
            block: Vec::new(),
        }
    }

    /// Opens a stream with a request, and appends its frames.
    #[inline]
    pub fn start<'k>(
        &mut self,
        link: &mut Link,
        compiled: &CompiledRequest,
        key: impl FnOnce() -> Key<'k>,
        exchange: Exchange,
        out: &mut Vec<u8>,
    ) {
        let kind = usize::from(exchange.request.kind);
        let to_head = compiled.is_head;
        let is_fixed = compiled.fixed().is_some();
        if is_fixed && let Some((block, next)) = self.encoder.known(link.order, kind) {
            link.order = next;
            link.client
                .start(block, &self.bodies[kind], to_head, exchange, out);
        } else {
            let end = self.encode(link, compiled, key(), kind);
            let body = body(&self.text, end);
            link.client.start(&self.block, body, to_head, exchange, out);
        }
    }

    /// Makes the block of a request, and remembers it where it is the same every time. Gives the length of the head in the
    /// text, without its empty line.
    fn encode(
        &mut self,
        link: &mut Link,
        compiled: &CompiledRequest,
        key: Key<'_>,
        kind: usize,
    ) -> usize {
        self.text.clear();
        self.block.clear();
        compiled.render(key, &mut self.text, &mut self.block);
        self.block.clear();
        let end = lower_names(&mut self.text);
        if std::mem::take(&mut link.gives_up_table) {
            self.block.push(NO_TABLE);
        }
        let before = link.order;
        let fields = fields(&self.text[..end], self.scheme);
        link.order = self.encoder.encode(before, fields, &mut self.block);
        if compiled.fixed().is_some() {
            self.encoder.remember(before, kind, &self.block, link.order);
        }
        end
    }
}

/// The fields of a request that come again every time, as far as two of its renderings show them.
fn constants(request: &CompiledRequest, scheme: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let render = |counter| {
        let key = Key {
            counter,
            seed: counter,
            ..Key::default()
        };
        let mut text = Vec::new();
        request.render(key, &mut text, &mut Vec::new());
        let end = lower_names(&mut text);
        text.truncate(end);
        text
    };
    let (one, other) = (render(0), render(1));
    let other = fields(&other, scheme);
    let common = fields(&one, scheme).into_iter();
    common
        .filter(|field| other.contains(field))
        .map(|(name, value)| (name.to_vec(), value.to_vec()))
        .collect()
}

fn fixed_body(request: &CompiledRequest) -> Vec<u8> {
    let text = request.fixed().unwrap_or_default();
    body(text, head_end(text)).to_vec()
}
