//! HTTP/2 on a connection of a conversation: one request at a time.

use touchstone_h2::{Client, Code, Event, Room, literal};
use touchstone_http::Head;

use crate::h2_fields::{body, fields, lower_names};
use crate::response::{LARGEST_BODY, Progress, Response, SoFar};

/// How a server declined a request over HTTP/2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declined {
    /// It has not processed the request, which may be sent again (RFC 9113, section 8.7): its stream is above the last of
    /// GOAWAY, or was reset with `REFUSED_STREAM`.
    Unprocessed,
    /// It reset the request's stream with another code.
    Reset,
}

/// The state of HTTP/2.
pub(crate) struct Frames {
    client: Client<()>,
    room: Room,
    /// Whether the preface has been sent.
    greeted: bool,
    /// Whether the server's settings have come.
    pub open: bool,
    /// How the server declined the last request.
    pub declined: Option<Declined>,
    /// Whether frames of the server were answered while the request was in flight.
    pub replied: bool,
    /// Why the server takes no more requests.
    away: Option<Code>,
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
            declined: None,
            replied: false,
            away: None,
            head: None,
            body: Vec::new(),
            ends: Vec::new(),
            trailers: Vec::new(),
        }
    }
}

impl Frames {
    /// Appends the preface, once.
    pub fn greet(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.greeted, true) {
            Client::<()>::greet(out);
        }
    }

    /// Whether a request may be sent now: the server's settings have come, and allow a stream.
    pub const fn takes_requests(&self) -> bool {
        self.open && self.client.most() > 0
    }

    /// Whether the server takes no more requests on this connection.
    pub const fn is_ending(&self) -> bool {
        self.client.is_ending()
    }

    /// Whether a request is in flight.
    pub fn is_busy(&self) -> bool {
        self.client.oldest().is_some()
    }

    /// Whether the response has begun.
    pub const fn begun(&self) -> bool {
        self.head.is_some()
    }

    /// What has come of the response, once its head has.
    pub fn seen(&self) -> Option<SoFar<'_>> {
        let (head, text) = self.head.as_ref()?;
        Some(SoFar {
            head: (*head, text),
            body: &self.body,
            ends: &self.ends,
        })
    }

    /// Appends a request.
    pub fn ask(&mut self, mut text: Vec<u8>, to_head: bool, scheme: &str, out: &mut Vec<u8>) {
        let end = lower_names(&mut text);
        let mut block = Vec::new();
        for (name, value) in fields(&text[..end], scheme) {
            literal(name, value, &mut block);
        }
        self.declined = None;
        self.replied = false;
        self.head = None;
        self.body.clear();
        self.ends.clear();
        self.client
            .start(&block, body(&text, end), to_head, (), out);
    }

    /// Takes bytes of the server, and appends what is sent for them.
    ///
    /// # Errors
    /// A sentence on a breach of the protocol, or on how the request was declined. After the latter the connection goes on.
    pub fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Progress, String> {
        let (busy, before) = (self.is_busy(), out.len());
        let progress = self.read(bytes, out);
        self.replied |= busy && out.len() > before;
        progress
    }

    fn read(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<Progress, String> {
        let mut progress = Ok(Progress::Partial);
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
                Event::Reset { at, code } => {
                    progress = Err(self.reset(at, code, out));
                    continue;
                }
                Event::Malformed { why, .. } => return Err(format!("not HTTP/2: {why}")),
                Event::GoingAway { code } => {
                    self.away = Some(code);
                    if let Some(at) = self.client.unprocessed() {
                        self.client.take(at, out);
                        progress = self.still_takes().map(|()| Progress::Partial);
                    }
                    continue;
                }
            };
            if end && let Some((head, text)) = self.head.take() {
                self.client.take(at, out);
                progress = Ok(Progress::Complete(Response {
                    status: head.status,
                    head: text,
                    body: std::mem::take(&mut self.body),
                    ends: std::mem::take(&mut self.ends),
                    trailers: std::mem::take(&mut self.trailers),
                    keep_alive: true,
                    message: None,
                }));
            }
        }
        if let Ok(Progress::Complete(response)) = &mut progress {
            response.keep_alive = !self.client.is_ending();
        }
        progress
    }

    /// Ok while the server takes requests.
    ///
    /// # Errors
    /// A sentence on its GOAWAY. A request that waits or that is above the last stream is unprocessed.
    pub fn still_takes(&mut self) -> Result<(), String> {
        let Some(code) = self.away else {
            return Ok(());
        };
        self.declined = Some(Declined::Unprocessed);
        Err(format!("the server went away: {}", code.name()))
    }

    fn reset(&mut self, at: usize, code: Code, out: &mut Vec<u8>) -> String {
        self.client.take(at, out);
        self.declined = Some(if code == Code::REFUSED_STREAM {
            Declined::Unprocessed
        } else {
            Declined::Reset
        });
        let why = "the server gave up the request's stream";
        format!("{why}: {}", code.name())
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

    /// What has come of a response whose end has not come, in words.
    pub fn so_far(&self) -> String {
        let Some((head, text)) = &self.head else {
            return String::new();
        };
        crate::response::so_far(*head, text, self.body.len())
    }
}
