//! The null server's table: which canned response a request gets.

use crate::head::Request;
use crate::response::{Canned, has_body, write};

/// One line of the table, from `METHOD /path=BODY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    method: Vec<u8>,
    path: Vec<u8>,
    body: String,
}

/// A line that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the route {0:?} is not METHOD /path=BODY")]
pub struct RouteError(String);

impl std::str::FromStr for Route {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || RouteError(text.to_owned());
        let (method, rest) = text.split_once(' ').ok_or_else(error)?;
        let (path, body) = rest.split_once('=').ok_or_else(error)?;
        if method.is_empty() || !path.starts_with('/') || path.contains('?') {
            return Err(error());
        }
        Ok(Self {
            method: method.into(),
            path: path.into(),
            body: body.to_owned(),
        })
    }
}

/// A part of a body that depends on the request.
#[derive(Debug, Clone)]
enum Part {
    Text(Vec<u8>),
    /// The value of a query parameter, as it stands in the target (percent-escapes untouched).
    Query(Vec<u8>),
}

#[derive(Debug, Clone)]
enum Answer {
    Fixed(Canned),
    Filled(Vec<Part>),
}

#[derive(Debug, Clone)]
struct Entry {
    method: Vec<u8>,
    path: Vec<u8>,
    answer: Answer,
}

/// The table, ready to answer.
#[derive(Debug, Clone)]
pub struct Routes {
    status: u16,
    content_type: String,
    entries: Vec<Entry>,
    otherwise: Canned,
}

impl Routes {
    /// Without routes, every request gets `body`; with routes, what matches none gets 404.
    #[must_use]
    pub fn new(status: u16, content_type: &str, body: &str, routes: &[Route]) -> Self {
        let entries = routes.iter().map(|route| Entry {
            method: route.method.clone(),
            path: route.path.clone(),
            answer: answer(status, content_type, &route.body),
        });
        let otherwise = if routes.is_empty() {
            Canned::new(status, content_type, body.as_bytes())
        } else {
            Canned::new(404, "text/plain", b"no such route\n")
        };
        Self {
            status,
            content_type: content_type.to_owned(),
            entries: entries.collect(),
            otherwise,
        }
    }

    /// Appends the answer to a request.
    pub(crate) fn answer(&self, request: &Request<'_>, out: &mut Vec<u8>) {
        let head = request.method == b"HEAD";
        let method = if head { b"GET" } else { request.method };
        let (path, query) = split(request.target);
        let entry = self
            .entries
            .iter()
            .find(|e| e.path == path && e.method == method);
        match entry.map(|e| &e.answer) {
            None => {
                out.extend_from_slice(self.otherwise.bytes(request.old, request.keep_alive, head))
            }
            Some(Answer::Fixed(canned)) => {
                out.extend_from_slice(canned.bytes(request.old, request.keep_alive, head));
            }
            Some(Answer::Filled(parts)) => {
                let body = fill(parts, query);
                let connection = match (request.keep_alive, request.old) {
                    (true, false) => "",
                    (true, true) => "Connection: keep-alive\r\n",
                    (false, _) => "Connection: close\r\n",
                };
                let bytes = write(self.status, &self.content_type, connection, &body);
                let unsent = if head && has_body(self.status) {
                    body.len()
                } else {
                    0
                };
                out.extend_from_slice(&bytes[..bytes.len() - unsent]);
            }
        }
    }
}

/// Path and query of a target.
pub fn split(target: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'?', target) {
        Some(at) => (&target[..at], &target[at + 1..]),
        None => (target, b""),
    }
}

/// The value of a query parameter.
pub fn parameter<'q>(query: &'q [u8], name: &[u8]) -> Option<&'q [u8]> {
    query
        .split(|b| *b == b'&')
        .find_map(|pair| pair.strip_prefix(name)?.strip_prefix(b"="))
}

/// A body with `{query.NAME}` in it is filled for each request, any other is built once.
fn answer(status: u16, content_type: &str, body: &str) -> Answer {
    const OPEN: &str = "{query.";
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let Some((name, after)) = after.split_once('}') else {
            break;
        };
        parts.push(Part::Text(before.into()));
        parts.push(Part::Query(name.into()));
        rest = after;
    }
    if parts.is_empty() {
        return Answer::Fixed(Canned::new(status, content_type, body.as_bytes()));
    }
    parts.push(Part::Text(rest.into()));
    Answer::Filled(parts)
}

fn fill(parts: &[Part], query: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(128);
    for part in parts {
        match part {
            Part::Text(text) => body.extend_from_slice(text),
            Part::Query(name) => body.extend_from_slice(parameter(query, name).unwrap_or_default()),
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::{Parse, parse};

    fn ask(routes: &Routes, request: &str) -> String {
        let Parse::Complete(request) = parse(request.as_bytes()) else {
            panic!("{request}")
        };
        let mut out = Vec::new();
        routes.answer(&request, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn table(lines: &[&str]) -> Routes {
        let routes: Vec<Route> = lines.iter().map(|l| l.parse().unwrap()).collect();
        Routes::new(200, "text/plain", "ok", &routes)
    }

    #[test]
    fn without_routes_everything_gets_the_body() {
        let routes = table(&[]);
        assert!(ask(&routes, "PUT /x HTTP/1.1\r\n\r\n").ends_with("Content-Length: 2\r\n\r\nok"));
    }

    #[test]
    fn routes_go_by_method_and_path_and_fill_in_the_query() {
        let routes = table(&[
            "GET /ping=pong",
            "GET /=Found: {query.name}!",
            r#"POST /api={"a":"b=c"}"#,
        ]);
        assert!(ask(&routes, "GET /ping?x=1 HTTP/1.1\r\n\r\n").ends_with("\r\n\r\npong"));
        assert!(ask(&routes, "GET /?a=1&name=n%20m HTTP/1.1\r\n\r\n").ends_with("Found: n%20m!"));
        assert!(ask(&routes, "POST /api HTTP/1.1\r\n\r\n").ends_with(r#"{"a":"b=c"}"#));
        assert!(ask(&routes, "POST /ping HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask(&routes, "HEAD /ping HTTP/1.1\r\n\r\n").ends_with("Content-Length: 4\r\n\r\n"));
    }

    #[test]
    fn what_has_no_content_says_nothing_of_it() {
        for status in [204, 304] {
            let routes: Vec<Route> = vec!["GET /x=unsent {query.n}".parse().unwrap()];
            let table = Routes::new(status, "text/plain", "unsent", &routes);
            let said = ask(&table, "GET /x?n=1 HTTP/1.1\r\n\r\n");
            assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{said}");
            assert!(
                said.ends_with("\r\n\r\n") && !said.contains("Content-"),
                "{said}"
            );
            let without_routes = Routes::new(status, "text/plain", "unsent", &[]);
            let said = ask(&without_routes, "HEAD / HTTP/1.1\r\n\r\n");
            assert!(
                said.ends_with("\r\n\r\n") && !said.contains("Content-"),
                "{said}"
            );
        }
    }

    #[test]
    fn a_line_that_is_no_route_is_an_error() {
        for line in ["/ping=pong", "GET ping=pong", "GET /ping", "GET /?a=b"] {
            assert!(line.parse::<Route>().is_err(), "{line}");
        }
    }
}
