//! What the head of a response must say: its media type, and fields with a value of a given form.

use regex::bytes::Regex;
use touchstone_http::field_value;

use crate::job::Expect;
use crate::media::MediaType;

/// A regular expression over a whole text.
///
/// # Errors
/// A sentence with the expression and what is wrong with it.
pub fn whole_pattern(pattern: &str) -> Result<Regex, String> {
    let wrong = |error: regex::Error| {
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default().trim();
        let why = last.strip_prefix("error: ").unwrap_or(last);
        format!("{pattern:?} is not a regular expression: {why}")
    };
    // By itself first: within the anchors a bracket too many could find its partner.
    Regex::new(pattern).map_err(wrong)?;
    Regex::new(&format!(r"\A(?:{pattern})\z")).map_err(wrong)
}

/// What is demanded of a head, ready to be checked many times.
#[derive(Debug, Clone, Default)]
pub struct HeadCheck {
    content_type: Option<(String, MediaType)>,
    fields: Vec<(String, Regex)>,
}

impl HeadCheck {
    /// Compiles what an expectation says about the head.
    ///
    /// # Errors
    /// A sentence that names the field and what is wrong with its pattern.
    pub fn new(expect: &Expect) -> Result<Self, String> {
        let field = |(name, pattern): &(String, String)| {
            let compiled = whole_pattern(pattern);
            let compiled = compiled.map_err(|why| format!("headers.{name}: {why}"))?;
            Ok((name.clone(), compiled))
        };
        let media_type = |text: &String| match MediaType::parse(text) {
            Some(found) if !found.is_range() => Ok((text.clone(), found)),
            _ => Err(format!(
                "content_type: {text:?} is not a media type such as application/json; leave it out where any will do"
            )),
        };
        Ok(Self {
            content_type: expect.content_type.as_ref().map(media_type).transpose()?,
            fields: expect
                .headers
                .iter()
                .map(field)
                .collect::<Result<_, String>>()?,
        })
    }

    /// Whether every head will do.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.content_type.is_none() && self.fields.is_empty()
    }

    /// Checks a head, from its status line to its empty line.
    ///
    /// # Errors
    /// A sentence that names the first wrong field and its value.
    pub fn check(&self, head: &[u8]) -> Result<(), String> {
        self.faults(head).next().map_or(Ok(()), Err)
    }

    /// What is wrong with a head, a sentence each.
    pub fn faults<'a>(&'a self, head: &'a [u8]) -> impl Iterator<Item = String> + 'a {
        let wanted = self.content_type.iter();
        let content_type = wanted.filter_map(|(wanted, media_type)| {
            let found = field_value(head, "content-type").unwrap_or_default();
            let found = String::from_utf8_lossy(&found);
            let right = MediaType::parse(&found).is_some_and(|found| found.is(media_type));
            (!right).then(|| format!("the content type is {found:?}, expected {wanted:?}"))
        });
        let fields = self.fields.iter().filter_map(|(name, pattern)| {
            let Some(found) = field_value(head, name) else {
                return Some(format!("the field {name} is missing"));
            };
            let shown = String::from_utf8_lossy(&found);
            let why = || format!("the field {name} is {shown:?}, which its pattern does not match");
            (!pattern.is_match(&found)).then(why)
        });
        content_type.chain(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(expect: &str, head: &str) -> Result<(), String> {
        let check = HeadCheck::new(&serde_json::from_str(expect).unwrap()).unwrap();
        check.check(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes())
    }

    #[test]
    fn a_media_type_is_compared_without_case_and_with_the_parameters_that_are_wanted() {
        let expect = r#"{"content_type": "application/json"}"#;
        assert!(verdict(expect, "content-type: Application/JSON; charset=utf-8").is_ok());
        assert!(verdict(expect, "Content-Type:application/json").is_ok());
        let with = r#"{"content_type": "text/html; charset=utf-8"}"#;
        assert!(verdict(with, "Content-Type: text/html;charset=\"UTF-8\"").is_ok());
        assert!(verdict(with, "Content-Type: text/html").is_err());
        for text in ["*/*", "text/*", "json", ""] {
            let expect = serde_json::json!({ "content_type": text });
            let why = HeadCheck::new(&serde_json::from_value(expect).unwrap()).unwrap_err();
            assert!(why.contains("is not a media type"), "{why}");
        }
        for wrong in [
            "Content-Type: application/jsonp",
            "X: 1",
            "Content-Type: text/plain;application/json",
        ] {
            assert!(
                verdict(expect, wrong).unwrap_err().contains("content type"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_pattern_covers_the_whole_value_of_all_lines_of_a_field() {
        let expect = r#"{"headers": [["X-Tag", "a|b, c+"]]}"#;
        assert!(verdict(expect, "x-tag: a").is_ok());
        assert!(verdict(expect, "X-Tag: b\r\nOther: 1\r\nX-Tag:  ccc ").is_ok());
        for wrong in ["X-Tag: ab", "X-Tag: b", "X-Tagged: a", "X: X-Tag: a"] {
            assert!(verdict(expect, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_that_does_not_compile_is_named() {
        for pattern in ["v[0-9", "a)(b", "(?z)"] {
            let why = whole_pattern(pattern).unwrap_err();
            assert!(
                why.contains(&format!("{pattern:?}")) && !why.contains('\n'),
                "{why}"
            );
        }
        let expect = serde_json::from_str(r#"{"headers": [["X-Tag", "("]]}"#).unwrap();
        assert!(HeadCheck::new(&expect).unwrap_err().contains("X-Tag"));
    }
}
