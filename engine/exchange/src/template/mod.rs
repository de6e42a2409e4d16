//! Templates: text in which `{counter}`, `{key:1..500}`, `{row.name}` and the like are filled in, request by request.
//!
//! The language is that of `docs/templates.md`. The lab reads it as well, to check manifests
//! (`touchstone.manifest.template`), and `tests/template_cases.json` holds both readers to the same.

mod draw;
mod escape;
mod parse;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::draw::KeyRange;
use self::escape::Escape;
pub use self::escape::Place;
use crate::job::BodyEncoding;
use crate::random;
use crate::rows::Rows;
use crate::session::Session;

/// Text with placeholders, taken apart once and rendered once a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    Counter,
    Random,
    Thread,
    Key(KeyRange),
    Row {
        rows: Arc<Rows>,
        column: usize,
        escape: Escape,
    },
    Capture {
        index: usize,
        escape: Escape,
    },
}

/// What a template may name besides what every request has.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'a> {
    /// The text of `{fresh}`, the same in the whole job.
    pub fresh: &'a str,
    /// The rows of `{row.NAME}`.
    pub rows: Option<&'a Arc<Rows>>,
    /// The names of what earlier steps have captured, in the order of [`Session::captured`].
    pub captures: &'a [String],
    /// Values of `{capture.NAME}` that are known already and the same in every request; a step of the same name hides one.
    pub captured: Option<&'a BTreeMap<String, String>>,
    /// The one request that the template is for, where there is no other: then all of it is fixed.
    pub only: Option<Key<'a>>,
}

/// What the placeholders of one request stand for. But for what was captured, all of it follows from the counter, so
/// that the expected body can be rendered when the response comes and nothing needs to be kept but this number.
#[derive(Debug, Clone, Copy, Default)]
pub struct Key<'a> {
    /// The request's number, unique in the run; in a journey that of the whole pass.
    pub counter: u64,
    /// The job's seed.
    pub seed: u64,
    /// The sending thread's number.
    pub thread: u32,
    /// What earlier steps of the journey have left behind.
    pub session: Option<&'a Session>,
}

impl Template {
    /// Parses a template that stands in a `place` of the request.
    ///
    /// # Errors
    /// A sentence on the placeholder that is unknown.
    pub fn parse(text: &str, scope: Scope<'_>, place: Place) -> Result<Self, String> {
        Self::parse_as(BodyEncoding::Text, text, scope, place)
    }

    /// Parses a template whose own text, and not what is filled in, becomes bytes by an encoding.
    ///
    /// # Errors
    /// A sentence on the placeholder that is unknown, or the character that is not a byte.
    pub fn parse_as(
        encoding: BodyEncoding,
        text: &str,
        scope: Scope<'_>,
        place: Place,
    ) -> Result<Self, String> {
        let pieces = parse::pieces(text, scope, place)?.into_iter();
        let pieces = pieces.map(|piece| match piece {
            parse::Found::Own(text) => encoding.encode(&text).map(Piece::Text),
            parse::Found::Filled(piece) => Ok(piece),
        });
        let template = Self::of(pieces.collect::<Result<_, _>>()?);
        let Some(key) = scope.only else {
            return Ok(template);
        };
        let mut text = Vec::new();
        template.render(key, &mut text);
        Ok(Self::of(vec![Piece::Text(text)]))
    }

    /// Text in which nothing is filled in.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        Self::of(vec![Piece::Text(text.as_bytes().to_vec())])
    }

    /// One behind the other.
    #[must_use]
    pub fn join(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::of(parts.into_iter().flat_map(|part| part.pieces).collect())
    }

    fn of(parts: Vec<Piece>) -> Self {
        let mut pieces: Vec<Piece> = Vec::with_capacity(parts.len());
        for part in parts {
            match (pieces.last_mut(), part) {
                (Some(Piece::Text(before)), Piece::Text(text)) => before.extend_from_slice(&text),
                (_, part) => pieces.push(part),
            }
        }
        Self { pieces }
    }

    /// The text, where it is the same for every request.
    #[must_use]
    pub fn fixed(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(b""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether it holds values that were taken from responses.
    #[must_use]
    pub fn takes_from_responses(&self) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| matches!(piece, Piece::Capture { .. }))
    }

    /// Appends the text for one request.
    pub fn render(&self, key: Key<'_>, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Counter => decimal(key.counter, out),
                Piece::Random => hex(random::at(key.seed, key.counter), out),
                Piece::Thread => decimal(u64::from(key.thread), out),
                Piece::Key(range) => decimal(range.draw(key.seed, key.counter), out),
                Piece::Row {
                    rows,
                    column,
                    escape,
                } => escape.write(rows.cell(key.counter, *column), out),
                Piece::Capture { index, escape } => {
                    let captured = key.session.and_then(|session| session.captured.get(*index));
                    escape.write(captured.map_or("", String::as_str).as_bytes(), out);
                }
            }
        }
    }
}

/// The text of `{fresh}` in a job that names none: it follows from the seed, as the lab's does.
#[must_use]
pub fn fresh_of(seed: u64) -> String {
    format!("{:08x}", random::at(seed, u64::MAX) >> 32)
}

/// Appends a number in decimal.
pub(crate) fn decimal(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn hex(number: u64, out: &mut Vec<u8>) {
    out.extend(
        (0..16).map(|digit| b"0123456789abcdef"[(number >> (60 - 4 * digit)) as usize & 15]),
    );
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn rendered(text: &str, counter: u64) -> Result<String, String> {
        let scope = Scope {
            fresh: "0123abcd",
            ..Scope::default()
        };
        let mut out = Vec::new();
        let key = Key {
            counter,
            seed: 7,
            thread: 3,
            session: None,
        };
        Template::parse(text, scope, Place::Body)?.render(key, &mut out);
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn own_text_is_encoded_and_what_is_filled_in_is_not() {
        let rows = Arc::new(Rows::parse_csv("name\n\u{e9}\n".as_bytes()).unwrap());
        let scope = Scope {
            rows: Some(&rows),
            ..Scope::default()
        };
        let known = BTreeMap::from([("id".to_owned(), "\u{e9}".to_owned())]);
        let scope = Scope {
            captured: Some(&known),
            ..scope
        };
        let parse = |text| Template::parse_as(BodyEncoding::Bytes, text, scope, Place::Body);
        let mut out = Vec::new();
        let template = parse("\0\u{ff}{row.name}{\u{89}*2}{capture.id}").unwrap();
        template.render(Key::default(), &mut out);
        assert_eq!(out, b"\x00\xff\xc3\xa9\x89\x89\xc3\xa9");
        assert!(parse("\u{100}").unwrap_err().contains("is not a byte"));
    }

    /// The cases that the lab's half of the language is held to as well.
    #[test]
    fn the_cases_of_both_halves_hold() {
        let file: Value =
            serde_json::from_str(include_str!("../../tests/template_cases.json")).unwrap();
        let rows = Arc::new(Rows::parse_csv(file["rows"].as_str().unwrap().as_bytes()).unwrap());
        let captures: Vec<(String, String)> = file["captures"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
            .collect();
        let names: Vec<String> = captures.iter().map(|(name, _)| name.clone()).collect();
        let session = Session {
            captured: captures.iter().map(|(_, value)| value.clone()).collect(),
            ..Session::default()
        };
        let scope = Scope {
            fresh: file["fresh"].as_str().unwrap(),
            rows: Some(&rows),
            captures: &names,
            ..Scope::default()
        };
        let known = captures.into_iter().collect();
        for case in file["cases"].as_array().unwrap() {
            let text = case["text"].as_str().unwrap();
            let place = match case["place"].as_str().unwrap_or("body") {
                "target" => Place::Target,
                "header" => Place::Header,
                _ => Place::Body,
            };
            let parsed = Template::parse(text, scope, place);
            let key = Key {
                counter: case["counter"].as_u64().unwrap_or(7),
                seed: file["seed"].as_u64().unwrap(),
                thread: 0,
                session: Some(&session),
            };
            let only = Scope {
                captures: &[],
                captured: Some(&known),
                only: Some(key),
                ..scope
            };
            if let Some(said) = case["fails"].as_str() {
                let why = parsed.expect_err(text);
                assert!(why.contains(said), "{text}: {why}");
                continue;
            }
            let mut out = Vec::new();
            parsed.expect(text).render(key, &mut out);
            let gives = case["gives"].as_str().unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), gives, "{text}");
            let bound = Template::parse(text, only, place).expect(text);
            assert_eq!(bound.fixed(), Some(gives.as_bytes()), "{text}");
        }
    }

    #[test]
    fn placeholders_are_filled_in() {
        assert_eq!(rendered("{counter}", 0).unwrap(), "0");
        assert_eq!(
            rendered("{counter}", u64::MAX).unwrap(),
            u64::MAX.to_string()
        );
        assert_eq!(rendered("t={thread}", 1).unwrap(), "t=3");
        assert_eq!(rendered("{random}", 5), rendered("{random}", 5));
        assert_ne!(rendered("{random}", 5), rendered("{random}", 6));
    }

    #[test]
    fn text_without_placeholders_is_fixed() {
        let parse = |text| Template::parse(text, Scope::default(), Place::Body).unwrap();
        assert_eq!(parse(r#"{"a":{}}"#).fixed(), Some(&br#"{"a":{}}"#[..]));
        assert_eq!(parse("a{brace}b{x*3}").fixed(), Some(&b"a{bxxx"[..]));
        assert_eq!(parse("{counter}").fixed(), None);
        assert_eq!(
            Template::join([Template::literal("a"), parse("b")]).fixed(),
            Some(&b"ab"[..])
        );
    }

    #[test]
    fn a_fresh_text_follows_from_the_seed() {
        assert_eq!(fresh_of(1).len(), 8);
        assert_eq!(fresh_of(1), fresh_of(1));
        assert_ne!(fresh_of(1), fresh_of(2));
    }
}
