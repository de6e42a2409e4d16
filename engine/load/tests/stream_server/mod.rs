//! An HTTP/1.1 server that answers each request with the same parts of a stream.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a response is made of.
#[derive(Debug, Clone)]
pub enum Part {
    /// Bytes as they are.
    Raw(Vec<u8>),
    /// A chunk.
    Chunk(String),
    /// Milliseconds without a byte.
    Pause(u64),
    /// The last chunk.
    End,
    /// The connection's end.
    Close,
}

pub struct StreamServer {
    pub port: u16,
    pub connections: Arc<AtomicU64>,
}

impl StreamServer {
    pub fn start(parts: Vec<Part>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicU64::new(0));
        let opened = Arc::clone(&connections);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                opened.fetch_add(1, Ordering::SeqCst);
                let parts = parts.clone();
                std::thread::spawn(move || while answer(&stream, &parts).is_some() {});
            }
        });
        Self { port, connections }
    }
}

/// Answers one request; nothing when the connection is over.
fn answer(stream: &TcpStream, parts: &[Part]) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(stream).lines();
    while !lines.next()?.ok()?.is_empty() {}
    let mut out = stream;
    for part in parts {
        match part {
            Part::Raw(bytes) => out.write_all(bytes).ok()?,
            Part::Chunk(text) => {
                let chunk = format!("{:x}\r\n{text}\r\n", text.len());
                out.write_all(chunk.as_bytes()).ok()?;
            }
            Part::Pause(millis) => std::thread::sleep(Duration::from_millis(*millis)),
            Part::End => out.write_all(b"0\r\n\r\n").ok()?,
            Part::Close => return None,
        }
    }
    Some(())
}

/// The head of a chunked response of a media type.
pub fn chunked(media_type: &str) -> Part {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type:";
    Part::Raw(format!("{head} {media_type}\r\n\r\n").into_bytes())
}

/// A server-sent event with this number.
pub fn event(number: i64) -> String {
    format!("id: {number}\ndata: {{\"n\":{number}}}\n\n")
}
