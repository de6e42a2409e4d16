//! Answers: what came of an order.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use touchstone_grpc::Outline;
use touchstone_sys::socket::Address;

/// One line of standard output, for the order of the same `id`.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Answer {
    /// The order's number; null where the line has none.
    pub id: Option<u64>,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of an order.
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// To `send`: one a request, in the order of their counters.
    Exchanges(Vec<Exchange>),
    /// To `render`: the texts with their placeholders filled in.
    Texts(Vec<String>),
    /// To `compile`: for each request null, or a sentence that begins with the part that does not hold together.
    Refused(Vec<Option<String>>),
    /// To `methods`: the methods, in the order of the schema.
    Methods(Vec<MethodOutline>),
    /// To `url`: its parts.
    Url(UrlParts),
    /// To `resolve`: the addresses.
    Addresses(#[schemars(with = "Vec<String>")] Vec<Address>),
    /// To `locate`: the address.
    Address(#[schemars(with = "String")] Address),
    /// To `speaks_http2`: whether it does; false where it cannot be asked.
    Http2(bool),
    /// To `release`: whether a connection was open.
    Closed(bool),
    /// A sentence on why the order was not carried out.
    Error(String),
}

/// A gRPC method as a draft needs it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct MethodOutline {
    /// `package.Service/Method`.
    pub name: String,
    /// Whether the request may have any number of messages.
    pub takes_stream: bool,
    /// Whether the response may have any number of messages.
    pub is_streaming: bool,
    /// A message of the request in JSON, with a value in each field.
    pub example: String,
    /// The fields that each message of the response has, with their types in JSON.
    pub fields: BTreeMap<String, String>,
}

impl From<Outline> for MethodOutline {
    fn from(outline: Outline) -> Self {
        let named = |(name, kind): (String, &str)| (name, kind.to_owned());
        Self {
            name: outline.name,
            takes_stream: outline.takes_stream,
            is_streaming: outline.is_streaming,
            example: outline.example.to_string(),
            fields: outline.fields.into_iter().map(named).collect(),
        }
    }
}

/// A request and what came back.
#[derive(Debug, Clone, Default, JsonSchema, Serialize)]
pub struct Exchange {
    /// The number of the request.
    pub counter: u64,
    /// Where it was sent; null if there was no connection.
    #[schemars(with = "Option<String>")]
    pub address: Option<Address>,
    /// Whether an earlier request had gone over the connection.
    pub reused: bool,
    /// Whether it was sent once more, because a kept connection had been closed meanwhile.
    pub repeated: bool,
    /// Seconds that connecting took; 0 on a reused connection.
    pub connect_s: f64,
    /// Seconds from the start, connecting included, to the first byte of the response; null without a whole response.
    pub first_byte_s: Option<f64>,
    /// Seconds from the start to the end, whatever it was.
    pub took_s: f64,
    /// The status; null without a whole response.
    pub status: Option<u16>,
    /// Names and values of the response's fields, in their order.
    pub fields: Vec<(String, String)>,
    /// The body, or its beginning, in base64.
    pub body: String,
    /// Bytes of the whole body.
    pub body_bytes: u64,
    /// Why there is no whole response.
    pub failure: Option<String>,
    /// Whether the server was seen to speak something else than it is asked in: no TLS, none that the two have in common, or
    /// no HTTP/2.
    pub mismatch: bool,
    /// All that is wrong with the response, a sentence each; with a failure, that alone.
    pub faults: Vec<String>,
    /// The captured values, by name; of a right response alone.
    pub captured: BTreeMap<String, String>,
}

/// A URL, taken apart.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct UrlParts {
    /// Whether the scheme is https.
    pub tls: bool,
    /// The host, without brackets.
    pub host: String,
    /// The port, the scheme's own if none is given.
    pub port: u16,
    /// Scheme, host and port as given.
    pub origin: String,
    /// Path and query as they are sent, at least `/`.
    pub target: String,
    /// The path of a Unix socket; null for a host and a port.
    pub socket: Option<String>,
}
