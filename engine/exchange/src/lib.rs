//! One HTTP/1.1 exchange, checked whole. For first responses and held connections, where each exchange happens once;
//! the load engine has its own parser for its hot path.

#![forbid(unsafe_code)]

mod expect;
mod head;
mod job;
mod request;
mod response;
mod target;

pub use expect::Check;
pub use head::{HeadCheck, field_lines, field_value, whole_pattern};
pub use job::{Expect, ExpectBody, Request};
pub use response::{Progress, Reader, Response};
pub use target::{Target, TargetError};
