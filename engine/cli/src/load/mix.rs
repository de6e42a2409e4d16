//! Several requests to one server: URLs side by side, or a mix from a file.

use std::path::Path;

use serde::Deserialize;
use touchstone_http::{BadUrl, Url, has_unix_scheme};
use touchstone_load::job::{Journey, Request};

use crate::failure::Failure;

/// What is sent, as it stands in the file of `--mix`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// A weighted mix.
    #[serde(default)]
    pub requests: Vec<Request>,
    /// Users' ways through the service, in place of it.
    #[serde(default)]
    pub journeys: Vec<Journey>,
    /// The file that `{row.NAME}` takes values from.
    #[serde(default)]
    pub rows: Option<String>,
}

impl Mix {
    /// Reads a mix for the server at `base`; each request gets those of `fields` that it has no own value of.
    pub fn read(
        file: &Path,
        base: &str,
        targets: &[String],
        fields: &[(String, String)],
    ) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::Malformed(format!("--mix {}: {why}", file.display()));
        if targets != ["/"] {
            return Err(wrong(format!(
                "the targets are those of the mix: give the server's address alone, {base}"
            )));
        }
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let mut mix: Self =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if mix.requests.is_empty() && mix.journeys.is_empty() {
            return Err(wrong("it names neither requests nor journeys".to_owned()));
        }
        let steps = mix
            .journeys
            .iter_mut()
            .flat_map(|journey| &mut journey.steps);
        let all = mix
            .requests
            .iter_mut()
            .chain(steps.map(|step| &mut step.request));
        for request in all {
            let own = |name: &str| {
                request
                    .headers
                    .iter()
                    .any(|(own, _)| own.eq_ignore_ascii_case(name))
            };
            let more: Vec<_> = fields
                .iter()
                .filter(|(name, _)| !own(name))
                .cloned()
                .collect();
            request.headers.extend(more);
        }
        Ok(mix)
    }
}

/// The one server that all URLs name, and what of it each asks for.
pub fn one_server(urls: &[String]) -> Result<(String, Vec<String>), Failure> {
    let mut base: Option<String> = None;
    let mut targets: Vec<String> = Vec::new();
    for url in urls {
        let (server, target) = split(url).map_err(Failure::malformed)?;
        let first = base.get_or_insert_with(|| server.clone());
        if *first != server {
            return Err(Failure::Malformed(format!(
                "{server} and {first} are two servers, and one load goes to one: `touchstone ab` compares two"
            )));
        }
        if targets.contains(&target) {
            return Err(Failure::Malformed(format!(
                "{target} is given twice: a mix (--mix FILE) gives requests their weights"
            )));
        }
        targets.push(target);
    }
    Ok((base.unwrap_or_default(), targets))
}

/// Splits a URL into what is connected to and what is asked for. A URL without a scheme is http.
fn split(url: &str) -> Result<(String, String), BadUrl> {
    let has_scheme = url
        .split('/')
        .next()
        .is_some_and(|first| first.ends_with(':'))
        || has_unix_scheme(url);
    let parsed = if has_scheme {
        Url::parse(url)
    } else {
        Url::parse(&format!("http://{url}"))
    }?;
    Ok((parsed.server(), parsed.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_split_into_server_and_target() {
        let parts = |url: &str| split(url).unwrap();
        let expected = |server: &str, target: &str| (server.to_owned(), target.to_owned());
        assert_eq!(parts("127.0.0.1:80"), expected("http://127.0.0.1:80", "/"));
        assert_eq!(parts("h:1/a?b#c"), expected("http://h:1", "/a?b"));
        assert_eq!(parts("https://h?b"), expected("https://h", "/?b"));
        assert_eq!(
            parts("h/?to=http://x/"),
            expected("http://h", "/?to=http://x/")
        );
        let relative = split("unix:app.sock").unwrap_err().to_string();
        assert!(relative.contains("absolute path"), "{relative}");
    }

    #[test]
    fn urls_are_of_one_server_and_differ() {
        let urls =
            |all: &[&str]| one_server(&all.iter().map(|&url| url.to_owned()).collect::<Vec<_>>());
        let (base, targets) = urls(&["h:1/a", "http://h:1", "h:1?b"]).unwrap();
        assert_eq!(
            (base.as_str(), targets),
            (
                "http://h:1",
                vec!["/a".to_owned(), "/".to_owned(), "/?b".to_owned()]
            )
        );
        for wrong in [
            ["h:1/a", "h:2/a"],
            ["h:1/a", "https://h:1/b"],
            ["h:1", "h:1/"],
        ] {
            assert!(urls(&wrong).is_err(), "{wrong:?}");
        }
    }
}
