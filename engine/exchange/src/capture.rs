//! Values taken from a response, for later requests of the same journey.

use regex::bytes::Regex;
use touchstone_http::field_value;

use crate::job;
use crate::json;

/// The part of a response in which something is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Its head.
    Head,
    /// Its body.
    Body,
}

/// A compiled capture.
#[derive(Debug, Clone)]
pub struct Capture {
    source: Source,
    pattern: Option<Regex>,
}

#[derive(Debug, Clone)]
enum Source {
    /// A JSON pointer (RFC 6901) into the body.
    Json(String),
    /// A field's value.
    Header(String),
    /// The whole body.
    Body,
}

impl Capture {
    /// Compiles a capture.
    ///
    /// # Errors
    /// A sentence on what does not hold together.
    pub fn compile(capture: &job::Capture) -> Result<Self, String> {
        let source = match (&capture.json, &capture.header, &capture.pattern) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                return Err("`json` stands alone".to_owned());
            }
            (Some(pointer), None, None) if pointer.is_empty() || pointer.starts_with('/') => {
                Source::Json(pointer.clone())
            }
            (Some(pointer), None, None) => {
                return Err(format!(
                    "{pointer:?} is not a JSON pointer: it begins with /"
                ));
            }
            (None, Some(name), _) => Source::Header(name.clone()),
            (None, None, Some(_)) => Source::Body,
            (None, None, None) => return Err("name `json`, `header` or `pattern`".to_owned()),
        };
        let pattern = capture.pattern.as_deref().map(Regex::new).transpose();
        let pattern = pattern.map_err(|error| {
            let text = error.to_string();
            format!(
                "no regular expression: {}",
                text.lines().last().unwrap_or_default()
            )
        })?;
        Ok(Self { source, pattern })
    }

    /// Whether the body must be kept for it.
    #[must_use]
    pub const fn needs_body(&self) -> bool {
        !matches!(self.source, Source::Header(_))
    }

    /// Takes the value: of a pattern its first group, or all that it matches if it has none.
    ///
    /// # Errors
    /// Which part of the response does not hold it, and a sentence on it. A value that is not UTF-8 is none.
    pub fn take(&self, head: &[u8], body: &[u8]) -> Result<String, (Part, String)> {
        let (text, part) = match &self.source {
            Source::Json(pointer) => {
                return json::value_at(pointer, body).map_err(|why| (Part::Body, why));
            }
            Source::Header(name) => {
                let value = field_value(head, name);
                let missing = || format!("the field {name}, to be captured, is missing");
                (value.ok_or_else(|| (Part::Head, missing()))?, Part::Head)
            }
            Source::Body => (body.to_vec(), Part::Body),
        };
        let value = match &self.pattern {
            None => Some(text),
            Some(pattern) => pattern.captures(&text).and_then(|groups| {
                let group = groups.get(usize::from(pattern.captures_len() > 1))?;
                Some(group.as_bytes().to_vec())
            }),
        };
        let pattern = || self.pattern.as_ref().map_or("", Regex::as_str);
        let value = value.ok_or_else(|| (part, format!("nothing that {} captures", pattern())))?;
        String::from_utf8(value)
            .map_err(|_| (part, "what is to be captured is not UTF-8".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 201 Created\r\nLocation: /notes/5\r\n\r\n";

    fn take(capture: Value, body: &str) -> Result<String, (Part, String)> {
        let capture = Capture::compile(&serde_json::from_value(capture).unwrap()).unwrap();
        capture.take(HEAD, body.as_bytes())
    }

    #[test]
    fn values_are_taken_from_json_fields_and_text() {
        let body = r#"{"id":5,"tags":["a","b"],"note":{"text":"x y"}}"#;
        assert_eq!(take(json!({"json": "/id"}), body).unwrap(), "5");
        assert_eq!(take(json!({"json": "/tags/1"}), body).unwrap(), "b");
        assert_eq!(
            take(json!({"json": "/note"}), body).unwrap(),
            r#"{"text":"x y"}"#
        );
        assert_eq!(
            take(json!({"header": "location"}), body).unwrap(),
            "/notes/5"
        );
        let absent = take(json!({"pattern": "b(x)?"}), "abc").unwrap_err();
        assert!(absent.1.contains("nothing that b(x)? captures"));
        let number = json!({"header": "Location", "pattern": "/notes/([0-9]+)"});
        assert_eq!(take(number, body).unwrap(), "5");
        assert_eq!(take(json!({"pattern": "[a-z]+"}), body).unwrap(), "id");
    }

    #[test]
    fn a_response_without_the_value_is_wrong() {
        let class = |capture, body| take(capture, body).unwrap_err().0;
        assert_eq!(class(json!({"json": "/id"}), "{}"), Part::Body);
        assert_eq!(class(json!({"json": "/id"}), "x"), Part::Body);
        assert_eq!(class(json!({"header": "etag"}), ""), Part::Head);
        let number = json!({"header": "location", "pattern": "id=(.)"});
        assert_eq!(class(number, ""), Part::Head);
        assert_eq!(class(json!({"pattern": "id=(.)"}), "x"), Part::Body);
    }

    #[test]
    fn a_capture_that_does_not_hold_together_is_refused() {
        for capture in [
            json!({}),
            json!({"json": "id"}),
            json!({"json": "/id", "header": "x"}),
            json!({"json": "/id", "pattern": "x"}),
            json!({"pattern": "("}),
        ] {
            let read = serde_json::from_value(capture.clone()).unwrap();
            assert!(Capture::compile(&read).is_err(), "{capture}");
        }
    }
}
