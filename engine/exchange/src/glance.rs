//! What an expectation and a counter need of a gRPC message, read from its bytes on the wire.
//!
//! The general way shows a message as JSON first, which costs many times as much. A glance never refuses a message: where it is
//! not sure that one is right, the general way decides.

use serde_json::Value;
use touchstone_grpc::{Found, Method, Sort, Spot, Wire};

use crate::check::BodyCheck;
use crate::events::{Number, Place};
use crate::json::{Field, JsonCheck};
use crate::template::{Key, Template};

/// How messages of a method are read.
#[derive(Debug, Clone)]
pub struct Glance {
    wire: Wire,
    tests: Vec<(Spot, Test)>,
    counter: Option<Spot>,
    stamp: Option<Spot>,
}

#[derive(Debug, Clone)]
enum Test {
    Whole(i128),
    Text(Vec<u8>),
    Rendered(Template),
}

/// The numbers in a message that is right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Numbers {
    /// The event's number.
    pub counter: Option<Number>,
    /// When it was sent.
    pub stamp: Option<Number>,
}

impl Glance {
    /// How a response's messages are held against an expectation. None where that takes their JSON.
    #[must_use]
    pub fn new(method: &Method, body: &BodyCheck) -> Option<Self> {
        let mut wire = method.wire()?;
        let tests = match body {
            BodyCheck::Any => Vec::new(),
            BodyCheck::Json(json) => tests(json, &mut wire)?,
            _ => return None,
        };
        Some(Self {
            wire,
            tests,
            counter: None,
            stamp: None,
        })
    }

    /// The same, which also reads the numbers at these places.
    #[must_use]
    pub fn with(mut self, counter: Option<&Place>, stamp: Option<&Place>) -> Option<Self> {
        let mut spot = |place: Option<&Place>| match place {
            None => Some(None),
            Some(Place::Json(names)) => {
                let spot = self.wire.spot(names)?;
                (spot.sort() == Sort::Whole).then_some(Some(spot))
            }
            Some(_) => None,
        };
        let (counter, stamp) = (spot(counter)?, spot(stamp)?);
        Some(Self {
            counter,
            stamp,
            ..self
        })
    }

    /// Reads a message; none where only the general way knows whether it is of the method's type.
    #[must_use]
    pub fn scan<'m>(&self, message: &'m [u8]) -> Option<Found<'m>> {
        self.wire.scan(message)
    }

    /// Whether a message that was read is as expected. If not, the general way decides.
    #[must_use]
    pub fn accepts(&self, found: &Found<'_>, key: Key<'_>, scratch: &mut Vec<u8>) -> bool {
        self.tests.iter().all(|(spot, test)| match test {
            Test::Whole(wanted) => spot.whole(found) == Some(*wanted),
            Test::Text(wanted) => is_text(spot, found, wanted),
            Test::Rendered(template) => {
                scratch.clear();
                template.render(key, scratch);
                is_text(spot, found, scratch)
            }
        })
    }

    /// The numbers of a message that is as expected; none where the general way must decide.
    #[must_use]
    pub fn numbers(
        &self,
        found: &Found<'_>,
        key: Key<'_>,
        scratch: &mut Vec<u8>,
    ) -> Option<Numbers> {
        let number = |spot: &Option<Spot>| match spot {
            None => Some(None),
            Some(spot) => Some(Some(Number::of(spot.whole(found)?))),
        };
        let (counter, stamp) = (number(&self.counter)?, number(&self.stamp)?);
        let numbers = Numbers { counter, stamp };
        self.accepts(found, key, scratch).then_some(numbers)
    }
}

/// Whether a value is this text, or a number that is written so.
fn is_text(spot: &Spot, found: &Found<'_>, wanted: &[u8]) -> bool {
    if spot.sort() == Sort::Text {
        return spot.text(found) == Some(wanted);
    }
    // JSON knows one way to write a whole number.
    let digits = wanted.strip_prefix(b"-").unwrap_or(wanted);
    let is_plain = wanted == b"0" || matches!(digits.first(), Some(b'1'..=b'9'));
    let text = std::str::from_utf8(wanted).ok();
    let number = text.and_then(|text| text.parse().ok());
    is_plain && number.is_some() && number == spot.whole(found)
}

/// The tests of an expectation on fields; none where one of them takes JSON.
fn tests(json: &JsonCheck, wire: &mut Wire) -> Option<Vec<(Spot, Test)>> {
    let mut names: Vec<_> = wire.names().collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return None;
    }
    if json.exact && names.iter().any(|name| !json.fields.contains_key(name)) {
        return None;
    }
    let mut found = Vec::new();
    for (name, field) in &json.fields {
        let (sort, always) = wire.field(name)?;
        let test = match (field, sort) {
            (Field::Type(wanted), _) if always && has_type(sort, wanted) => continue,
            (Field::Text(template), Sort::Text | Sort::Whole) => Test::Rendered(template.clone()),
            (Field::Value(Value::String(text)), Sort::Text | Sort::Whole) => {
                Test::Text(text.clone().into_bytes())
            }
            (Field::Value(Value::Bool(wanted)), Sort::Truth) => Test::Whole(i128::from(*wanted)),
            (Field::Value(Value::Number(number)), Sort::Whole) => {
                let signed = number.as_i64().map(i128::from);
                Test::Whole(signed.or(number.as_u64().map(i128::from))?)
            }
            _ => return None,
        };
        found.push((wire.spot(&[name])?, test));
    }
    Some(found)
}

/// Whether every value of a sort has a type of JSON.
fn has_type(sort: Sort, wanted: &str) -> bool {
    match sort {
        Sort::Whole => matches!(wanted, "integer" | "number"),
        Sort::Truth => wanted == "boolean",
        Sort::Text => wanted == "string",
        Sort::Other => false,
    }
}
