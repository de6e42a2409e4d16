//! The placeholders of cases that make frames and header blocks.
//!
//! | in the text | becomes |
//! |---|---|
//! | `{frame:headers:sh:1:text}` | a frame: its type, its flags, its stream and its payload |
//! | `{pseudo:GET}` | `:method`, `:scheme`, `:path` and `:authority` of a request |
//! | `{own}` | the fields that every request is to have |
//! | `{block:GET}` | both |
//! | `{carrier-block}` | the block of a POST where a resource takes a body, else of a GET; with the fields of either |
//! | `{get:1}` | HEADERS with the block of a GET, which ends the stream |
//! | `{scheme}` | `http` or `https` |
//! | `{field:name=value}` | a field as a literal that enters no table, without Huffman code |
//! | `{indexed:name=value}` | the same, which enters the dynamic table |
//! | `{setting:4:100}` | one setting: its number and its value |
//! | `{u32:100}` | a number in four octets |
//! | `{oversize}` | one octet more than the server allows in a frame |
//! | `{each-stream:text}` | the text for one stream more than the server allows at once, `#` being 1, 3, 5 |
//! | `{table-excess}` | a change of the dynamic table's size to one octet more than the server allows |
//! | `{opening}` | the preface, SETTINGS and a larger window: what a connection begins with, unless the case is `bare` |
//! | `{preface}` | the preface alone |

use touchstone_h2::frame::{Kind, PREFACE, flag, write};
use touchstone_h2::integer;

use crate::h2::opening::opening;
use crate::template::{TemplateError, Values, expand};

/// Longest payload that is made: a frame of it is larger than what a server that limits frames allows.
const LARGEST: usize = (4 << 20) + 1;
/// Most streams that are opened.
const MOST_STREAMS: u32 = 1000;

/// Appends what the placeholder stands for; `None` if it is none of HTTP/2.
pub(crate) fn placeholder(
    name: &str,
    values: &Values,
    out: &mut Vec<u8>,
) -> Option<Result<(), TemplateError>> {
    let (word, argument) = name.split_once(':').unwrap_or((name, ""));
    let done = match word {
        "frame" => frame(name, argument, values, out),
        "get" => get(name, argument, values, out),
        "pseudo" => {
            pseudo(argument, &values.path, values, out);
            Ok(())
        }
        "own" => {
            lines(&values.fields, out);
            Ok(())
        }
        "block" => {
            block(argument, values, out);
            Ok(())
        }
        "carrier-block" => {
            match &values.post {
                Some(post) => pseudo("POST", post, values, out),
                None => pseudo("GET", &values.path, values, out),
            }
            lines(&values.fields, out);
            if values.post.is_some() {
                lines(&values.post_fields, out);
            }
            Ok(())
        }
        "field" => field(name, argument, 0x00, values, out),
        "indexed" => field(name, argument, 0x40, values, out),
        "setting" => setting(name, argument, out),
        "u32" => number(name, argument).map(|number: u32| out.extend(number.to_be_bytes())),
        "scheme" => {
            out.extend(scheme(values).as_bytes());
            Ok(())
        }
        "oversize" => {
            out.resize(
                out.len() + (values.limits.frame as usize + 1).min(LARGEST),
                b'a',
            );
            Ok(())
        }
        "each-stream" => (0..=values.limits.streams.min(MOST_STREAMS)).try_for_each(|at| {
            let text = argument.replace('#', &(2 * at + 1).to_string());
            expand(&text, values).map(|octets| out.extend(octets))
        }),
        "table-excess" => {
            integer(0x20, 5, values.limits.table as usize + 1, out);
            Ok(())
        }
        "opening" => {
            out.extend(opening());
            Ok(())
        }
        "preface" => {
            out.extend(PREFACE);
            Ok(())
        }
        _ => return None,
    };
    Some(done)
}

/// HEADERS of a plain GET, which ends the stream.
pub fn plain_get(stream: u32, values: &Values) -> Vec<u8> {
    let (mut payload, mut out) = (Vec::new(), Vec::new());
    block("GET", values, &mut payload);
    write(
        Kind::HEADERS,
        flag::END_STREAM | flag::END_HEADERS,
        stream,
        &payload,
        &mut out,
    );
    out
}

fn get(name: &str, stream: &str, values: &Values, out: &mut Vec<u8>) -> Result<(), TemplateError> {
    out.extend(plain_get(number(name, stream)?, values));
    Ok(())
}

fn block(method: &str, values: &Values, out: &mut Vec<u8>) {
    pseudo(method, &values.path, values, out);
    lines(&values.fields, out);
}

fn pseudo(method: &str, path: &str, values: &Values, out: &mut Vec<u8>) {
    for (name, value) in [
        (":method", method),
        (":scheme", scheme(values)),
        (":path", path),
        (":authority", &values.host),
    ] {
        literal(0x00, name.as_bytes(), value.as_bytes(), out);
    }
}

const fn scheme(values: &Values) -> &'static str {
    if values.tls { "https" } else { "http" }
}

/// Field lines of HTTP/1.1, as fields.
fn lines(text: &str, out: &mut Vec<u8>) {
    for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
        let name = name.to_ascii_lowercase();
        literal(0x00, name.as_bytes(), value.trim().as_bytes(), out);
    }
}

fn field(
    name: &str,
    argument: &str,
    mark: u8,
    values: &Values,
    out: &mut Vec<u8>,
) -> Result<(), TemplateError> {
    let text = expand(argument, values)?;
    let at = text.iter().position(|octet| *octet == b'=');
    let at = at.ok_or_else(|| wrong(name, "needs a name and a value, such as {field:x-a=b}"))?;
    literal(mark, &text[..at], &text[at + 1..], out);
    Ok(())
}

/// A literal with a new name, without Huffman code (RFC 7541 6.2).
fn literal(mark: u8, name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.push(mark);
    for text in [name, value] {
        integer(0x00, 7, text.len(), out);
        out.extend_from_slice(text);
    }
}

const TYPES: [(&str, Kind); 10] = [
    ("data", Kind::DATA),
    ("headers", Kind::HEADERS),
    ("priority", Kind::PRIORITY),
    ("reset", Kind::RST_STREAM),
    ("settings", Kind::SETTINGS),
    ("push", Kind::PUSH_PROMISE),
    ("ping", Kind::PING),
    ("goaway", Kind::GOAWAY),
    ("window", Kind::WINDOW_UPDATE),
    ("continuation", Kind::CONTINUATION),
];

/// Flags: END_STREAM, ACK, END_HEADERS, PADDED, PRIORITY, and those that no type has.
const FLAGS: [(char, u8); 6] = [
    ('s', flag::END_STREAM),
    ('a', flag::ACK),
    ('h', flag::END_HEADERS),
    ('p', flag::PADDED),
    ('y', flag::PRIORITY),
    ('x', 0xd2),
];

fn frame(
    name: &str,
    argument: &str,
    values: &Values,
    out: &mut Vec<u8>,
) -> Result<(), TemplateError> {
    let mut parts = argument.splitn(4, ':');
    let (Some(kind), Some(flags), Some(stream), Some(payload)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        let form = "needs a type, flags, a stream and a payload, such as {frame:ping:-:0:12345678}";
        return Err(wrong(name, form));
    };
    let known = TYPES.iter().find(|(word, _)| *word == kind);
    let kind = match known {
        Some((_, kind)) => *kind,
        None => {
            let number = number(name, kind);
            Kind(number.map_err(|_| wrong(name, "has an unknown type; write its name or number"))?)
        }
    };
    let mut bits = 0;
    for letter in flags.chars().filter(|letter| *letter != '-') {
        let known = FLAGS.iter().find(|(word, _)| *word == letter);
        let known = known.ok_or_else(|| {
            wrong(
                name,
                "has an unknown flag; known are s, a, h, p, y, x and -",
            )
        })?;
        bits |= known.1;
    }
    let stream = number(name, stream)?;
    write(kind, bits, stream, &expand(payload, values)?, out);
    Ok(())
}

fn setting(name: &str, argument: &str, out: &mut Vec<u8>) -> Result<(), TemplateError> {
    let (id, value) = argument
        .split_once(':')
        .ok_or_else(|| wrong(name, "needs a number and a value, such as {setting:4:100}"))?;
    out.extend(number::<u16>(name, id)?.to_be_bytes());
    out.extend(number::<u32>(name, value)?.to_be_bytes());
    Ok(())
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, TemplateError> {
    text.parse()
        .map_err(|_| wrong(name, "needs a number that fits"))
}

fn wrong(name: &str, what: &'static str) -> TemplateError {
    TemplateError::Argument(name.into(), what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_blocks_expand() {
        let values = Values::sample();
        let of = |text: &str| expand(text, &values).unwrap();
        assert_eq!(
            of("{frame:ping:a:0:12345678}"),
            b"\0\0\x08\x06\x01\0\0\0\x0012345678"
        );
        assert_eq!(
            of("{frame:22:x:2147483649:}"),
            b"\0\0\0\x16\xd2\x80\0\0\x01"
        );
        assert_eq!(of("{field:x-a={repeat:2:b}}"), b"\0\x03x-a\x02bb");
        assert_eq!(of("{indexed::path=/=}"), b"\x40\x05:path\x02/=");
        assert_eq!(of("{setting:4:100}{u32:1}"), b"\0\x04\0\0\0\x64\0\0\0\x01");
        let get = of("{get:1}");
        assert_eq!(get[3..9], [1, 5, 0, 0, 0, 1]);
        assert_eq!(get[9..], of("{block:GET}")[..]);
        let long = of("{field:x={repeat:300:a}}");
        assert_eq!(long[..5], [0, 1, b'x', 0x7f, 0xad]);
        assert_eq!(long[5], 1);
    }

    #[test]
    fn slips_are_named() {
        for text in [
            "{frame:ping:-:0}",
            "{frame:nix:-:0:}",
            "{frame:ping:q:0:}",
            "{get:x}",
            "{field:a}",
            "{setting:1}",
        ] {
            let error = expand(text, &Values::sample()).unwrap_err();
            assert!(
                matches!(error, TemplateError::Argument(..)),
                "{text}: {error}"
            );
        }
    }
}
