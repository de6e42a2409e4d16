//! The small language in which a case says what is allowed.
//!
//! An outcome is a line of words: the final responses in order, then how the connection stands.
//!
//! | word | means |
//! |---|---|
//! | `400`, `4xx`, `400\|501` | one final response with such a status |
//! | `ok` | one final response like the one to a plain GET: same status, same body |
//! | `any` | one final response of whatever status |
//! | `ok*3` | that response three times |
//! | `400[allow; connection=close]` | a response that also meets the conditions (see [`Condition`]) |
//! | `none` | no response at all |
//! | `...` | any number of further responses |
//! | `+100` | this interim response before the next final one |
//! | `-1xx` | no interim response anywhere |
//! | `raw` | octets that are no HTTP/1.x response |
//! | `no-post` | the outcome counts only where no resource takes a body (no `--post-path`) |
//! | `goaway(CODE)`, `reset(CODE)` ... | what HTTP/2 says besides (see [`crate::h2::signal`]) |
//! | `open`, `closed` | the connection afterwards; neither word: both will do |

use std::fmt;

use thiserror::Error;

use crate::h2::signal::{self, Signal};

/// One status or family of statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The status and body that a plain GET gets.
    Ok,
    /// Whatever final status.
    Any,
    /// Exactly this status.
    Exact(u16),
    /// A class: 4 stands for 4xx.
    Class(u16),
}

/// A condition on one response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `name`: the field is there.
    Present(String),
    /// `!name`: the field is not there.
    Absent(String),
    /// `name=token`: the field's list has this element, in any case.
    Token(String, String),
    /// `date=imf`: Date is there, once, in IMF-fixdate, and within a day of this machine's clock.
    Date,
    /// `content-length=get`: Content-Length, if there is one, is that of a plain GET.
    LengthOfGet,
    /// `body=empty` and `body=some`.
    Body(bool),
    /// `body:text`: the body is exactly this.
    BodyIs(String),
    /// `body~text` (true) and `body!~text` (false): the body holds this, or does not.
    BodyHolds(String, bool),
    /// `version=1.1`: the version of the status line.
    Version(String),
    /// `framing=self`: the length is known without the connection's end, and stated once.
    SelfFramed,
    /// `fields=valid`: every field line follows the grammar, and the status line too.
    ValidFields,
}

/// One word of an outcome that stands for responses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A final response of one of these statuses, under these conditions.
    Final(Vec<Status>, Vec<Condition>),
    /// An interim response that has to come before the next final one.
    Interim(u16),
    /// Any number of further responses.
    Rest,
    /// Octets that are not a response.
    Raw,
}

/// How the connection stands in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Open.
    Open,
    /// Closed or reset by the server.
    Closed,
}

/// One allowed outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The line as it was written.
    pub text: String,
    /// Responses in order.
    pub items: Vec<Item>,
    /// Whether interim responses are forbidden.
    pub no_interim: bool,
    /// Whether it counts only where no resource takes a body: the probe then sends content with GET,
    /// which a server may refuse (RFC 9110 9.3.1).
    pub only_without_post: bool,
    /// What HTTP/2 is to say of streams and of the connection, in any order.
    pub signals: Vec<Signal>,
    /// The connection afterwards; `None` is either.
    pub end: Option<End>,
}

/// Why a line is not an outcome.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("outcome {line:?}: {what}")]
pub struct OutcomeError {
    line: String,
    what: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Outcome {
    /// Reads one line.
    pub fn parse(line: &str) -> Result<Outcome, OutcomeError> {
        let wrong = |what: &str| OutcomeError {
            line: line.into(),
            what: what.into(),
        };
        let mut outcome = Outcome {
            text: line.into(),
            items: Vec::new(),
            no_interim: false,
            only_without_post: false,
            signals: Vec::new(),
            end: None,
        };
        let mut none = false;
        for word in words(line).map_err(|what| wrong(&what))? {
            if outcome.end.is_some() {
                return Err(wrong("nothing may follow `open` or `closed`"));
            }
            match word.as_str() {
                "none" => none = true,
                "..." => outcome.items.push(Item::Rest),
                "raw" => outcome.items.push(Item::Raw),
                "open" => outcome.end = Some(End::Open),
                "closed" => outcome.end = Some(End::Closed),
                "no-post" => outcome.only_without_post = true,
                "-1xx" => outcome.no_interim = true,
                other => match signal::parse(other) {
                    Some(found) => outcome.signals.push(found.map_err(|what| wrong(&what))?),
                    None => responses(other, &mut outcome.items).map_err(|what| wrong(&what))?,
                },
            }
        }
        let silent = outcome.items.is_empty() && outcome.signals.is_empty();
        if none && !outcome.items.is_empty() || !none && silent {
            return Err(wrong("it needs responses, or `none` alone"));
        }
        Ok(outcome)
    }
}

/// Splits at spaces outside brackets.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = vec![String::new()];
    let mut inside = false;
    for letter in line.chars() {
        match letter {
            '[' if inside => return Err("brackets do not nest".into()),
            '[' => inside = true,
            ']' if !inside => return Err("`]` without `[`".into()),
            ']' => inside = false,
            ' ' if !inside => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        words
            .last_mut()
            .expect("there is always a word")
            .push(letter);
    }
    if inside {
        return Err("`[` without `]`".into());
    }
    words.retain(|word| !word.is_empty());
    Ok(words)
}

fn responses(word: &str, items: &mut Vec<Item>) -> Result<(), String> {
    if let Some(code) = word.strip_prefix('+') {
        let code = code
            .parse()
            .map_err(|_| format!("`{word}`: + wants an interim status"))?;
        items.push(Item::Interim(code));
        return Ok(());
    }
    let (head, bracket) = match word.find('[') {
        Some(at) => (&word[..at], Some(&word[at..])),
        None => (word, None),
    };
    let (bracket, times) = match bracket {
        Some(text) => {
            let end = text.find(']').ok_or("`[` without `]`")?;
            (Some(&text[1..end]), times(&text[end + 1..])?)
        }
        None => (None, 1),
    };
    let (head, times) = match head.split_once('*') {
        Some((head, count)) => (
            head,
            count
                .parse()
                .map_err(|_| format!("`{word}`: * wants a number"))?,
        ),
        None => (head, times),
    };
    let statuses = head.split('|').map(status).collect::<Result<Vec<_>, _>>()?;
    let conditions = match bracket {
        Some(text) => text
            .split(';')
            .map(|part| condition(part.trim()))
            .collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    for _ in 0..times {
        items.push(Item::Final(statuses.clone(), conditions.clone()));
    }
    Ok(())
}

fn times(text: &str) -> Result<usize, String> {
    match text.strip_prefix('*') {
        Some(count) => count.parse().map_err(|_| "`*` wants a number".into()),
        None if text.is_empty() => Ok(1),
        None => Err(format!("what is `{text}` after the bracket?")),
    }
}

fn status(text: &str) -> Result<Status, String> {
    match text {
        "ok" => return Ok(Status::Ok),
        "any" => return Ok(Status::Any),
        _ => {}
    }
    if let Some(class) = text.strip_suffix("xx") {
        return match class.parse() {
            Ok(class @ 2..=5) => Ok(Status::Class(class)),
            _ => Err(format!("`{text}` is not a class of final statuses")),
        };
    }
    match text.parse() {
        Ok(code @ 101..=599) => Ok(Status::Exact(code)),
        _ => Err(format!("`{text}` is not a status")),
    }
}

fn condition(text: &str) -> Result<Condition, String> {
    Ok(match text {
        "date=imf" => Condition::Date,
        "content-length=get" => Condition::LengthOfGet,
        "body=empty" => Condition::Body(false),
        "body=some" => Condition::Body(true),
        "framing=self" => Condition::SelfFramed,
        "fields=valid" => Condition::ValidFields,
        _ => {
            if let Some(piece) = text.strip_prefix("body!~") {
                Condition::BodyHolds(piece.into(), false)
            } else if let Some(piece) = text.strip_prefix("body~") {
                Condition::BodyHolds(piece.into(), true)
            } else if let Some(body) = text.strip_prefix("body:") {
                Condition::BodyIs(body.into())
            } else if let Some(version) = text.strip_prefix("version=") {
                Condition::Version(version.into())
            } else if let Some((name, token)) = text.split_once('=') {
                Condition::Token(field(name)?, token.to_ascii_lowercase())
            } else if let Some(name) = text.strip_prefix('!') {
                Condition::Absent(field(name)?)
            } else {
                Condition::Present(field(text)?)
            }
        }
    })
}

fn field(name: &str) -> Result<String, String> {
    let lower = name
        .chars()
        .all(|letter| letter.is_ascii_lowercase() || letter == '-');
    if lower && !name.is_empty() {
        Ok(name.into())
    } else {
        Err(format!("`{name}` is not a lower-case field name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let outcome =
            Outcome::parse("+100 ok 400|5xx[connection=close; !allow]*2 ... closed").unwrap();
        assert_eq!(outcome.end, Some(End::Closed));
        assert_eq!(outcome.items.len(), 5);
        assert_eq!(outcome.items[0], Item::Interim(100));
        assert_eq!(outcome.items[1], Item::Final(vec![Status::Ok], vec![]));
        assert_eq!(
            outcome.items[3],
            Item::Final(
                vec![Status::Exact(400), Status::Class(5)],
                vec![
                    Condition::Token("connection".into(), "close".into()),
                    Condition::Absent("allow".into())
                ]
            )
        );
        assert_eq!(Outcome::parse("ok*50 open").unwrap().items.len(), 50);
        assert!(Outcome::parse("none closed").unwrap().items.is_empty());
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "",
            "closed",
            "none ok",
            "ok closed 400",
            "9xx",
            "ok[",
            "ok]",
            "ok[Allow]",
            "+x",
            "ok*y",
            "42",
        ] {
            assert!(Outcome::parse(line).is_err(), "{line}");
        }
    }
}
