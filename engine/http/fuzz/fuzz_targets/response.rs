//! Whatever the bytes and wherever they are split, the parser does not panic, and the split does not change the verdict.
//!
//! `cargo +nightly fuzz run response -- -dict=fuzz/response.dict`, in `engine/http`; a stable compiler will do with
//! RUSTC_BOOTSTRAP=1 in place of `+nightly`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use touchstone_http::ResponseParser;

/// Body, bytes consumed, whether it is complete, and the status; or that the bytes are malformed.
type Outcome = Result<(Vec<u8>, usize, bool, Option<u16>), ()>;

fn parse<'a>(pieces: impl Iterator<Item = &'a [u8]>, to_head: bool) -> Outcome {
    let mut response = ResponseParser::default();
    response.reset(to_head);
    let (mut body, mut consumed, mut done) = (Vec::new(), 0, false);
    for piece in pieces {
        if done {
            break;
        }
        let fed = response
            .feed(piece, |bytes| body.extend_from_slice(bytes))
            .map_err(|_| ())?;
        assert!(fed.consumed <= piece.len());
        assert!(
            fed.done || fed.consumed == piece.len(),
            "an incomplete response takes all that there is"
        );
        consumed += fed.consumed;
        done = fed.done;
    }
    Ok((
        body,
        consumed,
        done,
        response.head().map(|head| head.status),
    ))
}

/// Beginnings that random bytes hardly find, so that what follows them is tried as well.
const BEGINNINGS: [&str; 5] = [
    "",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: ",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.0 200 OK\r\n",
];

fuzz_target!(|input: (u8, u8, bool, &[u8])| {
    let (step, beginning, to_head, rest) = input;
    let beginning = BEGINNINGS[usize::from(beginning) % BEGINNINGS.len()];
    let bytes = [beginning.as_bytes(), rest].concat();
    let whole = parse(std::iter::once(&*bytes), to_head);
    let split = parse(bytes.chunks(usize::from(step).max(1)), to_head);
    assert_eq!(whole, split);
});
