//! The Huffman code of HPACK (RFC 7541, section 5.2 and appendix B).

use crate::fault::Fault;

/// Bits of the code of each byte, and of the end of the string. The code is canonical: it follows from these.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5,
    5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6,
    6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22,
    23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22,
    21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20,
    22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19,
    21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22,
    22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

/// Bits of the shortest and the longest code.
const SHORTEST: usize = 5;
const LONGEST: usize = 30;

/// The symbol that ends a string; it never stands in one.
const END: u16 = 256;

struct Tables {
    /// The code of each symbol.
    codes: [u32; 257],
    /// Symbols in the order of their codes.
    symbols: [u16; 257],
    /// By length: how many symbols have shorter codes.
    before: [u16; LONGEST + 2],
    /// By length: the first code, and where the codes of this length end, at the left of 32 bits.
    first: [u32; LONGEST + 1],
    end: [u64; LONGEST + 1],
}

static TABLES: Tables = tables();

const fn tables() -> Tables {
    let mut tables = Tables {
        codes: [0; 257],
        symbols: [0; 257],
        before: [0; LONGEST + 2],
        first: [0; LONGEST + 1],
        end: [0; LONGEST + 1],
    };
    let (mut code, mut count, mut length) = (0u32, 0u16, 1);
    while length <= LONGEST {
        tables.before[length] = count;
        tables.first[length] = code;
        let mut symbol = 0;
        while symbol < 257 {
            if LENGTHS[symbol] as usize == length {
                tables.codes[symbol] = code;
                tables.symbols[count as usize] = symbol as u16;
                code += 1;
                count += 1;
            }
            symbol += 1;
        }
        tables.end[length] = (code as u64) << (32 - length);
        code <<= 1;
        length += 1;
    }
    tables.before[LONGEST + 1] = count;
    tables
}

/// Bytes that the code makes of these.
#[must_use]
pub fn encoded_len(bytes: &[u8]) -> usize {
    let bits = bytes
        .iter()
        .map(|byte| usize::from(LENGTHS[usize::from(*byte)]));
    bits.sum::<usize>().div_ceil(8)
}

/// Appends the code of bytes.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut held) = (0u64, 0u32);
    for byte in bytes {
        let length = u32::from(LENGTHS[usize::from(*byte)]);
        bits = bits << length | u64::from(TABLES.codes[usize::from(*byte)]);
        held += length;
        while held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    if held > 0 {
        // The rest is the beginning of the end's code: ones.
        out.push((bits << (8 - held)) as u8 | (0xff >> held));
    }
}

/// Appends the bytes that a code stands for.
///
/// # Errors
/// A [`Fault`] where the code holds the end of a string, or its padding is not the beginning of that, or 8 bits and more.
pub fn decode(code: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let (mut bits, mut held, mut at) = (0u64, 0usize, 0);
    loop {
        while held <= 56 && at < code.len() {
            bits |= u64::from(code[at]) << (56 - held);
            held += 8;
            at += 1;
        }
        let window = bits >> 32;
        let mut length = SHORTEST;
        while length <= LONGEST && window >= TABLES.end[length] {
            length += 1;
        }
        if length > held || length > LONGEST {
            break;
        }
        let past = (window >> (32 - length)) as u32 - TABLES.first[length];
        let symbol = TABLES.symbols[usize::from(TABLES.before[length]) + past as usize];
        if symbol == END {
            return Err(Fault::compression(
                "a Huffman string holds the code of its end",
            ));
        }
        out.push(symbol as u8);
        bits <<= length;
        held -= length;
    }
    if held >= 8 {
        return Err(Fault::compression(
            "the padding of a Huffman string is longer than 7 bits",
        ));
    }
    if held > 0 && bits >> (64 - held) != (1 << held) - 1 {
        return Err(Fault::compression(
            "the padding of a Huffman string is not all ones",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_rfc_hold() {
        // RFC 7541, appendix C.4.1 and C.6.1.
        for (text, code) in [
            ("www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"),
            ("no-cache", "a8eb10649cbf"),
            (
                "Mon, 21 Oct 2013 20:13:21 GMT",
                "d07abe941054d444a8200595040b8166e082a62d1bff",
            ),
        ] {
            let mut out = Vec::new();
            encode(text.as_bytes(), &mut out);
            let hex: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, code);
            assert_eq!(encoded_len(text.as_bytes()), out.len());
        }
    }

    #[test]
    fn what_was_encoded_is_decoded_for_every_byte() {
        let all: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for end in 0..all.len() {
            let (mut code, mut back) = (Vec::new(), Vec::new());
            encode(&all[..end], &mut code);
            decode(&code, &mut back).unwrap();
            assert_eq!(back, &all[..end]);
        }
    }

    #[test]
    fn bad_ends_are_refused() {
        let why = |code: &[u8]| decode(code, &mut Vec::new()).unwrap_err().why;
        assert!(why(&[0xff, 0xff, 0xff, 0xff]).contains("holds the code of its end"));
        assert!(why(&[0xff]).contains("longer than 7 bits"));
        assert!(why(&[0x18]).contains("not all ones"));
        assert!(decode(&[], &mut Vec::new()).is_ok());
    }
}
