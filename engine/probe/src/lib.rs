//! The HTTP/1.1 conformance probe: raw requests with a known answer.
//!
//! A *case* is data: what to send, in which steps, and which outcomes the RFCs allow
//! (`cases/<category>.toml`, loaded by [`catalogue`]). Cases belong to *requirements* of the RFCs
//! (`cases/requirements.toml`, [`requirement`]). The [`runner`] plays each case on a fresh
//! connection ([`script`]), reads what came back ([`response`]), and [`verdict`] compares it with
//! the allowed outcomes ([`outcome`]). [`report`] is the document that comes out.

#![forbid(unsafe_code)]

pub mod breach;
pub mod case;
pub mod catalogue;
pub mod connection;
pub mod control;
pub mod date;
pub mod escape;
pub mod exchange;
pub mod explain;
pub mod fields;
pub mod introduction;
pub mod ledger;
pub mod matching;
pub mod method;
pub mod observation;
pub mod outcome;
pub mod report;
pub mod requirement;
pub mod response;
pub mod risk;
pub mod runner;
pub mod script;
pub mod table;
pub mod target;
pub mod template;
pub mod verdict;
pub mod words;
