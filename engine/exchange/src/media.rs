//! Media types (RFC 9110, section 8.3.1).

use crate::request::is_name;

/// A media type with its parameters. Type, subtype, names of parameters and charsets are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType {
    essence: String,
    parameters: Vec<(String, String)>,
}

impl MediaType {
    /// Reads the value of a `Content-Type` field; none if it begins with no media type. A parameter that is none is
    /// left out.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let mut parts = split(value).into_iter();
        let essence = parts.next()?.trim_matches([' ', '\t']).to_ascii_lowercase();
        let (kind, subtype) = essence.split_once('/')?;
        (is_name(kind) && is_name(subtype)).then_some(())?;
        let parameters = parts.filter_map(parameter).collect();
        Some(Self {
            essence,
            parameters,
        })
    }

    /// Whether this one, of a response, is the wanted one: the same type, and all parameters that are wanted.
    #[must_use]
    pub fn is(&self, wanted: &Self) -> bool {
        let mut parameters = wanted.parameters.iter();
        self.essence == wanted.essence && parameters.all(|one| self.parameters.contains(one))
    }

    /// Whether it stands for several types, as in an `Accept` field.
    #[must_use]
    pub fn is_range(&self) -> bool {
        self.essence.contains('*')
    }
}

/// The parts between semicolons, but for those within quotes.
fn split(value: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, byte) in value.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b';' if !quoted => {
                parts.push(&value[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&value[from..]);
    parts
}

fn parameter(text: &str) -> Option<(String, String)> {
    let (name, value) = text.trim_matches([' ', '\t']).split_once('=')?;
    let name = is_name(name).then(|| name.to_ascii_lowercase())?;
    let inner = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    let value = match inner {
        Some(inner) => unquoted(inner),
        None => is_name(value).then(|| value.to_owned())?,
    };
    // RFC 9110, section 8.3.2: of the parameters in use, the value of this one has no case.
    let value = if name == "charset" {
        value.to_ascii_lowercase()
    } else {
        value
    };
    Some((name, value))
}

fn unquoted(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        text.extend(match character {
            '\\' => characters.next(),
            other => Some(other),
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(found: &str, wanted: &str) -> bool {
        let wanted = MediaType::parse(wanted).unwrap();
        MediaType::parse(found).is_some_and(|found| found.is(&wanted))
    }

    #[test]
    fn type_and_names_have_no_case_and_parameters_no_order() {
        for (found, wanted) in [
            ("Application/JSON; charset=utf-8", "application/json"),
            ("text/html;charset=UTF-8", "text/html; charset=utf-8"),
            ("text/html; Charset=\"utf-8\"", "text/html;charset=UTF-8"),
            (
                "text/html ; a=1; charset=utf-8 ",
                "TEXT/html; charset=utf-8",
            ),
            ("a/b; x=\"1;\\\"2\"; y=z", "a/b; y=z; x=\"1;\\\"2\""),
            ("a/b;; y=z;", "a/b; y=z"),
        ] {
            assert!(fits(found, wanted), "{found} {wanted}");
        }
    }

    #[test]
    fn another_type_and_a_missing_or_other_parameter_do_not_fit() {
        for (found, wanted) in [
            ("application/jsonp", "application/json"),
            ("text/plain;application/json", "application/json"),
            ("text/html", "text/html; charset=utf-8"),
            ("text/html; charset=latin1", "text/html; charset=utf-8"),
            ("a/b; boundary=X", "a/b; boundary=x"),
            ("a/b; x=\"y=z\"", "a/b; y=z"),
            ("", "a/b"),
            ("text", "text/plain"),
        ] {
            assert!(!fits(found, wanted), "{found} {wanted}");
        }
    }
}
