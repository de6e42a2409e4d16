//! JSON and server-sent events.

use std::convert::Infallible;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::quote::{self, Wanted, is_symbol};
use crate::rpc::pb::Quote;

#[derive(Serialize)]
struct Shown<'a> {
    symbol: &'a str,
    number: i32,
    bid: i32,
    ask: i32,
    stamp: i64,
}

impl<'a> From<&'a Quote> for Shown<'a> {
    fn from(quote: &'a Quote) -> Self {
        Self {
            symbol: &quote.symbol,
            number: quote.number,
            bid: quote.bid,
            ask: quote.ask,
            stamp: quote.stamp,
        }
    }
}

#[derive(Deserialize)]
pub struct Asked {
    #[serde(default = "one")]
    count: i32,
    #[serde(default)]
    interval_ms: i32,
}

const fn one() -> i32 {
    1
}

/// `GET /quotes/SYMBOL`
pub async fn quote(Path(symbol): Path<String>) -> Response {
    if !is_symbol(&symbol) {
        return StatusCode::NOT_FOUND.into_response();
    }
    Json(Shown::from(&quote::quote(&symbol, 1))).into_response()
}

/// `GET /quotes/SYMBOL/events`
pub async fn events(Path(symbol): Path<String>, Query(asked): Query<Asked>) -> Response {
    if !is_symbol(&symbol) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let Some(wanted) = Wanted::new(asked.count, asked.interval_ms) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let events = async_stream::stream! {
        for await quote in quote::quotes(symbol, wanted) {
            yield Ok::<_, Infallible>(event(&quote));
        }
    };
    let fields = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
    ];
    (fields, Body::from_stream(events)).into_response()
}

fn event(quote: &Quote) -> Bytes {
    let mut text = format!("id: {}\ndata: ", quote.number).into_bytes();
    // Writing numbers and text into memory does not fail.
    let _ = serde_json::to_writer(&mut text, &Shown::from(quote));
    text.extend_from_slice(b"\n\n");
    text.into()
}
