//! Several requests to one server: URLs side by side, or a mix from a file.

use std::path::Path;

use serde::Deserialize;
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
    for (server, target) in urls.iter().map(|url| split(url)) {
        let first = base.get_or_insert_with(|| server.clone());
        if *first != server {
            return Err(Failure::Malformed(format!(
                "{server} and {first} are two servers, and one load goes to one: `touchstone ab-url` compares two"
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
fn split(url: &str) -> (String, String) {
    let url = if url.contains("://") {
        url.to_owned()
    } else {
        format!("http://{url}")
    };
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let host_end = url[after_scheme..]
        .find(['/', '?'])
        .map_or(url.len(), |at| after_scheme + at);
    let (base, path) = url.split_at(host_end);
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    (base.to_owned(), path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_split_into_address_and_target() {
        assert_eq!(
            split("127.0.0.1:80"),
            ("http://127.0.0.1:80".to_owned(), "/".to_owned())
        );
        assert_eq!(
            split("http://h:1/a?b"),
            ("http://h:1".to_owned(), "/a?b".to_owned())
        );
        assert_eq!(
            split("http://h?b"),
            ("http://h".to_owned(), "/?b".to_owned())
        );
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
