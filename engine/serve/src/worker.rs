//! One thread of a server: accepts, reads, frames requests, writes answers. What is answered, a [`Service`] says.

use crate::h2::{Begins, Session, begins};
use crate::head::{Parse, Request, parse};
use crate::response::refusal;
use crate::tls::{Sealed, ServerConfig};
use crate::websocket;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;
use touchstone_h2::frame::PREFACE;
use touchstone_sys::poll::{Bell, Epoll, Event};
use touchstone_sys::socket::{Stream, accept, no_more_files};

/// A connection, distinct from an earlier one with the same descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    pub fd: RawFd,
    pub generation: u32,
}

/// What becomes of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Listen and serve.
    Serve,
    /// Refuse connections, and reset those that there are.
    Refuse,
    /// End the thread.
    Stop,
}

/// What a server answers.
pub trait Service {
    /// A whole request: append the answer to `out`, or keep the peer and give the answer when [`Service::due`] is asked.
    fn request(&mut self, peer: Peer, request: &Request<'_>, out: &mut Vec<u8>);
    /// A connection was accepted.
    fn opened(&mut self) {}
    /// A connection has ended.
    fn closed(&mut self) {}
    /// Events are about to be handled.
    fn batch(&mut self) {}
    /// How long to wait at most.
    fn patience(&mut self) -> Option<Duration> {
        None
    }
    /// Hands over an answer that is due, with whether the connection is to be closed after it.
    fn due(&mut self) -> Option<(Peer, Vec<u8>, bool)> {
        None
    }
    /// The answer could not be given, because the connection had ended.
    fn lost(&mut self) {}
    /// Whether it answers each request at once, so that HTTP/2 can be spoken as well.
    fn answers_at_once(&self) -> bool {
        false
    }
    /// What connections need to speak TLS; none if they do not.
    fn tls(&self) -> Option<Arc<ServerConfig>> {
        None
    }
    /// What to do after the bell was rung.
    fn order(&mut self) -> Order;
}

/// Bytes that wait on a connection; most have none.
#[derive(Default)]
struct Waiting {
    /// The start of a request whose end has not come.
    partial: Vec<u8>,
    /// Answers that the socket did not take.
    unsent: Vec<u8>,
    /// Close when they are sent.
    closing: bool,
}

/// A descriptor's state; idle ones hold nothing on the heap.
#[derive(Default)]
struct Slot {
    generation: u32,
    socket: Option<Stream>,
    waiting: Option<Box<Waiting>>,
    /// What HTTP/2 keeps, where that is spoken.
    session: Option<Box<Session>>,
    /// And what a WebSocket keeps.
    websocket: Option<Box<websocket::Session>>,
    tls: Option<Box<Sealed>>,
}

const EVENTS: usize = 512;
const BUFFER: usize = 64 * 1024;

/// A thread's state.
pub struct Worker<S> {
    service: S,
    epoll: Epoll,
    listener: Option<TcpListener>,
    bell: Arc<Bell>,
    slots: Vec<Slot>,
    out: Vec<u8>,
    /// What is sealed with TLS, and what has been opened of it.
    cipher: Vec<u8>,
    plain: Vec<u8>,
    tls: Option<Arc<ServerConfig>>,
    /// The limit of open files was hit: connections wait to be accepted until one closes.
    full: bool,
    rebind: Box<dyn Fn() -> io::Result<TcpListener> + Send>,
}

impl<S: Service> Worker<S> {
    /// `rebind` makes a new listener when serving continues after refusing.
    pub fn new(
        service: S,
        listener: TcpListener,
        bell: Arc<Bell>,
        rebind: Box<dyn Fn() -> io::Result<TcpListener> + Send>,
    ) -> io::Result<Self> {
        let epoll = Epoll::new()?;
        epoll.add_edge(&listener, token(listener.as_raw_fd()))?;
        epoll.add_edge(&*bell, token(bell.as_raw_fd()))?;
        let out = Vec::with_capacity(BUFFER);
        Ok(Self {
            tls: service.tls(),
            cipher: Vec::new(),
            plain: Vec::new(),
            service,
            epoll,
            listener: Some(listener),
            bell,
            slots: Vec::new(),
            out,
            full: false,
            rebind,
        })
    }

    /// Serves until ordered to stop.
    pub fn run(mut self) {
        let mut room = vec![Event::NONE; EVENTS];
        let mut buffer = vec![0u8; BUFFER];
        loop {
            let patience = self.service.patience();
            let events = self.epoll.wait(&mut room, patience);
            self.service.batch();
            for event in events {
                let fd = event.token() as RawFd;
                if fd == self.bell.as_raw_fd() {
                    self.bell.silence();
                    if !self.obey() {
                        return;
                    }
                } else if self.listener.as_ref().is_some_and(|l| l.as_raw_fd() == fd) {
                    self.accept_all();
                } else {
                    self.handle(fd, *event, &mut buffer);
                }
            }
            while let Some((peer, bytes, close)) = self.service.due() {
                self.answer(peer, &bytes, close);
            }
        }
    }

    /// False when the thread is to end.
    fn obey(&mut self) -> bool {
        match self.service.order() {
            Order::Stop => return false,
            Order::Refuse => {
                self.listener = None;
                for fd in 0..self.slots.len() {
                    if let Some(socket) = &self.slots[fd].socket {
                        // Without the option its end is an orderly one, which refuses as well.
                        let _ = socket.reset_on_close();
                        self.close(fd as RawFd);
                    }
                }
            }
            Order::Serve if self.listener.is_none() => match (self.rebind)() {
                Ok(listener)
                    if self
                        .epoll
                        .add_edge(&listener, token(listener.as_raw_fd()))
                        .is_ok() =>
                {
                    self.listener = Some(listener);
                    self.accept_all();
                }
                _ => eprintln!("the port cannot be listened on again: the server goes on refusing"),
            },
            Order::Serve => {}
        }
        true
    }

    fn accept_all(&mut self) {
        self.full = false;
        while let Some(listener) = &self.listener {
            match accept(listener) {
                Ok(socket) => self.open(socket),
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(e) => {
                    self.full = no_more_files(&e);
                    return;
                }
            }
        }
    }

    fn open(&mut self, socket: Stream) {
        let fd = socket.as_raw_fd();
        // A connection that cannot have TLS is closed: it is not served without.
        let tls = match self.tls.as_ref().map(Sealed::new) {
            Some(None) => return,
            tls => tls.flatten(),
        };
        if self.epoll.add_connection(&socket, token(fd)).is_err() {
            return;
        }
        if self.slots.len() <= fd as usize {
            self.slots.resize_with(fd as usize + 1, Slot::default);
        }
        let slot = &mut self.slots[fd as usize];
        slot.tls = tls;
        slot.socket = Some(socket);
        slot.generation = slot.generation.wrapping_add(1);
        self.service.opened();
    }

    fn handle(&mut self, fd: RawFd, event: Event, buffer: &mut [u8]) {
        if !self.is_open(fd) {
            return;
        }
        if event.failed() {
            return self.close(fd);
        }
        let was_blocked = self.blocked(fd);
        if was_blocked {
            if !event.writable() || !self.flush(fd) {
                return;
            }
            self.tidy(fd);
        }
        // Who does not take answers is not read from: its edge is caught up with when the answers are sent.
        if was_blocked || event.readable() || event.ended() {
            let ended = was_blocked || event.ended();
            self.read(fd, ended, buffer);
        }
    }

    fn is_open(&self, fd: RawFd) -> bool {
        let slot = self.slots.get(fd as usize);
        slot.is_some_and(|slot| slot.socket.is_some())
    }

    fn blocked(&self, fd: RawFd) -> bool {
        self.slots[fd as usize]
            .waiting
            .as_ref()
            .is_some_and(|w| !w.unsent.is_empty())
    }

    /// A short read has emptied the socket, unless the peer's end was already behind it: that edge will not come again.
    fn read(&mut self, fd: RawFd, ended: bool, buffer: &mut [u8]) {
        while let Some(socket) = &self.slots[fd as usize].socket {
            let n = match socket.receive(buffer) {
                Ok(0) => return self.close(fd),
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return self.close(fd),
            };
            if !self.open_and_take(fd, &buffer[..n]) || (n < buffer.len() && !ended) {
                return;
            }
        }
    }

    /// Takes what has arrived, out of TLS if that is spoken; false when reading has to end.
    fn open_and_take(&mut self, fd: RawFd, arrived: &[u8]) -> bool {
        let Some(tls) = &mut self.slots[fd as usize].tls else {
            return self.take(fd, arrived);
        };
        let mut plain = std::mem::take(&mut self.plain);
        let sound = tls.open(arrived, &mut plain);
        // What the handshake answers.
        let mut go_on = self.send(fd, &[], !sound);
        // A socket that does not take that now gets it ahead of the answers.
        if sound && self.is_open(fd) && !plain.is_empty() {
            go_on &= self.take(fd, &plain);
        }
        plain.clear();
        self.plain = plain;
        go_on
    }

    /// Frames what has arrived, together with what had before, and sends the answers; false when reading has to end.
    fn take(&mut self, fd: RawFd, arrived: &[u8]) -> bool {
        let waiting = self.slots[fd as usize].waiting.as_mut();
        let mut kept = waiting
            .map(|w| std::mem::take(&mut w.partial))
            .unwrap_or_default();
        if kept.is_empty() {
            return self.frame(fd, arrived);
        }
        kept.extend_from_slice(arrived);
        self.frame(fd, &kept)
    }

    fn frame(&mut self, fd: RawFd, mut bytes: &[u8]) -> bool {
        let peer = Peer {
            fd,
            generation: self.slots[fd as usize].generation,
        };
        let mut out = std::mem::take(&mut self.out);
        let mut close = false;
        if let Some(socket) = &mut self.slots[fd as usize].websocket {
            close = socket.take(bytes, &mut out);
            bytes = &[];
        } else if self.service.answers_at_once() {
            (bytes, close) = self.frames(peer, bytes, &mut out);
        }
        while !bytes.is_empty() && !close {
            match parse(bytes) {
                Parse::Complete(request) => {
                    let (text, behind) = bytes.split_at(request.length);
                    if request.upgrades
                        && self.service.answers_at_once()
                        && let Some(mut socket) = websocket::Session::open(text, &mut out)
                    {
                        close = socket.take(behind, &mut out);
                        self.slots[fd as usize].websocket = Some(Box::new(socket));
                        bytes = &[];
                        break;
                    }
                    self.service.request(peer, &request, &mut out);
                    // A service that answers later closes later.
                    close = !request.keep_alive && !out.is_empty();
                    bytes = behind;
                }
                Parse::Partial => {
                    let waiting = self.slots[fd as usize].waiting.get_or_insert_default();
                    waiting.partial = bytes.to_vec();
                    break;
                }
                Parse::Bad(status) => {
                    out.extend_from_slice(&refusal(status));
                    close = true;
                }
            }
        }
        let go_on = out.is_empty() || self.send(fd, &out, close);
        out.clear();
        self.out = out;
        if go_on && bytes.is_empty() {
            self.tidy(fd);
        }
        go_on
    }

    /// Answers the frames of HTTP/2, if that is what a connection speaks; gives what is left for HTTP/1.1, and whether the
    /// connection is to be closed.
    fn frames<'b>(
        &mut self,
        peer: Peer,
        mut bytes: &'b [u8],
        out: &mut Vec<u8>,
    ) -> (&'b [u8], bool) {
        let slot = &mut self.slots[peer.fd as usize];
        if slot.session.is_none() {
            match begins(bytes) {
                Begins::Whole => {
                    slot.session = Some(Box::new(Session::new(out)));
                    bytes = &bytes[PREFACE.len()..];
                }
                Begins::Part => {
                    slot.waiting.get_or_insert_default().partial = bytes.to_vec();
                    return (&[], false);
                }
                Begins::Otherwise => return (bytes, false),
            }
        }
        let Some(session) = &mut slot.session else {
            return (bytes, false);
        };
        let service = &mut self.service;
        let mut answer =
            |request: &Request<'_>, out: &mut Vec<u8>| service.request(peer, request, out);
        let Ok(taken) = session.take(bytes, &mut answer, out) else {
            return (&[], true);
        };
        if taken < bytes.len() {
            slot.waiting.get_or_insert_default().partial = bytes[taken..].to_vec();
        }
        (&[], false)
    }

    /// Sends, over TLS if that is spoken; false when the connection is blocked or closed.
    fn send(&mut self, fd: RawFd, bytes: &[u8], close: bool) -> bool {
        let Some(tls) = &mut self.slots[fd as usize].tls else {
            return self.transmit(fd, bytes, close);
        };
        let mut cipher = std::mem::take(&mut self.cipher);
        tls.seal(bytes, &mut cipher);
        let go_on = (cipher.is_empty() && !close) || self.transmit(fd, &cipher, close);
        cipher.clear();
        self.cipher = cipher;
        go_on
    }

    /// Sends bytes as they are, and keeps what the socket does not take; false when the connection is blocked or closed.
    fn transmit(&mut self, fd: RawFd, bytes: &[u8], close: bool) -> bool {
        if let Some(socket) = self.slots[fd as usize]
            .socket
            .as_ref()
            .filter(|_| !self.blocked(fd))
        {
            match socket.send(bytes) {
                Ok(n) if n == bytes.len() => {
                    if close {
                        self.close(fd);
                    }
                    return !close;
                }
                Ok(n) => self.keep(fd, &bytes[n..], close),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.keep(fd, bytes, close),
                Err(_) => self.close(fd),
            }
            return false;
        }
        self.keep(fd, bytes, close);
        false
    }

    fn keep(&mut self, fd: RawFd, bytes: &[u8], close: bool) {
        let waiting = self.slots[fd as usize].waiting.get_or_insert_default();
        waiting.unsent.extend_from_slice(bytes);
        waiting.closing |= close;
    }

    /// Sends what had been kept; false when it is blocked again or closed.
    fn flush(&mut self, fd: RawFd) -> bool {
        let Some(waiting) = self.slots[fd as usize].waiting.as_mut() else {
            return true;
        };
        let bytes = std::mem::take(&mut waiting.unsent);
        let close = waiting.closing;
        self.transmit(fd, &bytes, close)
    }

    /// Gives an answer that was due.
    fn answer(&mut self, peer: Peer, bytes: &[u8], close: bool) {
        let slot = self.slots.get(peer.fd as usize);
        if slot.is_some_and(|slot| slot.socket.is_some() && slot.generation == peer.generation) {
            self.send(peer.fd, bytes, close);
        } else {
            self.service.lost();
        }
    }

    /// Frees the heap of a connection that waits for nothing.
    fn tidy(&mut self, fd: RawFd) {
        let slot = &mut self.slots[fd as usize];
        if slot
            .waiting
            .as_ref()
            .is_some_and(|w| w.partial.is_empty() && w.unsent.is_empty())
        {
            slot.waiting = None;
        }
    }

    fn close(&mut self, fd: RawFd) {
        let slot = &mut self.slots[fd as usize];
        slot.socket = None;
        slot.waiting = None;
        slot.session = None;
        slot.websocket = None;
        slot.tls = None;
        self.service.closed();
        if self.full {
            self.accept_all();
        }
    }
}

/// A descriptor as the token under which it is registered.
fn token(fd: RawFd) -> u64 {
    fd as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, ClientConnection, RootCertStore};
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpStream};

    /// Counts requests, and answers each with a word.
    struct Counting {
        tls: Arc<ServerConfig>,
        requests: u32,
    }

    impl Service for Counting {
        fn request(&mut self, _peer: Peer, _request: &Request<'_>, out: &mut Vec<u8>) {
            self.requests += 1;
            out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong");
        }

        fn tls(&self) -> Option<Arc<ServerConfig>> {
            Some(Arc::clone(&self.tls))
        }

        fn order(&mut self) -> Order {
            Order::Stop
        }
    }

    /// A worker with one connection, its descriptor, its other end, and a client's session for it.
    fn connected() -> (Worker<Counting>, RawFd, TcpStream, ClientConnection) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let cert = made.cert.der().clone();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let tls = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.clone()], key.into())
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(cert).unwrap();
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let client = ClientConnection::new(Arc::new(config), name).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let socket = accept(&listener).unwrap();
        let fd = socket.as_raw_fd();
        let service = Counting {
            tls: Arc::new(tls),
            requests: 0,
        };
        let bell = Arc::new(Bell::new().unwrap());
        let rebind = Box::new(|| Err(io::ErrorKind::Unsupported.into()));
        let mut worker = Worker::new(service, listener, bell, rebind).unwrap();
        worker.open(socket);
        (worker, fd, other, client)
    }

    fn written(client: &mut ClientConnection) -> Vec<u8> {
        let mut bytes = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut bytes).unwrap();
        }
        bytes
    }

    /// Takes the client through the handshake, up to what ends it on the server's side, and has it write a request.
    fn shake_hands_and_ask(
        worker: &mut Worker<Counting>,
        fd: RawFd,
        other: &mut TcpStream,
        client: &mut ClientConnection,
    ) {
        assert!(worker.open_and_take(fd, &written(client)));
        let mut buffer = [0; 16 * 1024];
        while client.is_handshaking() {
            let count = other.read(&mut buffer).unwrap();
            client.read_tls(&mut &buffer[..count]).unwrap();
            client.process_new_packets().unwrap();
        }
        client
            .writer()
            .write_all(b"GET / HTTP/1.1\r\n\r\n")
            .unwrap();
    }

    #[test]
    fn a_request_that_comes_with_the_end_of_a_handshake_counts_where_the_socket_takes_nothing() {
        let (mut worker, fd, mut other, mut client) = connected();
        shake_hands_and_ask(&mut worker, fd, &mut other, &mut client);
        worker.keep(fd, b"what the socket has not taken", false);
        assert!(!worker.open_and_take(fd, &written(&mut client)));
        assert_eq!(worker.service.requests, 1);
        assert!(worker.blocked(fd));
    }

    #[test]
    fn bytes_after_the_end_of_tls_are_dropped_and_those_before_it_count() {
        let (mut worker, fd, mut other, mut client) = connected();
        shake_hands_and_ask(&mut worker, fd, &mut other, &mut client);
        client.send_close_notify();
        let mut bytes = written(&mut client);
        bytes.extend_from_slice(&[b'x'; 10_000]);
        assert!(worker.open_and_take(fd, &bytes));
        assert!(worker.open_and_take(fd, b"more"));
        assert_eq!(worker.service.requests, 1);
    }
}
