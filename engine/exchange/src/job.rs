//! The request of a job, as `docs/engine-protocol.md` has it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What is sent and what must come back.
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
    /// Header names and values next to `Host` and `Content-Length`.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(default)]
    pub body: Option<String>,
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
            expect: Expect::default(),
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
    /// The media type, without parameters and regardless of case; null: any.
    #[serde(default)]
    pub content_type: Option<String>,
    /// Fields that must be there: name, and a regular expression over the whole value. Several lines of one name are
    /// joined by `, ` (RFC 9110, section 5.3).
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// What the body must be; null: anything.
    #[serde(default)]
    pub body: Option<ExpectBody>,
}

/// What a response body must be.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ExpectBody {
    /// Anything.
    Any,
    /// These bytes; in a load job a template.
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
        /// `object`. In a load job strings are templates.
        fields: BTreeMap<String, Value>,
        /// Whether further fields are wrong.
        #[serde(default)]
        exact: bool,
    },
}
