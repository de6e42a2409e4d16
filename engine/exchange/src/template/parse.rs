//! Takes a template apart.
//!
//! One rule for braces: a brace stands for itself, as JSON and regular expressions want it, unless it opens a
//! placeholder. What looks like a placeholder and is none is an error, never text.

use std::sync::Arc;

use super::draw::KeyRange;
use super::escape::{Escape, Place};
use super::{Piece, Scope};

/// A repeated character is not longer than this, in bytes.
const LONGEST_REPEAT: usize = 16 << 20;

/// A part of a template.
pub(super) enum Found {
    /// Its own text.
    Own(String),
    /// What is filled in, now or later.
    Filled(Piece),
}

pub(super) fn pieces(text: &str, scope: Scope<'_>, place: Place) -> Result<Vec<Found>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        pieces.push(Found::Own(rest[..at].to_owned()));
        let behind = &rest[at + 1..];
        if behind.starts_with('{') {
            return Err(format!(
                "{:?}: braces stand for themselves and are not doubled: write one, or {{brace}}{{brace}} if two are \
                 meant",
                rest[at..].chars().take(20).collect::<String>()
            ));
        }
        match inside(behind) {
            Some(words) => {
                pieces.push(piece(words, scope, place)?);
                rest = &behind[words.len() + 1..];
            }
            None => {
                pieces.push(Found::Own("{".to_owned()));
                rest = behind;
            }
        }
    }
    pieces.push(Found::Own(rest.to_owned()));
    pieces.retain(|piece| !matches!(piece, Found::Own(text) if text.is_empty()));
    Ok(pieces)
}

/// What stands between the braces, if it looks like a placeholder: a word with more behind it but no space and no quote,
/// or a character and how often.
fn inside(behind: &str) -> Option<&str> {
    let words = &behind[..behind.find('}')?];
    let worded = words.starts_with(|first: char| first.is_ascii_lowercase())
        && words
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte));
    (worded || repeated(words).is_some()).then_some(words)
}

fn repeated(words: &str) -> Option<(char, &str)> {
    let mut characters = words.chars();
    let character = characters.next()?;
    let count = characters.as_str().strip_prefix('*')?;
    let counts = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    (counts && character != '{').then_some((character, count))
}

fn piece(words: &str, scope: Scope<'_>, place: Place) -> Result<Found, String> {
    if let Some((character, count)) = repeated(words) {
        let count = count.parse::<usize>().ok();
        let count =
            count.filter(|count| count.saturating_mul(character.len_utf8()) <= LONGEST_REPEAT);
        let count = count.ok_or_else(|| format!("{{{words}}} is larger than 16 MiB"))?;
        return Ok(Found::Own(character.to_string().repeat(count)));
    }
    if let Some(range) = words.strip_prefix("key:") {
        let range = KeyRange::parse(range);
        return range
            .map(|range| Found::Filled(Piece::Key(range)))
            .map_err(|why| format!("{{{words}}}: {why}"));
    }
    if let Some(name) = words.strip_prefix("row.") {
        return row(name, scope, place).map(Found::Filled);
    }
    if let Some(name) = words.strip_prefix("capture.") {
        return capture(name, scope, place).map(Found::Filled);
    }
    Ok(Found::Filled(match words {
        "counter" => Piece::Counter,
        "random" => Piece::Random,
        "thread" => Piece::Thread,
        "fresh" => Piece::Text(scope.fresh.as_bytes().to_vec()),
        "brace" => return Ok(Found::Own("{".to_owned())),
        _ => {
            return Err(format!(
                "{{{words}}} is not a placeholder; there are {{counter}}, {{random}}, {{thread}}, {{fresh}}, {{key:1..500}}, \
             {{row.NAME}}, {{capture.NAME}} and {{x*10}}; {{brace}} is a brace"
            ));
        }
    }))
}

fn row(name: &str, scope: Scope<'_>, place: Place) -> Result<Piece, String> {
    let (name, escape) = Escape::of(name, place)?;
    let rows = scope
        .rows
        .ok_or_else(|| format!("{{row.{name}}}: there are no rows: name a file in `rows`"))?;
    let column = rows.column(name).ok_or_else(|| {
        format!(
            "{{row.{name}}}: the rows have no such column; there are {}",
            rows.columns().join(", ")
        )
    })?;
    Ok(Piece::Row {
        rows: Arc::clone(rows),
        column,
        escape,
    })
}

fn capture(name: &str, scope: Scope<'_>, place: Place) -> Result<Piece, String> {
    let (name, escape) = Escape::of(name, place)?;
    if let Some(index) = scope.captures.iter().position(|known| known == name) {
        return Ok(Piece::Capture { index, escape });
    }
    if let Some(value) = scope.captured.and_then(|values| values.get(name)) {
        let mut text = Vec::new();
        escape.write(value.as_bytes(), &mut text);
        return Ok(Piece::Text(text));
    }
    let before = scope.captured.into_iter().flatten().map(|(name, _)| name);
    let known: Vec<&str> = before.chain(scope.captures).map(String::as_str).collect();
    let known = if known.is_empty() {
        "nothing".to_owned()
    } else {
        known.join(", ")
    };
    Err(format!(
        "{{capture.{name}}}: no earlier step captures it; captured is {known}"
    ))
}
