//! Values taken from a response, for later requests of the same journey.

use regex::bytes::Regex;
use serde_json::Value;
use touchstone_http::field_value;

use crate::failure::ErrorClass;
use crate::job;

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
                return Err(format!("{pointer:?} is no JSON pointer: it begins with /"));
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
    /// What kind of error the response has that does not hold it, and a sentence on it.
    pub fn take(&self, head: &[u8], body: &[u8]) -> Result<Vec<u8>, (ErrorClass, String)> {
        let (text, class) = match &self.source {
            Source::Json(pointer) => return json(pointer, body),
            Source::Header(name) => {
                let value = field_value(head, name);
                let missing = || format!("the field {name}, to be captured, is missing");
                let value = value.ok_or_else(|| (ErrorClass::WrongHeader, missing()))?;
                (value, ErrorClass::WrongHeader)
            }
            Source::Body => (body.to_vec(), ErrorClass::WrongBody),
        };
        let Some(pattern) = &self.pattern else {
            return Ok(text);
        };
        let found = pattern.captures(&text);
        let found = found.and_then(|groups| groups.get(1).or_else(|| groups.get(0)));
        let found = found.map(|group| group.as_bytes().to_vec());
        found.ok_or_else(|| {
            let why = format!("nothing that {} captures", pattern.as_str());
            (class, why)
        })
    }
}

fn json(pointer: &str, body: &[u8]) -> Result<Vec<u8>, (ErrorClass, String)> {
    let wrong = |why| (ErrorClass::WrongBody, why);
    let parsed: Value = serde_json::from_slice(body).map_err(|error| {
        wrong(format!(
            "the body, to be captured from, is not JSON: {error}"
        ))
    })?;
    match parsed.pointer(pointer) {
        None => Err(wrong(format!("nothing is at {pointer:?}, to be captured"))),
        Some(Value::String(text)) => Ok(text.clone().into_bytes()),
        Some(value) => Ok(value.to_string().into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 201 Created\r\nLocation: /notes/5\r\n\r\n";

    fn take(capture: Value, body: &str) -> Result<String, (ErrorClass, String)> {
        let capture = Capture::compile(&serde_json::from_value(capture).unwrap()).unwrap();
        let taken = capture.take(HEAD, body.as_bytes());
        taken.map(|value| String::from_utf8(value).unwrap())
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
        let number = json!({"header": "Location", "pattern": "/notes/([0-9]+)"});
        assert_eq!(take(number, body).unwrap(), "5");
        assert_eq!(take(json!({"pattern": "[a-z]+"}), body).unwrap(), "id");
    }

    #[test]
    fn a_response_without_the_value_is_wrong() {
        let class = |capture, body| take(capture, body).unwrap_err().0;
        assert_eq!(class(json!({"json": "/id"}), "{}"), ErrorClass::WrongBody);
        assert_eq!(class(json!({"json": "/id"}), "x"), ErrorClass::WrongBody);
        assert_eq!(
            class(json!({"header": "etag"}), ""),
            ErrorClass::WrongHeader
        );
        let number = json!({"header": "location", "pattern": "id=(.)"});
        assert_eq!(class(number, ""), ErrorClass::WrongHeader);
        assert_eq!(
            class(json!({"pattern": "id=(.)"}), "x"),
            ErrorClass::WrongBody
        );
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
