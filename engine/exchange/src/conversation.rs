//! The client's side of one connection: bytes of the server in; bytes for the server, and responses, out. Protocol and TLS
//! are known here alone, so that boot, hold and `ask` need not know them. One request is in flight at a time.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustls::ClientConnection;
use touchstone_tls::{Settings, explain};

use crate::frames::Frames;
use crate::response::{Progress, Reader, Response, SoFar};
use crate::socket::{Opening, Socket};
use crate::transport::Transport;

pub use crate::frames::Declined;

/// Bytes that are kept of what a server answers to a handshake: another protocol shows there.
const BEGINNING: usize = 64;

/// One connection's state.
pub struct Conversation {
    tls: Option<Box<Secured>>,
    http: Http,
    scheme: &'static str,
    /// The request that waits for the handshake, or for the server's settings.
    waiting: Option<Waiting>,
    /// Whether nothing more is sent, because half of a request was.
    silenced: bool,
    /// Whether the server was seen to speak something else.
    mismatch: bool,
    /// Plain bytes that nothing had asked for.
    unasked: Vec<u8>,
}

struct Waiting {
    request: Vec<u8>,
    to_head: bool,
    /// Whether only the first half of its bytes is sent, and nothing after it.
    half: bool,
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
            silenced: false,
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
        self.send(request, to_head, false, out);
    }

    /// Sends the first half of a request's bytes, and nothing after it: appends to `out` what can be sent now.
    pub fn ask_half(&mut self, request: &[u8], out: &mut Vec<u8>) {
        self.send(request, false, true, out);
    }

    fn send(&mut self, request: &[u8], to_head: bool, half: bool, out: &mut Vec<u8>) {
        self.waiting = Some(Waiting {
            request: request.to_vec(),
            to_head,
            half,
        });
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
            Http::Two(frames) => frames.begun(),
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
            Http::Two(frames) => frames.seen(),
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
            Http::Two(frames) if frames.begun() => Err("closed inside the response".to_owned()),
            _ => Err("closed without a response".to_owned()),
        }
    }

    /// Whether the request that was asked has not been sent yet.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// How the server declined the last request over HTTP/2; none if it did not.
    #[must_use]
    pub const fn declined(&self) -> Option<Declined> {
        match &self.http {
            Http::Two(frames) => frames.declined,
            _ => None,
        }
    }

    /// Whether frames of the server were answered while the request was in flight. The server may not read these answers,
    /// though it has read the request.
    #[must_use]
    pub const fn has_replied(&self) -> bool {
        matches!(&self.http, Http::Two(frames) if frames.replied)
    }

    /// Whether nothing more comes: the server has ended TLS, or takes no more requests and none is in flight.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let tls = self.tls.as_ref().is_some_and(|tls| tls.ended);
        tls || matches!(&self.http, Http::Two(frames) if frames.is_ending() && !frames.is_busy())
    }

    /// Whether a further request may be sent.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let ended = self.tls.as_ref().is_some_and(|tls| tls.ended);
        !ended
            && match &self.http {
                Http::One(_) => true,
                Http::Two(frames) => !frames.is_ending(),
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
                progress.and_then(|progress| match &self.waiting {
                    Some(_) => frames.still_takes().map(|()| progress),
                    None => Ok(progress),
                })
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
        if self.silenced {
            plain.clear();
        }
        if self.tls.as_ref().is_none_or(|tls| tls.is_open()) {
            let ready = match &mut self.http {
                Http::Two(frames) => {
                    frames.greet(&mut plain);
                    frames.takes_requests()
                }
                _ => true,
            };
            if ready && let Some(one) = self.waiting.take() {
                self.write(one, &mut plain);
            }
        }
        match &mut self.tls {
            Some(tls) => tls.send(&plain, out),
            None => out.append(&mut plain),
        }
    }

    /// Appends a request as the protocol has it, or the first half of its bytes.
    fn write(&mut self, one: Waiting, plain: &mut Vec<u8>) {
        let from = plain.len();
        match &mut self.http {
            Http::One(reader) => {
                *reader = Some(Box::new(Reader::new(one.to_head)));
                plain.extend(one.request);
            }
            Http::Socket(_) => plain.extend(one.request),
            Http::Two(frames) => frames.ask(one.request, one.to_head, self.scheme, plain),
        }
        self.silenced = one.half;
        if one.half {
            plain.truncate(usize::midpoint(from, plain.len()));
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

    const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    const HEADERS: u8 = 1;
    const RST_STREAM: u8 = 3;
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    const GOAWAY: u8 = 7;
    const ACKNOWLEDGED: [u8; 9] = [0, 0, 0, SETTINGS, 1, 0, 0, 0, 0];

    fn frame(kind: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, payload.len() as u8, kind, 0, 0, 0, 0, stream];
        bytes.extend_from_slice(payload);
        bytes
    }

    /// A connection over HTTP/2, and the bytes that it has sent.
    fn over_http2() -> (Conversation, Vec<u8>) {
        let mut conversation = Conversation::new(&Transport {
            protocol: Protocol::H2c,
            ..Transport::default()
        })
        .unwrap();
        let mut out = Vec::new();
        conversation.begin(&mut out);
        (conversation, out)
    }

    #[test]
    fn a_request_that_waits_for_settings_is_unprocessed_where_goaway_comes_with_them() {
        let (mut client, mut out) = over_http2();
        client.ask(GET, false, &mut out);
        assert!(client.is_waiting());
        out.clear();
        let both = [frame(SETTINGS, 0, &[]), frame(GOAWAY, 0, &[0; 8])].concat();
        assert!(client.take(&both, &mut out).is_err());
        assert_eq!(client.declined(), Some(Declined::Unprocessed));
        assert!(!client.is_open());
        assert_eq!(out, ACKNOWLEDGED, "nothing is asked");
    }

    #[test]
    fn a_request_waits_while_the_server_allows_no_stream() {
        let (mut client, mut out) = over_http2();
        client.ask(GET, false, &mut out);
        let none = frame(SETTINGS, 0, &[0, 3, 0, 0, 0, 0]);
        client.take(&none, &mut out).unwrap();
        assert!(client.is_waiting());
        let one = frame(SETTINGS, 0, &[0, 3, 0, 0, 0, 1]);
        client.take(&one, &mut out).unwrap();
        assert!(!client.is_waiting());
    }

    #[test]
    fn a_stream_that_is_refused_leaves_a_connection_for_the_next_request() {
        let (mut client, mut out) = over_http2();
        client.take(&frame(SETTINGS, 0, &[]), &mut out).unwrap();
        client.ask(GET, false, &mut out);
        let refused = frame(RST_STREAM, 1, &[0, 0, 0, 7]);
        assert!(client.take(&refused, &mut out).is_err());
        assert_eq!(client.declined(), Some(Declined::Unprocessed));
        assert!(client.is_open() && !client.has_ended());
        client.ask(GET, false, &mut out);
        assert_eq!(client.declined(), None);
        let head = [0, 0, 1, HEADERS, 5, 0, 0, 0, 3, 0x88];
        let progress = client.take(&head, &mut out).unwrap();
        assert!(matches!(progress, Progress::Complete(one) if one.status == 200));
    }

    #[test]
    fn a_stream_that_is_reset_inside_its_response_is_no_refusal_and_frames_behind_it_count() {
        let (mut client, mut out) = over_http2();
        client.take(&frame(SETTINGS, 0, &[]), &mut out).unwrap();
        client.ask(GET, false, &mut out);
        let mut bytes = vec![0, 0, 1, HEADERS, 4, 0, 0, 0, 1, 0x88];
        bytes.extend(frame(RST_STREAM, 1, &[0, 0, 0, 8]));
        bytes.extend(frame(GOAWAY, 0, &[0, 0, 0, 1, 0, 0, 0, 0]));
        assert!(client.take(&bytes, &mut out).is_err());
        assert_eq!(client.declined(), Some(Declined::Reset));
        assert!(client.begun() && client.has_ended());
    }

    #[test]
    fn goaway_that_includes_the_request_lets_its_response_come() {
        let (mut client, mut out) = over_http2();
        client.take(&frame(SETTINGS, 0, &[]), &mut out).unwrap();
        client.ask(GET, false, &mut out);
        assert!(!client.has_replied());
        let goaway = frame(GOAWAY, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
        let more = [goaway, frame(PING, 0, &[0; 8])].concat();
        assert!(matches!(
            client.take(&more, &mut out),
            Ok(Progress::Partial)
        ));
        assert!(client.has_replied() && !client.has_ended() && !client.is_open());
        let head = [0, 0, 1, HEADERS, 5, 0, 0, 0, 1, 0x88];
        let progress = client.take(&head, &mut out).unwrap();
        assert!(matches!(progress, Progress::Complete(one) if !one.keep_alive));
    }

    #[test]
    fn half_of_a_request_is_followed_by_nothing() {
        let (mut client, mut out) = over_http2();
        client.ask_half(GET, &mut out);
        out.clear();
        client.take(&frame(SETTINGS, 0, &[]), &mut out).unwrap();
        let half = out.strip_prefix(&ACKNOWLEDGED).unwrap();
        assert_eq!(half[3], HEADERS);
        assert!(usize::from(half[2]) + 9 > half.len());
        out.clear();
        client.take(&frame(PING, 0, &[0; 8]), &mut out).unwrap();
        assert!(out.is_empty());
        let mut plain = Conversation::new(&Transport::default()).unwrap();
        plain.ask_half(GET, &mut out);
        assert_eq!(out, GET[..GET.len() / 2]);
    }
}
