//! An HTTP/2 server that does with each request what a script says, in clear or over TLS, and counts what came.

// Each test binary uses a part of this.
#![allow(dead_code)]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use touchstone_h2::frame::{self, FrameHead, Kind, flag};
use touchstone_h2::{Decoder, Scratch, literal};

/// What the server has counted.
#[derive(Debug, Default)]
pub struct Counters {
    pub connections: AtomicU64,
    pub requests: AtomicU64,
    /// The most streams that were open at once on a connection.
    pub most_open: AtomicU64,
}

/// A request that came whole.
#[derive(Debug, Clone)]
pub struct Request {
    pub stream: u32,
    /// Its number on its connection, and over all; from 1.
    pub number: u64,
    pub total: u64,
    pub fields: HashMap<String, String>,
    pub body: Vec<u8>,
}

/// What is done with a request: the bytes to send, and whether the connection is closed behind them. Nothing to send
/// leaves the stream open.
pub type Script = dyn Fn(&Request) -> (Vec<u8>, bool) + Send + Sync;

/// As bytes of a script: these are sent without TLS on a connection over TLS.
pub const NOT_TLS: &[u8] = b"no record of TLS";

pub struct H2Server {
    pub port: u16,
    pub counters: Arc<Counters>,
}

/// A whole response: status 200, these fields, and a body.
pub fn response(stream: u32, fields: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut block = vec![0x88];
    for (name, value) in fields {
        literal(name.as_bytes(), value.as_bytes(), &mut block);
    }
    let mut out = Vec::new();
    frame::write_block(stream, &block, false, &mut out);
    for piece in body.chunks(10_000) {
        frame::write(Kind::DATA, 0, stream, piece, &mut out);
    }
    frame::write(Kind::DATA, flag::END_STREAM, stream, &[], &mut out);
    out
}

/// A response whose body comes in the frame that ends the stream.
pub fn short_response(stream: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write_block(stream, &[0x88], false, &mut out);
    frame::write(Kind::DATA, flag::END_STREAM, stream, body, &mut out);
    out
}

impl H2Server {
    /// Serves with these settings.
    pub fn start(
        settings: &'static [(u16, u32)],
        script: impl Fn(&Request) -> (Vec<u8>, bool) + Send + Sync + 'static,
    ) -> Self {
        Self::over(settings, script, None)
    }

    /// Serves, over TLS where that is given.
    pub fn over(
        settings: &'static [(u16, u32)],
        script: impl Fn(&Request) -> (Vec<u8>, bool) + Send + Sync + 'static,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let counters = Arc::new(Counters::default());
        let seen = Arc::clone(&counters);
        let script: Arc<Script> = Arc::new(script);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // Without it a response in two writes waits 40 ms for the client's acknowledgement.
                stream.set_nodelay(true).unwrap();
                let (seen, script, tls) = (Arc::clone(&seen), Arc::clone(&script), tls.clone());
                std::thread::spawn(move || match tls {
                    None => serve(stream, settings, &seen, &*script),
                    Some(config) => {
                        let session = rustls::ServerConnection::new(config).unwrap();
                        let stream = rustls::StreamOwned::new(session, stream);
                        serve(stream, settings, &seen, &*script)
                    }
                });
            }
        });
        Self { port, counters }
    }

    pub fn count(&self, which: impl Fn(&Counters) -> &AtomicU64) -> u64 {
        which(&self.counters).load(Ordering::SeqCst)
    }
}

/// A client's connection.
trait Peer: Read + Write {
    fn socket(&mut self) -> &mut TcpStream;
}

impl Peer for TcpStream {
    fn socket(&mut self) -> &mut TcpStream {
        self
    }
}

impl Peer for rustls::StreamOwned<rustls::ServerConnection, TcpStream> {
    fn socket(&mut self) -> &mut TcpStream {
        &mut self.sock
    }
}

/// Serves one connection to its end.
fn serve(
    mut peer: impl Peer,
    settings: &[(u16, u32)],
    seen: &Counters,
    script: &Script,
) -> Option<()> {
    seen.connections.fetch_add(1, Ordering::SeqCst);
    let mut preface = [0; frame::PREFACE.len()];
    peer.read_exact(&mut preface).ok()?;
    assert_eq!(preface, frame::PREFACE);
    let mut out = Vec::new();
    frame::write_settings(settings, &mut out);
    let (mut decoder, mut scratch) = (Decoder::default(), Scratch::default());
    let (mut number, mut open) = (0, HashMap::new());
    loop {
        peer.write_all(&out).ok()?;
        out.clear();
        let mut head = [0; frame::HEAD];
        peer.read_exact(&mut head).ok()?;
        let head = FrameHead::read(&head);
        let mut payload = vec![0; head.length];
        peer.read_exact(&mut payload).ok()?;
        let (kind, stream) = (head.kind, head.stream);
        let ends = matches!(kind, Kind::HEADERS | Kind::DATA) && head.has(flag::END_STREAM);
        if kind == Kind::HEADERS && !head.has(flag::END_HEADERS) {
            payload.extend(continuations(&mut peer)?);
        }
        match kind {
            Kind::HEADERS => {
                let fields = decoded(&mut decoder, &mut scratch, &payload);
                open.insert(stream, (fields, Vec::new()));
                let most = open.len() as u64;
                seen.most_open.fetch_max(most, Ordering::SeqCst);
            }
            Kind::DATA => {
                if let Some((_, body)) = open.get_mut(&stream) {
                    body.extend_from_slice(&payload);
                }
            }
            Kind::SETTINGS if !head.has(flag::ACK) => {
                frame::write(Kind::SETTINGS, flag::ACK, 0, &[], &mut out);
            }
            Kind::GOAWAY => return None,
            _ => {}
        }
        if ends && let Some((fields, body)) = open.get(&stream).cloned() {
            number += 1;
            let request = Request {
                stream,
                number,
                total: seen.requests.fetch_add(1, Ordering::SeqCst) + 1,
                fields,
                body,
            };
            let (bytes, close) = script(&request);
            if !bytes.is_empty() {
                open.remove(&stream);
            }
            if bytes == NOT_TLS {
                peer.socket().write_all(&bytes).ok()?;
                continue;
            }
            out.extend_from_slice(&bytes);
            if close {
                let _ = peer.write_all(&out);
                let _ = peer.flush();
                // The client reads what was sent before the end, which is a reset if bytes are left unread.
                std::thread::sleep(Duration::from_millis(5));
                return None;
            }
        }
    }
}

/// The fields of a header block.
fn decoded(decoder: &mut Decoder, scratch: &mut Scratch, block: &[u8]) -> HashMap<String, String> {
    let mut fields = HashMap::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let take = |name: &[u8], value: &[u8]| {
        fields.insert(text(name), text(value));
    };
    decoder.decode(block, 1 << 16, scratch, take).unwrap();
    fields
}

/// The rest of a header block.
fn continuations(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut block = Vec::new();
    loop {
        let mut head = [0; frame::HEAD];
        stream.read_exact(&mut head).ok()?;
        let head = FrameHead::read(&head);
        assert_eq!(head.kind, Kind::CONTINUATION);
        let begin = block.len();
        block.resize(begin + head.length, 0);
        stream.read_exact(&mut block[begin..]).ok()?;
        if head.has(flag::END_HEADERS) {
            return Some(block);
        }
    }
}

/// A server that answers whatever comes with these bytes, and closes.
pub fn answers(bytes: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut buffer = [0; 1024];
            let _ = stream.read(&mut buffer);
            let _ = TcpStream::write_all(&mut stream, bytes);
        }
    });
    port
}
