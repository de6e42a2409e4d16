//! Header blocks against a kept implementation, in both directions, over connections on which many follow each other.

use proptest::collection::vec;
use proptest::prelude::*;
use touchstone_h2::{Decoder, Encoder, Order, Scratch};

type Field = (Vec<u8>, Vec<u8>);

const NAMES: &[&str] = &[
    ":status",
    ":path",
    "content-type",
    "server",
    "x-a",
    "date",
    "etag",
];
const VALUES: &[&str] = &["200", "/", "text/plain", ""];

fn names() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::sample::select(NAMES).prop_map(|name| name.as_bytes().to_vec()),
        vec(b'a'..=b'z', 1..20),
    ]
}

fn values() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::sample::select(VALUES).prop_map(|value| value.as_bytes().to_vec()),
        vec(any::<u8>(), 0..40),
        vec(any::<u8>(), 100..400),
    ]
}

fn blocks() -> impl Strategy<Value = Vec<Vec<Field>>> {
    vec(vec((names(), values()), 0..6), 1..40)
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut scratch = Scratch::default();
    decoder
        .decode(block, 1 << 20, &mut scratch, |name, value| {
            fields.push((name.to_vec(), value.to_vec()));
        })
        .unwrap();
    fields
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_another_encodes_is_decoded(blocks in blocks()) {
        let mut theirs = fluke_hpack::Encoder::new();
        let mut ours = Decoder::default();
        for fields in &blocks {
            let block = theirs.encode(fields.iter().map(|(name, value)| (name.as_slice(), value.as_slice())));
            prop_assert_eq!(&decode(&mut ours, &block), fields);
        }
    }

    #[test]
    fn what_is_encoded_another_decodes(blocks in blocks(), constant in vec(any::<bool>(), 40)) {
        let constants = blocks.iter().zip(&constant).filter(|(_, constant)| **constant);
        let mut ours = Encoder::new(constants.flat_map(|(fields, _)| fields.clone()));
        let mut theirs = fluke_hpack::Decoder::new();
        let mut own = Decoder::default();
        let mut order = Order::default();
        // Each twice: the second time, what was put into the table is used.
        for fields in blocks.iter().flat_map(|fields| [fields, fields]) {
            let mut block = Vec::new();
            let borrowed = fields.iter().map(|(name, value)| (name.as_slice(), value.as_slice()));
            order = ours.encode(order, borrowed, &mut block);
            prop_assert_eq!(&theirs.decode(&block).unwrap(), fields);
            prop_assert_eq!(&decode(&mut own, &block), fields);
        }
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(block in vec(any::<u8>(), 0..200)) {
        let mut decoder = Decoder::default();
        let (mut ours, mut scratch) = (Vec::new(), Scratch::default());
        let sound = decoder.decode(&block, 1 << 20, &mut scratch, |name, value| ours.push((name.to_vec(), value.to_vec())));
        if sound.is_ok() && let Ok(theirs) = fluke_hpack::Decoder::new().decode(&block) {
            prop_assert_eq!(ours, theirs);
        }
    }
}

#[test]
fn a_request_that_repeats_is_a_few_bytes() {
    let fields = [
        (&b":method"[..], &b"GET"[..]),
        (b":scheme", b"http"),
        (b":path", b"/users?id=7"),
        (b":authority", b"127.0.0.1:8080"),
        (b"accept", b"application/json"),
    ];
    let mut encoder = Encoder::new(fields.map(|(name, value)| (name.to_vec(), value.to_vec())));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let order = encoder.encode(Order::default(), fields, &mut first);
    assert_eq!(encoder.encode(order, fields, &mut second), order);
    assert_eq!(second, [0x82, 0x86, 0xc0, 0xbf, 0xbe]);
    encoder.remember(order, 0, &second, order);
    assert_eq!(encoder.known(order, 0), Some((second.as_slice(), order)));
    assert_eq!(encoder.known(Order::default(), 0), None);
    // A server without a table gets the same request in full each time.
    let mut plain = Vec::new();
    assert_eq!(
        encoder.encode(Order::PLAIN, fields, &mut plain),
        Order::PLAIN
    );
    assert_eq!(
        decode(&mut Decoder::default(), &plain),
        fields.map(|(name, value)| (name.to_vec(), value.to_vec()))
    );
}
