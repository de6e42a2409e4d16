//! A TCP relay between a service and its dependency. It passes bytes on until an order has it hold, slow, cut or refuse
//! connections.
//!
//! One thread serves all connections with one epoll instance; a second one reads the orders. [`order::Order`] is what
//! goes in, [`order::Answer`] what comes out; [`relay::Relay`] moves the bytes, [`flow`] holds those of one direction.

#![forbid(unsafe_code)]

mod flow;
mod link;
pub mod order;
mod relay;
mod session;

pub use order::{Answer, Order};
pub use relay::Relay;
pub use session::run;
