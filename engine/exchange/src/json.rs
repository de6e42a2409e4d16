//! JSON bodies as they were sent: compared by value, with each number as exact as it was written.
//!
//! A body is never turned into numbers and back: `serde_json`'s raw values keep the text, which is compared, shown and
//! captured.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::template::{Key, Place, Scope, Template};

/// Characters of a value that a sentence shows.
const SHOWN: usize = 200;
/// Members up to which each is compared with those before it: sorting needs memory of its own.
const FEW: usize = 16;
const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "null", "array", "object",
];

/// The fields that a JSON body must have.
#[derive(Debug, Clone)]
pub struct JsonCheck {
    pub(crate) fields: BTreeMap<String, Field>,
    pub(crate) exact: bool,
    /// Whether a number and its text are the same, as in the JSON of protobuf.
    loose: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Field {
    Value(Value),
    Text(Template),
    Type(String),
}

/// The members of an object in their order, each value as it was sent.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl JsonCheck {
    /// Compiles what an expectation says of the fields.
    ///
    /// # Errors
    /// A sentence on a template or a type that does not hold together.
    pub fn compile(
        fields: &BTreeMap<String, Value>,
        exact: bool,
        scope: Scope<'_>,
    ) -> Result<Self, String> {
        let compiled = fields
            .iter()
            .map(|(name, value)| Ok((name.clone(), Field::compile(value, scope)?)));
        Ok(Self {
            fields: compiled.collect::<Result<_, String>>()?,
            exact,
            loose: false,
        })
    }

    /// The same, for which a number and its text are equal, as in the JSON of protobuf.
    #[must_use]
    pub fn loose(self) -> Self {
        Self {
            loose: true,
            ..self
        }
    }

    /// Whether it asks the same of every response.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        let mut fields = self.fields.values();
        !fields.any(|field| matches!(field, Field::Text(_)))
    }

    /// Checks a body.
    ///
    /// # Errors
    /// A sentence on what is wrong with it, with values as they were sent.
    pub fn check(&self, body: &[u8], key: Key<'_>, scratch: &mut Vec<u8>) -> Result<(), String> {
        let Members(members) = serde_json::from_slice(body).map_err(|error| {
            if error.is_data() {
                "the body is JSON, but not an object".to_owned()
            } else {
                format!("the body is not JSON: {error}")
            }
        })?;
        if let Some(name) = doubled(&members) {
            return Err(format!("the field {name:?} is there more than once"));
        }
        for (name, field) in &self.fields {
            let (_, value) = members
                .iter()
                .find(|(known, _)| known == name)
                .ok_or_else(|| format!("the field {name:?} is missing"))?;
            if !field.accepts(value.get(), self.loose, key, scratch) {
                let (found, wanted) = (shown(value.get()), field.wanted(scratch));
                return Err(format!("the field {name:?} is {found}, expected {wanted}"));
            }
        }
        let mut names = members.iter().map(|(name, _)| name);
        match names.find(|name| self.exact && !self.fields.contains_key(*name)) {
            Some(name) => Err(format!("the field {name:?} is not expected")),
            None => Ok(()),
        }
    }
}

/// A name that two members have, expected or not: clients differ in which of them they take (RFC 8259 section 4).
fn doubled<'m>(members: &'m [(String, &RawValue)]) -> Option<&'m str> {
    if members.len() <= FEW {
        let mut each = members.iter().enumerate();
        return each.find_map(|(place, (name, _))| {
            let before = &members[..place];
            before
                .iter()
                .any(|(known, _)| known == name)
                .then_some(name.as_str())
        });
    }
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names
        .windows(2)
        .find(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
}

impl Field {
    fn compile(value: &Value, scope: Scope<'_>) -> Result<Self, String> {
        if let Some(object) = value.as_object()
            && object.len() == 1
            && let Some(Value::String(name)) = object.get("type")
        {
            if !TYPES.contains(&name.as_str()) {
                return Err(format!(
                    "unknown type {name:?}; the types are {}",
                    TYPES.join(", ")
                ));
            }
            return Ok(Self::Type(name.clone()));
        }
        if let Value::String(text) = value {
            let template = Template::parse(text, scope, Place::Body)?;
            return Ok(match template.fixed() {
                Some(fixed) => Self::Value(String::from_utf8_lossy(fixed).into()),
                None => Self::Text(template),
            });
        }
        Ok(Self::Value(value.clone()))
    }

    /// The expected value in words; `scratch` holds the bytes compared last.
    fn wanted(&self, scratch: &[u8]) -> String {
        match self {
            Self::Value(value) => value.to_string(),
            Self::Text(_) => Value::from(String::from_utf8_lossy(scratch)).to_string(),
            Self::Type(name) => format!("any {name}"),
        }
    }

    fn accepts(&self, found: &str, loose: bool, key: Key<'_>, scratch: &mut Vec<u8>) -> bool {
        match self {
            Self::Value(value) => is_same(value, found, loose),
            Self::Text(template) => {
                scratch.clear();
                template.render(key, scratch);
                is_text(found, scratch, loose)
            }
            Self::Type(name) => is_type(name, found),
        }
    }
}

/// Whether a value as it was sent is the wanted one. An object's members have no order.
fn is_same(wanted: &Value, found: &str, loose: bool) -> bool {
    match wanted {
        Value::Null => found == "null",
        Value::Bool(value) => found == if *value { "true" } else { "false" },
        Value::Number(number) => match text(found).filter(|_| loose) {
            Some(text) => is_number(&text) && is_same_number(number, &text),
            None => is_number(found) && is_same_number(number, found),
        },
        Value::String(wanted) => is_text(found, wanted.as_bytes(), loose),
        Value::Array(wanted) => serde_json::from_str::<Vec<&RawValue>>(found).is_ok_and(|found| {
            found.len() == wanted.len()
                && wanted
                    .iter()
                    .zip(found)
                    .all(|(w, f)| is_same(w, f.get(), loose))
        }),
        Value::Object(wanted) => serde_json::from_str(found).is_ok_and(|Members(found)| {
            let same = |(name, wanted): (&String, &Value)| {
                let mut named = found.iter().filter(|(known, _)| known == name);
                named
                    .next()
                    .is_some_and(|(_, one)| is_same(wanted, one.get(), loose))
            };
            // As many members as wanted, and each wanted one: none is there twice.
            found.len() == wanted.len() && wanted.iter().all(same)
        }),
    }
}

/// Whether a value as it was sent is a text.
fn is_text(found: &str, wanted: &[u8], loose: bool) -> bool {
    let as_number = || loose && is_number(found) && found.as_bytes() == wanted;
    text(found).is_some_and(|text| text.as_bytes() == wanted) || as_number()
}

/// A whole number is compared digit by digit, whatever its length and spelling; any other is a double, and every text that
/// is nearest to it spells it.
fn is_same_number(wanted: &serde_json::Number, found: &str) -> bool {
    if wanted.is_f64() {
        return found.parse().ok() == wanted.as_f64();
    }
    canonical(&wanted.to_string()) == canonical(found)
}

/// A number as sign, digits without zeros at either end, and the power of ten of the last digit.
fn canonical(number: &str) -> (bool, String, i64) {
    let (negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let zeros = (digits.len() - significant.len()) as i64;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return (false, String::new(), 0);
    }
    // An exponent that no i64 holds stays one that no wanted number has.
    let exponent = exponent.parse().unwrap_or(i64::MAX / 2);
    let power = exponent - fraction.len() as i64 + zeros;
    (negative, significant.to_owned(), power)
}

fn is_type(name: &str, found: &str) -> bool {
    let first = found.as_bytes().first().copied().unwrap_or_default();
    match name {
        "string" => first == b'"',
        "number" => is_number(found),
        "integer" => is_number(found) && !found.contains(['.', 'e', 'E']),
        "boolean" => first == b't' || first == b'f',
        "null" => first == b'n',
        "array" => first == b'[',
        _ => first == b'{',
    }
}

fn is_number(found: &str) -> bool {
    found.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

fn text(found: &str) -> Option<String> {
    serde_json::from_str(found).ok()
}

fn shown(found: &str) -> String {
    let start: String = found.chars().take(SHOWN).collect();
    if start.len() == found.len() {
        return start;
    }
    format!("{start}... ({} bytes)", found.len())
}

/// The value at a JSON pointer (RFC 6901): a text's characters, or the bytes of any other value, without the
/// white space between its parts.
///
/// # Errors
/// A sentence on why there is none.
pub fn value_at(pointer: &str, body: &[u8]) -> Result<String, String> {
    let whole: &RawValue = serde_json::from_slice(body)
        .map_err(|error| format!("the body, to be captured from, is not JSON: {error}"))?;
    let nothing = || format!("nothing is at {pointer:?}, to be captured");
    let mut found = whole.get();
    for token in pointer.split('/').skip(1) {
        found = member(found, &token.replace("~1", "/").replace("~0", "~")).ok_or_else(nothing)?;
    }
    if !found.starts_with('"') {
        return Ok(compact(found));
    }
    text(found).ok_or_else(|| format!("the text at {pointer:?} is not Unicode"))
}

fn member<'a>(found: &'a str, token: &str) -> Option<&'a str> {
    if found.starts_with('{') {
        let Members(members) = serde_json::from_str(found).ok()?;
        let mut named = members.iter().rev();
        return named
            .find(|(name, _)| name == token)
            .map(|(_, value)| value.get());
    }
    let plain =
        token == "0" || (!token.starts_with('0') && token.bytes().all(|b| b.is_ascii_digit()));
    let index: usize = plain.then(|| token.parse().ok())??;
    let items: Vec<&RawValue> = serde_json::from_str(found).ok()?;
    items.get(index).map(|value| value.get())
}

/// JSON without the white space between its parts.
fn compact(json: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let keep = |character: &char| {
        let stays = quoted || !character.is_ascii_whitespace();
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        stays
    };
    json.chars().filter(keep).collect()
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each<'a>(std::marker::PhantomData<&'a ()>);

        impl<'de: 'a, 'a> Visitor<'de> for Each<'a> {
            type Value = Members<'a>;

            fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
                text.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'a>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Each(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn verdict(fields: Value, exact: bool, body: &str) -> Result<(), String> {
        let fields = serde_json::from_value(fields).unwrap();
        let check = JsonCheck::compile(&fields, exact, Scope::default()).unwrap();
        check.check(body.as_bytes(), Key::default(), &mut Vec::new())
    }

    fn same(wanted: &str, found: &str) -> bool {
        let wanted: Value = serde_json::from_str(wanted).unwrap();
        verdict(
            json!({ "n": wanted }),
            false,
            &format!("{{\"n\": {found} }}"),
        )
        .is_ok()
    }

    #[test]
    fn numbers_are_compared_by_value() {
        for (wanted, found) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("1.0", "1"),
            ("0", "-0.0"),
            ("1200", "1.2e3"),
            ("-5", "-5.00"),
            ("19.99", "1999e-2"),
            (
                "19.99",
                "19.989999999999998436805981327779591083526611328125",
            ),
            ("0.1", "0.1000000000000000055511151231257827"),
            ("18446744073709551615", "18446744073709551615"),
            ("5e-324", "4.9406564584124654e-324"),
            ("100", "0.1E+3"),
        ] {
            assert!(same(wanted, found), "{wanted} {found}");
        }
        for (wanted, found) in [
            ("19.99", "19.990000000000002"),
            ("1", "1.0000000000000000000001"),
            ("1", "true"),
            ("1", "\"1\""),
            ("1", "-1"),
            ("9007199254740993", "9007199254740992"),
            ("9007199254740993", "9007199254740992.0"),
            ("1", "1e99999999999999999999"),
            ("0.1", "1e400"),
            ("true", "1"),
        ] {
            assert!(!same(wanted, found), "{wanted} {found}");
        }
    }

    #[test]
    fn arrays_and_objects_are_compared_as_a_whole() {
        let wanted = r#"{"a": [1, {"b": null}], "c": "\u00e9"}"#;
        assert!(same(wanted, r#"{"c":"é","a":[1.0,{"b":null}]}"#));
        for wrong in [
            r#"{"c":"é","a":[1,{"b":null}],"d":1}"#,
            r#"{"c":"é","a":[{"b":null},1]}"#,
            r#"{"c":"é"}"#,
            r#"{"c":"é","c":"é"}"#,
        ] {
            assert!(!same(wanted, wrong), "{wrong}");
        }
    }

    #[test]
    fn a_sentence_shows_the_value_that_was_sent() {
        let said = verdict(json!({"n": 19.99}), false, r#"{"n":19.990000000000002}"#).unwrap_err();
        assert_eq!(
            said,
            r#"the field "n" is 19.990000000000002, expected 19.99"#
        );
        let long = format!("{{\"n\": {} }}", "1".repeat(300));
        let said = verdict(json!({"n": 1}), false, &long).unwrap_err();
        assert!(said.contains("... (300 bytes)"), "{said}");
    }

    #[test]
    fn an_integer_has_neither_fraction_nor_exponent() {
        let integer = |found: &str| {
            let body = format!("{{\"n\":{found}}}");
            verdict(json!({"n": {"type": "integer"}}), false, &body).is_ok()
        };
        assert!(integer("-7") && integer("123456789012345678901234567890"));
        assert!(!integer("1.0") && !integer("1e2") && !integer("\"1\""));
    }

    #[test]
    fn what_is_no_object_or_holds_a_field_twice_is_wrong() {
        let said = |body: &str| verdict(json!({"a": 1}), true, body).unwrap_err();
        assert!(said("[1]").contains("not an object"));
        assert!(said("{\"a\":1").contains("not JSON"));
        assert!(said("{\"a\":1} x").contains("not JSON"));
        assert!(said(r#"{"a":1,"a":1}"#).contains("more than once"));
        let open = |body: &str| verdict(json!({"a": 1}), false, body);
        assert!(open(r#"{"a":1,"b":1,"c":2}"#).is_ok());
        assert!(
            open(r#"{"a":1,"b":1,"b":2}"#)
                .unwrap_err()
                .contains("\"b\" is there more than once")
        );
        let many: String = (0..20).map(|n| format!(r#","m{n}":0"#)).collect();
        assert!(open(&format!(r#"{{"a":1{many}}}"#)).is_ok());
        assert!(
            open(&format!(r#"{{"a":1{many},"m7":0}}"#))
                .unwrap_err()
                .contains("m7")
        );
        assert!(said(r#"{"a":1,"b":1}"#).contains("\"b\" is not expected"));
        assert!(said("{\"a\":NaN}").contains("not JSON"));
    }

    #[test]
    fn a_pointer_gives_the_text_that_was_sent() {
        let body = br#"{"id":12345678901234567890123,"a/b":[ {"x" : 1.50}, "q\u00e9"],"":0}"#;
        let at = |pointer: &str| value_at(pointer, body);
        assert_eq!(at("/id").unwrap(), "12345678901234567890123");
        assert_eq!(at("/a~1b/0").unwrap(), r#"{"x":1.50}"#);
        assert_eq!(at("/a~1b/0/x").unwrap(), "1.50");
        assert_eq!(at("/a~1b/1").unwrap(), "qé");
        assert_eq!(at("/").unwrap(), "0");
        for nothing in ["/a~1b/2", "/a~1b/00", "/a~1b/-", "/id/0", "/x"] {
            assert!(at(nothing).is_err(), "{nothing}");
        }
    }
}
