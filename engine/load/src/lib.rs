//! The load engine: HTTP/1.1 and HTTP/2 load in closed and open loop, with every response checked and the generator checked too.
//!
//! [`run::run`] carries out a [`job::Job`] and gives a [`result::LoadResult`]. A [`crew::Crew`] of threads or processes
//! does the load; each thread drives a [`worker::Worker`], the logic without input and output, by one of the
//! [`backend`]s.

#![deny(unsafe_code)]

pub mod asked;
pub mod backend;
mod by_connection;
pub mod clock;
pub mod connection;
pub mod connector;
pub mod control;
pub mod crew;
pub mod distribution;
pub mod error;
pub mod event;
pub mod export;
pub mod failure;
pub mod generators;
pub mod h2;
mod held_up;
pub mod histogram;
pub mod job;
pub mod knee;
mod known;
mod limits;
mod member;
mod merge;
pub mod mix;
pub mod processes;
pub mod recorder;
pub mod report;
pub mod result;
pub mod run;
pub mod schedule;
mod self_check;
pub mod shared;
pub mod slices;
mod streamed;
pub mod streaming;
pub mod target;
pub mod threads;
pub mod usage;
mod watch;
pub mod websocket;
pub mod wire;
pub mod worker;

use touchstone_exchange::{check, closes, random, request, rows, session, template};
