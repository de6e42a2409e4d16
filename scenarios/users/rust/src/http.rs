//! The routes, and what they answer.

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::routing::get;

use crate::store::{Added, Store};

/// A `&str` or `String` answer is `text/plain; charset=utf-8`.
type Answer = (StatusCode, String);
type BadRequest = (StatusCode, &'static str);

pub fn router(store: Store) -> Router {
    Router::new()
        .route("/", get(find))
        .route("/add", get(register))
        .route("/ping", get(async || "pong"))
        .method_not_allowed_fallback(async || {
            (StatusCode::METHOD_NOT_ALLOWED, "method not allowed")
        })
        .fallback(async || (StatusCode::NOT_FOUND, "not found"))
        .with_state(store)
}

async fn register(
    State(store): State<Store>,
    RawQuery(query): RawQuery,
) -> Result<Answer, BadRequest> {
    let name = name_in(query)?;
    Ok(match store.add(name.clone()).await {
        Ok(Added::Registered) => (StatusCode::OK, format!("Welcome to our community {name}!")),
        Ok(Added::Taken) => refused(&name),
        Err(error) => {
            eprintln!("insert failed: {error:#}");
            refused(&name)
        }
    })
}

fn refused(name: &str) -> Answer {
    (
        StatusCode::INTERNAL_SERVER_ERROR,
        format!("Sadly we failed to register you: {name}"),
    )
}

async fn find(State(store): State<Store>, RawQuery(query): RawQuery) -> Result<Answer, BadRequest> {
    let name = name_in(query)?;
    Ok(match store.find(name.clone()).await {
        Ok(Some(found)) => (StatusCode::OK, format!("Boom! We found you: {found}")),
        Ok(None) => (
            StatusCode::NOT_FOUND,
            format!("Sadly we could not find you: {name}"),
        ),
        Err(error) => {
            eprintln!("lookup failed: {error:#}");
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal error".to_owned(),
            )
        }
    })
}

fn name_in(query: Option<String>) -> Result<String, BadRequest> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .find(|(key, _)| key == "name")
        .map(|(_, name)| name.into_owned())
        .filter(|name| !name.is_empty())
        .ok_or((StatusCode::BAD_REQUEST, "name is required"))
}
