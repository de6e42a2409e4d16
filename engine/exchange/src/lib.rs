//! The request language, and one exchange over HTTP/1.1 or HTTP/2, with or without TLS: what is sent (templates, rows,
//! captured values), what must come back, and what is taken from it. The load generator, boot, hold and `ask` all speak it.

#![forbid(unsafe_code)]

pub mod ask;
mod call;
pub mod capture;
pub mod check;
pub mod client;
pub mod closes;
mod coding;
pub mod conversation;
pub mod cookies;
pub mod events;
mod frames;
mod glance;
pub mod h2_fields;
mod head;
mod job;
mod json;
mod media;
pub mod random;
pub mod reflection;
pub mod request;
pub mod response;
pub mod rows;
pub mod session;
mod socket;
mod target;
pub mod template;
mod transport;
pub mod websocket;

pub use call::{Fault, Wrong, code};
pub use capture::Part;
pub use head::{HeadCheck, whole_pattern};
pub use job::{
    BodyEncoding, Capture, Encoding, Expect, ExpectBody, Grpc, JobError, Request, Stream,
    StreamKind, WebSocket, WebSocketKind, seconds,
};
pub use request::{CompiledRequest, Origin};
pub use response::{Progress, Reader, Response};
pub use socket::Opening;
pub use target::{Target, TargetError};
pub use touchstone_grpc::{CODES, Code};
pub use touchstone_tls::{Protocol, Tls};
pub use transport::Transport;
