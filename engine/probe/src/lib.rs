//! The HTTP/1.1 conformance probe: raw requests with a known answer.
