//! The conformance probe of HTTP/1.1 and HTTP/2: raw requests with a known answer.
//!
//! A *case* is data: what to send, in which steps, and which outcomes the RFCs allow
//! (`cases/h1/<category>.toml` and `cases/h2/<category>.toml`, loaded by [`catalogue`]). Cases belong to *requirements* of the RFCs
//! (`requirements.toml` in both folders, [`requirement`]). The [`runner`] plays each case on a fresh
//! connection ([`script`], [`dial`]), reads what came back ([`response`], [`h2`]), and [`verdict`] compares it with
//! the allowed outcomes ([`outcome`]). [`report`] is the document that comes out.

#![forbid(unsafe_code)]

pub mod breach;
pub mod case;
pub mod catalogue;
mod channel;
pub mod connection;
pub mod control;
pub mod date;
pub mod dial;
pub mod escape;
pub mod exchange;
pub mod explain;
pub mod fields;
pub mod h2;
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
