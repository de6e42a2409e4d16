//! The one resource.

use std::convert::Infallible;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

const TEXT: HeaderValue = HeaderValue::from_static("text/plain");

pub async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::new()));
    if request.uri().path() != "/hello" {
        *response.status_mut() = StatusCode::NOT_FOUND;
    } else if request.method() != Method::GET && request.method() != Method::HEAD {
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    } else {
        *response.body_mut() = Full::new(Bytes::from_static(b"Hello, world!"));
        response.headers_mut().insert(CONTENT_TYPE, TEXT);
    }
    Ok(response)
}
