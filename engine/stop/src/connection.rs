//! One connection: what is sent on it, and what comes back.

use crate::outcome::{Fate, Outcome};
use std::io;
use std::net::SocketAddr;
use touchstone_exchange::conversation::{Conversation, Declined};
use touchstone_exchange::{Progress, Reader, Response, Transport};
use touchstone_sys::clock::Nanos;
use touchstone_sys::socket::Stream;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It carries the requests of the load.
    Load,
    /// It carries one request that is to be under way at the signal.
    Held,
    /// It rests after one response.
    Idle,
    /// Nothing is sent on it, but for the handshake of TLS and the preface of HTTP/2.
    Silent,
    /// Half of a request is sent on it.
    HalfSent,
}

/// A request that waits for its response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub due: Nanos,
    /// Its place among the job's requests.
    pub request: usize,
    pub counter: u64,
}

/// What has come on a connection.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Nothing that says more.
    Nothing,
    /// A whole response.
    Response(Response),
    /// Bytes that are not a response.
    NotHttp(String),
    /// The connection, or the request's stream, ended within a response.
    Broken(String),
    /// The server declined the request over HTTP/2, or reset its stream, before a response began. The connection may go on.
    Declined(Outcome, String),
    /// The connection was never made.
    Refused(io::Error),
    /// The connection was reset before a response began: nobody read what was sent.
    Reset,
    /// The other end has closed before a response began. A reset may follow, which says that nobody read what was sent.
    End,
}

/// An open connection.
pub(crate) struct Connection {
    stream: Stream,
    pub role: Role,
    /// Whether a response has come on it before.
    pub used: bool,
    /// The request that it waits for.
    pub asked: Option<Asked>,
    /// When its end was seen, while it is not yet known whether a reset follows.
    pub ended: Option<Nanos>,
    unsent: Vec<u8>,
    /// Why it could not be sent. The kernel reports it once.
    unsendable: Option<io::Error>,
    conversation: Conversation,
}

impl Connection {
    /// Begins to connect, and to speak TLS where that is spoken.
    pub fn open(address: &SocketAddr, transport: &Transport, role: Role) -> io::Result<Self> {
        let mut conversation = Conversation::new(transport).map_err(io::Error::other)?;
        let mut unsent = Vec::new();
        conversation.begin(&mut unsent);
        let stream = Stream::new(address)?;
        stream.no_delay()?;
        stream.connect(address)?;
        Ok(Self {
            stream,
            role,
            used: false,
            asked: None,
            ended: None,
            unsent,
            unsendable: None,
            conversation,
        })
    }

    pub const fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Sends a request, now or as soon as there is room. An error shows when the connection is read.
    pub fn send(&mut self, request: &[u8], to_head: bool) {
        self.conversation.ask(request, to_head, &mut self.unsent);
        self.flush();
    }

    /// Sends the first half of a request.
    pub fn send_half(&mut self, request: &[u8]) {
        self.conversation.ask_half(request, &mut self.unsent);
        self.flush();
    }

    /// Whether a further request may be sent after the response, or the refusal, of the last.
    pub fn goes_on(&self) -> bool {
        self.conversation.is_open()
    }

    fn flush(&mut self) {
        if self.unsendable.is_none() {
            self.unsendable = self.stream.send_waiting(&mut self.unsent).err();
        }
    }

    /// Whether a further request may be sent: nothing has come but what belongs to TLS, and the other end has not closed.
    pub fn is_at_rest(&mut self) -> bool {
        matches!(self.hear(), Heard::Nothing)
    }

    /// Takes what has come.
    pub fn hear(&mut self) -> Heard {
        self.flush();
        let mut buffer = [0; 16 * 1024];
        loop {
            match self.stream.receive(&mut buffer) {
                Ok(0) => return self.hear_end(),
                Ok(count) => {
                    let progress = self.conversation.take(&buffer[..count], &mut self.unsent);
                    self.flush();
                    match progress {
                        Ok(Progress::Complete(response)) => return Heard::Response(response),
                        Ok(Progress::Partial) if self.conversation.has_ended() => {
                            return self.hear_end();
                        }
                        Ok(Progress::Partial) => {}
                        Err(why) => match self.unasked(false) {
                            Some(Ok(Progress::Partial)) => {}
                            Some(Ok(Progress::Complete(response))) => {
                                return Heard::Response(response);
                            }
                            Some(Err(_)) | None => return self.failed(why),
                        },
                    }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => return Heard::Nothing,
                    _ if self.conversation.begun() => return Heard::Broken(error.to_string()),
                    _ => {
                        self.unsendable.get_or_insert(error);
                        return self.not_sent();
                    }
                },
            }
        }
    }

    /// What an error of the conversation means for the request.
    fn failed(&self, why: String) -> Heard {
        match self.conversation.declined() {
            Some(Declined::Unprocessed) => Heard::Declined(Outcome::Unprocessed, why),
            Some(Declined::Reset) if self.conversation.begun() => Heard::Broken(why),
            Some(Declined::Reset) => Heard::Declined(Outcome::Cut, why),
            None => Heard::NotHttp(why),
        }
    }

    /// What came on a connection without a request, read as a response; none if nothing did.
    fn unasked(&self, ended: bool) -> Option<Result<Progress, String>> {
        let bytes = self.conversation.unasked();
        let mut reader = Reader::new(false);
        let read = (!bytes.is_empty()).then(|| reader.push(bytes));
        match read {
            Some(Ok(Progress::Partial)) if ended => Some(reader.close().map(Progress::Complete)),
            read => read,
        }
    }

    fn hear_end(&mut self) -> Heard {
        if let Some(Ok(Progress::Complete(response))) = self.unasked(true) {
            return Heard::Response(response);
        }
        match self.conversation.close() {
            Ok(response) => Heard::Response(response),
            Err(why) if self.conversation.begun() => Heard::Broken(why),
            Err(_) if self.unsendable.is_some() => self.not_sent(),
            Err(_) if self.stream.take_error().is_some() => Heard::Reset,
            Err(_) => Heard::End,
        }
    }

    /// What an error says that came before a response had begun.
    fn not_sent(&mut self) -> Heard {
        match self.unsendable.take() {
            Some(error) if is_refusal(&error) => Heard::Refused(error),
            _ => Heard::Reset,
        }
    }

    /// Whether the service had read the request, of a connection whose end was seen, and whether it was `reset`.
    pub fn fate(&self, reset: bool) -> Fate {
        if self.conversation.is_waiting() {
            return Fate::NotSent;
        }
        match reset || self.stream.take_error().is_some() {
            // What lay unread may be what was sent after the request. A client has to take the request for read.
            true if self.conversation.has_replied() => Fate::Read,
            true => Fate::NotRead,
            false => Fate::Read,
        }
    }
}

/// Whether there never was a connection.
fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::TimedOut
    )
}
