//! Histograms of nanoseconds: HdrHistogram with three significant digits, from 1 ns to one hour.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
use serde::{Deserialize, Serialize};

use crate::clock::seconds;

/// The highest value that is told apart, in nanoseconds.
const HIGHEST: u64 = 3_600 * 1_000_000_000;

/// An empty histogram. Its memory is touched only where values fall.
#[must_use]
pub fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST, 3).expect("the bounds are constants")
}

/// Records one value; a value beyond the highest counts as the highest.
#[inline]
pub fn record(histogram: &mut Histogram<u64>, nanos: u64) {
    histogram.saturating_record(nanos);
}

/// A histogram serialised for keeping or sending (sparse, a few hundred bytes as a rule). Empty bytes: no values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed(Vec<u8>);

impl Packed {
    /// Packs a histogram.
    #[must_use]
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let mut out = Vec::new();
        if !histogram.is_empty() {
            V2Serializer::new()
                .serialize(histogram, &mut out)
                .expect("writing to memory does not fail");
        }
        Self(out)
    }

    /// Adds it to another histogram.
    ///
    /// # Errors
    /// A sentence, if the bytes are not a packed histogram.
    pub fn add_to(&self, sum: &mut Histogram<u64>) -> Result<(), String> {
        if self.0.is_empty() {
            return Ok(());
        }
        let part: Histogram<u64> = Deserializer::new()
            .deserialize(&mut self.0.as_slice())
            .map_err(|error| format!("a packed histogram is broken: {error}"))?;
        sum.add(&part)
            .map_err(|error| format!("a packed histogram does not fit: {error}"))
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

/// A distribution as the result shows it. Times in seconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Distribution {
    /// Values recorded.
    pub count: u64,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub stdev: f64,
    /// Median.
    pub p50: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
    /// 99.99th percentile.
    pub p99_99: f64,
    /// Pairs of quantile (0 to 1) and value, finer towards the end.
    pub curve: Vec<(f64, f64)>,
    /// The whole histogram: base64 of HdrHistogram V2 with DEFLATE.
    pub histogram: String,
    /// Seconds of one unit in the histogram.
    pub unit_s: f64,
}

impl Distribution {
    /// The distribution of a histogram; `None` if nothing was recorded.
    #[must_use]
    pub fn of(histogram: &Histogram<u64>) -> Option<Self> {
        if histogram.is_empty() {
            return None;
        }
        let at =
            |quantile: f64| seconds(histogram.value_at_quantile(quantile).min(histogram.max()));
        Some(Self {
            count: histogram.len(),
            min: seconds(histogram.min()),
            max: seconds(histogram.max()),
            mean: histogram.mean() * 1e-9,
            stdev: histogram.stdev() * 1e-9,
            p50: at(0.5),
            p75: at(0.75),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.9999),
            curve: curve_quantiles(histogram.len())
                .map(|quantile| (quantile, at(quantile)))
                .collect(),
            histogram: encode(histogram),
            unit_s: 1e-9,
        })
    }
}

/// Twenty points for the lower half, then ten for each halving of the distance to 1, as far as the count carries.
fn curve_quantiles(count: u64) -> impl Iterator<Item = f64> {
    let halvings = (64 - count.leading_zeros()).clamp(1, 30);
    let lower = (0..20).map(|step| f64::from(step) / 40.0);
    let upper = (1..=halvings).flat_map(|halving| {
        let distance = 0.5f64.powi(halving as i32);
        (0..10).map(move |step| 1.0 - distance + distance / 2.0 * f64::from(step) / 10.0)
    });
    lower.chain(upper).chain(std::iter::once(1.0))
}

/// Base64 of HdrHistogram V2 with DEFLATE, as the standard log format holds it.
#[must_use]
pub fn encode(histogram: &Histogram<u64>) -> String {
    let mut out = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut out)
        .expect("writing to memory does not fail");
    STANDARD.encode(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_every_value_and_merging_adds() {
        let (mut left, mut right, mut both) = (empty(), empty(), empty());
        for value in 1..5_000u64 {
            let nanos = value * value * 37;
            record(
                if value % 3 == 0 {
                    &mut left
                } else {
                    &mut right
                },
                nanos,
            );
            record(&mut both, nanos);
        }
        let mut merged = empty();
        for part in [&left, &right, &empty()] {
            let sent = serde_json::to_string(&Packed::of(part)).unwrap();
            serde_json::from_str::<Packed>(&sent)
                .unwrap()
                .add_to(&mut merged)
                .unwrap();
        }
        assert_eq!(merged, both);
        assert!(Packed(b"junk".to_vec()).add_to(&mut merged).is_err());
    }

    #[test]
    fn a_value_beyond_the_range_counts_as_the_highest() {
        let mut histogram = empty();
        record(&mut histogram, u64::MAX);
        assert_eq!(histogram.len(), 1);
        assert!(histogram.max() >= HIGHEST);
    }

    #[test]
    fn a_distribution_of_nothing_is_none() {
        assert!(Distribution::of(&empty()).is_none());
    }

    #[test]
    fn the_curve_is_monotone_and_ends_at_the_greatest() {
        let mut histogram = empty();
        (1..=1000).for_each(|value| record(&mut histogram, value * 1000));
        let distribution = Distribution::of(&histogram).unwrap();
        assert!(
            distribution
                .curve
                .windows(2)
                .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1)
        );
        assert_eq!(distribution.curve.last().unwrap().1, distribution.max);
    }
}
