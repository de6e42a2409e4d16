//! Whether a response is the one that the job wants.

use crate::head::{HeadCheck, whole_pattern};
use crate::job::{Expect, ExpectBody};
use crate::response::Response;
use regex::bytes::Regex;
use serde_json::Value;

/// An expectation, ready to be checked many times.
#[derive(Debug, Clone)]
pub struct Check {
    expect: Expect,
    head: HeadCheck,
    pattern: Option<Regex>,
}

impl Check {
    /// Compiles an expectation.
    ///
    /// # Errors
    /// When one of its patterns is no regular expression; the text says which.
    pub fn new(expect: &Expect) -> Result<Self, String> {
        let pattern = match &expect.body {
            Some(ExpectBody::Pattern { value }) => {
                Some(whole_pattern(value).map_err(|why| format!("expect.body: {why}"))?)
            }
            _ => None,
        };
        Ok(Self {
            expect: expect.clone(),
            head: HeadCheck::new(expect).map_err(|why| format!("expect.{why}"))?,
            pattern,
        })
    }

    /// Checks status, head and body.
    ///
    /// # Errors
    /// When the response is not what was expected; the text says in what.
    pub fn check(&self, response: &Response) -> Result<(), String> {
        let status = response.status;
        let right = match self.expect.status.as_deref() {
            None | Some([]) => (200..300).contains(&status),
            Some(allowed) => allowed.contains(&status),
        };
        if !right {
            return Err(format!("status {status}, body {}", quote(&response.body)));
        }
        self.head.check(&response.head)?;
        self.body(&response.body)
    }

    fn body(&self, body: &[u8]) -> Result<(), String> {
        match &self.expect.body {
            None | Some(ExpectBody::Any) => Ok(()),
            Some(ExpectBody::Exact { value }) if body == value.as_bytes() => Ok(()),
            Some(ExpectBody::Exact { value }) => Err(format!(
                "the body is {}, expected {}",
                quote(body),
                quote(value.as_bytes())
            )),
            Some(ExpectBody::Pattern { .. })
                if self.pattern.as_ref().is_some_and(|p| p.is_match(body)) =>
            {
                Ok(())
            }
            Some(ExpectBody::Pattern { value }) => {
                Err(format!("the body {} does not match {value}", quote(body)))
            }
            Some(ExpectBody::Json { fields, exact }) => {
                let value: Value = serde_json::from_slice(body)
                    .map_err(|e| format!("the body {} is no JSON: {e}", quote(body)))?;
                let object = value
                    .as_object()
                    .ok_or_else(|| format!("the body {} is no object", quote(body)))?;
                for (name, wanted) in fields {
                    let found = object
                        .get(name)
                        .ok_or_else(|| format!("the field {name} is absent"))?;
                    if !fits(wanted, found) {
                        return Err(format!("the field {name} is {found}, expected {wanted}"));
                    }
                }
                match object
                    .keys()
                    .find(|name| *exact && !fields.contains_key(*name))
                {
                    Some(name) => Err(format!("the field {name} was not expected")),
                    None => Ok(()),
                }
            }
        }
    }
}

/// `{"type": "number"}` asks for a type, anything else for itself.
fn fits(wanted: &Value, found: &Value) -> bool {
    let of_type = wanted
        .as_object()
        .filter(|o| o.len() == 1)
        .and_then(|o| o.get("type"))
        .and_then(Value::as_str);
    match of_type {
        Some("number") => found.is_number(),
        Some("integer") => found.is_i64() || found.is_u64(),
        Some("string") => found.is_string(),
        Some("boolean") => found.is_boolean(),
        Some("array") => found.is_array(),
        Some("object") => found.is_object(),
        Some("null") => found.is_null(),
        _ => found == wanted,
    }
}

/// The start of a body, readable.
fn quote(body: &[u8]) -> String {
    const SHOWN: usize = 200;
    let start = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]);
    let more = if body.len() > SHOWN {
        format!(" ... ({} bytes)", body.len())
    } else {
        String::new()
    };
    format!("{start:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(expect: &str, status: u16, body: &str) -> Result<(), String> {
        let check = Check::new(&serde_json::from_str(expect).unwrap()).unwrap();
        check.check(&Response {
            status,
            head: b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".to_vec(),
            body: body.as_bytes().to_vec(),
            keep_alive: true,
        })
    }

    #[test]
    fn absent_expectations_ask_for_success_only() {
        assert!(verdict("{}", 204, "").is_ok());
        assert!(verdict("{}", 500, "").unwrap_err().contains("status 500"));
        assert!(verdict(r#"{"status":[404]}"#, 404, "x").is_ok());
    }

    #[test]
    fn the_head_is_checked_as_well() {
        assert!(verdict(r#"{"content_type":"text/plain"}"#, 200, "").is_ok());
        let wrong = verdict(r#"{"content_type":"text/html"}"#, 200, "").unwrap_err();
        assert!(wrong.contains("text/plain"), "{wrong}");
    }

    #[test]
    fn an_exact_body_is_compared_byte_by_byte() {
        let expect = r#"{"body":{"kind":"exact","value":"pong"}}"#;
        assert!(verdict(expect, 200, "pong").is_ok());
        assert!(
            verdict(expect, 200, "pong\n")
                .unwrap_err()
                .contains("pong\\n")
        );
    }

    #[test]
    fn a_pattern_covers_the_whole_body() {
        let expect = r#"{"body":{"kind":"pattern","value":"a+|b"}}"#;
        assert!(verdict(expect, 200, "aaa").is_ok());
        assert!(verdict(expect, 200, "aab").is_err());
        assert!(
            Check::new(
                &serde_json::from_str(r#"{"body":{"kind":"pattern","value":"("}}"#).unwrap()
            )
            .is_err()
        );
    }

    #[test]
    fn json_fields_are_compared_by_value_or_type() {
        let expect = r#"{"body":{"kind":"json","fields":{"status":"ok","ms":{"type":"number"}}}}"#;
        assert!(verdict(expect, 200, r#"{"ms":1.5,"status":"ok","more":1}"#).is_ok());
        assert!(
            verdict(expect, 200, r#"{"ms":"1","status":"ok"}"#)
                .unwrap_err()
                .contains("ms")
        );
        assert!(
            verdict(expect, 200, "pong")
                .unwrap_err()
                .contains("no JSON")
        );
        let exact = r#"{"body":{"kind":"json","fields":{"a":1},"exact":true}}"#;
        assert!(
            verdict(exact, 200, r#"{"a":1,"b":2}"#)
                .unwrap_err()
                .contains('b')
        );
    }
}
