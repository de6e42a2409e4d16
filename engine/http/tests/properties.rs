//! Properties that hold for every response and every cutting, and for every URL.

use proptest::prelude::*;
use touchstone_http::{ResponseParser, Url};

/// A response as a server would write it: chunked or with a length, with some fields, and its body.
fn response() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let body = proptest::collection::vec(any::<u8>(), 0..300);
    let fields = proptest::collection::vec("[A-Za-z][A-Za-z0-9-]{0,10}x: [ -~]{0,20}", 0..4);
    (body, fields, proptest::option::of(1usize..50), 0u8..3).prop_map(
        |(body, fields, chunk, interim)| {
            let mut text = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                .repeat(usize::from(interim))
                .into_bytes();
            text.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
            for field in fields {
                text.extend_from_slice(field.as_bytes());
                text.extend_from_slice(b"\r\n");
            }
            match chunk {
                None => {
                    text.extend_from_slice(
                        format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(),
                    );
                    text.extend_from_slice(&body);
                }
                Some(size) => {
                    text.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
                    for chunk in body.chunks(size) {
                        text.extend_from_slice(
                            format!("{:x};name=value\r\n", chunk.len()).as_bytes(),
                        );
                        text.extend_from_slice(chunk);
                        text.extend_from_slice(b"\r\n");
                    }
                    text.extend_from_slice(b"0\r\nX-Trailer: yes\r\n\r\n");
                }
            }
            (text, body)
        },
    )
}

proptest! {
    #[test]
    fn any_cutting_of_a_response_gives_its_body((text, body) in response(), cuts in proptest::collection::vec(1usize..40, 1..60)) {
        let mut parser = ResponseParser::default();
        let (mut found, mut rest, mut done) = (Vec::new(), text.as_slice(), false);
        for cut in cuts.iter().cycle() {
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            let fed = parser.feed(piece, |bytes| found.extend_from_slice(bytes)).unwrap();
            prop_assert_eq!(fed.consumed, piece.len());
            prop_assert_eq!(fed.done, after.is_empty());
            (rest, done) = (after, fed.done);
            if rest.is_empty() {
                break;
            }
        }
        prop_assert!(done);
        prop_assert_eq!(found, body);
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_are_never_overrun(bytes in proptest::collection::vec(any::<u8>(), 0..500), cut in 1usize..50) {
        let mut parser = ResponseParser::default();
        for piece in bytes.chunks(cut) {
            match parser.feed(piece, |_| ()) {
                Ok(fed) => prop_assert!(fed.consumed <= piece.len()),
                Err(_) => break,
            }
        }
    }

    #[test]
    fn a_url_that_is_taken_apart_is_put_together_to_the_same(rest in "[\\PC]{0,40}|[a-z:0-9.@/?#\\[\\]]{0,20}", tls in any::<bool>()) {
        let text = format!("{}://{rest}", if tls { "https" } else { "http" });
        if let Ok(url) = Url::parse(&text) {
            prop_assert!(url.path.starts_with('/') && url.port > 0 && url.tls == tls);
            prop_assert!(url.authority.contains(&url.host));
            prop_assert_eq!(Url::parse(&format!("{}{}", url.server(), url.path)), Ok(url));
        }
    }
}
