//! Header blocks, decoded (RFC 7541).

use crate::fault::Fault;
use crate::huffman;
use crate::table::{DEFAULT_SIZE, OVERHEAD, Table};

/// The decoder of one connection.
#[derive(Debug, Default)]
pub struct Decoder {
    table: Table,
}

/// Room for the strings of a field, which may be shared by the decoders of a thread.
#[derive(Debug, Default)]
pub struct Scratch {
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    /// Changes of the dynamic table so far. The same block means the same for as long as this stays.
    #[must_use]
    pub const fn changes(&self) -> u32 {
        self.table.changes
    }

    /// Decodes a whole block and hands over each field's name and value; a list of more than `most` bytes, 32 added to
    /// each field, is refused.
    ///
    /// # Errors
    /// A [`Fault`] where the block cannot be decoded: the connection's tables are lost with it.
    pub fn decode(
        &mut self,
        mut block: &[u8],
        most: usize,
        scratch: &mut Scratch,
        mut field: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Fault> {
        let (mut size, mut updates) = (0, 0);
        while let Some(first) = block.first().copied() {
            if first & 0xe0 == 0x20 {
                // Section 4.2: at a block's beginning; two, if the size went down and up.
                updates += 1;
                if size > 0 || updates > 2 {
                    return Err(Fault::compression(
                        "a change of the table's size behind the beginning of a block",
                    ));
                }
                let wanted = integer(&mut block, 5)?;
                if wanted > DEFAULT_SIZE {
                    return Err(Fault::compression(
                        "a table larger than the 4,096 bytes that are allowed",
                    ));
                }
                self.table.resize(wanted);
                continue;
            }
            if first & 0x80 != 0 {
                let index = integer(&mut block, 7)?;
                let (name, value) = self.table.get(index).ok_or(NO_ENTRY)?;
                size += name.len() + value.len() + OVERHEAD;
                field(name, value);
            } else {
                let indexed = first & 0x40 != 0;
                let index = integer(&mut block, if indexed { 6 } else { 4 })?;
                scratch.name.clear();
                scratch.value.clear();
                if index == 0 {
                    string(&mut block, most, &mut scratch.name)?;
                } else {
                    let (name, _) = self.table.get(index).ok_or(NO_ENTRY)?;
                    scratch.name.extend_from_slice(name);
                }
                string(&mut block, most, &mut scratch.value)?;
                size += scratch.name.len() + scratch.value.len() + OVERHEAD;
                if indexed {
                    self.table.insert(&scratch.name, &scratch.value);
                }
                field(&scratch.name, &scratch.value);
            }
            if size > most {
                return Err(TOO_LONG);
            }
        }
        Ok(())
    }
}

const NO_ENTRY: Fault = Fault::compression("an index without an entry");
const CUT: Fault = Fault::compression("a header block ends within a field");
const TOO_LONG: Fault = Fault::new(
    crate::fault::Code::ENHANCE_YOUR_CALM,
    "the fields of a response are longer than 64 KiB",
);

/// An integer (section 5.1), of which the first byte holds `bits` bits.
fn integer(block: &mut &[u8], bits: u32) -> Result<usize, Fault> {
    let (first, mut rest) = block.split_first().ok_or(CUT)?;
    let most = (1usize << bits) - 1;
    let mut value = usize::from(*first) & most;
    if value == most {
        let mut shift = 0;
        loop {
            let (byte, behind) = rest.split_first().ok_or(CUT)?;
            rest = behind;
            if shift > 21 {
                return Err(Fault::compression("an integer of more than 5 bytes"));
            }
            value += usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    *block = rest;
    Ok(value)
}

/// A string (section 5.2), appended.
fn string(block: &mut &[u8], most: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    let huffman = block.first().is_some_and(|byte| byte & 0x80 != 0);
    let length = integer(block, 7)?;
    let (text, rest) = block.split_at_checked(length).ok_or(CUT)?;
    *block = rest;
    if length > most {
        return Err(TOO_LONG);
    }
    if huffman {
        huffman::decode(text, out)
    } else {
        out.extend_from_slice(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pair =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(pair).collect()
    }

    fn fields(decoder: &mut Decoder, hex: &str) -> Result<String, Fault> {
        let mut text = String::new();
        decoder.decode(
            &bytes(hex),
            65_536,
            &mut Scratch::default(),
            |name, value| {
                let name = String::from_utf8_lossy(name);
                text += &format!("{name}={}|", String::from_utf8_lossy(value));
            },
        )?;
        Ok(text)
    }

    #[test]
    fn the_responses_of_the_rfc_are_decoded() {
        // RFC 7541, appendix C.6, with a table of 256 bytes, which evicts.
        let mut decoder = Decoder::default();
        decoder.table.resize(256);
        let first = fields(&mut decoder, "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3").unwrap();
        assert_eq!(
            first,
            ":status=302|cache-control=private|date=Mon, 21 Oct 2013 20:13:21 GMT|location=https://www.example.com|"
        );
        let second = fields(&mut decoder, "4883640effc1c0bf").unwrap();
        assert_eq!(second, first.replace("302", "307"));
        let third = fields(&mut decoder, "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007").unwrap();
        assert!(
            third.contains("set-cookie=foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1|")
        );
        assert_eq!(decoder.table.get(65), None);
    }

    #[test]
    fn bad_blocks_are_named() {
        for (block, said) in [
            ("80", "an index without an entry"),
            ("be", "an index without an entry"),
            ("7f", "ends within a field"),
            ("0001", "ends within a field"),
            ("00026100", "ends within a field"),
            ("ffffffffffff", "more than 5 bytes"),
            ("8820", "behind the beginning"),
            ("20202088", "behind the beginning"),
            ("3fe21f", "larger than the 4,096 bytes"),
            ("0084ffffffff0161", "the code of its end"),
        ] {
            let why = fields(&mut Decoder::default(), block).unwrap_err().why;
            assert!(why.contains(said), "{block}: {why}");
        }
        assert!(fields(&mut Decoder::default(), "203fe11f88").is_ok());
    }

    #[test]
    fn a_small_block_that_makes_a_long_list_is_refused() {
        let mut decoder = Decoder::default();
        let mut block = vec![0x40, 0x01, b'a', 0x7f, 0x81, 0x1d];
        block.extend_from_slice(&[b'b'; 0x7f + 0xe81]);
        block.extend_from_slice(&[0xbe; 20]);
        let decoded = decoder.decode(&block, 65_536, &mut Scratch::default(), |_, _| {});
        assert_eq!(decoded, Err(TOO_LONG));
    }
}
