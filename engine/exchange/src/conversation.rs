//! The client's side of one connection: bytes of the server in; bytes for the server, and responses, out. Protocol and TLS
//! are known here alone, so that boot, hold and `ask` need not know them. One request is in flight at a time.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustls::ClientConnection;
use touchstone_h2::{Client, Event, Room, literal};
use touchstone_http::Head;
use touchstone_tls::{Settings, explain};

use crate::h2_fields::{body, fields, lower_names};
use crate::response::{LARGEST_BODY, Progress, Reader, Response, SoFar};
use crate::socket::{Opening, Socket};
use crate::transport::Transport;

/// Bytes that are kept of what a server answers to a handshake: another protocol shows there.
const BEGINNING: usize = 64;

/// One connection's state.
pub struct Conversation {
    tls: Option<Box<Secured>>,
    http: Http,
    scheme: &'static str,
    /// The request that waits for the handshake, or for the server's settings.
    waiting: Option<(Vec<u8>, bool)>,
    /// Whether the server was seen to speak something else.
    mismatch: bool,
    /// Plain bytes that nothing had asked for.
    unasked: Vec<u8>,
}

enum Http {
    One(Option<Box<Reader>>),
    Two(Box<Frames>),
    Socket(Box<Socket>),
}

impl Conversation {
    /// A connection on which nothing has been sent.
    ///
    /// # Errors
    /// A sentence on TLS settings that do not hold together.
    pub fn new(transport: &Transport) -> Result<Self, String> {
        let secured = transport.tls.as_ref().map(Secured::new).transpose()?;
        Ok(Self {
            tls: secured.map(Box::new),
            http: if transport.protocol.is_h2() {
                Http::Two(Box::default())
            } else {
                Http::One(None)
            },
            scheme: transport.scheme(),
            waiting: None,
            mismatch: false,
            unasked: Vec::new(),
        })
    }

    /// Whether the server was seen to speak something else than it is asked in: no TLS, none that the two have in common, or
    /// no HTTP/2.
    #[must_use]
    pub const fn is_mismatch(&self) -> bool {
        self.mismatch
    }

    /// The plain bytes of HTTP/1.1 that came while no request was in flight, and that failed the connection.
    #[must_use]
    pub fn unasked(&self) -> &[u8] {
        &self.unasked
    }

    /// Begins TLS, where that is spoken: appends to `out` what is sent first.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        self.go_on(Vec::new(), out);
    }

    /// Sends a request, whose response has no body where it goes `to_head`: appends to `out` what can be sent now. The rest
    /// follows with what [`Self::take`] is given.
    pub fn ask(&mut self, request: &[u8], to_head: bool, out: &mut Vec<u8>) {
        self.waiting = Some((request.to_vec(), to_head));
        self.go_on(Vec::new(), out);
    }

    /// Opens a WebSocket in place of sending a request, and sends its message over it: the message that comes back is the
    /// response.
    pub fn open(&mut self, opening: &Opening, out: &mut Vec<u8>) {
        self.http = Http::Socket(Box::new(Socket::new(opening)));
        self.ask(&opening.request, false, out);
    }

    /// Takes what has arrived, and appends to `out` what is to be sent.
    ///
    /// # Errors
    /// A sentence on what the server did wrong; `out` is to be sent all the same.
    pub fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<Progress, String> {
        if self.tls.is_none() {
            return self.read(bytes, out);
        }
        let mut progress = Progress::Partial;
        while let Some(tls) = &mut self.tls
            && !bytes.is_empty()
        {
            let handshaking = !tls.is_open();
            let plain = tls.take(&mut bytes);
            if plain.is_err() {
                self.mismatch = handshaking;
                self.go_on(Vec::new(), out);
            }
            let plain = plain?;
            if let whole @ Progress::Complete(_) = self.read(&plain, out)? {
                progress = whole;
            }
        }
        Ok(progress)
    }

    /// Whether anything of the response in flight has come.
    #[must_use]
    pub fn begun(&self) -> bool {
        match &self.http {
            Http::One(reader) => reader.as_ref().is_some_and(|reader| reader.begun()),
            Http::Two(frames) => frames.head.is_some(),
            Http::Socket(socket) => socket.begun(),
        }
    }

    /// What has come of a response whose end has not come, in words; empty before the end of its head.
    #[must_use]
    pub fn so_far(&self) -> String {
        match &self.http {
            Http::One(reader) => reader.as_ref().map_or(String::new(), |one| one.so_far()),
            Http::Two(frames) => frames.so_far(),
            Http::Socket(socket) => socket.so_far(),
        }
    }

    /// The response in flight, once its head has come.
    #[must_use]
    pub fn seen(&self) -> Option<SoFar<'_>> {
        match &self.http {
            Http::One(reader) => reader.as_ref()?.seen(),
            Http::Two(frames) => {
                let (head, text) = frames.head.as_ref()?;
                Some(SoFar {
                    head: (*head, text),
                    body: &frames.body,
                    ends: &frames.ends,
                })
            }
            Http::Socket(_) => None,
        }
    }

    /// The server has closed.
    ///
    /// # Errors
    /// When the response is not whole.
    pub fn close(&mut self) -> Result<Response, String> {
        if let Some(why) = self.ended(0) {
            return Err(why);
        }
        match &mut self.http {
            Http::One(Some(reader)) => reader.close(),
            Http::Socket(socket) => Err(socket.closed()),
            Http::Two(frames) if frames.head.is_some() => {
                Err("closed inside the response".to_owned())
            }
            _ => Err("closed without a response".to_owned()),
        }
    }

    /// Whether a further request may be sent.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let ended = self.tls.as_ref().is_some_and(|tls| tls.ended);
        !ended
            && match &self.http {
                Http::One(_) => true,
                Http::Two(frames) => !frames.client.is_ending(),
                // It has carried its message.
                Http::Socket(_) => false,
            }
    }

    /// The connection ended with an error number, or 0 if the server closed it: why, where more is known than the number.
    pub fn ended(&mut self, error: i32) -> Option<String> {
        if let Some(tls) = &self.tls
            && let Some(why) = tls.end(error)
        {
            self.mismatch = !tls.is_open();
            return Some(why);
        }
        match &self.http {
            Http::Two(frames) if !frames.open => {
                self.mismatch = true;
                Some(
                    "the connection ended where HTTP/2 began: the server may not speak it"
                        .to_owned(),
                )
            }
            _ => None,
        }
    }

    /// Takes plain bytes of the server.
    fn read(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Progress, String> {
        let mut sent = Vec::new();
        let progress = match &mut self.http {
            _ if bytes.is_empty() => Ok(Progress::Partial),
            Http::One(Some(reader)) => reader.push(bytes),
            Http::One(None) => {
                self.unasked.extend_from_slice(bytes);
                Err("bytes came that nothing had asked for".to_owned())
            }
            Http::Socket(socket) => socket.take(bytes, &mut sent),
            Http::Two(frames) => {
                // The server's settings may come with the end of the handshake, ahead of the client's preface.
                frames.greet(&mut sent);
                let progress = frames.take(bytes, &mut sent);
                self.mismatch |= progress.is_err() && !frames.open;
                progress
            }
        };
        self.go_on(sent, out);
        let progress = progress?;
        if let (Http::One(reader), Progress::Complete(_)) = (&mut self.http, &progress) {
            *reader = None;
        }
        Ok(progress)
    }

    /// Appends what can be sent now: plain bytes, and the request that waits.
    fn go_on(&mut self, mut plain: Vec<u8>, out: &mut Vec<u8>) {
        let open = self.tls.as_ref().is_none_or(|tls| tls.is_open());
        match &mut self.http {
            _ if !open => {}
            Http::One(reader) => {
                if let Some((request, to_head)) = self.waiting.take() {
                    *reader = Some(Box::new(Reader::new(to_head)));
                    plain = request;
                }
            }
            Http::Socket(_) => {
                if let Some((request, _)) = self.waiting.take() {
                    plain = request;
                }
            }
            Http::Two(frames) => {
                frames.greet(&mut plain);
                if frames.open
                    && let Some((request, to_head)) = self.waiting.take()
                {
                    frames.ask(request, to_head, self.scheme, &mut plain);
                }
            }
        }
        match &mut self.tls {
            Some(tls) => tls.send(&plain, out),
            None => out.append(&mut plain),
        }
    }
}

/// TLS on a connection.
struct Secured {
    session: ClientConnection,
    settings: Arc<Settings>,
    /// What the server sent first.
    beginning: Vec<u8>,
    /// Whether it asked for a client's certificate.
    asked: bool,
    /// Whether it has sent plain bytes since the handshake.
    answered: bool,
    /// Whether it has ended TLS (`close_notify`).
    ended: bool,
}

impl Secured {
    fn new(settings: &Arc<Settings>) -> Result<Self, String> {
        let config = Arc::clone(&settings.config);
        let session = ClientConnection::new(config, settings.name.clone());
        let mut session = session.map_err(|error| format!("tls: {error}"))?;
        session.set_buffer_limit(None);
        Ok(Self {
            session,
            settings: Arc::clone(settings),
            beginning: Vec::new(),
            asked: false,
            answered: false,
            ended: false,
        })
    }

    fn is_open(&self) -> bool {
        !self.session.is_handshaking()
    }

    /// Takes some bytes of TLS; gives the plain ones in them.
    fn take(&mut self, cipher: &mut &[u8]) -> Result<Vec<u8>, String> {
        let handshaking = !self.is_open();
        if handshaking {
            let kept = BEGINNING.saturating_sub(self.beginning.len());
            self.beginning
                .extend_from_slice(&cipher[..kept.min(cipher.len())]);
        }
        let read = self.session.read_tls(cipher);
        if read.map_err(|error| error.to_string())? == 0 {
            // The server has ended the session: what follows is none of TLS's.
            *cipher = &[];
            return Ok(Vec::new());
        }
        let state = self.session.process_new_packets();
        self.asked |= self.settings.asked.swap(false, Ordering::Relaxed);
        let handshake = &self.settings.handshake;
        match state {
            Ok(state) => self.ended = state.peer_has_closed(),
            Err(error) => {
                let why = explain::failure(&error, handshake, self.asked, &self.beginning);
                return Err(format!("no TLS: {why}"));
            }
        }
        if handshaking && self.is_open() {
            // A server that takes no part in ALPN speaks HTTP/1.1.
            let alpn = self.session.alpn_protocol();
            let protocol = handshake.protocol;
            if protocol.is_h2() && alpn != Some(protocol.alpn().as_bytes()) {
                return Err(format!("no TLS: {}", explain::not_spoken(protocol)));
            }
        }
        let mut plain = Vec::new();
        // An error says that there is no more for now, or that the session is closed.
        let _ = self.session.reader().read_to_end(&mut plain);
        self.answered |= !plain.is_empty();
        Ok(plain)
    }

    /// Appends plain bytes as TLS, and what TLS itself has to say.
    fn send(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        // Neither fails: the session takes any length, and a vector grows.
        let _ = self.session.writer().write_all(plain);
        while self.session.wants_write() && self.session.write_tls(out).is_ok() {}
    }

    fn end(&self, error: i32) -> Option<String> {
        let asked = self.asked && !self.answered;
        explain::end(error, !self.is_open(), asked, &self.settings.handshake)
    }
}

/// HTTP/2 on a connection.
struct Frames {
    client: Client<()>,
    room: Room,
    /// Whether the preface has been sent.
    greeted: bool,
    /// Whether the server's settings have come.
    open: bool,
    /// What has come of the response.
    head: Option<(Head, Vec<u8>)>,
    body: Vec<u8>,
    ends: Vec<usize>,
    trailers: Vec<u8>,
}

impl Default for Frames {
    fn default() -> Self {
        Self {
            client: Client::new(1),
            room: Room::default(),
            greeted: false,
            open: false,
            head: None,
            body: Vec::new(),
            ends: Vec::new(),
            trailers: Vec::new(),
        }
    }
}

impl Frames {
    /// Appends the preface, once.
    fn greet(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.greeted, true) {
            Client::<()>::greet(out);
        }
    }

    fn ask(&mut self, mut text: Vec<u8>, to_head: bool, scheme: &str, out: &mut Vec<u8>) {
        let end = lower_names(&mut text);
        let mut block = Vec::new();
        for (name, value) in fields(&text[..end], scheme) {
            literal(name, value, &mut block);
        }
        self.client
            .start(&block, body(&text, end), to_head, (), out);
    }

    fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<Progress, String> {
        let mut progress = Progress::Partial;
        while let Some(event) = self
            .client
            .read(&mut bytes, &mut self.room, out)
            .map_err(|fault| format!("no HTTP/2: {fault}"))?
        {
            let (at, end) = match event {
                Event::Settings => {
                    self.open = true;
                    continue;
                }
                Event::Head {
                    at,
                    head,
                    repeated,
                    end,
                } => {
                    let text = if repeated {
                        self.client.last_head().to_vec()
                    } else {
                        self.room.head.clone()
                    };
                    self.head = Some((head, text));
                    (at, end)
                }
                Event::Data {
                    at,
                    bytes,
                    frame_ends,
                    end,
                } => {
                    self.keep(bytes, frame_ends)?;
                    (at, end)
                }
                Event::Trailers { at } => {
                    self.trailers.clone_from(&self.room.head);
                    (at, true)
                }
                Event::End { at } => (at, true),
                Event::Reset { code, .. } => {
                    let why = "the server gave up the request's stream";
                    return Err(format!("{why}: {}", code.name()));
                }
                Event::Malformed { why, .. } => return Err(format!("not HTTP/2: {why}")),
                Event::GoingAway { code } => {
                    if self.client.unprocessed().is_some() {
                        return Err(format!("the server went away: {}", code.name()));
                    }
                    continue;
                }
            };
            if end && let Some((head, text)) = self.head.take() {
                self.client.take(at, out);
                progress = Progress::Complete(Response {
                    status: head.status,
                    head: text,
                    body: std::mem::take(&mut self.body),
                    ends: std::mem::take(&mut self.ends),
                    trailers: std::mem::take(&mut self.trailers),
                    keep_alive: true,
                    message: None,
                });
            }
        }
        if let Progress::Complete(response) = &mut progress {
            response.keep_alive = !self.client.is_ending();
        }
        Ok(progress)
    }

    /// Keeps a part of the body, with which a DATA frame may end.
    fn keep(&mut self, bytes: &[u8], frame_ends: bool) -> Result<(), String> {
        if self.body.len() + bytes.len() > LARGEST_BODY {
            return Err(format!("the body is larger than {LARGEST_BODY} bytes"));
        }
        self.body.extend_from_slice(bytes);
        if frame_ends {
            self.ends.push(self.body.len());
        }
        Ok(())
    }

    fn so_far(&self) -> String {
        let Some((head, text)) = &self.head else {
            return String::new();
        };
        crate::response::so_far(*head, text, self.body.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::server::WebPkiClientVerifier;
    use rustls::{RootCertStore, ServerConfig, ServerConnection};
    use touchstone_tls::{Protocol, Tls};

    /// Both sides of a connection over TLS after the handshake. The server may ask for a client's certificate; it takes a
    /// client without one.
    fn both_sides(asks: bool) -> (Conversation, ServerConnection) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if asks {
            let mut roots = RootCertStore::empty();
            roots.add(made.cert.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.allow_unauthenticated().build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let config = builder.with_single_cert(vec![made.cert.der().clone()], key.into());
        let mut server = ServerConnection::new(Arc::new(config.unwrap())).unwrap();
        let target = crate::Target::parse("https://127.0.0.1:1", None).unwrap();
        let transport = Transport::to(&target, Protocol::H1, &Tls::default()).unwrap();
        let mut client = Conversation::new(&transport).unwrap();
        let mut out = Vec::new();
        client.go_on(Vec::new(), &mut out);
        client.tls.as_mut().unwrap().send(&[], &mut out);
        while !out.is_empty() {
            hand_over(&out, &mut server);
            out.clear();
            client.take(&written(&mut server), &mut out).unwrap();
        }
        assert!(!server.is_handshaking());
        (client, server)
    }

    fn hand_over(mut bytes: &[u8], server: &mut ServerConnection) {
        while !bytes.is_empty() {
            server.read_tls(&mut bytes).unwrap();
            server.process_new_packets().unwrap();
        }
    }

    fn written(server: &mut ServerConnection) -> Vec<u8> {
        let mut bytes = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut bytes).unwrap();
        }
        bytes
    }

    #[test]
    fn bytes_after_the_end_of_tls_are_dropped_and_those_before_it_count() {
        let (mut client, mut server) = both_sides(false);
        let mut out = Vec::new();
        client.ask(b"GET / HTTP/1.1\r\n\r\n", false, &mut out);
        hand_over(&out, &mut server);
        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong";
        server.writer().write_all(response).unwrap();
        server.send_close_notify();
        let mut bytes = written(&mut server);
        bytes.extend_from_slice(&[b'x'; 10_000]);
        let progress = client.take(&bytes, &mut out).unwrap();
        assert!(matches!(progress, Progress::Complete(one) if one.body == b"pong"));
        let more = client.take(b"more", &mut out).unwrap();
        assert!(matches!(more, Progress::Partial));
    }

    #[test]
    fn a_response_that_a_close_ends_is_whole_where_a_certificate_was_asked_for() {
        let (mut client, mut server) = both_sides(true);
        let mut out = Vec::new();
        client.ask(b"GET / HTTP/1.1\r\n\r\n", false, &mut out);
        assert!(client.tls.as_ref().unwrap().asked);
        let refused = client.tls.as_ref().unwrap().end(0).unwrap();
        assert!(refused.contains("asked for a client's certificate"));
        hand_over(&out, &mut server);
        let response = b"HTTP/1.1 200 OK\r\n\r\npong";
        server.writer().write_all(response).unwrap();
        client.take(&written(&mut server), &mut out).unwrap();
        assert_eq!(client.close().unwrap().body, b"pong");
    }

    #[test]
    fn what_nothing_had_asked_for_is_kept_in_plain_bytes() {
        let (mut client, mut server) = both_sides(false);
        let notice = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";
        server.writer().write_all(notice).unwrap();
        let mut out = Vec::new();
        assert!(client.take(&written(&mut server), &mut out).is_err());
        assert_eq!(client.unasked(), notice);
    }

    #[test]
    fn the_preface_goes_out_before_the_acknowledgement_of_settings_that_came_first() {
        // nginx 1.22 sends its settings with the end of the TLS handshake, before the client has sent anything.
        let mut conversation = Conversation::new(&Transport {
            protocol: Protocol::H2c,
            ..Transport::default()
        })
        .unwrap();
        let no_settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        let mut out = Vec::new();
        conversation.take(&no_settings, &mut out).unwrap();
        assert!(out.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
        let acknowledgement = [0, 0, 0, 4, 1, 0, 0, 0, 0];
        assert!(out.ends_with(&acknowledgement));
    }
}
