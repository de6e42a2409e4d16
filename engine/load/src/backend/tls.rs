//! TLS (rustls) between the worker and epoll. A handshake is part of setting a connection up, and is timed with it.

use std::io::{self, Read, Write};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use touchstone_sys::poll::Event;
use touchstone_sys::socket::Stream;

use super::epoll::{BATCH, BUFFER, EpollWire, READS, gone, place};
use crate::clock::now;
use crate::connection::State;
use crate::error::{Error, errno};
use crate::job::Tls;
use crate::target::Target;
use crate::wire::Wire;
use crate::worker::Worker;

/// Where distributions keep the authorities that they trust.
const SYSTEM_AUTHORITIES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// Sessions over epoll.
pub struct TlsWire {
    inner: EpollWire,
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    sessions: Vec<Option<Box<Session>>>,
}

/// A connection's TLS.
struct Session {
    tls: ClientConnection,
    /// The error number with which sending failed. What came before is read all the same, and then it is said.
    broken: i32,
}

impl TlsWire {
    /// Prepares TLS for a target.
    ///
    /// # Errors
    /// [`Error::Job`] if the authorities cannot be read or the host is no name that a certificate could have.
    pub fn new(inner: EpollWire, tls: &Tls, target: &Target, slots: u32) -> Result<Self, Error> {
        let name = ServerName::try_from(target.url.host.clone()).map_err(|error| {
            Error::Job(format!(
                "url: {} cannot be a certificate's name: {error}",
                target.url.host
            ))
        })?;
        let config = Arc::new(config(tls, target)?);
        Ok(Self {
            inner,
            config,
            name,
            sessions: (0..slots).map(|_| None).collect(),
        })
    }

    /// System calls so far.
    #[must_use]
    pub const fn syscalls(&self) -> u64 {
        self.inner.syscalls
    }

    /// Sends what the session has ready, as far as the socket takes it; the rest waits for the next edge. Says how much, in
    /// bytes of TLS.
    fn flush(&mut self, slot: u32, stream: &Stream) -> usize {
        let Some(session) = &mut self.sessions[slot as usize] else {
            return 0;
        };
        let mut flushed = 0;
        while session.broken == 0 && session.tls.wants_write() {
            let mut socket = Socket {
                wire: &mut self.inner,
                slot,
                stream,
            };
            match session.tls.write_tls(&mut socket) {
                Ok(0) => break,
                Ok(sent) => flushed += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => session.broken = errno(&error),
            }
        }
        flushed
    }

    /// The error number with which sending failed on a slot, or 0.
    fn broken(&self, slot: u32) -> i32 {
        let session = self.sessions[slot as usize].as_ref();
        session.map_or(0, |session| session.broken)
    }
}

/// A socket as `std::io::Write`.
struct Socket<'a> {
    wire: &'a mut EpollWire,
    slot: u32,
    stream: &'a Stream,
}

impl Write for Socket<'_> {
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

impl Wire for TlsWire {
    fn open(&mut self, slot: u32, generation: u32) -> io::Result<(Stream, bool)> {
        let mut tls = ClientConnection::new(Arc::clone(&self.config), self.name.clone())
            .map_err(io::Error::other)?;
        tls.set_buffer_limit(None);
        let (socket, _) = self.inner.open(slot, generation)?;
        self.sessions[slot as usize] = Some(Box::new(Session { tls, broken: 0 }));
        Ok((socket, false))
    }

    fn send(
        &mut self,
        slot: u32,
        socket: &Stream,
        bytes: &[u8],
        _lasting: bool,
    ) -> io::Result<usize> {
        if let Some(session) = &mut self.sessions[slot as usize] {
            session.tls.writer().write_all(bytes)?;
        }
        // Where a part went out, the request was sent: it must not go again on another connection.
        match (self.flush(slot, socket), self.broken(slot)) {
            (0, broken) if broken != 0 => Err(io::Error::from_raw_os_error(broken)),
            _ => Ok(bytes.len()),
        }
    }

    fn close(&mut self, slot: u32, socket: Stream) {
        self.sessions[slot as usize] = None;
        self.inner.close(slot, socket);
    }

    fn syscalls(&self) -> u64 {
        self.inner.syscalls
    }
}

/// Drives a worker until its run is over.
pub fn drive(worker: &mut Worker, wire: &mut TlsWire) {
    let mut room = vec![Event::NONE; BATCH];
    let mut buffers = Buffers {
        cipher: vec![0; BUFFER],
        plain: vec![0; BUFFER],
    };
    let mut clock = worker.tick(wire, now(), 0);
    while !worker.is_over() {
        let patience = worker.next_wake(clock).saturating_sub(clock);
        let (unread, came) = wire.inner.events(&mut room, patience);
        let batch = unread.len() + came.len();
        clock = now();
        for event in unread {
            attend(worker, wire, &mut buffers, event);
        }
        for event in came {
            attend(worker, wire, &mut buffers, *event);
        }
        clock = worker.tick(wire, clock, batch);
    }
}

struct Buffers {
    cipher: Vec<u8>,
    plain: Vec<u8>,
}

fn attend(worker: &mut Worker, wire: &mut TlsWire, buffers: &mut Buffers, event: Event) {
    let (slot, generation) = place(event);
    if worker.generation(slot) != generation {
        return;
    }
    if event.writable() {
        let connection = worker.connection(slot);
        if connection.state == State::Connecting
            && let Some(error) = connection.take_error()
        {
            return worker.ended(wire, slot, errno(&error), now());
        }
        flush(worker, wire, slot);
    }
    if !event.readable() && !gone(event) {
        return;
    }
    for _ in 0..READS {
        if worker.generation(slot) != generation {
            return;
        }
        let Some(socket) = &worker.connection(slot).socket else {
            return;
        };
        match wire.inner.receive(socket, &mut buffers.cipher) {
            Ok(0) => worker.ended(wire, slot, wire.broken(slot), now()),
            Ok(length) => {
                let Buffers { cipher, plain } = buffers;
                decrypt(worker, wire, slot, generation, &cipher[..length], plain);
                if length < BUFFER && !gone(event) {
                    return;
                }
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => return,
                io::ErrorKind::Interrupted => {}
                _ => worker.ended(wire, slot, errno(&error), now()),
            },
        }
    }
    wire.inner.leave_unread(event);
}

/// As [`TlsWire::flush`], on a slot's socket.
fn flush(worker: &Worker, wire: &mut TlsWire, slot: u32) {
    if let Some(socket) = &worker.connection(slot).socket {
        wire.flush(slot, socket);
    }
}

fn decrypt(
    worker: &mut Worker,
    wire: &mut TlsWire,
    slot: u32,
    generation: u32,
    mut cipher: &[u8],
    plain: &mut [u8],
) {
    while worker.generation(slot) == generation {
        let Some(session) = &mut wire.sessions[slot as usize] else {
            return;
        };
        let taken = if cipher.is_empty() {
            Ok(0)
        } else {
            session.tls.read_tls(&mut cipher)
        };
        let closed = match taken.map(|_| session.tls.process_new_packets()) {
            Ok(Ok(state)) => state.peer_has_closed(),
            // A certificate that is not trusted, or records that are none.
            _ => return worker.ended(wire, slot, libc::EPROTO, now()),
        };
        let complete = !session.tls.is_handshaking();
        flush(worker, wire, slot);
        if complete && worker.connection(slot).state == State::Connecting {
            worker.opened(wire, slot, now());
        }
        while worker.generation(slot) == generation {
            let Some(session) = &mut wire.sessions[slot as usize] else {
                return;
            };
            match session.tls.reader().read(plain) {
                Ok(length) if length > 0 => worker.received(wire, slot, &plain[..length], now()),
                _ => break,
            }
        }
        if closed && worker.generation(slot) == generation {
            return worker.ended(wire, slot, 0, now());
        }
        if cipher.is_empty() {
            return;
        }
    }
}

fn config(tls: &Tls, target: &Target) -> Result<ClientConfig, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Job(format!("tls: {error}")))?;
    let local = target.address.ip().to_canonical().is_loopback();
    let verify = tls.verify.unwrap_or(tls.ca_file.is_some() || !local);
    let mut config = if verify {
        builder
            .with_root_certificates(authorities(tls)?)
            .with_no_client_auth()
    } else {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
            .with_no_client_auth()
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn authorities(tls: &Tls) -> Result<RootCertStore, Error> {
    let path = match &tls.ca_file {
        Some(path) => path.as_str(),
        None => SYSTEM_AUTHORITIES
            .into_iter()
            .find(|path| std::path::Path::new(path).exists())
            .ok_or_else(|| {
                Error::Job(
                    "tls: this system has no known file of authorities: name one as tls.ca_file"
                        .to_owned(),
                )
            })?,
    };
    let unreadable = |why: String| Error::Job(format!("tls.ca_file {path}: {why}"));
    let mut store = RootCertStore::empty();
    for certificate in
        CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?
    {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        // The system's file may hold a certificate that rustls does not take; one's own must not.
        if let Err(error) = store.add(certificate)
            && tls.ca_file.is_some()
        {
            return Err(unreadable(error.to_string()));
        }
    }
    if store.is_empty() {
        Err(unreadable("it holds no certificate".to_owned()))
    } else {
        Ok(store)
    }
}

/// Trusts whoever answers, for a server under test on this machine with a certificate of its own making.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
