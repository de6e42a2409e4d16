//! The one resource.

use std::convert::Infallible;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};

const BODY: &[u8] = b"Hello, world!";
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
        response.headers_mut().insert(CONTENT_TYPE, TEXT);
        // hyper leaves out the body of an answer to HEAD over HTTP/1.1 alone.
        if request.method() == Method::HEAD && request.version() == Version::HTTP_2 {
            response
                .headers_mut()
                .insert(CONTENT_LENGTH, BODY.len().into());
        } else {
            *response.body_mut() = Full::new(Bytes::from_static(BODY));
        }
    }
    Ok(response)
}
