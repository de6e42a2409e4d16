//! HTTP/2 (RFC 9113) of a client that measures, without input and output: bytes in, events out.
//!
//! [`Client`] is one connection. It is as strict as the HTTP/1.1 parser: where the RFC calls something a connection error,
//! reading ends with a [`Fault`] that names it. Its memory is bounded whatever a server sends. [`Encoder`] turns requests
//! into header blocks; a request that repeats is a handful of bytes.

#![forbid(unsafe_code)]

mod blocks;
mod client;
mod control;
mod decode;
mod encode;
mod fault;
pub mod frame;
mod huffman;
mod reading;
mod response;
mod streams;
mod table;

pub use client::{Client, Event, Room};
pub use decode::{Decoder, Scratch};
pub use encode::{Encoder, Order, integer, literal};
pub use fault::{Code, Fault};
