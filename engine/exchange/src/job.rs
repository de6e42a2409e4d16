//! The request of a job, as `docs/engine-protocol.md` has it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What is sent and what must come back.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

/// What a response must be.
#[derive(Debug, Clone, Default, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The statuses that are right; absent or empty: 200 to 299.
    #[serde(default)]
    pub status: Option<Vec<u16>>,
    /// The media type, without parameters and regardless of case; absent: any.
    #[serde(default)]
    pub content_type: Option<String>,
    /// Fields that must be there: name, and a regular expression over the whole value.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// What the body must be; absent: anything.
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
        /// Field to value, or to `{"type": "number"}` and the like.
        fields: BTreeMap<String, Value>,
        /// Whether further fields are wrong.
        #[serde(default)]
        exact: bool,
    },
}
