//! The server's sockets: where requests under way are, and its exchanges with dependencies.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use super::Flights;
use super::report::{SocketWait, Timeline};
use touchstone_sys::clock::Nanos;
use touchstone_sys::diag::{SocketDiag, SocketState};

/// Requests that are looked at each time, the longest under way first.
const LOOKED_AT: usize = 12;
/// Connections to dependencies that are followed.
const FOLLOWED: usize = 32;

/// A connection of the server to a dependency.
struct Link {
    own: SocketAddr,
    peer: SocketAddr,
    dependency: u32,
    sent: u64,
    received: u64,
    /// Since when an answer may be outstanding.
    since: Option<u64>,
}

/// A socket of a request under way, as it was at the last looks.
struct Span {
    begin: u64,
    end: u64,
    sent: u64,
    place: SocketWait,
}

/// Looks at sockets.
pub struct Sockets {
    diag: SocketDiag,
    server: SocketAddr,
    flights: Vec<Arc<Flights>>,
    addresses: Vec<SocketAddr>,
    links: Vec<Link>,
    spans: HashMap<u16, Span>,
    longest: Vec<(u64, u16)>,
}

impl Sockets {
    /// Sockets of a server, of these requests and dependencies.
    ///
    /// # Errors
    /// Where the kernel does not answer questions about sockets.
    pub fn new(
        server: SocketAddr,
        flights: Vec<Arc<Flights>>,
        addresses: Vec<SocketAddr>,
    ) -> io::Result<Self> {
        Ok(Self {
            diag: SocketDiag::new()?,
            server,
            flights,
            addresses,
            links: Vec::new(),
            spans: HashMap::new(),
            longest: Vec::new(),
        })
    }

    /// Finds the connections to dependencies that are there now.
    pub fn refresh(&mut self) {
        for (index, address) in self.addresses.iter().enumerate() {
            for (own, peer) in self.diag.connected_to(*address) {
                if self.links.len() < FOLLOWED && !self.links.iter().any(|link| link.own == own) {
                    self.links.push(Link {
                        own,
                        peer,
                        dependency: index as u32,
                        sent: 0,
                        received: 0,
                        since: None,
                    });
                }
            }
        }
    }

    /// Looks at the requests that have been under way for longest, and at every followed connection.
    pub fn look(&mut self, before: Nanos, now: Nanos, timeline: &mut Timeline) {
        self.look_at_requests(before, now, timeline);
        let diag = &mut self.diag;
        self.links.retain_mut(|link| {
            let state = diag.look(link.own, link.peer);
            state.is_some_and(|state| {
                link.note(state, before, now, timeline);
                true
            })
        });
    }

    fn look_at_requests(&mut self, before: Nanos, now: Nanos, timeline: &mut Timeline) {
        self.longest.clear();
        let under_way = self.flights.iter().flat_map(|flights| flights.under_way());
        self.longest
            .extend(under_way.filter(|(since, _)| *since <= before.0));
        self.longest.sort_unstable();
        self.longest.truncate(LOOKED_AT);
        for &(sent, port) in &self.longest {
            let client = SocketAddr::new(self.server.ip(), port);
            let place = place(self.diag.look(self.server, client));
            // What has not been read now was not read before. Since when a request has been read is not known.
            let unread = matches!(
                place,
                SocketWait::Absent | SocketWait::Unaccepted | SocketWait::Unread
            );
            let first = if unread { sent } else { sent.max(before.0) };
            let span = self.spans.entry(port).or_insert(Span {
                begin: first,
                end: now.0,
                sent,
                place,
            });
            if span.sent == sent && span.place == place {
                span.end = now.0;
                continue;
            }
            let begin = if span.sent == sent { span.end } else { first };
            let fresh = Span {
                begin,
                end: now.0,
                sent,
                place,
            };
            put(timeline, port, &std::mem::replace(span, fresh));
        }
        let longest = &self.longest;
        self.spans.retain(|port, span| {
            let stays = longest.iter().any(|(_, one)| one == port);
            if !stays {
                put(timeline, *port, span);
            }
            stays
        });
    }
}

fn put(timeline: &mut Timeline, port: u16, span: &Span) {
    timeline
        .sockets
        .push((span.begin as i64, span.end as i64, port, span.place));
}

fn place(state: Option<SocketState>) -> SocketWait {
    match state {
        None => SocketWait::Absent,
        Some(state) if !state.accepted => SocketWait::Unaccepted,
        Some(state) if state.unread > 0 => SocketWait::Unread,
        Some(state) if state.unacknowledged > 0 => SocketWait::Unacknowledged,
        Some(_) => SocketWait::Read,
    }
}

impl Link {
    /// Notes what went over it since the last look.
    ///
    /// Where bytes went both ways, what came last is not known: if the next bytes only come, an answer was outstanding.
    fn note(&mut self, state: SocketState, before: Nanos, now: Nanos, timeline: &mut Timeline) {
        let (sent, received) = (state.sent != self.sent, state.received != self.received);
        (self.sent, self.received) = (state.sent, state.received);
        if received
            && !sent
            && let Some(since) = self.since
        {
            timeline
                .exchanges
                .push((since as i64, now.0 as i64, self.dependency, self.own.port()));
        }
        if sent {
            self.since = Some(before.0);
        } else if received {
            self.since = None;
        }
    }
}
