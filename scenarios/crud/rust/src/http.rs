//! The routes, and what they answer.

// A refusal is an answer like any other; to box it would cost the requests that are refused an allocation for nothing.
#![allow(clippy::result_large_err)]

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::time::timeout;

use crate::store::{Failure, Store};
use crate::user::{NewUser, UserRow};

const MAX_BODY: usize = 64 << 10;

const INVALID_USER: &str = r#"{"error":"expected a JSON object with name and email (strings without NUL) and age (an integer from 0 to 150), and nothing else"}"#;
const NOT_FOUND: &str = r#"{"error":"not found"}"#;
const METHOD_NOT_ALLOWED: &str = r#"{"error":"method not allowed"}"#;
const BODY_TOO_LARGE: &str = r#"{"error":"the body is over 64 KB"}"#;
const WRONG_CONTENT_TYPE: &str = r#"{"error":"the content type must be application/json"}"#;
const MALFORMED_REQUEST: &str = r#"{"error":"malformed request"}"#;
const REQUEST_TIMEOUT: &str = r#"{"error":"the request took too long"}"#;
const DATABASE_AWAY: &str = r#"{"error":"the database is unavailable"}"#;
const INTERNAL_ERROR: &str = r#"{"error":"internal error"}"#;

type Answer = Response<Full<Bytes>>;

pub struct Service {
    pub store: Arc<Store>,
    pub read_timeout: Duration,
}

impl Service {
    pub async fn answer(&self, request: Request<Incoming>) -> Result<Answer, Infallible> {
        let answered = match request.uri().path() {
            "/api" => self.api(request).await,
            "/echo" => self.echo(request).await,
            "/ping" => ping(request.method()),
            _ => Err(error(StatusCode::NOT_FOUND, NOT_FOUND)),
        };
        Ok(answered.unwrap_or_else(|refusal| refusal))
    }

    async fn api(&self, request: Request<Incoming>) -> Result<Answer, Answer> {
        let user = self.user_in(request).await?;
        // hyper drops this future when the client goes away; in a task of its own the row is still deleted.
        let store = Arc::clone(&self.store);
        let passed = tokio::spawn(async move { store.pass_through(&user).await }).await;
        let row = match passed {
            Ok(Ok(row)) => row,
            Ok(Err(Failure::Away)) => {
                return Err(error(StatusCode::SERVICE_UNAVAILABLE, DATABASE_AWAY));
            }
            Ok(Err(Failure::Statement(wrong))) => {
                eprintln!("statement failed: {wrong}");
                return Err(error(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR));
            }
            Err(_) => return Err(error(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR)),
        };
        let read = UserRow {
            id: row.get(0),
            name: row.get(1),
            email: row.get(2),
            age: row.get(3),
        };
        Ok(json(StatusCode::OK, read.to_json()))
    }

    async fn echo(&self, request: Request<Incoming>) -> Result<Answer, Answer> {
        let user = self.user_in(request).await?;
        let row = UserRow {
            id: 0,
            name: &user.name,
            email: &user.email,
            age: user.age.into(),
        };
        Ok(json(StatusCode::OK, row.to_json()))
    }

    /// The user in the body, or the answer that turns the request away.
    async fn user_in(&self, request: Request<Incoming>) -> Result<NewUser, Answer> {
        if request.method() != Method::POST {
            return Err(not_allowed("POST"));
        }
        if !is_json(request.headers()) {
            return Err(error(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                WRONG_CONTENT_TYPE,
            ));
        }
        let body = Limited::new(request.into_body(), MAX_BODY).collect();
        let body = timeout(self.read_timeout, body)
            .await
            .map_err(|_| error(StatusCode::REQUEST_TIMEOUT, REQUEST_TIMEOUT))?
            .map_err(|broken| {
                if broken.is::<LengthLimitError>() {
                    error(StatusCode::PAYLOAD_TOO_LARGE, BODY_TOO_LARGE)
                } else {
                    error(StatusCode::BAD_REQUEST, MALFORMED_REQUEST)
                }
            })?;
        NewUser::read(&body.to_bytes()).ok_or_else(|| error(StatusCode::BAD_REQUEST, INVALID_USER))
    }
}

fn ping(method: &Method) -> Result<Answer, Answer> {
    if method != Method::GET && method != Method::HEAD {
        return Err(not_allowed("GET, HEAD"));
    }
    let mut pong = Response::new(Full::from("pong"));
    pong.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    Ok(pong)
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json"))
}

fn not_allowed(allowed: &'static str) -> Answer {
    let mut refusal = error(StatusCode::METHOD_NOT_ALLOWED, METHOD_NOT_ALLOWED);
    refusal
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(allowed));
    refusal
}

fn error(status: StatusCode, body: &'static str) -> Answer {
    json(status, body)
}

fn json(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
