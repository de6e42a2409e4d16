//! The bounds job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::time::Duration;
use touchstone_exchange::template::{Key, Scope};
use touchstone_exchange::{CompiledRequest, JobError, Origin, Request, Target, seconds};

/// A service whose bounds are looked for.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BoundsJob", example = example())]
pub struct Job {
    /// The service's URL.
    pub url: String,
    /// The address that is connected to, `IP:PORT`; null: of the host's addresses the first that takes a connection.
    #[serde(default)]
    pub connect_to: Option<SocketAddr>,
    /// What is sent: a request without a body, whose response is the expected one.
    pub request: Request,
    /// How long quiet connections are watched, in seconds.
    #[serde(default = "default_watch")]
    pub watch_s: f64,
    /// How many responses are asked for on one connection.
    #[serde(default = "default_responses")]
    pub responses: u32,
    /// The largest field, and the largest target, that is sent, in bytes.
    #[serde(default = "default_bytes")]
    pub bytes: u32,
    /// The most fields that are added to a request.
    #[serde(default = "default_fields")]
    pub fields: u32,
    /// How many seconds a response may take.
    #[serde(default = "default_answer")]
    pub answer_s: f64,
}

/// A job as the documentation shows it.
fn example() -> serde_json::Value {
    serde_json::json!({
        "url": "http://127.0.0.1:41001",
        "request": {"target": "/hello", "expect": {"body": {"kind": "exact", "value": "Hello, world!"}}},
        "watch_s": 90.0
    })
}

const fn default_watch() -> f64 {
    90.0
}
const fn default_responses() -> u32 {
    2_000
}
const fn default_bytes() -> u32 {
    1_200_000
}
const fn default_fields() -> u32 {
    4_000
}
const fn default_answer() -> f64 {
    5.0
}

/// More than any server takes in one field, and little enough to be sent in a moment.
const MOST_BYTES: u32 = 16 << 20;
/// More than any server counts.
const MOST_FIELDS: u32 = 100_000;

/// A job, checked and made ready.
pub(crate) struct Plan {
    pub target: Target,
    pub request: CompiledRequest,
    /// The request's line, without its end.
    pub line: Vec<u8>,
    /// Its fields, each with its end.
    pub fields: Vec<u8>,
    pub watch: Duration,
    pub answer: Duration,
}

impl Job {
    pub(crate) fn plan(&self) -> Result<Plan, JobError> {
        let malformed = JobError::Malformed;
        let target = Target::parse(&self.url, self.connect_to);
        let target = target.map_err(|error| malformed(error.to_string()))?;
        if target.url.tls {
            return Err(malformed(format!(
                "url {}: bounds are looked for without TLS: give the http:// URL",
                self.url
            )));
        }
        for (name, value, most) in [
            ("bytes", self.bytes, MOST_BYTES),
            ("fields", self.fields, MOST_FIELDS),
            ("responses", self.responses, 1_000_000),
        ] {
            if !(1..=most).contains(&value) {
                return Err(malformed(format!(
                    "{name} is {value}: it must be from 1 to {most}"
                )));
            }
        }
        let answer = seconds("answer_s", self.answer_s)?;
        let origin = Origin {
            url: &target.url,
            closes: false,
            is_h2: false,
            timeout: answer,
        };
        let request = CompiledRequest::compile(&self.request, origin, Scope::default())
            .and_then(CompiledRequest::without_message);
        let request = request.map_err(|why| malformed(format!("request.{why}")))?;
        let mut head = Vec::new();
        request.render(KEY, &mut head, &mut Vec::new());
        let cut = |from: &[u8], at: &[u8]| from.windows(at.len()).position(|part| part == at);
        let (Some(line), Some(end)) = (cut(&head, b"\r\n"), cut(&head, b"\r\n\r\n")) else {
            return Err(malformed("request: it has no head".into()));
        };
        if end + 4 < head.len() {
            return Err(malformed(
                "request: it has a body, and bounds are those of a head: leave the body out".into(),
            ));
        }
        Ok(Plan {
            line: head[..line].to_vec(),
            fields: head[line + 2..end + 2].to_vec(),
            watch: seconds("watch_s", self.watch_s)?,
            answer,
            request,
            target,
        })
    }
}

/// Each request is the same one.
pub(crate) const KEY: Key<'static> = Key {
    counter: 1,
    seed: 0,
    thread: 0,
    session: None,
};

impl Plan {
    /// The request, with a longer query and with further fields.
    pub fn bytes(&self, longer_by: usize, further: &[u8]) -> Vec<u8> {
        let version = b" HTTP/1.1".len();
        let (target, version) = self.line.split_at(self.line.len() - version);
        let mut bytes = target.to_vec();
        if longer_by > 0 {
            bytes.push(if target.contains(&b'?') { b'&' } else { b'?' });
            bytes.resize(bytes.len() + longer_by - 1, b'a');
        }
        bytes.extend_from_slice(version);
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.fields);
        bytes.extend_from_slice(further);
        bytes.extend_from_slice(b"\r\n");
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(request: serde_json::Value) -> Result<Plan, JobError> {
        let job = serde_json::json!({"url": "http://127.0.0.1:9", "request": request});
        serde_json::from_value::<Job>(job).unwrap().plan()
    }

    #[test]
    fn a_longer_target_is_longer_by_exactly_that() {
        for target in ["/a", "/a?b=c"] {
            let plan = job(serde_json::json!({ "target": target })).unwrap();
            let (short, long) = (plan.bytes(0, b""), plan.bytes(100, b""));
            assert_eq!(long.len(), short.len() + 100);
            assert!(long.starts_with(format!("GET {target}").as_bytes()));
            assert!(long.ends_with(b"\r\n\r\n"));
        }
    }

    #[test]
    fn fields_are_added_behind_the_others() {
        let plan = job(serde_json::json!({"target": "/a"})).unwrap();
        let text = String::from_utf8(plan.bytes(0, b"x: y\r\n")).unwrap();
        assert!(text.starts_with("GET /a HTTP/1.1\r\n"), "{text}");
        assert!(text.ends_with("\r\nx: y\r\n\r\n"), "{text}");
    }

    #[test]
    fn a_body_is_refused() {
        let refused = job(serde_json::json!({"method": "POST", "target": "/a", "body": "x"}));
        assert!(refused.is_err_and(|error| error.to_string().contains("body")));
    }

    #[test]
    fn a_message_over_a_websocket_is_refused() {
        let refused = job(serde_json::json!({"body": "x", "websocket": {"kind": "echo"}}));
        assert!(refused.is_err_and(|error| error.to_string().contains("websocket")));
    }
}
