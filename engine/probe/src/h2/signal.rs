//! What an outcome asks of a connection of HTTP/2 besides responses.
//!
//! | word | means |
//! |---|---|
//! | `goaway(PROTOCOL_ERROR)`, `goaway(A\|B)`, `goaway(*)` | the connection ends with GOAWAY and this code; `*`: any but NO_ERROR |
//! | `reset(STREAM_CLOSED)` | streams end with RST_STREAM, all with this code |
//! | `ack`, `ack*3` | SETTINGS of the case are acknowledged |
//! | `pong(3132333435363738)` | PING with this payload, in hexadecimal, is answered |
//! | `-pong` | no PING is answered |
//! | `data(3)` | a response has begun, and this much of its content has come |
//! | `unfinished` | responses may have begun and not ended |
//! | `settings-first` | the server's first frame is SETTINGS |

use touchstone_h2::Code;

use crate::h2::frames::Signals;
use crate::template::octets;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// GOAWAY with one of these codes.
    Goaway(Vec<Code>),
    /// RST_STREAM with one of these codes.
    Reset(Vec<Code>),
    /// SETTINGS acknowledged.
    Acks(usize),
    /// PING answered.
    Pong(Vec<u8>),
    /// PING not answered.
    NoPong,
    /// A response that waits behind this much of its content.
    Data(usize),
    /// Responses that are not over are of no account.
    Unfinished,
    /// SETTINGS come first.
    SettingsFirst,
}

/// Whether a code is one of these; an empty list stands for every error.
fn holds(codes: &[Code], code: Code) -> bool {
    match codes {
        [] => code != Code::NO_ERROR,
        _ => codes.contains(&code),
    }
}

impl Signal {
    /// Whether it says that something is refused.
    pub(crate) const fn is_error(&self) -> bool {
        matches!(self, Self::Goaway(_) | Self::Reset(_))
    }
}

/// Reads a word; `None` if it is none of these.
pub(crate) fn parse(word: &str) -> Option<Result<Signal, String>> {
    match word {
        "-pong" => return Some(Ok(Signal::NoPong)),
        "unfinished" => return Some(Ok(Signal::Unfinished)),
        "settings-first" => return Some(Ok(Signal::SettingsFirst)),
        "ack" => return Some(Ok(Signal::Acks(1))),
        _ => {}
    }
    if let Some(count) = word.strip_prefix("ack*") {
        let count = count.parse().map(Signal::Acks);
        return Some(count.map_err(|_| format!("`{word}`: * wants a number")));
    }
    let (name, argument) = word.strip_suffix(')')?.split_once('(')?;
    Some(match name {
        "goaway" => codes(argument).map(Signal::Goaway),
        "reset" => codes(argument).map(Signal::Reset),
        "pong" => {
            let payload = octets(argument).map(Signal::Pong);
            payload.ok_or_else(|| format!("`{argument}` is not pairs of hexadecimal digits"))
        }
        "data" => {
            let count = argument.parse().map(Signal::Data);
            count.map_err(|_| format!("`{word}` wants a number of octets"))
        }
        _ => return None,
    })
}

fn codes(text: &str) -> Result<Vec<Code>, String> {
    if text == "*" {
        return Ok(Vec::new());
    }
    let code = |name: &str| {
        let found = (0..0xe).map(Code).find(|code| code.name() == name);
        found.ok_or_else(|| format!("`{name}` is not an error code of RFC 9113 7"))
    };
    text.split('|').map(code).collect()
}

/// Whether what the server said is what is asked; with `prefix`, whether it may still become that.
pub(crate) fn fit(asked: &[Signal], seen: &Signals, closed: bool, prefix: bool) -> bool {
    let mut ends = closed;
    let (mut goaway, mut reset) = (false, false);
    let (mut all, mut waits) = (true, false);
    let real = |code: &&Code| **code != Code::NO_ERROR;
    for signal in asked {
        all &= match signal {
            Signal::Goaway(codes) => {
                (goaway, ends) = (true, true);
                let last = seen.goaways.iter().rev().find(real).or(seen.goaways.last());
                last.map_or(prefix, |code| holds(codes, *code))
            }
            Signal::Reset(codes) => {
                (reset, ends) = (true, true);
                let mut given = first_resets(seen).map(|(_, code)| code).filter(real);
                let enough = prefix || !seen.resets.is_empty();
                enough && given.all(|code| holds(codes, *code))
            }
            Signal::Acks(count) => prefix || seen.acks >= *count,
            Signal::Pong(payload) => prefix || seen.pongs.contains(payload),
            Signal::NoPong => seen.pongs.is_empty(),
            Signal::Data(count) => {
                waits = true;
                match seen.unfinished.as_slice() {
                    [came] => came == count || (prefix && came < count),
                    _ => prefix,
                }
            }
            Signal::Unfinished => {
                waits = true;
                true
            }
            Signal::SettingsFirst => seen.settings_first,
        };
    }
    // What nobody asked for: an error. A response that is not over is one where nothing else has ended the stream.
    all && (goaway || !seen.goaways.iter().any(|code| real(&code)))
        && (reset || goaway || !seen.resets.iter().any(|(_, code)| real(&code)))
        && (prefix || waits || ends || seen.unfinished.is_empty())
}

/// The first RST_STREAM of each stream: what follows on a stream that is over is answered by others.
fn first_resets(seen: &Signals) -> impl Iterator<Item = &(u32, Code)> {
    let resets = seen.resets.iter().enumerate();
    let first = |at: usize, stream: u32| seen.resets[..at].iter().all(|(one, _)| *one != stream);
    resets.filter_map(move |(at, reset)| first(at, reset.0).then_some(reset))
}

/// What a server does in an allowed outcome, as verbs in the third person.
pub(crate) fn allowed(signal: &Signal) -> String {
    let names = |codes: &[Code]| match codes {
        [] => "any error".into(),
        _ => codes
            .iter()
            .map(|code| code.name())
            .collect::<Vec<_>>()
            .join(" or "),
    };
    match signal {
        Signal::Goaway(codes) => format!("ends the connection with GOAWAY ({})", names(codes)),
        Signal::Reset(codes) => format!("ends the stream with RST_STREAM ({})", names(codes)),
        Signal::Acks(1) => "acknowledges the SETTINGS".into(),
        Signal::Acks(count) => format!("acknowledges SETTINGS {count} times"),
        Signal::Pong(_) => "answers the PING".into(),
        Signal::NoPong => "answers no PING".into(),
        Signal::Data(0) => "sends the head of a response and no content yet".into(),
        Signal::Data(count) => format!("sends {count} octets of content and waits"),
        Signal::Unfinished => "leaves a response unfinished".into(),
        Signal::SettingsFirst => "sends SETTINGS first".into(),
    }
}

/// What a server did, as verbs in the past.
pub(crate) fn seen(seen: &Signals) -> Vec<String> {
    let mut did = Vec::new();
    let mut last = None;
    for (stream, code) in first_resets(seen) {
        if last.replace(*code) != Some(*code) {
            did.push(format!(
                "ended stream {stream} with RST_STREAM ({})",
                code.name()
            ));
        }
    }
    for count in &seen.unfinished {
        did.push(format!(
            "began a response and sent {count} octets of its content"
        ));
    }
    if !seen.pongs.is_empty() {
        did.push("answered a PING".into());
    }
    if let Some(code) = seen.goaways.last() {
        did.push(format!("sent GOAWAY ({})", code.name()));
    }
    did
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Vec<Signal> {
        text.split(' ')
            .map(|word| parse(word).unwrap().unwrap())
            .collect()
    }

    #[test]
    fn words_are_read_and_slips_named() {
        assert_eq!(
            asked("ack*2 pong(00ff)"),
            [Signal::Acks(2), Signal::Pong(vec![0, 255])]
        );
        for word in [
            "goaway(NIX)",
            "pong(0g)",
            "pong(123)",
            "pong(+1)",
            "pong()",
            "data(x)",
            "ack*x",
        ] {
            assert!(parse(word).unwrap().is_err(), "{word}");
        }
        assert_eq!(parse("400"), None);
    }

    #[test]
    fn an_error_nobody_asked_for_does_not_fit() {
        let clean = Signals::default();
        let away = Signals {
            goaways: vec![Code::PROTOCOL_ERROR],
            ..Signals::default()
        };
        let reset = Signals {
            resets: vec![(1, Code::STREAM_CLOSED)],
            ..Signals::default()
        };
        assert!(fit(&[], &clean, false, false));
        assert!(!fit(&[], &away, false, false) && !fit(&[], &reset, true, false));
        assert!(fit(&asked("goaway(PROTOCOL_ERROR)"), &away, false, false));
        assert!(!fit(&asked("goaway(STREAM_CLOSED)"), &away, false, true));
        assert!(fit(
            &asked("reset(STREAM_CLOSED|CANCEL)"),
            &reset,
            false,
            false
        ));
        assert!(!fit(&asked("reset(CANCEL)"), &reset, false, false));
        assert!(
            fit(&asked("ack"), &clean, false, true) && !fit(&asked("ack"), &clean, false, false)
        );
    }

    #[test]
    fn content_that_waits_is_counted() {
        let waits = Signals {
            unfinished: vec![2],
            ..Signals::default()
        };
        assert!(fit(&asked("data(2)"), &waits, false, false));
        assert!(fit(&asked("data(3)"), &waits, false, true));
        assert!(!fit(&asked("data(3)"), &waits, false, false) && !fit(&[], &waits, false, false));
    }
}
