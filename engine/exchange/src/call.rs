//! gRPC calls in the request language: which method is called, and whether its response is the right one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use touchstone_grpc::{Broken, Code, Method, Schema, Status, messages};
use touchstone_http::field_value;

use crate::coding::undone;
use crate::job::{Expect, ExpectBody, Grpc, Request};

/// How a whole response is wrong behind its status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// Its fields are not those expected.
    Head,
    /// Its body is not the one expected.
    Body,
    /// It is not a response of gRPC.
    Malformed,
    /// A gRPC call ended with another status than expected.
    GrpcStatus,
}

/// What is wrong: the kind, and a sentence.
pub type Fault = (Wrong, String);

/// The most messages of one call that are made of one body.
const MOST_MESSAGES: u32 = 100_000;

/// A method that is called, and the status codes that are right.
#[derive(Debug, Clone)]
pub struct Call {
    method: Method,
    /// How often the body is sent.
    messages: u32,
    codes: Vec<Code>,
}

impl Call {
    /// Finds the method, and reads the codes that are expected.
    ///
    /// # Errors
    /// A sentence that begins with the part that does not hold together.
    pub fn compile(grpc: &Grpc, request: &Request) -> Result<Self, String> {
        let schema = match &grpc.reflected {
            Some(set) => Schema::reflected(set),
            None => Schema::read(grpc.proto.as_deref(), &grpc.proto_path),
        };
        let method = schema.and_then(|schema| Method::find(&grpc.method, &schema));
        let expect = &request.expect;
        if request.target.is_some() || !["GET", "POST"].contains(&request.method.as_str()) {
            return Err(
                "grpc: a gRPC call has no other method and target: leave both out".to_owned(),
            );
        }
        if expect.status.as_ref().is_some_and(|list| !list.is_empty()) {
            return Err(
                "expect.status: the HTTP status of a gRPC call is 200: name grpc_status".to_owned(),
            );
        }
        let code = |text: &String| {
            let known = "write a name such as NOT_FOUND, or a number from 0 to 16";
            Code::parse(text)
                .ok_or_else(|| format!("expect.grpc_status: {text:?} is not a code: {known}"))
        };
        let codes = expect.grpc_status.iter().flatten().map(code);
        let mut codes = codes.collect::<Result<Vec<_>, _>>()?;
        if codes.is_empty() {
            codes.push(Code::OK);
        }
        let method = method.map_err(|why| format!("grpc: {why}"))?;
        let messages = grpc.messages.unwrap_or(1);
        if !(1..=MOST_MESSAGES).contains(&messages) {
            return Err(format!("grpc: messages must be 1 to {MOST_MESSAGES}"));
        }
        if grpc.messages.is_some() && !method.takes_stream() {
            return Err(format!(
                "grpc: messages: {} takes one message: leave messages out",
                method.path()
            ));
        }
        Ok(Self {
            method,
            messages,
            codes,
        })
    }

    /// The method.
    #[must_use]
    pub const fn method(&self) -> &Method {
        &self.method
    }

    /// Appends the messages of a call, made of a body in JSON.
    ///
    /// # Errors
    /// A sentence on why the body is no such message. Then something is appended that every server refuses.
    pub fn write(&self, body: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let begin = out.len();
        self.method.write(body, out)?;
        let end = out.len();
        for _ in 1..self.messages {
            out.extend_from_within(begin..end);
        }
        Ok(())
    }

    /// The expectation as it is compiled: fields under the names that the message has in JSON.
    ///
    /// # Errors
    /// A sentence on a field that the message does not have.
    pub fn named(&self, expect: &Expect) -> Result<Expect, String> {
        let mut named = expect.clone();
        if let Some(ExpectBody::Json { fields, .. }) = &mut named.body {
            let all = fields
                .iter()
                .map(|(name, value)| self.method.field(name, value));
            *fields = all.collect::<Result<BTreeMap<String, Value>, _>>()?;
        }
        Ok(named)
    }

    /// Checks the media type of a head.
    ///
    /// # Errors
    /// A sentence on one that is not gRPC's.
    pub fn media_type(&self, head: &[u8]) -> Result<(), Fault> {
        let found = field_value(head, "content-type").unwrap_or_default();
        if is_grpc(&found) {
            return Ok(());
        }
        let found = String::from_utf8_lossy(&found);
        let why = format!("the content type is {found:?}, and gRPC's is application/grpc");
        Err((Wrong::Head, why))
    }

    /// The status of a response that is over, by its head with the trailers behind it, if it is one that is expected.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn status(&self, whole_head: &[u8]) -> Result<Code, Fault> {
        self.media_type(whole_head)?;
        let status = Status::read(whole_head).map_err(broken)?;
        if !self.codes.contains(&status.code) {
            let wanted: Vec<_> = self.codes.iter().map(|code| code.name()).collect();
            let why = format!("{status}; expected {}", wanted.join(" or "));
            return Err((Wrong::GrpcStatus, why));
        }
        Ok(status.code)
    }

    /// The message of a right response, as it came; none where the status is one that comes without. The head has the
    /// trailers behind it.
    ///
    /// # Errors
    /// What is wrong with status, framing or coding.
    pub fn message<'b>(
        &self,
        whole_head: &[u8],
        body: &'b [u8],
    ) -> Result<Option<Cow<'b, [u8]>>, Fault> {
        let code = self.status(whole_head)?;
        let messages = messages(body).map_err(broken)?;
        if code != Code::OK {
            return Ok(None);
        }
        let [message] = messages[..] else {
            let why = match messages.len() {
                0 => "the status is OK, and there is no message".to_owned(),
                many => format!("{many} messages came, and a unary call has one"),
            };
            return Err(broken(Broken(why)));
        };
        if !message.is_compressed {
            return Ok(Some(message.bytes.into()));
        }
        let coding = field_value(whole_head, "grpc-encoding").unwrap_or_default();
        let coding = String::from_utf8_lossy(&coding);
        if coding.is_empty() || coding == "identity" {
            let why = "the message has the flag of a compressed one, and there is no grpc-encoding";
            return Err(broken(Broken(why.to_owned())));
        }
        undone(&coding, message.bytes)
            .map(|bytes| Some(bytes.into()))
            .map_err(|why| broken(Broken(why.replace("Content-Encoding", "grpc-encoding"))))
    }
}

/// A response that breaks the rules, as a fault.
fn broken(Broken(why): Broken) -> Fault {
    (Wrong::Malformed, format!("no gRPC response: {why}"))
}

/// Whether a media type is gRPC's, with any coding of messages; that of gRPC-Web is another.
fn is_grpc(value: &[u8]) -> bool {
    let kind = value
        .get(..16)
        .is_some_and(|kind| kind.eq_ignore_ascii_case(b"application/grpc"));
    kind && matches!(value.get(16), None | Some(b'+' | b';' | b' '))
}

/// The code of a response's status, for its count; none where there is none.
#[must_use]
pub fn code(whole_head: &[u8]) -> Option<u16> {
    let status = Status::read(whole_head).ok()?;
    Some(status.code.number() as u16)
}
