//! Whether a response is the right one: status, head and body, on every response.

use regex::bytes::Regex;
use touchstone_grpc::Method;

use crate::call::{Call, Fault, Wrong};
use crate::coding::decoded;
use crate::glance::Glance;
use crate::head::{HeadCheck, whole_pattern};
use crate::job::{BodyEncoding, Encoding, Expect, ExpectBody};
use crate::json::JsonCheck;
use crate::template::{Key, Place, Scope, Template};

/// A compiled expectation.
#[derive(Debug, Clone)]
pub struct Check {
    statuses: Vec<u16>,
    head: HeadCheck,
    body: BodyCheck,
    decodes: bool,
    call: Option<Box<Call>>,
    /// How a call's message is seen to be right without its JSON.
    glance: Option<Box<Glance>>,
}

/// What is demanded of the body.
#[derive(Debug, Clone)]
pub enum BodyCheck {
    /// Nothing.
    Any,
    /// These bytes.
    Exact(Template),
    /// A message of gRPC in JSON, by its fields.
    Message(Template, Box<Method>),
    /// A match of the whole body.
    Pattern(Box<Regex>),
    /// An object with fields.
    Json(JsonCheck),
}

impl Check {
    /// Compiles an expectation of a plain response, or of that to a gRPC call; its templates may name what is in `scope`.
    ///
    /// # Errors
    /// A sentence that begins with the part that does not hold together, such as `body: `.
    pub fn compile(
        expect: &Expect,
        call: Option<Box<Call>>,
        scope: Scope<'_>,
    ) -> Result<Self, String> {
        if let Some(call) = call {
            return Self::of_call(expect, call, scope);
        }
        if expect.grpc_status.is_some() {
            return Err("grpc_status: the request has no `grpc`: leave grpc_status out".to_owned());
        }
        let statuses = expect.status.clone().unwrap_or_default();
        if let Some(status) = statuses
            .iter()
            .find(|status| !(100..=999).contains(*status))
        {
            return Err(format!("status: {status} is not a status code"));
        }
        let body = body(expect, scope).map_err(|why| format!("body: {why}"))?;
        Ok(Self {
            statuses,
            head: HeadCheck::new(expect)?,
            decodes: expect.encoding == Encoding::Decoded && !matches!(body, BodyCheck::Any),
            body,
            call: None,
            glance: None,
        })
    }

    fn of_call(expect: &Expect, call: Box<Call>, scope: Scope<'_>) -> Result<Self, String> {
        if expect.encoding != Encoding::Text {
            return Err("encoding: the message of a gRPC call is compared as JSON".to_owned());
        }
        let body = body_of_call(expect, &call, scope).map_err(|why| format!("body: {why}"))?;
        Ok(Self {
            statuses: vec![200],
            head: HeadCheck::new(expect)?,
            glance: Glance::new(call.method(), &body).map(Box::new),
            body,
            // Framing, coding and status are in head and body.
            decodes: true,
            call: Some(call),
        })
    }

    /// Compiles what a message in JSON must be, of a response with many.
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn of_message(expect: &Expect, call: &Call, scope: Scope<'_>) -> Result<Self, String> {
        let body = body_of_call(expect, call, scope).map_err(|why| format!("body: {why}"))?;
        Ok(Self {
            statuses: Vec::new(),
            head: HeadCheck::default(),
            body: match body {
                BodyCheck::Exact(template) => {
                    BodyCheck::Message(template, Box::new(call.method().clone()))
                }
                other => other,
            },
            decodes: false,
            call: None,
            glance: None,
        })
    }

    /// The gRPC call that the response is to.
    #[must_use]
    pub fn call(&self) -> Option<&Call> {
        self.call.as_deref()
    }

    /// What is demanded of the head.
    #[must_use]
    pub const fn head(&self) -> &HeadCheck {
        &self.head
    }

    /// What is demanded of the body.
    #[must_use]
    pub const fn body(&self) -> &BodyCheck {
        &self.body
    }

    /// Whether the body's content codings are undone before it is looked at, so that the check needs body and head whole.
    #[must_use]
    pub const fn decodes(&self) -> bool {
        self.decodes
    }

    /// Whether the status is right.
    #[inline]
    #[must_use]
    pub fn status_is_right(&self, status: u16) -> bool {
        if self.statuses.is_empty() {
            (200..300).contains(&status)
        } else {
            self.statuses.contains(&status)
        }
    }

    /// The right statuses in words.
    #[must_use]
    pub fn statuses_in_words(&self) -> String {
        if self.statuses.is_empty() {
            return "200 to 299".to_owned();
        }
        self.statuses
            .iter()
            .map(u16::to_string)
            .collect::<Vec<_>>()
            .join(" or ")
    }

    /// Whether the same body is right for every request, so that a body once accepted need only be compared.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        match &self.body {
            BodyCheck::Any | BodyCheck::Pattern(_) => true,
            BodyCheck::Exact(template) | BodyCheck::Message(template, _) => {
                template.fixed().is_some()
            }
            BodyCheck::Json(json) => json.is_fixed(),
        }
    }

    /// Checks a complete body. `head` is looked at where the check decodes, or the body is wrong; it may be empty else. Over
    /// gRPC the trailers are behind it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn body_is_right(
        &self,
        head: &[u8],
        body: &[u8],
        key: Key<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let wrong = |why: String| (Wrong::Body, why);
        if let Some(call) = &self.call {
            return match call.message(head, body)? {
                Some(message) => self
                    .compare_message(call, &message, key, scratch)
                    .map_err(wrong),
                None => Ok(()),
            };
        }
        if self.decodes {
            let body = decoded(head, body).map_err(wrong)?;
            return self.compare(&body, key, scratch).map_err(wrong);
        }
        self.compare(body, key, scratch).map_err(wrong)
    }

    fn compare_message(
        &self,
        call: &Call,
        message: &[u8],
        key: Key<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), String> {
        let method = call.method();
        if let Some(glance) = &self.glance
            && let Some(found) = glance.scan(message)
            && glance.accepts(&found, key, scratch)
        {
            return Ok(());
        }
        match &self.body {
            BodyCheck::Any => method.check(message),
            BodyCheck::Exact(template) => {
                scratch.clear();
                template.render(key, scratch);
                if method.is_same(scratch, message)? {
                    return Ok(());
                }
                let why = difference(scratch, &method.read(message)?);
                Err(why.replacen("the body", "the message", 1))
            }
            _ => self.compare(&method.read(message)?, key, scratch),
        }
    }

    fn compare(&self, body: &[u8], key: Key<'_>, scratch: &mut Vec<u8>) -> Result<(), String> {
        match &self.body {
            BodyCheck::Any => Ok(()),
            BodyCheck::Exact(template) => {
                let expected = template.fixed().unwrap_or_else(|| {
                    scratch.clear();
                    template.render(key, scratch);
                    scratch
                });
                if expected == body {
                    Ok(())
                } else {
                    Err(difference(expected, body))
                }
            }
            BodyCheck::Message(template, method) => {
                scratch.clear();
                template.render(key, scratch);
                if method.is_same_json(scratch, body)? {
                    return Ok(());
                }
                Err(difference(scratch, body))
            }
            BodyCheck::Pattern(pattern) => {
                if pattern.is_match(body) {
                    Ok(())
                } else {
                    Err(format!("the body does not match {}", pattern.as_str()))
                }
            }
            BodyCheck::Json(json) => json.check(body, key, scratch),
        }
    }
}

/// What the message of a gRPC call must be.
fn body_of_call(expect: &Expect, call: &Call, scope: Scope<'_>) -> Result<BodyCheck, String> {
    let body = match body(&call.named(expect)?, scope)? {
        BodyCheck::Json(json) => BodyCheck::Json(json.loose()),
        other => other,
    };
    if let BodyCheck::Exact(template) = &body
        && let Some(fixed) = template.fixed()
    {
        call.method().expects(fixed)?;
    }
    Ok(body)
}

fn body(expect: &Expect, scope: Scope<'_>) -> Result<BodyCheck, String> {
    let bytes = expect.encoding == Encoding::Bytes;
    let written = if bytes {
        BodyEncoding::Bytes
    } else {
        BodyEncoding::Text
    };
    Ok(match &expect.body {
        None | Some(ExpectBody::Any) => BodyCheck::Any,
        Some(ExpectBody::Exact { value }) => {
            BodyCheck::Exact(Template::parse_as(written, value, scope, Place::Body)?)
        }
        Some(ExpectBody::Pattern { value }) => {
            BodyCheck::Pattern(Box::new(pattern(value, bytes, scope)?))
        }
        Some(ExpectBody::Json { fields, exact }) => {
            BodyCheck::Json(JsonCheck::compile(fields, *exact, scope)?)
        }
    })
}

/// A pattern is a template, too, but one that is compiled once for all requests.
fn pattern(text: &str, bytes: bool, scope: Scope<'_>) -> Result<Regex, String> {
    let template = Template::parse(text, scope, Place::Body)?;
    let fixed = template.fixed().ok_or(
        "a load's pattern takes no placeholder that differs from request to request: state the body by `body` or \
         `json`",
    )?;
    let written = String::from_utf8_lossy(fixed);
    if bytes {
        return whole_pattern(&pattern_of_bytes(&written)?);
    }
    whole_pattern(&written)
}

/// A pattern in which each character up to U+00FF stands for a byte, however it is written: as itself, or by `\x8b`,
/// `\u008b`, `\U0000008b`, `\x{8b}` or `\u{8b}`. Classes such as `\w` are those of ASCII.
fn pattern_of_bytes(pattern: &str) -> Result<String, String> {
    let mut found = String::from("(?-u:");
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        let (taken, code) = match character {
            '\\' => match escaped(rest) {
                Some(escape) => escape,
                // Any other escape has two characters, of which the second may be a backslash.
                None => {
                    let taken = rest.chars().take(2).map(char::len_utf8).sum();
                    found.push_str(&rest[..taken]);
                    rest = &rest[taken..];
                    continue;
                }
            },
            _ => (character.len_utf8(), u32::from(character)),
        };
        let byte = u8::try_from(code).map_err(|_| {
            format!(
                "{:?} is not a byte: with encoding = \"bytes\" a character stands for one, none beyond \\u00ff",
                &rest[..taken]
            )
        })?;
        if taken == 1 {
            found.push(character);
        } else {
            found.push_str(&format!("\\x{byte:02x}"));
        }
        rest = &rest[taken..];
    }
    found.push(')');
    Ok(found)
}

/// The character that an escape by its number stands for, and the escape's length.
fn escaped(text: &str) -> Option<(usize, u32)> {
    let digits = match text.as_bytes().get(1)? {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => return None,
    };
    let (number, taken) = match text[2..].strip_prefix('{') {
        Some(braced) => {
            let end = braced.find('}')?;
            (&braced[..end], end + 4)
        }
        None => (text.get(2..2 + digits)?, 2 + digits),
    };
    Some((taken, u32::from_str_radix(number, 16).ok()?))
}

/// Bytes of a body that are compared at a glance.
const SHORT: usize = 40;

/// Says how a body differs from the expected one: short ones as they are, of longer ones the place from where on.
#[must_use]
pub fn difference(expected: &[u8], body: &[u8]) -> String {
    if expected.len().max(body.len()) <= SHORT {
        return format!(
            "the body is {}, expected {}",
            quoted(body),
            quoted(expected)
        );
    }
    let pairs = expected.iter().zip(body);
    let same = pairs.take_while(|(left, right)| left == right).count();
    let from = |text: &[u8]| quoted(&text[same..text.len().min(same + SHORT)]);
    format!(
        "the body differs from byte {same} on: {} bytes, expected {}; {} there, expected {}",
        body.len(),
        expected.len(),
        from(body),
        from(expected)
    )
}

/// As text where it is text, else as bytes.
fn quoted(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(
        |_| format!("b\"{}\"", bytes.escape_ascii()),
        |text| format!("{text:?}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(expect: Value) -> Check {
        let expect = serde_json::from_value(expect).unwrap();
        Check::compile(&expect, None, Scope::default()).unwrap()
    }

    fn verdict(expect: Value, body: &[u8]) -> Result<(), String> {
        let key = Key {
            counter: 7,
            ..Key::default()
        };
        let found = check(expect).body_is_right(b"", body, key, &mut Vec::new());
        found.map_err(|(_, why)| why)
    }

    fn right(body: Value, found: &str) -> bool {
        verdict(json!({ "body": body }), found.as_bytes()).is_ok()
    }

    #[test]
    fn statuses_default_to_success() {
        assert!(check(json!({})).status_is_right(204) && !check(json!({})).status_is_right(304));
        let listed = check(json!({"status": [200, 404]}));
        assert!(listed.status_is_right(404) && !listed.status_is_right(201));
    }

    #[test]
    fn an_exact_body_is_compared_byte_by_byte_after_rendering() {
        let expect = json!({"kind": "exact", "value": "hello {counter}"});
        assert!(right(expect.clone(), "hello 7"));
        for wrong in ["hello 8", "hello 7 ", "", "hello 77", "Hello 7"] {
            assert!(!right(expect.clone(), wrong), "{wrong}");
        }
    }

    #[test]
    fn a_difference_is_shown_where_it_is() {
        assert_eq!(
            difference(b"pong", b"pon\xff"),
            r#"the body is b"pon\xff", expected "pong""#
        );
        let (long, other) = ("x".repeat(90) + "a", "x".repeat(90) + "bc");
        let said = difference(long.as_bytes(), other.as_bytes());
        assert!(
            said.contains("from byte 90 on: 92 bytes, expected 91; \"bc\" there"),
            "{said}"
        );
    }

    #[test]
    fn a_pattern_covers_the_whole_body() {
        let expect = json!({"kind": "pattern", "value": "a|b[0-9]+"});
        assert!(right(expect.clone(), "b17") && right(expect.clone(), "a"));
        assert!(
            !right(expect.clone(), "b17x")
                && !right(expect.clone(), "xa")
                && !right(expect, "b17\n")
        );
    }

    #[test]
    fn json_fields_are_checked_by_value_or_by_type() {
        let expect = json!({"kind": "json", "fields": {"status": "ok", "ms": {"type": "number"}, "n": "k-{counter}"}});
        assert!(right(
            expect.clone(),
            r#"{"status":"ok","ms":1.5,"n":"k-7","more":1}"#
        ));
        for wrong in [
            r#"{"status":"ok","ms":"1","n":"k-7"}"#,
            r#"{"status":"no","ms":1,"n":"k-7"}"#,
            r#"{"status":"ok","n":"k-7"}"#,
            "[]",
            "x",
            r#"{"status":"ok","ms":1,"n":"k-8"}"#,
        ] {
            assert!(!right(expect.clone(), wrong), "{wrong}");
        }
        for (field, wanted) in [
            (json!({"equals": "no"}), r#"expected {"equals":"no"}"#),
            (json!("k-{counter}"), r#"expected "k-7""#),
            (json!({"type": "number"}), "expected any number"),
        ] {
            let body = json!({"kind": "json", "fields": {"a": field}});
            let said = verdict(json!({ "body": body }), br#"{"a":"no"}"#);
            assert_eq!(said, Err(format!(r#"the field "a" is "no", {wanted}"#)));
        }
    }

    #[test]
    fn a_character_stands_for_a_byte_however_it_is_written() {
        let fits = |pattern: &str, body: &[u8]| {
            let body_check = json!({"kind": "pattern", "value": pattern});
            verdict(json!({"encoding": "bytes", "body": body_check}), body).is_ok()
        };
        for pattern in [
            "\u{1f}\u{8b}[\\s\\S]*",
            r"\x1f\x8b[\s\S]*",
            r"\u001f\u008b[\s\S]*",
            r"\U0000001f\U0000008b[\s\S]*",
            r"\x{1f}\u{8b}[\s\S]*",
            r"[\u0010-\u001f][\u0080-\u00ff](?s:.)*",
        ] {
            assert!(fits(pattern, b"\x1f\x8b\x08\xff\n"), "{pattern}");
            assert!(!fits(pattern, b"\x1f"), "{pattern}");
        }
        assert!(
            fits(r"\\u008b", br"\u008b"),
            "an escaped backslash is not an escape"
        );
        assert!(!fits(r"\w", b"\xe9"), "classes are those of ASCII");
        for refused in [r"\u0100", "\u{20ac}"] {
            let body = json!({"kind": "pattern", "value": refused});
            let expect =
                serde_json::from_value(json!({"encoding": "bytes", "body": body})).unwrap();
            let why = Check::compile(&expect, None, Scope::default()).unwrap_err();
            assert!(why.contains("is not a byte"), "{why}");
        }
    }

    #[test]
    fn a_body_of_bytes_may_be_a_template() {
        let body = json!({"kind": "exact", "value": "\u{1f}\u{8b}\u{ff}{counter}"});
        let expect = json!({"encoding": "bytes", "body": body});
        assert!(verdict(expect.clone(), b"\x1f\x8b\xff7").is_ok());
        assert!(verdict(expect, "\u{1f}\u{8b}\u{ff}7".as_bytes()).is_err());
    }
}
