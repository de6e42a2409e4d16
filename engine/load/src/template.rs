//! Templates: text with `{counter}`, `{random}` and `{thread}`, and `{{`, `}}` for braces.

use crate::random;

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
}

/// What the placeholders of one request stand for. All of it follows from the counter, so that the expected body
/// can be rendered when the response comes and nothing needs to be kept but this number.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The request's number, unique in the run.
    pub counter: u64,
    /// The job's seed.
    pub seed: u64,
    /// The sending thread's number.
    pub thread: u32,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// A sentence on the placeholder that is unknown or the brace that stands alone.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.extend_from_slice(&rest.as_bytes()[..at]);
            let brace = rest.as_bytes()[at];
            rest = &rest[at + 1..];
            if rest.as_bytes().first() == Some(&brace) {
                literal.push(brace);
                rest = &rest[1..];
                continue;
            }
            let piece = (brace == b'{').then(|| placeholder(rest)).flatten();
            let Some((piece, after)) = piece else {
                return Err(format!(
                    "a single brace before {:?}: write {{{{ and }}}} for braces; the placeholders are {{counter}}, {{random}} and {{thread}}",
                    rest.chars().take(20).collect::<String>()
                ));
            };
            if !literal.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut literal)));
            }
            pieces.push(piece);
            rest = after;
        }
        literal.extend_from_slice(rest.as_bytes());
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(Self { pieces })
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

    /// Appends the text for one request.
    pub fn render(&self, key: Key, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Counter => decimal(key.counter, out),
                Piece::Random => hex(random::at(key.seed, key.counter), out),
                Piece::Thread => decimal(u64::from(key.thread), out),
            }
        }
    }
}

fn placeholder(text: &str) -> Option<(Piece, &str)> {
    let (name, after) = text.split_once('}')?;
    let piece = match name {
        "counter" => Piece::Counter,
        "random" => Piece::Random,
        "thread" => Piece::Thread,
        _ => return None,
    };
    Some((piece, after))
}

/// Makes a template of text in which only the placeholders are special, as a person types it on a command line:
/// every other brace is doubled.
#[must_use]
pub fn escape_all_but_placeholders(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        let known = ["{counter}", "{random}", "{thread}"]
            .into_iter()
            .find(|name| tail.starts_with(name));
        let taken = known.map_or(1, str::len);
        out.push_str(&tail[..taken]);
        if known.is_none() {
            out.push_str(&tail[..1]);
        }
        rest = &tail[taken..];
    }
    out.push_str(rest);
    out
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
    use super::*;

    fn rendered(text: &str, counter: u64) -> String {
        let mut out = Vec::new();
        Template::parse(text).unwrap().render(
            Key {
                counter,
                seed: 7,
                thread: 3,
            },
            &mut out,
        );
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn placeholders_are_filled_in() {
        assert_eq!(
            rendered("/?name=bench-{counter}&t={thread}", 1207),
            "/?name=bench-1207&t=3"
        );
        assert_eq!(rendered("{counter}", 0), "0");
        assert_eq!(rendered("{counter}", u64::MAX), u64::MAX.to_string());
        assert_eq!(rendered("{random}", 5).len(), 16);
        assert_eq!(rendered("{random}", 5), rendered("{random}", 5));
        assert_ne!(rendered("{random}", 5), rendered("{random}", 6));
    }

    #[test]
    fn doubled_braces_stand_for_braces() {
        assert_eq!(rendered("{{\"id\":{counter}}}", 9), "{\"id\":9}");
        assert_eq!(Template::parse("{{}}").unwrap().fixed(), Some(&b"{}"[..]));
    }

    #[test]
    fn a_lone_brace_or_an_unknown_name_is_an_error() {
        for text in ["{", "}", "{name}", "a{counter", "{\"a\":1}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn text_from_a_command_line_needs_no_doubling() {
        let typed = "{\"name\":\"n-{counter}\",\"deep\":{\"a\":{}}}";
        assert_eq!(
            rendered(&escape_all_but_placeholders(typed), 4),
            "{\"name\":\"n-4\",\"deep\":{\"a\":{}}}"
        );
    }
}
