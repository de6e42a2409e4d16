//! One request, compiled: bytes ready to send, what to expect for them, and what to take from the response.

use crate::capture::Capture;
use crate::check::Check;
use crate::clock::{Nanos, nanos};
use crate::cookies::Place;
use crate::error::Error;
use crate::failure::ErrorClass;
use crate::job::{Job, JourneyStep, Request};
use crate::session::Session;
use crate::target::Target;
use crate::template::{self, Key, Scope, Template, decimal};
use touchstone_http::field_lines;

/// One compiled request.
#[derive(Debug, Clone)]
pub struct CompiledRequest {
    /// Its name in the result.
    pub name: String,
    /// Whether it is a HEAD, whose response has no body.
    pub is_head: bool,
    /// Whether sending it twice does what sending it once does, so that a client may repeat it (RFC 9110 section 9.2.2).
    pub is_idempotent: bool,
    /// What its response must be.
    pub check: Check,
    /// Nanoseconds between its response and the next request on the connection.
    pub think: Nanos,
    bytes: Bytes,
    /// What is taken from its response, if it is a journey's step: where it goes, and where it is.
    captures: Option<Vec<(usize, Capture)>>,
    /// Whether it sends the cookies that were set: in a journey, unless it has its own.
    sends_cookies: bool,
    /// The host that cookies go by: that of its Host field, or the URL's.
    host: String,
    secure: bool,
}

#[derive(Debug, Clone)]
enum Bytes {
    Fixed(Vec<u8>),
    Rendered {
        head: Template,
        body: Option<Template>,
    },
}

/// Where a request comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub job: &'a Job,
    pub target: &'a Target,
    /// Its place in the job, for errors.
    pub place: &'a str,
}

impl CompiledRequest {
    /// Compiles a request of the mix.
    ///
    /// # Errors
    /// [`Error::Job`] that names the request and the part that does not hold together.
    pub(crate) fn compile(
        request: &Request,
        origin: Origin<'_>,
        scope: Scope<'_>,
    ) -> Result<Self, Error> {
        let Origin { job, target, place } = origin;
        let bad = |part: &str, why: String| Error::Job(format!("{place}.{part}: {why}"));
        let method = request.method.as_str();
        if method.is_empty()
            || !method
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
        {
            return Err(bad("method", format!("{method:?} is not a method")));
        }
        let head = head(request, job, target, scope).map_err(|(part, why)| bad(part, why))?;
        let body = match &request.body {
            Some(text) => {
                let parsed = Template::parse(text, scope, template::Place::Body);
                let encoded = parsed.and_then(|body| body.encoded(request.encoding));
                Some(encoded.map_err(|why| bad("body", why))?)
            }
            None => None,
        };
        let path = request.target.as_deref().unwrap_or(&target.url.path);
        let mut compiled = Self {
            name: request
                .name
                .clone()
                .unwrap_or_else(|| format!("{method} {path}")),
            is_head: method == "HEAD",
            is_idempotent: matches!(
                method,
                "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"
            ),
            check: Check::compile(&request.expect, scope, place)?,
            think: Nanos::ZERO,
            bytes: Bytes::Rendered { head, body },
            captures: None,
            sends_cookies: false,
            host: host(request, target),
            secure: target.url.tls,
        };
        if let Bytes::Rendered { head, body } = &compiled.bytes
            && head.fixed().is_some()
            && body.as_ref().is_none_or(|body| body.fixed().is_some())
        {
            let mut bytes = Vec::new();
            let key = Key {
                counter: 0,
                seed: 0,
                thread: 0,
                session: None,
            };
            compiled.render(key, &mut bytes, &mut Vec::new());
            compiled.bytes = Bytes::Fixed(bytes);
        }
        Ok(compiled)
    }

    /// Compiles a journey's step; what it captures is added to `captured`, which is in scope of the steps behind it.
    ///
    /// # Errors
    /// [`Error::Job`] that names the step and the part that does not hold together.
    pub(crate) fn compile_step(
        step: &JourneyStep,
        origin: Origin<'_>,
        scope: Scope<'_>,
        captured: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let own = Scope {
            captures: captured,
            ..scope
        };
        let mut compiled = Self::compile(&step.request, origin, own)?;
        let mut captures = Vec::new();
        for (name, capture) in &step.captures {
            let compiled = Capture::compile(capture)
                .map_err(|why| Error::Job(format!("{}.captures.{name}: {why}", origin.place)))?;
            let known = captured.iter().position(|known| known == name);
            captures.push((known.unwrap_or(captured.len()), compiled));
            if known.is_none() {
                captured.push(name.clone());
            }
        }
        compiled.captures = Some(captures);
        compiled.think = nanos(step.think_s);
        let mut headers = step.request.headers.iter();
        compiled.sends_cookies = !headers.any(|(name, _)| name.eq_ignore_ascii_case("cookie"));
        Ok(compiled)
    }

    /// The request's bytes, where they are the same every time.
    #[inline]
    #[must_use]
    pub fn fixed(&self) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Fixed(bytes) if !self.sends_cookies => Some(bytes),
            _ => None,
        }
    }

    /// Appends the request's bytes for a key; `scratch` holds the body meanwhile.
    pub fn render(&self, key: Key<'_>, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
        let session = key.session.filter(|_| self.sends_cookies);
        match &self.bytes {
            Bytes::Fixed(bytes) => {
                // Fields may come in any order: these go behind the request line.
                let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0) + 1;
                out.extend_from_slice(&bytes[..line]);
                if let Some(session) = session {
                    session.cookies.write(self.place(bytes), out);
                }
                out.extend_from_slice(&bytes[line..]);
            }
            Bytes::Rendered { head, body } => {
                let begin = out.len();
                head.render(key, out);
                if let Some(session) = session {
                    scratch.clear();
                    session.cookies.write(self.place(&out[begin..]), scratch);
                    out.extend_from_slice(scratch);
                }
                scratch.clear();
                if let Some(body) = body {
                    body.render(key, scratch);
                    out.extend_from_slice(b"Content-Length: ");
                    decimal(scratch.len() as u64, out);
                    out.extend_from_slice(b"\r\n");
                }
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(scratch);
            }
        }
    }

    /// Where a request with this head goes, as far as cookies go by it.
    fn place<'a>(&'a self, head: &'a [u8]) -> Place<'a> {
        Place {
            host: &self.host,
            target: head.split(|byte| *byte == b' ').nth(1).unwrap_or(b"/"),
            secure: self.secure,
        }
    }

    /// Why a cookie is missing from the request with this key, in words, where its author may not expect that.
    #[must_use]
    pub fn missing_cookie(&self, key: Key<'_>) -> Option<String> {
        let session = key.session.filter(|_| self.sends_cookies)?;
        session.cookies.missing(self.place(&self.head(key)))
    }

    /// The head of the request with this key, up to its length and cookies.
    fn head(&self, key: Key<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        match &self.bytes {
            Bytes::Fixed(bytes) => out.extend_from_slice(bytes),
            Bytes::Rendered { head, .. } => head.render(key, &mut out),
        }
        out
    }

    /// Whether the response's head must be kept.
    #[must_use]
    pub fn needs_head(&self) -> bool {
        self.captures.is_some() || !self.check.head().is_any()
    }

    /// Whether the response's body must be kept whole to capture something from it.
    #[must_use]
    pub fn captures_from_body(&self) -> bool {
        let mut captures = self.captures.iter().flatten();
        captures.any(|(_, capture)| capture.needs_body())
    }

    /// Whether something is taken from a response with this head: a value, or a cookie.
    #[must_use]
    pub fn takes_from(&self, head: &[u8]) -> bool {
        let Some(captures) = &self.captures else {
            return false;
        };
        let sets = || field_lines(head, "set-cookie").next();
        !captures.is_empty() || sets().is_some()
    }

    /// Takes values and cookies from a right response to the request with this key, which is without a session.
    ///
    /// # Errors
    /// What kind of error a response has that does not hold them, and a sentence on it.
    pub fn take(
        &self,
        head: &[u8],
        body: &[u8],
        key: Key<'_>,
        session: &mut Session,
    ) -> Result<(), (ErrorClass, String)> {
        if field_lines(head, "set-cookie").next().is_some() {
            // Before a value is captured that the request was made of.
            let request = self.head(Key {
                session: Some(session),
                ..key
            });
            session.cookies.take(head, self.place(&request));
        }
        for (place, capture) in self.captures.iter().flatten() {
            session.captured[*place] = capture.take(head, body)?;
        }
        Ok(())
    }
}

/// The host that a request names, without its port, in lower case.
fn host(request: &Request, target: &Target) -> String {
    let mut headers = request.headers.iter();
    let field = headers.find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let authority = field.map_or(target.url.host.as_str(), |(_, value)| value.trim());
    let bare = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None if authority.matches(':').count() > 1 => Some(authority),
        None => authority.split(':').next(),
    };
    bare.unwrap_or(authority).to_ascii_lowercase()
}

/// The request's head without `Content-Length` and its empty line; or which part of it is wrong, and why.
fn head(
    request: &Request,
    job: &Job,
    target: &Target,
    scope: Scope<'_>,
) -> Result<Template, (&'static str, String)> {
    let path = request.target.as_deref().unwrap_or(&target.url.path);
    if path.is_empty() || path.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
        let why = "it must not be empty, and spaces and control characters must be percent-encoded";
        return Err(("target", why.to_owned()));
    }
    let path = match &request.target {
        Some(path) => {
            Template::parse(path, scope, template::Place::Target).map_err(|why| ("target", why))?
        }
        None => Template::literal(path),
    };
    let literal = |text: String| Template::literal(&text);
    let mut parts = vec![
        literal(format!("{} ", request.method)),
        path,
        literal(" HTTP/1.1\r\n".to_owned()),
    ];
    let mut headers = request.headers.iter();
    let mut has = |name: &str| headers.any(|(header, _)| header.eq_ignore_ascii_case(name));
    if !has("host") {
        parts.push(literal(format!("Host: {}\r\n", target.url.authority)));
    }
    for (name, value) in &request.headers {
        if name.is_empty()
            || name
                .bytes()
                .any(|byte| byte <= b' ' || byte == b':' || byte >= 0x7f)
        {
            return Err(("headers", format!("{name:?} is not a header name")));
        }
        if value
            .bytes()
            .any(|byte| byte == b'\r' || byte == b'\n' || byte == 0)
        {
            let why = format!("the value of {name} holds a line end");
            return Err(("headers", why));
        }
        parts.push(literal(format!("{name}: ")));
        let value = Template::parse(value, scope, template::Place::Header);
        parts.push(value.map_err(|why| ("headers", format!("{name}: {why}")))?);
        parts.push(literal("\r\n".to_owned()));
    }
    let mut headers = request.headers.iter();
    if !job.keepalive && !headers.any(|(name, _)| name.eq_ignore_ascii_case("connection")) {
        parts.push(literal("Connection: close\r\n".to_owned()));
    }
    Ok(Template::join(parts))
}
