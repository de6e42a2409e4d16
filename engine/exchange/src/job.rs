//! The request of a job, as `docs/engine-protocol.md` has it, and what is wrong with a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is sent and what must come back. All texts but names are templates (docs/templates.md).
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BareRequest")]
pub struct Request {
    /// The method.
    #[serde(default = "get")]
    pub method: String,
    /// The request target, as it goes on the wire; by default the URL's path.
    #[serde(default)]
    pub target: Option<String>,
    /// Names and values of fields. `Content-Length` and `Transfer-Encoding` are refused, since the engine frames the body;
    /// `Host` takes the place of the URL's.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(default)]
    pub body: Option<String>,
    /// How the body's text becomes bytes.
    #[serde(default)]
    pub encoding: BodyEncoding,
    /// The gRPC method that is called; null: plain HTTP.
    #[serde(default)]
    pub grpc: Option<Grpc>,
    /// The request is the handshake of a WebSocket, and its body a message; null: plain HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websocket: Option<WebSocket>,
    /// What the response must be.
    #[serde(default)]
    pub expect: Expect,
}

fn get() -> String {
    "GET".to_owned()
}

impl Default for Request {
    fn default() -> Self {
        Self {
            method: get(),
            target: None,
            headers: Vec::new(),
            body: None,
            encoding: BodyEncoding::Text,
            grpc: None,
            websocket: None,
            expect: Expect::default(),
        }
    }
}

/// A gRPC method; one that streams its responses needs `stream`. The request's body is its message in JSON, by default an
/// empty one; for a method that takes a stream any number of messages, one behind the other, which are all sent before the
/// request ends. Method, target and media type follow. A response that is not a stream must have one message and
/// `grpc-status`; `expect.body` is about that message: as JSON with the names of JSON, every field in it and 64-bit numbers
/// as numbers, and an exact one by its fields. It needs HTTP/2.
#[derive(Debug, Clone, Default, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grpc {
    /// `package.Service/Method`.
    pub method: String,
    /// The schema: a `.proto` file, or a descriptor set; null: the health protocol and server reflection.
    #[serde(default)]
    pub proto: Option<String>,
    /// The schema as the server gave it by reflection, in place of `proto`: a descriptor set in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reflected: Option<String>,
    /// Folders in which imports are looked for; if there are none, the file's own and those above it.
    #[serde(default)]
    pub proto_path: Vec<String>,
    /// How often the body is sent in one call, of a method that takes a stream; null: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u32>,
}

/// How the text of a request's body becomes bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyEncoding {
    /// As UTF-8.
    #[default]
    Text,
    /// Each character from U+0000 to U+00FF is one byte; any other makes the job malformed.
    Bytes,
}

impl BodyEncoding {
    /// The bytes of a text.
    ///
    /// # Errors
    /// A sentence on the first character that is not a byte.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::Text => Ok(text.as_bytes().to_vec()),
            Self::Bytes => text
                .chars()
                .map(|character| {
                    u8::try_from(character).map_err(|_| {
                        format!("with encoding \"bytes\", {character:?} is not a byte")
                    })
                })
                .collect(),
        }
    }
}

/// What a response must be. An expression that is none makes the job malformed, before anything is opened.
#[derive(Debug, Clone, Default, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The correct statuses; null or empty: 200 to 299. The body of a response to HEAD, of 204 and of 304 is not looked at.
    #[serde(default)]
    pub status: Option<Vec<u16>>,
    /// The correct status codes of a gRPC call, by name or number; null or empty: `OK`. The message is looked at where the
    /// code is `OK`.
    #[serde(default)]
    pub grpc_status: Option<Vec<String>>,
    /// The media type (RFC 9110, section 8.3.1), regardless of case; its parameters must be there, and others may be.
    /// Null: any.
    #[serde(default)]
    pub content_type: Option<String>,
    /// Fields that must be there: name, and a regular expression over the whole value. Several lines of one name are
    /// joined by `, ` (RFC 9110, section 5.3).
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// What the body must be; null: anything.
    #[serde(default)]
    pub body: Option<ExpectBody>,
    /// What the body is compared as.
    #[serde(default)]
    pub encoding: Encoding,
}

/// What a body is compared as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// UTF-8, as it came.
    #[default]
    Text,
    /// Bytes: in an exact body and in a pattern each character from U+0000 to U+00FF stands for one.
    Bytes,
    /// UTF-8, once the codings of `Content-Encoding` (gzip, deflate) are undone.
    Decoded,
}

/// What a response body must be.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ExpectBody {
    /// Anything.
    Any,
    /// These bytes.
    Exact {
        /// The expected text.
        value: String,
    },
    /// A regular expression over the whole body.
    Pattern {
        /// The expression.
        value: String,
    },
    /// A JSON object with these fields.
    Json {
        /// Field to value, or to `{"type": ...}` with one of `string`, `number`, `integer`, `boolean`, `null`, `array` and
        /// `object`. Texts are templates. Values are compared as they were sent: 1.0 is 1, and 19.990000000000002 is not
        /// 19.99.
        fields: BTreeMap<String, Value>,
        /// Whether further fields are wrong.
        #[serde(default)]
        exact: bool,
    },
}

/// A response that is a stream of events. It is right when as many came as are stated, each right, and by their counter none
/// lost, doubled or out of order. The server may go on streaming: what comes after them is not looked at.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// What one event is.
    pub kind: StreamKind,
    /// How many events must come.
    pub events: u32,
    /// What the data of each event must be; null: anything.
    #[serde(default)]
    pub expect: Option<ExpectBody>,
    /// Where a number is that rises by one from event to event: `id` (server-sent events), `data`, or `json.NAME`, with
    /// further names behind dots. Null: none, and events are counted only.
    #[serde(default)]
    pub counter: Option<String>,
    /// The number of the first event; null: whichever comes first.
    #[serde(default)]
    pub first: Option<i64>,
    /// Where the time is at which the service sent the event, written as for `counter`: Unix time in seconds,
    /// milliseconds, microseconds or nanoseconds, by its size.
    #[serde(default)]
    pub stamp: Option<String>,
    /// Server-sent events: the type (`event:`) of the events that count; null: all count.
    #[serde(default)]
    pub event: Option<String>,
}

/// What one event of a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    /// A server-sent event (WHATWG HTML, section 9.2): the media type must be `text/event-stream`, unless `expect` names
    /// another.
    Sse,
    /// A line that is not empty.
    Lines,
    /// A chunk of HTTP/1.1, or a DATA frame of HTTP/2. A body without chunks is one.
    Chunks,
    /// A message of a gRPC method with server streaming; its data is the message in JSON.
    Messages,
}

/// A message over a WebSocket (RFC 6455). The request is the handshake, a GET by HTTP/1.1, and its body is the message: text, or
/// binary with the encoding `bytes`. `expect.body` is about the message that comes back; if that is null or `any`, it
/// is the same message.
/// All requests of a job are messages, or none, and all have one handshake: in its target and fields `{counter}` is the
/// number of the connection.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSocket {
    /// What is done with the message.
    pub kind: WebSocketKind,
    /// Messages that the server sends on its own when a connection opens: it is used once they have come.
    #[serde(default)]
    pub greetings: u32,
}

/// What is done with a message over a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebSocketKind {
    /// It is sent, and one message comes back for it. With `pipeline`, that number of messages is under way on each
    /// connection, and their echoes come in order.
    Echo,
}

/// Where in a response a value is: one of the three, or a field and a pattern on its value.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// A JSON pointer (RFC 6901) into the body.
    #[serde(default)]
    pub json: Option<String>,
    /// A field of the head.
    #[serde(default)]
    pub header: Option<String>,
    /// A regular expression that is searched for; its first group is the value.
    #[serde(default)]
    pub pattern: Option<String>,
}

/// A job that makes no sense, or an engine that cannot carry it out.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The job is malformed.
    #[error("{0}")]
    Malformed(String),
    /// The engine could not do its part.
    #[error("{0}")]
    Engine(String),
}

/// A time that a job names.
///
/// # Errors
/// [`JobError::Malformed`] when it is no time.
pub fn seconds(name: &str, value: f64) -> Result<Duration, JobError> {
    Duration::try_from_secs_f64(value)
        .map_err(|error| JobError::Malformed(format!("{name} is {value}: {error}")))
}
