//! One request, compiled: bytes ready to send, what to expect for them, and what to take from the response.
//!
//! The one writer of requests: what a contract sends and what a load sends differ in no byte.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use touchstone_http::{Url, field_lines, is_token};
use touchstone_sys::clock::Nanos;
use touchstone_tls::Protocol;

use crate::call::Call;
use crate::capture::{Capture, Part};
use crate::check::{BodyCheck, Check};
use crate::coding::codings;
use crate::cookies;
use crate::events::StreamCheck;
use crate::job::{self, Expect, Request, Stream, StreamKind};
use crate::response::Response;
use crate::session::Session;
use crate::target::Target;
use crate::template::{Key, Place, Scope, Template, decimal};
use crate::websocket::Message;

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
    /// What the events of its response must be, if that is a stream.
    pub stream: Option<Box<StreamCheck>>,
    /// What is sent over a WebSocket, of which it is the handshake.
    pub message: Option<Box<Message>>,
    /// Nanoseconds between its response and the next request on the connection.
    pub think: Nanos,
    bytes: Bytes,
    /// What is taken from its response, if it is a journey's step: where it goes, and where it is.
    captures: Option<Vec<(usize, Capture)>>,
    /// Whether it sends the cookies that were set: in a journey, unless it has its own.
    sends_cookies: bool,
    /// Whether it has an `Accept-Encoding` of its own.
    accepts_codings: bool,
    /// The host that cookies go by: that of its Host field, or the URL's.
    host: String,
    secure: bool,
    /// Why a message could not be made from its template, of a gRPC call: the first reason.
    unmade: Arc<OnceLock<String>>,
}

#[derive(Debug, Clone)]
enum Bytes {
    Fixed(Vec<u8>),
    Rendered {
        head: Template,
        body: Option<Template>,
        /// Whether a missing body is said by `Content-Length: 0`.
        says_none: bool,
    },
}

/// Where a request goes.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The URL: its authority is the value of `Host`, and its path the target, where the request names none.
    pub url: &'a Url,
    /// Whether it asks for the connection to be closed behind it.
    pub closes: bool,
    /// Whether it goes over HTTP/2, which gRPC needs.
    pub is_h2: bool,
    /// How long its response is waited for: the deadline of a gRPC call.
    pub timeout: Duration,
}

impl CompiledRequest {
    /// Compiles a request, whose templates may name what is in `scope`.
    ///
    /// # Errors
    /// A sentence that begins with the part that does not hold together, such as `expect.body: `.
    pub fn compile(
        request: &Request,
        origin: Origin<'_>,
        scope: Scope<'_>,
    ) -> Result<Self, String> {
        if let Some(socket) = &request.websocket {
            return Self::compile_message(request, socket, origin, scope);
        }
        let call = request.grpc.as_ref();
        let call = call.map(|grpc| Call::compile(grpc, request)).transpose()?;
        if let Some(call) = call {
            return Self::compile_call(request, call, origin, scope);
        }
        Self::compile_plain(request, None, origin, scope)
    }

    /// Compiles a gRPC call, which is a POST with fields of its own.
    fn compile_call(
        request: &Request,
        call: Call,
        origin: Origin<'_>,
        scope: Scope<'_>,
    ) -> Result<Self, String> {
        if !origin.is_h2 {
            let fix = "set protocol to h2c, or to h2 over TLS";
            return Err(format!("grpc: gRPC needs HTTP/2: {fix}"));
        }
        if request.encoding != job::BodyEncoding::Text {
            return Err("encoding: the message of a gRPC call is written in JSON".to_owned());
        }
        let mut sent = request.clone();
        sent.method = "POST".to_owned();
        sent.target = Some(call.method().path().to_owned());
        sent.body.get_or_insert_with(|| "{}".to_owned());
        let implied = [
            ("grpc-timeout", touchstone_grpc::timeout(origin.timeout)),
            ("te", "trailers".to_owned()),
            ("content-type", "application/grpc".to_owned()),
        ];
        for (name, value) in implied {
            if names(request, name) == 0 {
                sent.headers.insert(0, (name.to_owned(), value));
            }
        }
        Self::compile_plain(&sent, Some(Box::new(call)), origin, scope)
    }

    fn compile_plain(
        request: &Request,
        call: Option<Box<Call>>,
        origin: Origin<'_>,
        scope: Scope<'_>,
    ) -> Result<Self, String> {
        let method = request.method.as_str();
        if !is_name(method) {
            return Err(format!("method: {method:?} is not a method"));
        }
        let head = head(request, origin, scope)?;
        let body = request.body.as_ref();
        let body = body
            .map(|text| Template::parse_as(request.encoding, text, scope, Place::Body))
            .transpose();
        let path = request.target.as_deref().unwrap_or(&origin.url.path);
        let mut compiled = Self {
            name: format!("{method} {path}"),
            is_head: method == "HEAD",
            is_idempotent: matches!(
                method,
                "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"
            ),
            check: Check::compile(&request.expect, call, scope)
                .map_err(|why| format!("expect.{why}"))?,
            stream: None,
            message: None,
            think: Nanos::ZERO,
            bytes: Bytes::Rendered {
                head,
                body: body.map_err(|why| format!("body: {why}"))?,
                // RFC 9110, section 8.6: these anticipate content, and say that there is none.
                says_none: matches!(method, "POST" | "PUT" | "PATCH"),
            },
            captures: None,
            sends_cookies: false,
            accepts_codings: names(request, "accept-encoding") > 0,
            host: host(request, origin.url),
            secure: origin.url.tls,
            unmade: Arc::default(),
        };
        compiled.try_message()?;
        if let Bytes::Rendered { head, body, .. } = &compiled.bytes
            && head.fixed().is_some()
            && body.as_ref().is_none_or(|body| body.fixed().is_some())
        {
            let mut bytes = Vec::new();
            compiled.render(Key::default(), &mut bytes, &mut Vec::new());
            compiled.bytes = Bytes::Fixed(bytes);
        }
        Ok(compiled)
    }

    /// Makes the message of a gRPC call once, where its template takes nothing from responses.
    ///
    /// # Errors
    /// A sentence on why the text is no such message.
    fn try_message(&self) -> Result<(), String> {
        if let (
            Some(call),
            Bytes::Rendered {
                body: Some(body), ..
            },
        ) = (self.check.call(), &self.bytes)
            && !body.takes_from_responses()
        {
            let mut text = Vec::new();
            body.render(Key::default(), &mut text);
            let made = call.method().write(&text, &mut Vec::new());
            made.map_err(|why| format!("body: {why}"))?;
        }
        Ok(())
    }

    /// Compiles a step of a journey and adds its captures to `captured`, which later steps can use.
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn compile_step(
        request: &Request,
        captures: &BTreeMap<String, job::Capture>,
        origin: Origin<'_>,
        scope: Scope<'_>,
        captured: &mut Vec<String>,
    ) -> Result<Self, String> {
        let own = Scope {
            captures: captured,
            ..scope
        };
        let mut compiled = Self::compile(request, origin, own)?.with_cookies(request);
        let mut places = Vec::new();
        for (name, capture) in captures {
            let compiled =
                Capture::compile(capture).map_err(|why| format!("captures.{name}: {why}"))?;
            let known = captured.iter().position(|known| known == name);
            places.push((known.unwrap_or(captured.len()), compiled));
            if known.is_none() {
                captured.push(name.clone());
            }
        }
        compiled.captures = Some(places);
        Ok(compiled)
    }

    /// Refuses a message over a WebSocket, where none is sent.
    ///
    /// # Errors
    /// A sentence on what is missing.
    pub fn without_message(self) -> Result<Self, String> {
        match self.message {
            Some(_) => Err(
                "websocket: only a load, hold, ready and the contract send messages over a WebSocket"
                    .to_owned(),
            ),
            None => Ok(self),
        }
    }

    /// Refuses a message over a WebSocket, where the protocol is none that opens one.
    ///
    /// # Errors
    /// A sentence on what to do.
    pub fn over(self, protocol: Protocol) -> Result<Self, String> {
        if self.message.is_some() && protocol.is_h2() {
            return Err(
                "websocket: a WebSocket is opened over HTTP/1.1: set protocol to h1".to_owned(),
            );
        }
        Ok(self)
    }

    /// Has its response be a stream where one is asked for, as the method of a gRPC call must say as well.
    ///
    /// # Errors
    /// A sentence that begins with the part that does not hold together.
    pub fn streamed(
        self,
        request: &Request,
        stream: Option<&Stream>,
        scope: Scope<'_>,
    ) -> Result<Self, String> {
        let Some(stream) = stream else {
            return match self.check.call() {
                Some(call) if call.method().is_streaming() => Err(
                    "grpc: this method streams its responses: name `stream`, with kind messages"
                        .to_owned(),
                ),
                _ => Ok(self),
            };
        };
        self.with_stream(request, stream, scope)
    }

    fn with_stream(
        mut self,
        request: &Request,
        stream: &Stream,
        scope: Scope<'_>,
    ) -> Result<Self, String> {
        if !matches!(self.check.body(), BodyCheck::Any) {
            return Err(
                "expect.body: a streamed response is checked event by event: name it in stream.expect"
                    .to_owned(),
            );
        }
        if self.captures_from_body() {
            return Err("captures: nothing is captured from the body of a stream".to_owned());
        }
        if self.is_head {
            return Err("stream: the response to HEAD has no body".to_owned());
        }
        let check = StreamCheck::compile(stream, self.check.call(), scope)
            .map_err(|why| format!("stream.{why}"))?;
        if stream.kind == StreamKind::Sse && request.expect.content_type.is_none() {
            let expect = Expect {
                content_type: Some("text/event-stream".to_owned()),
                ..request.expect.clone()
            };
            self.check =
                Check::compile(&expect, None, scope).map_err(|why| format!("expect.{why}"))?;
        }
        self.stream = Some(Box::new(check));
        Ok(self)
    }

    /// Has it send the cookies that were set, unless it has its own.
    #[must_use]
    pub fn with_cookies(self, request: &Request) -> Self {
        Self {
            sends_cookies: names(request, "cookie") == 0,
            ..self
        }
    }

    /// The request's bytes, where they are the same every time.
    #[inline]
    #[must_use]
    pub fn fixed(&self) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Fixed(bytes) if !self.sends_cookies && self.message.is_none() => Some(bytes),
            _ => None,
        }
    }

    /// Appends the bytes for a key: of the request, or of a message over a WebSocket; `scratch` holds the body meanwhile.
    pub fn render(&self, key: Key<'_>, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
        match &self.message {
            Some(message) => message.render(key, out, scratch),
            None => self.render_request(key, out, scratch),
        }
    }

    pub(crate) fn render_request(&self, key: Key<'_>, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
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
            Bytes::Rendered {
                head,
                body,
                says_none,
            } => {
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
                }
                if let Some(call) = self.check.call() {
                    // A message says its length itself.
                    out.extend_from_slice(b"\r\n");
                    if let Err(why) = call.write(scratch, out) {
                        let _ = self.unmade.set(why);
                    }
                    return;
                }
                if body.is_some() || *says_none {
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
    fn place<'a>(&'a self, head: &'a [u8]) -> cookies::Place<'a> {
        cookies::Place {
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
        self.captures.is_some()
            || self.check.decodes()
            || self.stream.is_some()
            || !self.check.head().is_any()
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
    /// Which part of the response does not hold them, and a sentence on it.
    pub fn take(
        &self,
        head: &[u8],
        body: &[u8],
        key: Key<'_>,
        session: &mut Session,
    ) -> Result<(), (Part, String)> {
        self.take_cookies(head, key, session);
        let body = &*self.shown_body(head, body);
        for (place, capture) in self.captures.iter().flatten() {
            session.captured[*place] =
                capture.take(head, body).map_err(|(part, why)| match part {
                    Part::Head => (part, why),
                    Part::Body => (part, self.with_coding(why, head)),
                })?;
        }
        Ok(())
    }

    /// Takes the cookies that the response to the request with this key sets.
    pub fn take_cookies(&self, head: &[u8], key: Key<'_>, session: &mut Session) {
        if field_lines(head, "set-cookie").next().is_some() {
            // Before a value is captured that the request was made of.
            let request = self.head(Key {
                session: Some(session),
                ..key
            });
            session.cookies.take(head, self.place(&request));
        }
    }

    /// Whether a response with this status has no body, whatever its head says (RFC 9110, section 6.4.1).
    #[inline]
    #[must_use]
    pub const fn is_bodiless(&self, status: u16) -> bool {
        self.is_head || status == 204 || status == 304
    }

    /// What is wrong with a response that came whole, a sentence each; none if it is right.
    #[must_use]
    pub fn faults(&self, response: &Response, key: Key<'_>) -> Vec<String> {
        if let Some(kind) = response.message {
            let came = (kind, &response.body[..]);
            let right = self.echo_is_right(came, key, &mut Vec::new());
            return right.err().into_iter().collect();
        }
        let mut found = Vec::new();
        let status = response.status;
        if !self.check.status_is_right(status) {
            found.push(self.wrong_status(status));
            if self.check.call().is_some() {
                // It is not a response of gRPC: what else is missing in it follows from that.
                return found;
            }
        }
        let head = &*self.whole_head(response);
        found.extend(self.check.head().faults(head));
        if !self.is_bodiless(status) {
            let body = &response.body;
            let verdict = self.check.body_is_right(head, body, key, &mut Vec::new());
            found.extend(verdict.err().map(|(_, why)| self.with_coding(why, head)));
        }
        found
    }

    /// The head that is checked: of a gRPC call with the trailers behind it.
    #[must_use]
    pub fn whole_head<'a>(&self, response: &'a Response) -> Cow<'a, [u8]> {
        if self.check.call().is_none() || response.trailers.is_empty() {
            return Cow::Borrowed(&response.head);
        }
        Cow::Owned([&response.head[..], &response.trailers].concat())
    }

    /// The body that values are captured from and that a person sees: of a gRPC call the message in JSON.
    #[must_use]
    pub fn shown_body<'a>(&self, whole_head: &[u8], body: &'a [u8]) -> Cow<'a, [u8]> {
        let message = self.check.call().and_then(|call| {
            let message = call.message(whole_head, body).ok()??;
            call.method().read(&message).ok()
        });
        message.map_or(Cow::Borrowed(body), Cow::Owned)
    }

    /// A sentence on a status that is not the right one.
    #[must_use]
    pub fn wrong_status(&self, status: u16) -> String {
        format!(
            "status {status}, expected {}",
            self.check.statuses_in_words()
        )
    }

    /// A sentence on a wrong body, with the content coding of the response where that may be the reason.
    #[must_use]
    pub fn with_coding(&self, why: String, head: &[u8]) -> String {
        if let Some(unmade) = self.unmade.get() {
            return format!("{why}; a message that was sent: {unmade}");
        }
        let codings = codings(head).join(", ");
        if codings.is_empty()
            || self.check.decodes()
            || matches!(self.check.body(), BodyCheck::Any) && self.captures.is_none()
        {
            return why;
        }
        let asked = if self.accepts_codings {
            "is compared as it came: encoding = \"decoded\" undoes gzip and deflate"
        } else {
            "was not asked for one: the request has no Accept-Encoding"
        };
        format!("{why}; the response has Content-Encoding {codings}, and {asked}")
    }
}

impl Request {
    /// The request where it is sent in one form alone.
    ///
    /// # Errors
    /// A sentence that begins with the part that does not hold together.
    pub fn compiled(
        &self,
        target: &Target,
        protocol: Protocol,
        timeout: Duration,
    ) -> Result<CompiledRequest, String> {
        let origin = Origin {
            url: &target.url,
            closes: false,
            is_h2: protocol.is_h2(),
            timeout,
        };
        let scope = Scope {
            only: Some(Key::default()),
            ..Scope::default()
        };
        CompiledRequest::compile(self, origin, scope)?.streamed(self, None, scope)
    }

    /// That request, and its bytes: of a message over a WebSocket [`CompiledRequest::opening`] has them.
    ///
    /// # Errors
    /// As [`Self::compiled`].
    pub fn once(
        &self,
        target: &Target,
        protocol: Protocol,
        timeout: Duration,
    ) -> Result<(CompiledRequest, Vec<u8>), String> {
        let compiled = self.compiled(target, protocol, timeout)?.over(protocol)?;
        let mut bytes = Vec::new();
        compiled.render(Key::default(), &mut bytes, &mut Vec::new());
        Ok((compiled, bytes))
    }
}

/// The host that a request names, without its port, in lower case.
fn host(request: &Request, url: &Url) -> String {
    let mut headers = request.headers.iter();
    let field = headers.find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let authority = field.map_or(url.host.as_str(), |(_, value)| value.trim());
    let bare = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None if authority.matches(':').count() > 1 => Some(authority),
        None => authority.split(':').next(),
    };
    bare.unwrap_or(authority).to_ascii_lowercase()
}

/// The request's head without `Content-Length` and its empty line; or a sentence that begins with the part that is wrong.
fn head(request: &Request, origin: Origin<'_>, scope: Scope<'_>) -> Result<Template, String> {
    let literal = |text: &str| Template::literal(text);
    let mut parts = vec![
        literal(&format!("{} ", request.method)),
        target(request, origin, scope).map_err(|why| format!("target: {why}"))?,
        literal(" HTTP/1.1\r\n"),
    ];
    if names(request, "host") == 0 {
        parts.push(literal(&format!("Host: {}\r\n", origin.url.authority)));
    }
    for (name, value) in &request.headers {
        let value = field(request, name, value, scope);
        parts.push(literal(&format!("{name}: ")));
        parts.push(value.map_err(|why| format!("headers.{name}: {why}"))?);
        parts.push(literal("\r\n"));
    }
    if origin.closes && names(request, "connection") == 0 {
        parts.push(literal("Connection: close\r\n"));
    }
    Ok(Template::join(parts))
}

fn target(request: &Request, origin: Origin<'_>, scope: Scope<'_>) -> Result<Template, String> {
    let Some(path) = &request.target else {
        return Ok(Template::literal(&origin.url.path));
    };
    if path.is_empty() {
        return Err("it must not be empty".to_owned());
    }
    if let Some(other) = path.chars().find(|one| !one.is_ascii_graphic()) {
        let mut buffer = [0; 4];
        let encoded: String = (other.encode_utf8(&mut buffer).bytes())
            .map(|byte| format!("%{byte:02X}"))
            .collect();
        return Err(format!(
            "{other:?} must be percent-encoded, as {encoded}: a target is visible ASCII (RFC 9112, section 3.2)"
        ));
    }
    Template::parse(path, scope, Place::Target)
}

fn field(request: &Request, name: &str, value: &str, scope: Scope<'_>) -> Result<Template, String> {
    if !is_name(name) {
        return Err(format!("{name:?} is not the name of a field"));
    }
    // A second word on where a message ends is what request smuggling is made of (RFC 9112, section 11.2).
    if ["content-length", "transfer-encoding"].contains(&name.to_ascii_lowercase().as_str()) {
        return Err(format!(
            "{name} is written by touchstone, which frames each body by its length: leave it out"
        ));
    }
    if name.eq_ignore_ascii_case("host") && names(request, name) > 1 {
        return Err(format!("{name} is named twice, and a request has one"));
    }
    if value
        .bytes()
        .any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f)
    {
        return Err("the value holds a control character".to_owned());
    }
    Template::parse(value, scope, Place::Header)
}

/// How many of the request's fields have the name.
fn names(request: &Request, name: &str) -> usize {
    let named = request.headers.iter();
    named
        .filter(|(header, _)| header.eq_ignore_ascii_case(name))
        .count()
}

/// Whether a text is a token (RFC 9110, section 5.6.2), as methods, fields and subprotocols are named.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn compile(request: Value) -> Result<CompiledRequest, String> {
        let request = serde_json::from_value(request).unwrap();
        let url = Url::parse("http://h:1/p").unwrap();
        let origin = Origin {
            url: &url,
            closes: false,
            is_h2: false,
            timeout: Duration::from_secs(5),
        };
        CompiledRequest::compile(&request, origin, Scope::default())
    }

    fn sent(request: Value) -> String {
        let compiled = compile(request).unwrap();
        let mut bytes = Vec::new();
        compiled.render(Key::default(), &mut bytes, &mut Vec::new());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_body_has_its_length_and_a_method_that_anticipates_one_says_that_there_is_none() {
        assert_eq!(sent(json!({})), "GET /p HTTP/1.1\r\nHost: h:1\r\n\r\n");
        assert!(
            sent(json!({"method": "POST", "body": "é"})).ends_with("Content-Length: 2\r\n\r\né")
        );
        assert!(sent(json!({"body": ""})).contains("Content-Length: 0\r\n"));
        for method in ["POST", "PUT", "PATCH"] {
            assert!(sent(json!({ "method": method })).ends_with("Content-Length: 0\r\n\r\n"));
        }
        for method in ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"] {
            assert!(!sent(json!({ "method": method })).contains("Content-Length"));
        }
    }

    #[test]
    fn a_host_by_hand_takes_the_place_of_the_urls() {
        let text = sent(json!({"headers": [["host", "shop.test"]]}));
        assert_eq!(text, "GET /p HTTP/1.1\r\nhost: shop.test\r\n\r\n");
    }

    #[test]
    fn a_field_that_frames_the_message_is_refused_by_name() {
        for (headers, said) in [
            (
                json!([["content-length", "99"]]),
                "content-length is written by touchstone",
            ),
            (
                json!([["Transfer-Encoding", "chunked"]]),
                "Transfer-Encoding is written",
            ),
            (json!([["Host", "a"], ["host", "b"]]), "named twice"),
            (json!([["A b", "1"]]), "\"A b\" is not the name of a field"),
            (json!([["Ä", "1"]]), "is not the name of a field"),
            (json!([["A", "1\r\nB: 2"]]), "control character"),
            (json!([["A", "1\0"]]), "control character"),
        ] {
            let why = compile(json!({ "headers": headers })).unwrap_err();
            assert!(why.contains(said), "{why}");
        }
        assert!(sent(json!({"headers": [["X", "é\tb"]]})).contains("X: é\tb\r\n"));
    }

    #[test]
    fn a_target_that_is_not_visible_ascii_is_refused_with_its_escape() {
        for (target, said) in [
            ("/é", "%C3%A9"),
            ("/a b", "%20"),
            ("/\u{7f}", "%7F"),
            ("", "empty"),
        ] {
            let why = compile(json!({ "target": target })).unwrap_err();
            assert!(why.starts_with("target: ") && why.contains(said), "{why}");
        }
    }

    #[test]
    fn a_coding_that_was_not_asked_for_is_named_with_a_wrong_body() {
        let response = Response {
            status: 200,
            head: b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec(),
            body: b"\x1f\x8b".to_vec(),
            ends: Vec::new(),
            trailers: Vec::new(),
            keep_alive: true,
            message: None,
        };
        let expect = json!({"body": {"kind": "exact", "value": "ok"}});
        let faults = |request: Value| compile(request).unwrap().faults(&response, Key::default());
        let said = faults(json!({ "expect": expect })).join("");
        assert!(
            said.contains("Content-Encoding gzip") && said.contains("not asked for"),
            "{said}"
        );
        let asks = json!({"expect": expect, "headers": [["accept-encoding", "gzip"]]});
        assert!(faults(asks).join("").contains("encoding = \"decoded\""));
        assert!(faults(json!({})).is_empty());
    }

    #[test]
    fn all_that_is_wrong_with_a_response_is_said() {
        let response = Response {
            status: 500,
            head: b"HTTP/1.1 500 X\r\nContent-Type: text/html\r\n\r\n".to_vec(),
            body: b"oops".to_vec(),
            ends: Vec::new(),
            trailers: Vec::new(),
            keep_alive: true,
            message: None,
        };
        let expect = json!({
            "status": [200, 201],
            "content_type": "text/plain",
            "headers": [["etag", ".*"]],
            "body": {"kind": "exact", "value": "ok"}
        });
        let compiled = compile(json!({ "expect": expect })).unwrap();
        let said = compiled.faults(&response, Key::default());
        assert_eq!(
            said,
            [
                "status 500, expected 200 or 201",
                "the content type is \"text/html\", expected \"text/plain\"",
                "the field etag is missing",
                "the body is \"oops\", expected \"ok\"",
            ]
        );
    }
}
