//! HTTP/2 (RFC 9113) as the probe needs it: octets of cases, and what a server sent, read leniently.

pub mod compose;
pub mod frames;
pub mod opening;
pub mod risk;
pub mod signal;
