//! SplitMix64 (Steele, Lea and Flood 2014): small, seedable, and good enough for keys and arrivals.

/// A seeded generator of 64-bit numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The generator's output function: mixes one word into an unrelated one.
#[inline]
#[must_use]
pub const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A number that depends on seed and index alone, so that a request can be rendered again from its counter.
#[inline]
#[must_use]
pub const fn at(seed: u64, index: u64) -> u64 {
    mix(mix(seed.wrapping_add(GOLDEN)).wrapping_add(index.wrapping_mul(GOLDEN)))
}

impl Random {
    /// A generator whose numbers follow from the seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(mix(seed ^ GOLDEN))
    }

    /// The next number.
    #[inline]
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number in (0, 1].
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Exponentially distributed with mean 1: the gap of a Poisson process of rate 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }
}
