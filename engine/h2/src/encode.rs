//! Header blocks, encoded (RFC 7541), so that a request that repeats costs a copy of a few bytes.
//!
//! What is the same in every request of a kind is known beforehand: the constants. A connection's dynamic table holds those
//! of them that it has sent, in the order in which it did; never more than the table takes, so that none is evicted. Few
//! orders occur, and for each the block of a fixed request is remembered.

use crate::huffman;
use crate::table::{DEFAULT_SIZE, OVERHEAD, STATIC};

/// Constants at most: each keeps an index of one byte.
const MOST_CONSTANTS: usize = 60;

/// Orders at most; connections that would make another send literals.
const MOST_ORDERS: usize = 4096;

/// What a connection has put into its peer's dynamic table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Order(u16);

impl Order {
    /// Nothing, and nothing ever: the peer's table is too small.
    pub const PLAIN: Self = Self(u16::MAX);
}

/// The encoder of a thread's connections.
#[derive(Debug, Default)]
pub struct Encoder {
    constants: Vec<(Vec<u8>, Vec<u8>)>,
    /// By order: the constants, oldest first.
    orders: Vec<Vec<u8>>,
    /// By order and kind of request: its block, and the order that it leaves.
    blocks: Vec<Vec<Option<Known>>>,
}

/// A block, and the order that it leaves.
type Known = (Vec<u8>, Order);

impl Encoder {
    /// An encoder that knows these fields to come again: names in lower case, and values.
    #[must_use]
    pub fn new(fields: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Self {
        let mut constants: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut size = 0;
        for (name, value) in fields {
            let cost = name.len() + value.len() + OVERHEAD;
            let field = (name, value);
            let known = static_index(&field.0, &field.1).0 || constants.contains(&field);
            if !known && size + cost <= DEFAULT_SIZE && constants.len() < MOST_CONSTANTS {
                size += cost;
                constants.push(field);
            }
        }
        Self {
            constants,
            orders: vec![Vec::new()],
            blocks: vec![Vec::new()],
        }
    }

    /// The block of a fixed request of this kind, if a connection with this order has sent one before.
    #[inline]
    #[must_use]
    pub fn known(&self, order: Order, kind: usize) -> Option<(&[u8], Order)> {
        let (block, next) = self.blocks.get(usize::from(order.0))?.get(kind)?.as_ref()?;
        Some((block, *next))
    }

    /// Appends the block of fields, names in lower case, and gives the order that the connection has from then on.
    pub fn encode<'a>(
        &mut self,
        order: Order,
        fields: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
        out: &mut Vec<u8>,
    ) -> Order {
        let mut sent = self.orders.get(usize::from(order.0)).cloned();
        let before = sent.as_ref().map_or(0, Vec::len);
        let full = self.orders.len() >= MOST_ORDERS;
        for (name, value) in fields {
            let constant = self
                .constants
                .iter()
                .position(|one| one.0 == name && one.1 == value);
            match (constant, &mut sent) {
                (Some(constant), Some(sent)) => {
                    let constant = constant as u8;
                    match sent.iter().position(|one| *one == constant) {
                        Some(place) => integer(0x80, 7, STATIC.len() + sent.len() - place, out),
                        None if full => literal(name, value, out),
                        None => {
                            field(0x40, 6, name, value, out);
                            sent.push(constant);
                        }
                    }
                }
                _ => literal(name, value, out),
            }
        }
        match sent {
            Some(sent) if sent.len() > before => self.order(sent),
            _ => order,
        }
    }

    /// Remembers a block for [`Self::known`].
    pub fn remember(&mut self, order: Order, kind: usize, block: &[u8], next: Order) {
        if let Some(blocks) = self.blocks.get_mut(usize::from(order.0)) {
            if blocks.len() <= kind {
                blocks.resize(kind + 1, None);
            }
            blocks[kind] = Some((block.to_vec(), next));
        }
    }

    fn order(&mut self, sent: Vec<u8>) -> Order {
        let known = self.orders.iter().position(|order| *order == sent);
        let place = known.unwrap_or_else(|| {
            self.orders.push(sent);
            self.blocks.push(Vec::new());
            self.orders.len() - 1
        });
        Order(place as u16)
    }
}

/// Whether a field stands whole in the static table, and the index of it or of its name; 0 if neither does.
fn static_index(name: &[u8], value: &[u8]) -> (bool, usize) {
    let mut index = 0;
    for (place, (known, text)) in STATIC.iter().enumerate() {
        if known.as_bytes() == name {
            if text.as_bytes() == value {
                return (true, place + 1);
            }
            if index == 0 {
                index = place + 1;
            }
        }
    }
    (false, index)
}

/// Appends a field that enters no table.
pub fn literal(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    field(0x00, 4, name, value, out);
}

/// Appends a field: its index where the static table holds it whole, else in the form that `mark` and `bits` say.
fn field(mark: u8, bits: u32, name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    match static_index(name, value) {
        (true, index) => integer(0x80, 7, index, out),
        (false, index) => {
            integer(mark, bits, index, out);
            if index == 0 {
                string(name, out);
            }
            string(value, out);
        }
    }
}

/// Appends an integer, of which the first octet holds `bits` bits beside a mark (RFC 7541, section 5.1).
pub fn integer(mark: u8, bits: u32, value: usize, out: &mut Vec<u8>) {
    let most = (1usize << bits) - 1;
    if value < most {
        return out.push(mark | value as u8);
    }
    out.push(mark | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends a string, in the Huffman code where that is shorter.
fn string(text: &[u8], out: &mut Vec<u8>) {
    let coded = huffman::encoded_len(text);
    if coded < text.len() {
        integer(0x80, 7, coded, out);
        huffman::encode(text, out);
    } else {
        integer(0x00, 7, text.len(), out);
        out.extend_from_slice(text);
    }
}
