//! A WebSocket server that answers each message as a test says.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use touchstone_websocket::{Event, Reader, Role, accept_of};

/// The response that opens a WebSocket.
pub const SOUND: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                         Sec-WebSocket-Accept: {accept}\r\n\r\n";

/// What is done about a message.
pub enum Answer {
    /// These bytes are sent.
    Bytes(Vec<u8>),
    /// They are sent one by one.
    ByteByByte(Vec<u8>),
    /// They are sent after a while.
    Late(Vec<u8>),
    /// They are sent behind those of the next message.
    Keep(Vec<u8>),
    /// They are sent, and the connection ends.
    Close(Vec<u8>),
}

/// What a server does about the message of this number on its connection.
pub type Act = fn(usize, &[u8]) -> Answer;

/// A frame with its first byte.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ 0..=125 => bytes.push(length as u8),
        length @ 126..=0xffff => {
            bytes.push(126);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// A text message.
pub fn text(message: &[u8]) -> Vec<u8> {
    frame(0x81, message)
}

pub struct SocketServer {
    pub port: u16,
    connections: Arc<AtomicU64>,
}

impl SocketServer {
    /// Answers each handshake with `response`, in which `{accept}` is filled in; "close" ends the connection.
    pub fn start(response: &str, act: Act) -> Self {
        Self::greeting(response, b"", act)
    }

    /// As [`Self::start`]; `greeting` comes a little later.
    pub fn greeting(response: &str, greeting: &[u8], act: Act) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicU64::new(0));
        let opened = Arc::clone(&connections);
        let script = Arc::new((response.to_owned(), greeting.to_vec(), act));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                opened.fetch_add(1, Ordering::SeqCst);
                let script = Arc::clone(&script);
                std::thread::spawn(move || serve(stream, &script));
            }
        });
        Self { port, connections }
    }

    /// How many connections were accepted so far.
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }
}

fn serve(mut stream: TcpStream, (response, greeting, act): &(String, Vec<u8>, Act)) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    if response == "close" {
        return None;
    }
    let text = String::from_utf8(head).ok()?;
    let key = text
        .split("Sec-WebSocket-Key: ")
        .nth(1)?
        .split('\r')
        .next()?;
    let response = response.replace("{accept}", &accept_of(key.as_bytes()));
    stream.write_all(response.as_bytes()).ok()?;
    if !greeting.is_empty() {
        std::thread::sleep(Duration::from_millis(20));
        stream.write_all(greeting).ok()?;
    }
    let (mut reader, mut buffer) = (Reader::new(Role::Client), vec![0; 1 << 16]);
    let (mut number, mut kept) = (0, Vec::new());
    loop {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        let mut data = &buffer[..count];
        while let Some(event) = reader.read(&mut data).ok()? {
            let Event::Message(_, message) = event else {
                continue;
            };
            let answer = act(number, &message);
            number += 1;
            match answer {
                Answer::Bytes(bytes) => stream.write_all(&bytes).ok()?,
                Answer::ByteByByte(bytes) => {
                    for byte in bytes {
                        stream.write_all(&[byte]).ok()?;
                        std::thread::sleep(Duration::from_micros(200));
                    }
                }
                Answer::Late(bytes) => {
                    std::thread::sleep(Duration::from_millis(20));
                    stream.write_all(&bytes).ok()?;
                }
                Answer::Keep(bytes) => {
                    kept = bytes;
                    continue;
                }
                Answer::Close(bytes) => {
                    stream.write_all(&bytes).ok()?;
                    return None;
                }
            }
            stream.write_all(&std::mem::take(&mut kept)).ok()?;
        }
    }
}
