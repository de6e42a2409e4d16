//! Orders: what is asked of a service, or of the request language alone.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use touchstone_tls::{Protocol, Tls};

use crate::job::{Capture, Request, Stream};
use crate::request::{CompiledRequest, Origin};
use crate::template::{self, Scope};

/// One line of standard input. Orders are carried out as they come, several at once; each is answered by one line with its
/// `id`. The end of standard input ends the session.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Sends a request, once or often, checks each response, and takes the captured values from it.
    Send(Box<Send>),
    /// Fills in the placeholders of texts; nothing is sent.
    Render {
        /// The order's number.
        id: u64,
        /// What the placeholders stand for.
        values: Values,
        /// The texts.
        texts: Vec<Text>,
    },
    /// Whether requests hold together (methods, targets, fields, templates, patterns); nothing is sent.
    Compile {
        /// The order's number.
        id: u64,
        /// The requests, each by itself.
        requests: Vec<Asked>,
    },
    /// Whether settings of TLS can be used: files, names; nothing is sent.
    Tls {
        /// The order's number.
        id: u64,
        /// The settings, each by itself.
        settings: Vec<Tls>,
    },
    /// The gRPC methods of a schema, for a draft; nothing is opened.
    Methods {
        /// The order's number.
        id: u64,
        /// A `.proto` file, or a descriptor set.
        proto: String,
    },
    /// Takes a URL apart, as it may be pasted; nothing is opened.
    Url {
        /// The order's number.
        id: u64,
        /// The URL.
        url: String,
    },
    /// The addresses of a URL's host, in the order in which they are tried; nothing is opened.
    Resolve {
        /// The order's number.
        id: u64,
        /// The URL.
        url: String,
    },
    /// Finds the first address of a URL's host that accepts a connection. It is remembered: all that the session sends to
    /// this host and port goes there, until it takes none.
    Locate {
        /// The order's number.
        id: u64,
        /// The URL.
        url: String,
    },
    /// Whether the server at a URL begins an HTTP/2 connection without TLS (RFC 9113, section 3.3).
    SpeaksHttp2 {
        /// The order's number.
        id: u64,
        /// The URL.
        url: String,
    },
    /// Closes the connection that was kept in a lane, and forgets its cookies.
    Release {
        /// The order's number.
        id: u64,
        /// The lane.
        lane: u64,
    },
}

/// A request that is sent, once or often.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Send {
    /// The order's number.
    pub id: u64,
    /// `http://HOST:PORT`, or `https://HOST:PORT`; its path is used where the request names no target.
    pub url: String,
    /// What is spoken.
    #[serde(default)]
    pub protocol: Protocol,
    /// How TLS is done when the URL says https.
    #[serde(default)]
    pub tls: Tls,
    /// The request, and what its response must be.
    pub asked: Asked,
    /// What the placeholders stand for; each further request has the next `counter`.
    pub values: Values,
    /// How often it is sent.
    #[serde(default = "one")]
    pub repeat: u32,
    /// How many are under way at a time.
    #[serde(default = "one")]
    pub concurrent: u32,
    /// A request whose response is wrong is sent again until this many seconds have passed.
    #[serde(default)]
    pub within_s: f64,
    /// An exchange, with connecting, that takes longer has failed.
    #[serde(default = "default_timeout")]
    pub timeout_s: f64,
    /// The lane whose connection is used and kept, where requests are sent one at a time. An idempotent request takes the one
    /// that is open, and is sent once more on a fresh one if the server closed it meanwhile (RFC 9112, section 9.3.1); any
    /// other request opens one. Null: a connection for each request, closed behind it.
    #[serde(default)]
    pub lane: Option<u64>,
    /// Whether cookies that right responses in the lane set are sent back in it, as in a journey.
    #[serde(default)]
    pub cookies: bool,
    /// Bytes of each body that are shown; null: all.
    #[serde(default = "default_shown")]
    pub body_bytes: Option<u64>,
}

/// A request, and what is taken from its response.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// What is sent, and what must come back.
    pub request: Request,
    /// The response is a stream of events; null: it is not. `timeout_s` holds for each event then.
    #[serde(default)]
    pub stream: Option<Stream>,
    /// Values taken from a right response, by name.
    #[serde(default)]
    pub captures: BTreeMap<String, Capture>,
}

impl Asked {
    /// The request, compiled.
    ///
    /// # Errors
    /// A sentence that begins with the part that does not hold together.
    pub fn compile(&self, origin: Origin<'_>, scope: Scope<'_>) -> Result<CompiledRequest, String> {
        CompiledRequest::compile(&self.request, origin, scope)?.streamed(
            &self.request,
            self.stream.as_ref(),
            scope,
        )
    }
}

/// What placeholders stand for.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// The number of the first request, for `{counter}`, `{random}` and `{key:...}`.
    pub counter: u64,
    /// The seed of `{random}` and `{key:...}`.
    pub seed: u64,
    /// The text of `{fresh}`.
    pub fresh: String,
    /// What was captured before, by name.
    #[serde(default)]
    pub captured: BTreeMap<String, String>,
}

/// A text with placeholders.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Where it stands.
    #[serde(default)]
    pub place: Place,
}

/// Where a text stands: what a value from outside may be there differs.
#[derive(Debug, Clone, Copy, Default, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The request target.
    Target,
    /// A field's value.
    Header,
    /// A body, or anything else.
    #[default]
    Body,
}

impl From<Place> for template::Place {
    fn from(place: Place) -> Self {
        match place {
            Place::Target => Self::Target,
            Place::Header => Self::Header,
            Place::Body => Self::Body,
        }
    }
}

const fn one() -> u32 {
    1
}

const fn default_timeout() -> f64 {
    15.0
}

#[allow(clippy::unnecessary_wraps)] // The field may be null.
const fn default_shown() -> Option<u64> {
    Some(4096)
}
