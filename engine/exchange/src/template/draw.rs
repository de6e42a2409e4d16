//! `{key:LOW..HIGH:DISTRIBUTION}`: a number from a range, determined by the counter: the same counter gives the same
//! number.

use crate::random;

/// A range of keys and how often each is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyRange {
    low: u64,
    /// How many keys there are, less one.
    beyond: u64,
    distribution: Distribution,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Distribution {
    Uniform,
    Zipf,
    Sequential,
}

/// The largest number of keys from which Zipf's law can be drawn in doubles.
const MOST_OF_ZIPF: u64 = 1 << 40;

impl KeyRange {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (range, name) = text.split_once(':').unwrap_or((text, "uniform"));
        let distribution = match name {
            "uniform" => Distribution::Uniform,
            "zipf" => Distribution::Zipf,
            "sequential" => Distribution::Sequential,
            _ => {
                return Err(format!(
                    "{name} is not a distribution; there are uniform, zipf and sequential"
                ));
            }
        };
        let numbers = range
            .split_once("..")
            .and_then(|(low, high)| Some((number(low)?, number(high)?)));
        let (low, high) = numbers.ok_or("write the range as LOW..HIGH, both in decimal")?;
        let beyond = high
            .checked_sub(low)
            .ok_or("the range ends before it begins")?;
        if distribution == Distribution::Zipf && beyond >= MOST_OF_ZIPF {
            return Err("zipf draws from at most 2^40 keys".to_owned());
        }
        Ok(Self {
            low,
            beyond,
            distribution,
        })
    }

    /// The key of a counter.
    pub(super) fn draw(self, seed: u64, counter: u64) -> u64 {
        // Ranges that differ are drawn independently of each other.
        let seed = seed ^ random::mix(self.low.rotate_left(32) ^ self.beyond);
        let word = random::at(seed, counter);
        let offset = match self.distribution {
            Distribution::Uniform => scaled(word, self.beyond),
            Distribution::Zipf => zipf(word, self.beyond + 1) - 1,
            Distribution::Sequential => match self.beyond.checked_add(1) {
                Some(keys) => counter % keys,
                None => counter,
            },
        };
        self.low + offset
    }
}

fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// A word scaled to 0 ..= `beyond`.
fn scaled(word: u64, beyond: u64) -> u64 {
    ((u128::from(word) * (u128::from(beyond) + 1)) >> 64) as u64
}

/// A rank from 1 to `keys`, the rank k with a probability proportional to 1/k: rejection-inversion (Hörmann and
/// Derflinger 1996) for the exponent 1, where the integral is the logarithm.
fn zipf(mut word: u64, keys: u64) -> u64 {
    let highest = (keys as f64 + 0.5).ln();
    let lowest = 1.5f64.ln() - 1.0;
    let sure = 2.0 - (2.5f64.ln() - 0.5).exp();
    loop {
        let unit = (word >> 11) as f64 / (1u64 << 53) as f64;
        let area = highest + unit * (lowest - highest);
        let at = area.exp();
        let rank = (at + 0.5).floor().clamp(1.0, keys as f64);
        if rank - at <= sure || area >= (rank + 0.5).ln() - 1.0 / rank {
            return rank as u64;
        }
        word = random::mix(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str, draws: u64) -> Vec<u64> {
        let range = KeyRange::parse(text).unwrap();
        let mut counts = vec![0; range.beyond as usize + 1];
        for counter in 0..draws {
            counts[(range.draw(1, counter) - range.low) as usize] += 1;
        }
        counts
    }

    #[test]
    fn every_key_of_a_uniform_range_is_drawn_alike() {
        for count in counts("1..10", 100_000) {
            assert!((9_000..11_000).contains(&count), "{count}");
        }
    }

    #[test]
    fn zipf_draws_the_kth_key_a_kth_as_often_as_the_first() {
        let counts = counts("5..104:zipf", 500_000);
        let harmonic: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
        for rank in [1, 2, 3, 10, 50, 100] {
            let expected = 500_000.0 / (f64::from(rank) * harmonic);
            let found = counts[rank as usize - 1] as f64;
            // Five standard deviations of a count.
            assert!(
                (found - expected).abs() < 5.0 * expected.sqrt(),
                "rank {rank}: {found}, expected {expected}"
            );
        }
    }

    #[test]
    fn sequential_keys_come_in_turn() {
        let range = KeyRange::parse("3..5:sequential").unwrap();
        let keys: Vec<u64> = (0..5).map(|counter| range.draw(1, counter)).collect();
        assert_eq!(keys, [3, 4, 5, 3, 4]);
    }

    #[test]
    fn the_widest_ranges_hold() {
        let whole = format!("0..{}", u64::MAX);
        KeyRange::parse(&whole).unwrap().draw(1, 2);
        let sequential = KeyRange::parse(&format!("{whole}:sequential")).unwrap();
        assert_eq!(sequential.draw(1, u64::MAX), u64::MAX);
        assert_eq!(KeyRange::parse("7..7:zipf").unwrap().draw(1, 2), 7);
        assert!(KeyRange::parse(&format!("{whole}:zipf")).is_err());
    }
}
