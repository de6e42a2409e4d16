//! Where a number is in an event: its counter, or the time at which the service sent it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::Event;
use crate::job::StreamKind;

/// Where a number is in an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The `id` of a server-sent event.
    Id,
    /// The whole data.
    Data,
    /// A member of the JSON object that the data is, by the names on the way to it.
    Json(Vec<String>),
}

/// A number as it was written in an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Real(f64),
}

impl Number {
    /// A whole number, as far as it is one of 64 bits.
    #[must_use]
    pub fn of(whole: i128) -> Self {
        i64::try_from(whole).map_or(Self::Real(whole as f64), Self::Whole)
    }
}

/// A point in time, in nanoseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub u64);

impl Place {
    /// Reads `id`, `data` or `json.NAME`, with further names behind dots.
    ///
    /// # Errors
    /// A sentence on the right form.
    pub fn parse(text: &str, kind: StreamKind) -> Result<Self, String> {
        let names = text.strip_prefix("json.");
        let names = names.map(|rest| rest.split('.').map(str::to_owned).collect::<Vec<_>>());
        match (text, names) {
            ("id", _) if kind == StreamKind::Sse => Ok(Self::Id),
            ("id", _) => Err("only server-sent events have an id: write json.NAME".to_owned()),
            ("data", _) => Ok(Self::Data),
            (_, Some(names)) if names.iter().all(|name| !name.is_empty()) => Ok(Self::Json(names)),
            _ => Err(format!(
                "{text:?} is not a place of a number: write id, data, or json.NAME (json.a.b for one inside another)"
            )),
        }
    }

    /// A number that was found there, as a whole one.
    ///
    /// # Errors
    /// A sentence on why there is none.
    pub fn whole(&self, number: Option<Number>) -> Result<i64, String> {
        match number {
            Some(Number::Whole(number)) => Ok(number),
            Some(Number::Real(_)) => Err(format!("{self} is not a whole number")),
            None => Err(format!("{self} is missing, or not a number")),
        }
    }

    /// A number that was found there, as a time: Unix time in seconds, milliseconds, microseconds or nanoseconds, by its size.
    ///
    /// # Errors
    /// A sentence on why there is none.
    pub fn stamp(&self, number: Option<Number>) -> Result<Stamp, String> {
        let (whole, real) = match number {
            Some(Number::Whole(number)) => (u64::try_from(number).ok(), number as f64),
            Some(Number::Real(number)) => (None, number),
            None => return Err(format!("{self} is missing, or not a number")),
        };
        // The units do not overlap between the years 1973 and 5138.
        let unit: u32 = match real {
            _ if real < 0.0 => return Err(format!("{self} is not a Unix time")),
            _ if real < 1e11 => 1_000_000_000,
            _ if real < 1e14 => 1_000_000,
            _ if real < 1e17 => 1_000,
            _ => 1,
        };
        let exact = whole.and_then(|number| number.checked_mul(u64::from(unit)));
        Ok(Stamp(exact.unwrap_or((real * f64::from(unit)) as u64)))
    }

    /// The number there.
    #[must_use]
    pub fn number(&self, event: &Event<'_>) -> Option<Number> {
        match self {
            Self::Id => parse(event.id?),
            Self::Data => parse(event.data),
            Self::Json(names) => {
                if let [name] = &names[..]
                    && let Some(whole) = member(event.data, name)
                {
                    return Some(Number::Whole(whole));
                }
                let mut json = serde_json::Deserializer::from_slice(event.data);
                Path(names).deserialize(&mut json).ok().flatten()
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id => out.write_str("its id"),
            Self::Data => out.write_str("its data"),
            Self::Json(names) => write!(out, "its member {:?}", names.join(".")),
        }
    }
}

fn parse(text: &[u8]) -> Option<Number> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let whole = text.parse().ok().map(Number::Whole);
    whole.or_else(|| {
        let real: f64 = text.parse().ok()?;
        real.is_finite().then_some(Number::Real(real))
    })
}

/// The whole number under a name in an object whose other members are plain: texts without escapes, numbers and literals. None
/// wherever a reader of all JSON may see something else.
fn member(json: &[u8], name: &str) -> Option<i64> {
    let mut rest = after_space(json).strip_prefix(b"{")?;
    let mut found = None;
    loop {
        let (named, behind) = plain_text(after_space(rest))?;
        let value = after_space(after_space(behind).strip_prefix(b":")?);
        let known = named == name.as_bytes();
        // A name that is not ASCII may be no Unicode.
        if !known && !named.is_ascii() {
            return None;
        }
        rest = match value.first()? {
            b'"' if !known => plain_text(value)?.1,
            b'-' | b'0'..=b'9' => {
                let (number, behind) = whole_number(value)?;
                if known {
                    found = Some(number);
                }
                behind
            }
            b't' if !known => value.strip_prefix(b"true")?,
            b'f' if !known => value.strip_prefix(b"false")?,
            b'n' if !known => value.strip_prefix(b"null")?,
            _ => return None,
        };
        rest = after_space(rest);
        match rest.split_first()? {
            (b',', behind) => rest = behind,
            (b'}', _) => return found,
            _ => return None,
        }
    }
}

#[inline]
fn after_space(json: &[u8]) -> &[u8] {
    let is_space = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    &json[json.iter().take_while(is_space).count()..]
}

/// A text without escapes, and what is behind it.
#[inline]
fn plain_text(json: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = json.strip_prefix(b"\"")?;
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    let end = text.iter().position(special)?;
    (text[end] == b'"').then(|| (&text[..end], &text[end + 1..]))
}

/// A whole number of at most 18 digits, without fraction and exponent, and what is behind it.
#[inline]
fn whole_number(json: &[u8]) -> Option<(i64, &[u8])> {
    let (negative, digits) = match json.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, json),
    };
    let mut number = 0;
    let mut length = 0;
    while let Some(digit @ b'0'..=b'9') = digits.get(length) {
        length += 1;
        if length > 18 {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
    }
    let (text, rest) = digits.split_at(length);
    // "-0" is a real number to the reader of all JSON.
    let is_plain = match text {
        [] => false,
        [b'0'] => !negative,
        [first, ..] => *first != b'0',
    };
    if !is_plain || matches!(rest.first(), Some(b'.' | b'e' | b'E')) {
        return None;
    }
    Some((if negative { -number } else { number }, rest))
}

/// The names that still lead to a number; all else is passed over, and nothing is kept.
#[derive(Clone, Copy)]
struct Path<'p>(&'p [String]);

impl<'de> DeserializeSeed<'de> for Path<'_> {
    type Value = Option<Number>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Path<'_> {
    type Value = Option<Number>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some((name, rest)) = self.0.split_first() else {
            return Err(A::Error::custom("an object in the place of a number"));
        };
        let mut found = None;
        while let Some(known) = map.next_key_seed(Named(name))? {
            if known {
                found = map.next_value_seed(Path(rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(self.leaf(Number::of(i128::from(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(self.leaf(Number::Whole(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(self.leaf(Number::Real(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(parse(value.as_bytes()).and_then(|number| self.leaf(number)))
    }
}

impl Path<'_> {
    fn leaf(self, number: Number) -> Option<Number> {
        self.0.is_empty().then_some(number)
    }
}

/// Whether a member has this name.
struct Named<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Named<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Named<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::*;

    fn whole(place: &str, data: &str) -> Result<i64, String> {
        let place = Place::parse(place, StreamKind::Sse).unwrap();
        place.whole(place.number(&Event {
            id: Some(b"5"),
            ..Event::bare(data.as_bytes())
        }))
    }

    #[test]
    fn a_counter_is_found_in_the_id_the_data_and_its_members() {
        assert_eq!(whole("id", ""), Ok(5));
        assert_eq!(whole("data", " 17 "), Ok(17));
        assert_eq!(
            whole("json.n", r#"{"a":[1,{"n":2}],"n":3,"z":null}"#),
            Ok(3)
        );
        assert_eq!(whole("json.n", r#"{"n":"4"}"#), Ok(4));
        assert_eq!(whole("json.a.n", r#"{"n":1,"a":{"n":-7}}"#), Ok(-7));
        for (place, data) in [
            ("json.n", "{}"),
            ("json.n", r#"{"n":1.5}"#),
            ("json.n", r#"{"n":{"n":1}}"#),
            ("json.n", r#"{"n":1"#),
            ("json.n", r#"{"n":true}"#),
            ("json.n", "[1]"),
            ("json.n", "1"),
            ("json.n.m", r#"{"n":1}"#),
            ("data", "x"),
        ] {
            assert!(whole(place, data).is_err(), "{place} in {data}");
        }
    }

    proptest! {
        #[test]
        fn a_plain_member_is_the_number_that_all_json_has(pieces in vec(select(PIECES), 0..24), at in any::<Index>(), other in any::<u8>()) {
            let mut json = pieces.concat().into_bytes();
            let whole = format!("{{\"n\":{}}}", pieces.concat());
            for changed in [false, true] {
                if changed && !json.is_empty() {
                    let at = at.index(json.len());
                    json[at] = other;
                }
                for json in [&json[..], whole.as_bytes()] {
                    if let Some(number) = member(json, "n") {
                        let names = ["n".to_owned()];
                        let mut general = serde_json::Deserializer::from_slice(json);
                        let general = Path(&names).deserialize(&mut general).ok().flatten();
                        prop_assert_eq!(general, Some(Number::Whole(number)));
                    }
                }
            }
        }
    }

    /// Pieces of JSON, of which a good part of all sequences is an object with a number.
    const PIECES: &[&str] = &[
        "{\"n\":",
        "{",
        "}",
        ",\"n\":",
        ",\"a\":",
        "\"n\"",
        ":",
        ",",
        "1",
        "-7",
        "-0",
        "007",
        "0",
        "1.5",
        "2e3",
        "123456789012345678",
        "1234567890123456789",
        "true",
        "null",
        "\"text\"",
        "\"\\n\"",
        "\"é\"",
        " ",
        "\n",
        "\u{c}",
        "[1]",
        "{\"n\":1}",
        ",\"é\":",
    ];

    #[test]
    fn plain_members_are_found() {
        let json = br#" { "symbol" : "ACME", "n":12 , "b": -3,"c":true,"d":null,"e":false}"#;
        assert_eq!(member(json, "n"), Some(12));
        assert_eq!(member(json, "b"), Some(-3));
        assert_eq!(member(br#"{"n":1,"n":2}"#, "n"), Some(2));
        for json in [
            r#"{"n":1"#,
            r#"{"n":1,}"#,
            r#"{"n":1 2}"#,
            r#"{"n":-0}"#,
            r#"{"n":01}"#,
            r#"{"n":"1"}"#,
            "[]",
            "",
        ] {
            assert_eq!(member(json.as_bytes(), "n"), None, "{json}");
        }
    }

    #[test]
    fn the_unit_of_a_stamp_follows_from_its_size() {
        let place = Place::parse("data", StreamKind::Lines).unwrap();
        let stamp = |text: &str| place.stamp(place.number(&Event::bare(text.as_bytes())));
        let wanted = Ok(Stamp(1_795_000_000_123_456_789));
        assert_eq!(stamp("1795000000123456789"), wanted);
        for text in [
            "1795000000",
            "1795000000123",
            "1795000000123456",
            "1795000000.5",
        ] {
            let Ok(Stamp(found)) = stamp(text) else {
                panic!("{text}")
            };
            assert!(
                found.abs_diff(1_795_000_000_123_456_789) < 500_000_000,
                "{text}"
            );
        }
        assert!(stamp("-1").is_err() && stamp("soon").is_err());
    }
}
