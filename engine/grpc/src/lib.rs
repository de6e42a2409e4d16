//! gRPC of a client that measures: schemas, messages from JSON and to JSON, and what a response says.
//!
//! The transport is HTTP/2's, in `touchstone-h2`: here are only bytes of bodies and texts of heads.

#![forbid(unsafe_code)]

mod frame;
mod method;
mod outline;
mod reflection;
mod schema;
mod status;
mod wire;

pub use frame::{Broken, messages, prefix};
pub use method::Method;
pub use outline::{Outline, outlines};
pub use reflection::{Reflected, VERSIONS, services};
pub use schema::Schema;
pub use status::{CODES, Code, Status, timeout};
pub use wire::{Found, Sort, Spot, Wire};
