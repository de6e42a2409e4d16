//! The relay itself: the listener, the links, and what is done to them.

use crate::link::{End, Link, Pace, READ, State};
use crate::order::{Act, Counts, Order};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use touchstone_exchange::random::Random;
use touchstone_sys::clock::{Nanos, monotonic};
use touchstone_sys::poll::{Bell, Epoll, Event};
use touchstone_sys::socket::{Stream, accept, listen_again, stop_listening};

const LISTENER: u64 = 0;
const BELL: u64 = 1;
const FIRST: u64 = 2;
const EVENTS: usize = 256;

/// A relay between one port and one address.
pub struct Relay {
    epoll: Epoll,
    listener: TcpListener,
    to: Option<SocketAddr>,
    act: Act,
    links: Vec<Option<Link>>,
    /// Places in `links` in the order in which their connections were accepted.
    order: Vec<usize>,
    wakes: BinaryHeap<Reverse<(Nanos, usize)>>,
    counts: Counts,
    dice: Random,
    buffer: Vec<u8>,
}

impl Relay {
    /// A relay that listens and passes bytes on, woken by the bell when orders wait. It refuses connections until it is
    /// aimed.
    ///
    /// # Errors
    /// When the port is taken.
    pub fn listen(address: &SocketAddr, bell: &Bell) -> io::Result<Self> {
        // A port that the kernel chose would be given away while the relay refuses; one that was named is kept.
        let named = match address.port() {
            0 => bound(address)?.local_address()?,
            _ => *address,
        };
        let listener = bound(&named)?.listen()?;
        let epoll = Epoll::new()?;
        epoll.add_edge(&listener, LISTENER)?;
        epoll.add_edge(bell, BELL)?;
        Ok(Self {
            epoll,
            listener,
            to: None,
            act: Act::Pass,
            links: Vec::new(),
            order: Vec::new(),
            wakes: BinaryHeap::new(),
            counts: Counts::default(),
            dice: Random::new(1),
            buffer: vec![0; READ],
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What was counted until now.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            open: self.order.len() as u64,
            ..self.counts
        }
    }

    /// Waits for connections and bytes, and moves what can be moved. True when the bell has rung.
    pub fn turn(&mut self, bell: &Bell) -> bool {
        let mut room = [Event::NONE; EVENTS];
        let patience = self.patience();
        let mut rung = false;
        for event in self.epoll.wait(&mut room, patience) {
            match event.token() {
                LISTENER => self.accept_all(),
                BELL => {
                    bell.silence();
                    rung = true;
                }
                token => self.woken(token - FIRST, *event),
            }
        }
        let now = monotonic();
        while self.wakes.peek().is_some_and(|Reverse((at, _))| *at <= now) {
            if let Some(Reverse((at, place))) = self.wakes.pop() {
                self.wake(at, place);
            }
        }
        rung
    }

    /// Goes on with a link that was to be woken then, unless that was put forward or the link is another by now.
    fn wake(&mut self, at: Nanos, place: usize) {
        let link = self.links.get_mut(place).and_then(Option::as_mut);
        if let Some(link) = link.filter(|link| link.wakes_at == Some(at)) {
            link.wakes_at = None;
            self.pump(place);
        }
    }

    fn patience(&self) -> Option<Duration> {
        let Reverse((at, _)) = self.wakes.peek()?;
        Some(Duration::from_nanos(at.saturating_sub(monotonic()).0))
    }

    /// Carries out an order.
    ///
    /// # Errors
    /// When the act's numbers make no sense, or the port cannot be opened again.
    pub fn obey(&mut self, order: &Order) -> io::Result<()> {
        match *order {
            Order::Count => Ok(()),
            Order::Aim { to } => {
                self.cut_from(0);
                self.lead_to(to);
                Ok(())
            }
            Order::Act { act } => self.begin(act),
        }
    }

    /// Connects new connections to this address. Those of before go on.
    pub const fn lead_to(&mut self, to: SocketAddr) {
        self.to = Some(to);
    }

    fn begin(&mut self, act: Act) -> io::Result<()> {
        act.check().map_err(io::Error::other)?;
        let before = std::mem::replace(&mut self.act, act);
        match act {
            Act::Reset => self.cut_from(0),
            Act::Refuse => {
                stop_listening(&self.listener)?;
                self.cut_from(0);
            }
            Act::Limit { connections } => self.cut_from(connections as usize),
            Act::Pass | Act::Stall | Act::Slow { .. } | Act::Drip { .. } => {}
        }
        if before == Act::Refuse && act != Act::Refuse {
            listen_again(&self.listener)?;
            self.accept_all();
        }
        if before == Act::Stall && act != Act::Stall {
            self.connect_those_that_wait();
        }
        if matches!(act, Act::Pass) {
            self.links.iter_mut().flatten().for_each(Link::hurry);
        }
        self.pump_all();
        Ok(())
    }

    fn connect_those_that_wait(&mut self) {
        for place in self.order.clone() {
            let waits = self.links[place]
                .as_ref()
                .is_some_and(|link| link.dependency.is_none());
            if waits {
                self.reach(place);
            }
        }
    }

    fn accept_all(&mut self) {
        loop {
            match accept(&self.listener) {
                Ok(stream) => self.open(stream),
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                // Nothing waits, or the port is closed.
                Err(_) => return,
            }
        }
    }

    fn open(&mut self, stream: Stream) {
        self.counts.accepted += 1;
        self.counts.turns += 1;
        let full = matches!(self.act, Act::Limit { connections } if self.order.len() >= connections as usize);
        if full || self.to.is_none() {
            self.counts.turned_away += 1;
            return;
        }
        let place = match self.links.iter().position(Option::is_none) {
            Some(place) => place,
            None => {
                self.links.push(None);
                self.links.len() - 1
            }
        };
        if self.epoll.add_connection(&stream, token(place, 0)).is_err() {
            return;
        }
        self.links[place] = Some(Link::new(stream));
        self.order.push(place);
        if self.act != Act::Stall {
            self.reach(place);
        }
        self.pump(place);
    }

    /// Connects a link to the dependency.
    fn reach(&mut self, place: usize) {
        let connected = self.connected(place);
        match (connected, &mut self.links[place]) {
            (Ok(end), Some(link)) => link.dependency = Some(end),
            (Err(_), Some(_)) => {
                self.counts.unreached += 1;
                self.close(place, true);
            }
            (_, None) => {}
        }
    }

    fn connected(&self, place: usize) -> io::Result<End> {
        let to = self.to.ok_or(io::ErrorKind::NotConnected)?;
        let stream = Stream::new(&to)?;
        stream.no_delay()?;
        let at_once = stream.connect(&to)?;
        self.epoll.add_connection(&stream, token(place, 1))?;
        Ok(End {
            stream,
            readable: at_once,
            writable: at_once,
            failed: false,
        })
    }

    fn woken(&mut self, token: u64, event: Event) {
        let place = (token / 2) as usize;
        let Some(link) = self.links.get_mut(place).and_then(Option::as_mut) else {
            return;
        };
        let end = if token & 1 == 0 {
            Some(&mut link.service)
        } else {
            link.dependency.as_mut()
        };
        if let Some(end) = end {
            end.readable |= event.readable() || event.ended() || event.failed();
            end.writable |= event.writable();
            end.failed |= event.failed();
        }
        self.pump(place);
    }

    fn pump_all(&mut self) {
        for place in self.order.clone() {
            self.pump(place);
        }
    }

    fn pump(&mut self, place: usize) {
        let Some(link) = self.links.get_mut(place).and_then(Option::as_mut) else {
            return;
        };
        let pace = match self.act {
            Act::Slow { delay_s, jitter_s } => Pace::Slow(delay_s, jitter_s),
            Act::Drip { bytes_per_s } => Pace::Drip(bytes_per_s),
            _ => Pace::Prompt,
        };
        let state = link.pump(
            pace,
            self.act == Act::Stall,
            monotonic(),
            &mut self.counts,
            &mut self.dice,
            &mut self.buffer,
        );
        match state {
            State::Open(Some(at)) => {
                // Once for each time, however often the link is looked at until then.
                if link.wakes_at.is_none_or(|set| at < set) {
                    link.wakes_at = Some(at);
                    self.wakes.push(Reverse((at, place)));
                }
            }
            State::Open(None) => {}
            State::Over => self.close(place, false),
            State::Broken => self.close(place, true),
        }
    }

    /// Resets all links but the oldest ones, `kept` in number.
    fn cut_from(&mut self, kept: usize) {
        for place in self.order.split_off(kept.min(self.order.len())) {
            self.counts.cut += 1;
            self.close(place, true);
        }
    }

    fn close(&mut self, place: usize, reset: bool) {
        self.order.retain(|one| *one != place);
        let Some(link) = self.links[place].take() else {
            return;
        };
        if reset {
            // Without the option its end is an orderly one.
            let _ = link.service.stream.reset_on_close();
            if let Some(end) = &link.dependency {
                let _ = end.stream.reset_on_close();
            }
        }
    }
}

fn bound(address: &SocketAddr) -> io::Result<Stream> {
    let socket = Stream::new(address)?;
    socket.reuse_address()?;
    // Accepted connections inherit it.
    socket.no_delay()?;
    socket.bind(address)?;
    Ok(socket)
}

fn token(place: usize, side: u64) -> u64 {
    FIRST + 2 * place as u64 + side
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    #[test]
    fn a_link_is_woken_once_for_what_is_due_next() {
        let dependency = TcpListener::bind("127.0.0.1:0").unwrap();
        let bell = Bell::new().unwrap();
        let mut relay = Relay::listen(&"127.0.0.1:0".parse().unwrap(), &bell).unwrap();
        let to = dependency.local_addr().unwrap();
        relay.obey(&Order::Aim { to }).unwrap();
        let act = Act::Slow {
            delay_s: 0.2,
            jitter_s: 0.0,
        };
        relay.obey(&Order::Act { act }).unwrap();
        let mut service = TcpStream::connect(relay.address().unwrap()).unwrap();
        relay.turn(&bell);
        let (mut answering, _) = dependency.accept().unwrap();
        let mut came = 0;
        while came < 20 {
            answering.write_all(b"x").unwrap();
            relay.turn(&bell);
            came = relay.counts().from_dependency;
            assert!(relay.wakes.len() <= 1, "{}", relay.wakes.len());
        }
        while !relay.wakes.is_empty() {
            relay.turn(&bell);
        }
        service.read_exact(&mut [0; 20]).unwrap();
    }
}
