//! TLS (rustls) between a worker and a backend. A handshake is part of setting a connection up, and is timed with it.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ProtocolVersion};
use touchstone_sys::socket::Stream;

use super::layer::Layer;
use crate::clock::Nanos;
use crate::connection::State;
use crate::error::errno;
use crate::wire::Wire;
use crate::worker::Worker;
use touchstone_tls::explain::{self, Handshake};
use touchstone_tls::{Settings, TlsUse};

/// The longest piece of plain text that is handed to a worker at once.
const PLAIN: usize = 64 * 1024;

/// Bytes that are kept of what a server answered to a handshake: who speaks another protocol says so at once.
const BEGINNING: usize = 64;

/// How long a server that has asked for a client's certificate may take to refuse it. In TLS 1.3 the client's handshake is
/// over before the server has looked.
const VERDICT: Nanos = Nanos::from_millis(150);

/// A worker over TLS.
pub struct Secured<'w> {
    worker: &'w mut Worker,
    tls: Sessions,
}

struct Sessions {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    handshake: Handshake,
    /// Raised by a session in whose handshake the server asks for a certificate.
    asked: Arc<AtomicBool>,
    slots: Vec<Option<Box<Session>>>,
    plain: Vec<u8>,
    used: TlsUse,
    /// Whether the server has taken a client's certificate, or its absence.
    accepted: bool,
    /// Connections that wait for that: until when, and which.
    waiting: Vec<(Nanos, u32, u32)>,
}

/// A connection's TLS.
struct Session {
    tls: ClientConnection,
    /// Whether its socket is connected.
    connected: bool,
    /// Whether it waits for what the server says of the client's certificate.
    waits: bool,
    /// Whether the server asked for one.
    asked: bool,
    /// Whether the server has sent a part of a response.
    answered: bool,
    /// The error number with which sending failed. What came before is read all the same, and then it is said.
    broken: i32,
    /// What the server sent first.
    beginning: Vec<u8>,
    /// Why TLS failed.
    failure: Option<String>,
}

impl<'w> Secured<'w> {
    /// Puts TLS before a worker.
    pub fn new(worker: &'w mut Worker, settings: &Settings) -> Self {
        let slots = worker.slots();
        let tls = Sessions {
            config: Arc::clone(&settings.config),
            name: settings.name.clone(),
            handshake: settings.handshake.clone(),
            asked: Arc::clone(&settings.asked),
            slots: (0..slots).map(|_| None).collect(),
            plain: vec![0; PLAIN],
            used: TlsUse::default(),
            accepted: false,
            waiting: Vec::new(),
        };
        Self { worker, tls }
    }

    /// Hands the worker what was negotiated.
    pub fn finish(self) {
        self.worker.tls = Some(self.tls.used);
    }

    fn flush<W: Wire>(&mut self, wire: &mut W, slot: u32) {
        if let Some(socket) = &self.worker.connection(slot).socket {
            self.tls.flush(wire, slot, socket);
        }
    }

    /// The handshake is complete, and the server has not refused the client.
    fn open<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        if let Some(session) = &mut self.tls.slots[slot as usize] {
            session.waits = false;
            session.beginning = Vec::new();
            self.tls.used.count(&session.tls);
        }
        self.worker.connected(&mut self.tls.over(wire), slot, now);
    }

    /// What became of a handshake after more bytes came.
    fn look<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let Some(session) = &mut self.tls.slots[slot as usize] else {
            return;
        };
        if session.tls.is_handshaking() || self.worker.connection(slot).state != State::Connecting {
            return;
        }
        // A server that takes no part in ALPN speaks HTTP/1.1.
        let protocol = self.tls.handshake.protocol;
        if protocol.is_h2() && session.tls.alpn_protocol() != Some(protocol.alpn().as_bytes()) {
            session.failure = Some(explain::not_spoken(protocol));
            return Layer::ended(self, wire, slot, libc::EPROTO, now);
        }
        let refusable =
            session.asked && session.tls.protocol_version() == Some(ProtocolVersion::TLSv1_3);
        if refusable && !self.tls.accepted && !session.waits {
            session.waits = true;
            let generation = self.worker.generation(slot);
            self.tls.waiting.push((now + VERDICT, slot, generation));
            return;
        }
        self.tls.accepted |= session.waits;
        self.open(wire, slot, now);
    }

    /// Hands on the plain text that is there.
    fn hand_on<W: Wire>(&mut self, wire: &mut W, slot: u32, now: Nanos) {
        let generation = self.worker.generation(slot);
        let mut plain = std::mem::take(&mut self.tls.plain);
        while self.worker.generation(slot) == generation {
            let Some(session) = &mut self.tls.slots[slot as usize] else {
                break;
            };
            match session.tls.reader().read(&mut plain) {
                Ok(length) if length > 0 => {
                    session.answered = true;
                    let mut over = self.tls.over(wire);
                    self.worker.received(&mut over, slot, &plain[..length], now);
                }
                _ => break,
            }
        }
        self.tls.plain = plain;
    }
}

impl Layer for Secured<'_> {
    fn worker(&self) -> &Worker {
        self.worker
    }

    fn is_connecting(&self, slot: u32) -> bool {
        let session = &self.tls.slots[slot as usize];
        session.as_ref().is_some_and(|session| !session.connected)
    }

    fn reads(&self, slot: u32) -> bool {
        let session = &self.tls.slots[slot as usize];
        session.as_ref().is_some_and(|session| session.connected)
    }

    fn connected<W: Wire>(&mut self, wire: &mut W, slot: u32, _now: Nanos) {
        if let Some(session) = &mut self.tls.slots[slot as usize] {
            session.connected = true;
        }
        self.flush(wire, slot);
    }

    fn received<W: Wire>(&mut self, wire: &mut W, slot: u32, bytes: &[u8], now: Nanos) {
        let generation = self.worker.generation(slot);
        let mut cipher = bytes;
        while self.worker.generation(slot) == generation {
            let Some(session) = &mut self.tls.slots[slot as usize] else {
                return;
            };
            let closed = match session.take(&mut cipher, &self.tls.asked) {
                Ok(closed) => closed,
                Err(error) => {
                    session.failure = Some(explain::failure(
                        &error,
                        &self.tls.handshake,
                        session.asked,
                        &session.beginning,
                    ));
                    // The server gets the alert, too.
                    self.flush(wire, slot);
                    return Layer::ended(self, wire, slot, explain::number(&error), now);
                }
            };
            self.flush(wire, slot);
            self.look(wire, slot, now);
            self.hand_on(wire, slot, now);
            if closed && self.worker.generation(slot) == generation {
                return Layer::ended(self, wire, slot, 0, now);
            }
            if cipher.is_empty() {
                return;
            }
        }
    }

    fn ended<W: Wire>(&mut self, wire: &mut W, slot: u32, error: i32, now: Nanos) {
        let session = self.tls.slots[slot as usize].as_ref();
        let broken = session.map_or(0, |session| session.broken);
        let error = if error == 0 { broken } else { error };
        self.worker
            .ended(&mut self.tls.over(wire), slot, error, now);
    }

    fn writable<W: Wire>(&mut self, wire: &mut W, slot: u32) {
        self.flush(wire, slot);
    }

    fn cannot_send(&mut self, slot: u32, error: i32) {
        if let Some(session) = &mut self.tls.slots[slot as usize] {
            session.broken = error;
        }
    }

    fn next_wake(&self, now: Nanos) -> Nanos {
        let first = self.tls.waiting.first().map_or(Nanos::MAX, |one| one.0);
        self.worker.next_wake(now).min(first)
    }

    fn tick<W: Wire>(&mut self, wire: &mut W, now: Nanos, batch: usize) -> Nanos {
        while let Some((until, slot, generation)) = self.tls.waiting.first().copied()
            && (now >= until || self.tls.accepted)
        {
            self.tls.waiting.remove(0);
            let session = self.tls.slots[slot as usize].as_ref();
            if self.worker.generation(slot) == generation && session.is_some_and(|one| one.waits) {
                self.tls.accepted = true;
                self.open(wire, slot, now);
            }
        }
        self.worker.tick(&mut self.tls.over(wire), now, batch)
    }
}

impl Session {
    /// Takes bytes of TLS; says whether the server has closed the session.
    fn take(&mut self, cipher: &mut &[u8], asked: &AtomicBool) -> Result<bool, rustls::Error> {
        if self.tls.is_handshaking() {
            let room = BEGINNING.saturating_sub(self.beginning.len());
            let kept = room.min(cipher.len());
            self.beginning.extend_from_slice(&cipher[..kept]);
        }
        let read = self.tls.read_tls(cipher);
        read.map_err(|error| rustls::Error::General(error.to_string()))?;
        let state = self.tls.process_new_packets();
        self.asked |= asked.swap(false, Ordering::Relaxed);
        state.map(|state| state.peer_has_closed())
    }
}

impl Sessions {
    /// The wire that a worker sends its plain text on.
    fn over<'a, W: Wire>(&'a mut self, inner: &'a mut W) -> Plain<'a, W> {
        Plain { inner, tls: self }
    }

    /// Sends what a session has ready, as far as the socket takes it; the rest waits until it takes more. Says how much, in bytes
    /// of TLS.
    fn flush<W: Wire>(&mut self, wire: &mut W, slot: u32, stream: &Stream) -> usize {
        let Some(session) = &mut self.slots[slot as usize] else {
            return 0;
        };
        let mut flushed = 0;
        while session.broken == 0 && session.connected && session.tls.wants_write() {
            let mut socket = Socket { wire, slot, stream };
            match session.tls.write_tls(&mut socket) {
                Ok(0) => break,
                Ok(sent) => flushed += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => session.broken = errno(&error),
            }
        }
        flushed
    }
}

/// A socket as `std::io::Write`.
struct Socket<'a, W> {
    wire: &'a mut W,
    slot: u32,
    stream: &'a Stream,
}

impl<W: Wire> Write for Socket<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.wire.send(self.slot, self.stream, bytes, false)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            sent => Ok(sent),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a worker over TLS sends on.
struct Plain<'a, W> {
    inner: &'a mut W,
    tls: &'a mut Sessions,
}

impl<W: Wire> Wire for Plain<'_, W> {
    fn open(&mut self, slot: u32, generation: u32) -> io::Result<(Stream, bool)> {
        let mut tls = ClientConnection::new(Arc::clone(&self.tls.config), self.tls.name.clone())
            .map_err(io::Error::other)?;
        tls.set_buffer_limit(None);
        let (socket, _) = self.inner.open(slot, generation)?;
        self.tls.slots[slot as usize] = Some(Box::new(Session {
            tls,
            connected: false,
            waits: false,
            asked: false,
            answered: false,
            broken: 0,
            beginning: Vec::new(),
            failure: None,
        }));
        Ok((socket, false))
    }

    fn send(
        &mut self,
        slot: u32,
        socket: &Stream,
        bytes: &[u8],
        _lasting: bool,
    ) -> io::Result<usize> {
        if let Some(session) = &mut self.tls.slots[slot as usize] {
            session.tls.writer().write_all(bytes)?;
        }
        let flushed = self.tls.flush(self.inner, slot, socket);
        let session = self.tls.slots[slot as usize].as_ref();
        // Where a part went out, the request was sent: it must not go again on another connection.
        match (flushed, session.map_or(0, |session| session.broken)) {
            (0, broken) if broken != 0 => Err(io::Error::from_raw_os_error(broken)),
            _ => Ok(bytes.len()),
        }
    }

    fn close(&mut self, slot: u32, socket: Stream) {
        self.tls.slots[slot as usize] = None;
        self.inner.close(slot, socket);
    }

    fn explain(&self, slot: u32, error: i32) -> Option<String> {
        let session = self.tls.slots[slot as usize].as_ref()?;
        if !session.connected {
            return None;
        }
        let handshaking = session.tls.is_handshaking();
        let said = session.failure.clone();
        let asked = session.asked && !session.answered;
        said.or_else(|| explain::end(error, handshaking, asked, &self.tls.handshake))
    }

    fn syscalls(&self) -> u64 {
        self.inner.syscalls()
    }
}
