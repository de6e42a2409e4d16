//! Expands the text of a `send` step into bytes.
//!
//! | in the text | becomes |
//! |---|---|
//! | `{host}` | the authority of the probed URL |
//! | `{path}` | the resource that answers GET |
//! | `{encoded}` | the same path, its last octet percent-encoded |
//! | `{post}` | the resource that takes a body |
//! | `{fields}` | the fields that every request is to have, each a line |
//! | `{post-fields}` | the same with those of a POST: type of the content, fields of its own |
//! | `{body}`, `{length}`, `{size}` | a body that the resource takes, its length in decimal and in hexadecimal |
//! | `{carrier}` | `POST {post}` where there is such a resource, else `GET {path}` |
//! | `{hex:00ff}` | these octets |
//! | `{repeat:3:text}` | the text, three times |
//! | `{count:3:X-#: v}` | the text, three times, `#` being 1, 2, 3 |
//!
//! Cases of HTTP/2 have further ones, for frames and header blocks ([`crate::h2::compose`]).
//!
//! Templates nest. A brace itself is written `{hex:7b}` or `{hex:7d}`.

use thiserror::Error;

use crate::h2::compose;
use crate::h2::frames::Limits;

/// What the placeholders stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// The authority, as a Host value.
    pub host: String,
    /// Path of the resource that answers GET.
    pub path: String,
    /// Path of the resource that takes a body, if there is one.
    pub post: Option<String>,
    /// Field lines of every request, each with its line end.
    pub fields: String,
    /// Further field lines of requests to `post`.
    pub post_fields: String,
    /// A body that `post` takes.
    pub body: Vec<u8>,
    /// Whether the requests go over TLS.
    pub tls: bool,
    /// What the server allows, over HTTP/2.
    pub limits: Limits,
}

/// The content of a case that says no more about it; what `{body}` is unless somebody says otherwise.
pub const SAMPLE: &str = "hello";

impl Values {
    /// Values that serve to check a template without a server.
    pub fn sample() -> Self {
        Values {
            host: "127.0.0.1:8080".into(),
            path: "/hello".into(),
            post: Some("/echo".into()),
            fields: String::new(),
            post_fields: String::new(),
            body: SAMPLE.into(),
            tls: false,
            limits: Limits::default(),
        }
    }
}

/// Why a template cannot be expanded.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TemplateError {
    /// A brace has no partner.
    #[error(
        "a brace without its partner near {0:?}; write a literal brace as {{hex:7b}} or {{hex:7d}}"
    )]
    Unbalanced(String),
    /// The placeholder does not exist.
    #[error(
        "unknown placeholder {{{0}}}; known are host, path, encoded, post, carrier, fields, post-fields, body, length, size, hex, repeat, count; and for HTTP/2 frame, get, pseudo, own, block, carrier-block, scheme, field, indexed, setting, u32, oversize, each-stream, table-excess, opening, preface"
    )]
    Unknown(String),
    /// The placeholder's argument does not fit.
    #[error("placeholder {{{0}}}: {1}")]
    Argument(String, &'static str),
}

/// Largest number of bytes one template may make; a guard against a slip in a case file.
const LIMIT: usize = 16 << 20;

/// Expands a template.
pub fn expand(text: &str, values: &Values) -> Result<Vec<u8>, TemplateError> {
    let mut out = Vec::with_capacity(text.len() + 32);
    let mut rest = text;
    // One by one: each is looked for by words of memory, both together by characters.
    let brace = |rest: &str| rest.find('{').into_iter().chain(rest.find('}')).min();
    while let Some(at) = brace(rest) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let tail = &rest[at..];
        let end = closing(tail)
            .ok_or_else(|| TemplateError::Unbalanced(tail.chars().take(20).collect()))?;
        placeholder(&tail[1..end], values, &mut out)?;
        if out.len() > LIMIT {
            return Err(TemplateError::Argument(
                tail[1..end].into(),
                "makes more than 16 MiB",
            ));
        }
        rest = &tail[end + 1..];
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

/// The index of the brace that closes the one at 0.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at),
            b'}' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn placeholder(name: &str, values: &Values, out: &mut Vec<u8>) -> Result<(), TemplateError> {
    let (word, argument) = name.split_once(':').unwrap_or((name, ""));
    match word {
        "host" => out.extend_from_slice(values.host.as_bytes()),
        "path" => out.extend_from_slice(values.path.as_bytes()),
        "encoded" => {
            let (head, last) = values
                .path
                .as_bytes()
                .split_at(values.path.len().saturating_sub(1));
            out.extend_from_slice(head);
            for octet in last {
                out.extend_from_slice(format!("%{octet:02x}").as_bytes());
            }
        }
        "post" => out.extend_from_slice(values.post.as_deref().unwrap_or(&values.path).as_bytes()),
        "carrier" => match &values.post {
            Some(post) => out.extend_from_slice(format!("POST {post}").as_bytes()),
            None => out.extend_from_slice(format!("GET {}", values.path).as_bytes()),
        },
        "fields" => out.extend_from_slice(values.fields.as_bytes()),
        "post-fields" => {
            out.extend_from_slice(values.fields.as_bytes());
            if values.post.is_some() {
                out.extend_from_slice(values.post_fields.as_bytes());
            }
        }
        "body" => out.extend_from_slice(&values.body),
        "length" => out.extend_from_slice(values.body.len().to_string().as_bytes()),
        "size" => out.extend_from_slice(format!("{:x}", values.body.len()).as_bytes()),
        "hex" => {
            let wrong = "needs pairs of hexadecimal digits";
            let wrong = || TemplateError::Argument(name.into(), wrong);
            out.extend(octets(argument).ok_or_else(wrong)?);
        }
        "repeat" => {
            let (count, text) = counted(name, argument)?;
            let piece = expand(text, values)?;
            if piece.len().saturating_mul(count) > LIMIT {
                return Err(TemplateError::Argument(
                    name.into(),
                    "makes more than 16 MiB",
                ));
            }
            out.extend(piece.repeat(count));
        }
        "count" => {
            let (count, text) = counted(name, argument)?;
            for number in 1..=count {
                out.extend(expand(&text.replace('#', &number.to_string()), values)?);
            }
        }
        _ => {
            let made = compose::placeholder(name, values, out);
            return made.unwrap_or_else(|| Err(TemplateError::Unknown(name.into())));
        }
    }
    Ok(())
}

fn counted<'a>(name: &str, argument: &'a str) -> Result<(usize, &'a str), TemplateError> {
    let wrong = || {
        TemplateError::Argument(
            name.into(),
            "needs a number and a text, such as {repeat:3:a}",
        )
    };
    let (count, text) = argument.split_once(':').ok_or_else(wrong)?;
    Ok((count.parse().map_err(|_| wrong())?, text))
}

/// The octets that pairs of hexadecimal digits stand for; `None` if they are not that, or none.
pub(crate) fn octets(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let digit = |one: u8| char::from(one).to_digit(16).map(|value| value as u8);
    let octet = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    let whole = rest.is_empty() && !pairs.is_empty();
    pairs
        .iter()
        .map(octet)
        .collect::<Option<_>>()
        .filter(|_| whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_expand_and_nest() {
        let values = Values::sample();
        assert_eq!(
            expand("GET {path} {host}", &values).unwrap(),
            b"GET /hello 127.0.0.1:8080"
        );
        assert_eq!(
            expand("{repeat:2:a{hex:00ff}}", &values).unwrap(),
            b"a\x00\xffa\x00\xff"
        );
        assert_eq!(
            expand("{count:2:X-#: {path};}", &values).unwrap(),
            b"X-1: /hello;X-2: /hello;"
        );
        assert_eq!(expand("{carrier}", &values).unwrap(), b"POST /echo");
        let bare = Values {
            post: None,
            ..values
        };
        assert_eq!(expand("{carrier}", &bare).unwrap(), b"GET /hello");
    }

    #[test]
    fn own_fields_and_body_come_in() {
        let values = Values {
            fields: "Authorization: x\r\n".into(),
            post_fields: "Content-Type: application/json\r\n".into(),
            body: b"{\"a\":1234567890}".to_vec(),
            ..Values::sample()
        };
        assert_eq!(
            expand("{carrier}|{post-fields}|{length}|{size}|{body}", &values).unwrap(),
            b"POST /echo|Authorization: x\r\nContent-Type: application/json\r\n|16|10|{\"a\":1234567890}"
        );
        let bare = Values {
            post: None,
            ..values
        };
        assert_eq!(
            expand("{carrier}|{post-fields}", &bare).unwrap(),
            b"GET /hello|Authorization: x\r\n"
        );
    }

    #[test]
    fn slips_are_named() {
        let values = Values::sample();
        assert!(matches!(
            expand("a}", &values),
            Err(TemplateError::Unbalanced(_))
        ));
        assert!(matches!(
            expand("{a", &values),
            Err(TemplateError::Unbalanced(_))
        ));
        assert!(matches!(
            expand("{nix}", &values),
            Err(TemplateError::Unknown(_))
        ));
        assert!(matches!(
            expand("{hex:0}", &values),
            Err(TemplateError::Argument(..))
        ));
        assert!(matches!(
            expand("{repeat:99999999:aaaa}", &values),
            Err(TemplateError::Argument(..))
        ));
    }
}
