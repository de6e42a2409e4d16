//! Histograms of nanoseconds in HdrHistogram's layout: three significant digits, from 1 ns to beyond one hour.
//!
//! The counts are laid out as the HdrHistogram library lays them out for these bounds, so that the standard encodings
//! follow; recording is a shift and an addition, and memory is touched only where values fall (the library clears all
//! of its quarter of a megabyte when it makes a histogram).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::clock::Nanos;
use crate::error::Error;

/// Values below 2^11 are exact; larger ones keep 11 leading bits.
const BITS: u32 = 11;
const HALF: usize = 1 << (BITS - 1);

/// The highest value with its own bucket: one hour in nanoseconds.
const HIGHEST: u64 = 3_600 * 1_000_000_000;

/// Places for every value up to the end of the highest value's power of two.
const PLACES: usize = index(HIGHEST) + HALF;

#[inline]
const fn index(value: u64) -> usize {
    let shift = 64 - (value | ((1 << BITS) - 1)).leading_zeros() - BITS;
    shift as usize * HALF + (value >> shift) as usize
}

/// The lowest value that shares a place, and the place's width.
const fn range(place: usize) -> (u64, u64) {
    if place < 2 * HALF {
        return (place as u64, 1);
    }
    let shift = place / HALF - 1;
    (((place - shift * HALF) as u64) << shift, 1 << shift)
}

/// The middle of a place.
fn middle(place: usize) -> f64 {
    let (low, width) = range(place);
    low as f64 + (width / 2) as f64
}

/// A histogram of nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    least: usize,
    greatest: usize,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; PLACES],
            total: 0,
            least: PLACES,
            greatest: 0,
        }
    }
}

impl Histogram {
    /// Records one value; a value beyond the highest counts as the highest.
    #[inline]
    pub fn record(&mut self, time: Nanos) {
        self.record_many(index(time.0.min(HIGHEST)), 1);
    }

    #[inline]
    fn record_many(&mut self, place: usize, count: u64) {
        self.counts[place] += count;
        self.total += count;
        self.least = self.least.min(place);
        self.greatest = self.greatest.max(place);
    }

    /// Values recorded.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.total
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Adds packed values.
    ///
    /// # Errors
    /// [`Error::Worker`] if the bytes of one are not a packed histogram.
    pub fn add_packed<'a>(
        &mut self,
        parts: impl IntoIterator<Item = &'a Packed>,
    ) -> Result<(), Error> {
        let mut parts = parts.into_iter();
        parts
            .try_for_each(|part| part.add_to(self))
            .map_err(Error::Worker)
    }

    /// Adds all values of another histogram.
    pub fn add(&mut self, other: &Self) {
        other.each(|place, count| self.record_many(place, count));
    }

    /// Forgets all values.
    pub fn reset(&mut self) {
        if !self.is_empty() {
            self.counts[self.least..=self.greatest].fill(0);
        }
        (self.total, self.least, self.greatest) = (0, PLACES, 0);
    }

    fn each(&self, mut see: impl FnMut(usize, u64)) {
        if self.is_empty() {
            return;
        }
        for place in self.least..=self.greatest {
            if self.counts[place] > 0 {
                see(place, self.counts[place]);
            }
        }
    }

    /// The least value, rounded down to its place; zero if there is none.
    #[must_use]
    pub const fn min(&self) -> Nanos {
        if self.total == 0 {
            Nanos::ZERO
        } else {
            Nanos(range(self.least).0)
        }
    }

    /// The greatest value, rounded up to its place; zero if there is none.
    #[must_use]
    pub const fn max(&self) -> Nanos {
        if self.total == 0 {
            return Nanos::ZERO;
        }
        let (low, width) = range(self.greatest);
        Nanos(low + width - 1)
    }

    /// The values at rising quantiles (0 to 1): each is the highest value of the place in which the
    /// quantile falls.
    #[must_use]
    pub fn at(&self, quantiles: &[f64]) -> Vec<Nanos> {
        let mut found = Vec::with_capacity(quantiles.len());
        let mut wanted = quantiles.iter().map(|quantile| {
            ((quantile * self.total as f64 - 1e-9).ceil() as u64).clamp(1, self.total.max(1))
        });
        let mut next = wanted.next();
        let mut seen = 0;
        self.each(|place, count| {
            seen += count;
            while next.is_some_and(|rank| rank <= seen) {
                let (low, width) = range(place);
                found.push(Nanos(low + width - 1));
                next = wanted.next();
            }
        });
        found.resize(quantiles.len(), Nanos::ZERO);
        found
    }

    /// The value at one quantile.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Nanos {
        self.at(&[quantile])[0]
    }

    /// How many values are in the place of `least` or above, and their sum in nanoseconds, from the places' middles.
    #[must_use]
    pub fn at_least(&self, least: Nanos) -> (u64, f64) {
        let (mut values, mut sum) = (0, 0.0);
        self.each(|place, count| {
            if place >= index(least.0.min(HIGHEST)) {
                values += count;
                sum += middle(place) * count as f64;
            }
        });
        (values, sum)
    }

    /// Mean and standard deviation in nanoseconds, from the places' middles.
    #[must_use]
    pub fn moments(&self) -> (f64, f64) {
        if self.is_empty() {
            return (0.0, 0.0);
        }
        let total = self.total as f64;
        let mut sum = 0.0;
        self.each(|place, count| sum += middle(place) * count as f64);
        let mean = sum / total;
        let mut squares = 0.0;
        self.each(|place, count| squares += (middle(place) - mean).powi(2) * count as f64);
        (mean, (squares / total).sqrt())
    }

    /// Base64 of HdrHistogram V2 with DEFLATE, as the standard log format holds it.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut standard = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST, 3)
            .expect("the bounds are constants");
        self.each(|place, count| {
            standard.saturating_record_n(range(place).0, count);
        });
        let mut out = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&standard, &mut out)
            .expect("writing to memory does not fail");
        STANDARD.encode(out)
    }
}

/// A histogram as bytes, for keeping or sending: pairs of distance to the last place and count, as variable-length
/// integers. A few hundred bytes as a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed(Vec<u8>);

impl Packed {
    /// Packs a histogram.
    #[must_use]
    pub fn of(histogram: &Histogram) -> Self {
        let (mut out, mut last) = (Vec::new(), 0);
        histogram.each(|place, count| {
            put(&mut out, (place - last) as u64);
            put(&mut out, count);
            last = place;
        });
        out.shrink_to_fit();
        Self(out)
    }

    /// Adds the packed values to a histogram.
    ///
    /// # Errors
    /// A sentence, if the bytes are not a packed histogram.
    pub fn add_to(&self, sum: &mut Histogram) -> Result<(), String> {
        let (mut rest, mut place) = (self.0.as_slice(), 0usize);
        while !rest.is_empty() {
            let pair = take(&mut rest).zip(take(&mut rest));
            let (distance, count) = pair.ok_or("a packed histogram ends inside a number")?;
            place = place.saturating_add(distance as usize);
            if place >= PLACES {
                return Err("a packed histogram has a value beyond the highest".to_owned());
            }
            sum.record_many(place, count);
        }
        Ok(())
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

impl JsonSchema for Packed {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Histogram".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "contentEncoding": "base64",
            "description": "An HdrHistogram, V2 with DEFLATE (github.com/HdrHistogram/HdrHistogram).",
        })
    }
}

impl Serialize for Packed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD
            .decode(text)
            .map(Self)
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn sample(seed: u64, count: usize) -> Vec<u64> {
        let mut random = Random::new(seed);
        (0..count)
            .map(|_| (20_000.0 * random.exponential().exp()) as u64)
            .collect()
    }

    #[test]
    fn places_agree_with_the_standard_library_of_histograms() {
        let mut own = Histogram::default();
        let mut standard = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST, 3).unwrap();
        for value in sample(1, 50_000)
            .into_iter()
            .chain([1, 2047, 2048, 2049, HIGHEST])
        {
            own.record(Nanos(value));
            standard.saturating_record(value);
        }
        for quantile in [0.0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0] {
            assert_eq!(
                own.quantile(quantile).0,
                standard.value_at_quantile(quantile),
                "{quantile}"
            );
        }
        let mut out = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&standard, &mut out)
            .unwrap();
        assert_eq!(own.encode(), STANDARD.encode(out));
        let (mean, stdev) = own.moments();
        assert!(
            (mean / standard.mean() - 1.0).abs() < 1e-9
                && (stdev / standard.stdev() - 1.0).abs() < 1e-9
        );
    }

    #[test]
    fn packing_keeps_every_value_and_merging_adds() {
        let (mut parts, mut both) = (
            [
                Histogram::default(),
                Histogram::default(),
                Histogram::default(),
            ],
            Histogram::default(),
        );
        for (index, value) in sample(2, 10_000).into_iter().enumerate() {
            parts[index % 2].record(Nanos(value));
            both.record(Nanos(value));
        }
        let mut merged = Histogram::default();
        for part in &parts {
            let sent = serde_json::to_string(&Packed::of(part)).unwrap();
            serde_json::from_str::<Packed>(&sent)
                .unwrap()
                .add_to(&mut merged)
                .unwrap();
        }
        assert_eq!(merged, both);
        assert!(Packed(vec![0x80]).add_to(&mut merged).is_err());
        assert!(
            Packed(vec![0xff, 0xff, 0xff, 0x7f, 1])
                .add_to(&mut merged)
                .is_err()
        );
    }

    #[test]
    fn what_is_at_least_so_long_is_counted_and_added_up() {
        let mut histogram = Histogram::default();
        for millis in [1, 20, 30, 400] {
            histogram.record(Nanos::from_millis(millis));
        }
        let (values, sum) = histogram.at_least(Nanos::from_millis(20));
        assert_eq!(values, 3);
        assert!((sum / 450e6 - 1.0).abs() < 1e-3, "{sum}");
        assert_eq!(Histogram::default().at_least(Nanos::ZERO), (0, 0.0));
    }

    #[test]
    fn a_value_beyond_the_range_counts_as_the_highest() {
        let mut histogram = Histogram::default();
        histogram.record(Nanos::MAX);
        assert_eq!(histogram.len(), 1);
        assert!(histogram.max() >= Nanos(HIGHEST));
        histogram.reset();
        assert_eq!(histogram, Histogram::default());
    }
}
