//! One HTTP/1.1 exchange, checked whole: for first responses and held connections, where a response is small and kept.
//! The load generator, which keeps nothing, shares what is expected of a response, and the parser (`touchstone-http`).

#![forbid(unsafe_code)]

mod expect;
mod head;
mod job;
mod request;
mod response;
mod target;

pub use expect::Check;
pub use head::{HeadCheck, whole_pattern};
pub use job::{BodyEncoding, Expect, ExpectBody, Request};
pub use response::{Progress, Reader, Response};
pub use target::{Target, TargetError};
