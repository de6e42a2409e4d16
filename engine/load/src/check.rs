//! Whether a response is the right one: status, head and body, on every response.

use std::collections::BTreeMap;

use regex::bytes::Regex;
use serde_json::Value;
use touchstone_exchange::{HeadCheck, whole_pattern};

use crate::error::Error;
use crate::job::{Expect, ExpectBody};
use crate::template::{Key, Place, Scope, Template};

/// A compiled expectation.
#[derive(Debug, Clone)]
pub struct Check {
    statuses: Vec<u16>,
    head: HeadCheck,
    body: BodyCheck,
}

/// What is demanded of the body.
#[derive(Debug, Clone)]
pub enum BodyCheck {
    /// Nothing.
    Any,
    /// These bytes.
    Exact(Template),
    /// A match of the whole body.
    Pattern(Box<Regex>),
    /// An object with fields.
    Json(JsonCheck),
}

/// The fields that a JSON body must have.
#[derive(Debug, Clone)]
pub struct JsonCheck {
    fields: BTreeMap<String, JsonField>,
    exact: bool,
}

#[derive(Debug, Clone)]
enum JsonField {
    Value(Value),
    Text(Template),
    Type(String),
}

impl Check {
    /// Compiles an expectation, whose templates may name what is in `scope`; `place` names it in errors.
    ///
    /// # Errors
    /// [`Error::Job`] for a template, an expression or a type that does not hold together.
    pub fn compile(expect: &Expect, scope: Scope<'_>, place: &str) -> Result<Self, Error> {
        let bad = |why: String| Error::Job(format!("{place}.expect: {why}"));
        let statuses = expect.status.clone().unwrap_or_default();
        if let Some(status) = statuses
            .iter()
            .find(|status| !(100..=999).contains(*status))
        {
            return Err(bad(format!("{status} is not a status code")));
        }
        let body = match &expect.body {
            None | Some(ExpectBody::Any) => BodyCheck::Any,
            Some(ExpectBody::Exact { value }) => {
                BodyCheck::Exact(Template::parse(value, scope, Place::Body).map_err(bad)?)
            }
            Some(ExpectBody::Pattern { value }) => {
                BodyCheck::Pattern(Box::new(pattern(value, scope).map_err(bad)?))
            }
            Some(ExpectBody::Json { fields, exact }) => {
                let compiled: Result<_, String> = fields
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), JsonField::compile(value, scope)?)))
                    .collect();
                BodyCheck::Json(JsonCheck {
                    fields: compiled.map_err(bad)?,
                    exact: *exact,
                })
            }
        };
        Ok(Self {
            statuses,
            head: HeadCheck::new(expect).map_err(bad)?,
            body,
        })
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
            BodyCheck::Exact(template) => template.fixed().is_some(),
            BodyCheck::Json(json) => !json
                .fields
                .values()
                .any(|field| matches!(field, JsonField::Text(_))),
        }
    }

    /// Checks a complete body.
    ///
    /// # Errors
    /// A sentence on what is wrong with it.
    pub fn body_is_right(
        &self,
        body: &[u8],
        key: Key<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), String> {
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

/// A pattern is a template, too, but one that is compiled once for all requests.
fn pattern(text: &str, scope: Scope<'_>) -> Result<Regex, String> {
    let template = Template::parse(text, scope, Place::Body)?;
    let fixed = template.fixed().ok_or(
        "a load's pattern takes no placeholder that differs from request to request: state the body by `body` or \
         `json`",
    )?;
    whole_pattern(&String::from_utf8_lossy(fixed))
}

/// Says how a body differs from the expected one.
pub(crate) fn difference(expected: &[u8], body: &[u8]) -> String {
    let same = expected
        .iter()
        .zip(body)
        .take_while(|(left, right)| left == right)
        .count();
    format!(
        "expected {} bytes, received {}; the first difference is at byte {same}; expected {:?}",
        expected.len(),
        body.len(),
        String::from_utf8_lossy(&expected[..expected.len().min(200)])
    )
}

impl JsonField {
    fn compile(value: &Value, scope: Scope<'_>) -> Result<Self, String> {
        if let Some(object) = value.as_object()
            && object.len() == 1
            && let Some(Value::String(name)) = object.get("type")
        {
            let known = [
                "string", "number", "integer", "boolean", "null", "array", "object",
            ];
            if !known.contains(&name.as_str()) {
                return Err(format!(
                    "unknown type {name:?}; the types are {}",
                    known.join(", ")
                ));
            }
            return Ok(Self::Type(name.clone()));
        }
        if let Value::String(text) = value {
            let template = Template::parse(text, scope, Place::Body)?;
            return Ok(match template.fixed() {
                Some(fixed) => {
                    Self::Value(Value::String(String::from_utf8_lossy(fixed).into_owned()))
                }
                None => Self::Text(template),
            });
        }
        Ok(Self::Value(value.clone()))
    }

    /// What it should have been, in words; `scratch` is what was compared last.
    fn wanted(&self, scratch: &[u8]) -> String {
        match self {
            Self::Value(value) => value.to_string(),
            Self::Text(_) => Value::from(String::from_utf8_lossy(scratch)).to_string(),
            Self::Type(name) => format!("any {name}"),
        }
    }

    fn accepts(&self, found: &Value, key: Key<'_>, scratch: &mut Vec<u8>) -> bool {
        match self {
            Self::Value(value) => value == found,
            Self::Text(template) => {
                scratch.clear();
                template.render(key, scratch);
                found
                    .as_str()
                    .is_some_and(|text| text.as_bytes() == scratch.as_slice())
            }
            Self::Type(name) => match name.as_str() {
                "string" => found.is_string(),
                "number" => found.is_number(),
                "integer" => found.is_i64() || found.is_u64(),
                "boolean" => found.is_boolean(),
                "null" => found.is_null(),
                "array" => found.is_array(),
                _ => found.is_object(),
            },
        }
    }
}

impl JsonCheck {
    fn check(&self, body: &[u8], key: Key<'_>, scratch: &mut Vec<u8>) -> Result<(), String> {
        let parsed: Value = serde_json::from_slice(body)
            .map_err(|error| format!("the body is not JSON: {error}"))?;
        let object = parsed
            .as_object()
            .ok_or("the body is JSON, but not an object")?;
        for (name, field) in &self.fields {
            let found = object
                .get(name)
                .ok_or_else(|| format!("the field {name:?} is missing"))?;
            if !field.accepts(found, key, scratch) {
                let wanted = field.wanted(scratch);
                return Err(format!("the field {name:?} is {found}, expected {wanted}"));
            }
        }
        match object
            .keys()
            .find(|name| self.exact && !self.fields.contains_key(*name))
        {
            Some(name) => Err(format!("the field {name:?} is not expected")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(expect: Value) -> Check {
        let expect = serde_json::from_value(expect).unwrap();
        Check::compile(&expect, Scope::default(), "test").unwrap()
    }

    fn verdict(expect: Value, body: &str) -> Result<(), String> {
        let key = Key {
            counter: 7,
            seed: 1,
            thread: 0,
            session: None,
        };
        check(json!({ "body": expect })).body_is_right(body.as_bytes(), key, &mut Vec::new())
    }

    fn right(expect: Value, body: &str) -> bool {
        verdict(expect, body).is_ok()
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
            let said = verdict(
                json!({"kind": "json", "fields": {"a": field}}),
                r#"{"a":"no"}"#,
            );
            assert_eq!(said, Err(format!(r#"the field "a" is "no", {wanted}"#)));
        }
        let exact = json!({"kind": "json", "exact": true, "fields": {"a": 1}});
        assert!(right(exact.clone(), r#"{"a":1}"#) && !right(exact, r#"{"a":1,"b":2}"#));
    }
}
