//! A distribution as the result shows it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::seconds;
use crate::histogram::Histogram;

/// A distribution of times in seconds.
#[derive(Debug, Clone, JsonSchema, Serialize, Deserialize)]
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
    pub fn of(histogram: &Histogram) -> Option<Self> {
        if histogram.is_empty() {
            return None;
        }
        let named = histogram.at(&[0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999]);
        let (mean, stdev) = histogram.moments();
        let quantiles: Vec<f64> = curve_quantiles(histogram.len()).collect();
        let curve = histogram.at(&quantiles).into_iter().map(seconds);
        Some(Self {
            count: histogram.len(),
            min: seconds(histogram.min()),
            max: seconds(histogram.max()),
            mean: mean * 1e-9,
            stdev: stdev * 1e-9,
            p50: seconds(named[0]),
            p75: seconds(named[1]),
            p90: seconds(named[2]),
            p95: seconds(named[3]),
            p99: seconds(named[4]),
            p99_9: seconds(named[5]),
            p99_99: seconds(named[6]),
            curve: quantiles.iter().copied().zip(curve).collect(),
            histogram: histogram.encode(),
            unit_s: 1e-9,
        })
    }

    /// The value at a quantile (0 to 1) of the curve's points, in seconds.
    #[must_use]
    pub fn at(&self, quantile: f64) -> f64 {
        let point = self.curve.iter().find(|(at, _)| *at >= quantile - 1e-12);
        point.map_or(self.max, |(_, value)| *value)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Nanos;

    #[test]
    fn a_distribution_of_nothing_is_none() {
        assert!(Distribution::of(&Histogram::default()).is_none());
    }

    #[test]
    fn the_curve_is_monotone_and_ends_at_the_greatest() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|value| histogram.record(Nanos(value * 1000)));
        let distribution = Distribution::of(&histogram).unwrap();
        assert!(
            distribution
                .curve
                .windows(2)
                .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1)
        );
        assert_eq!(distribution.curve.last().unwrap().1, distribution.max);
        assert!(
            (distribution.p50 - 500e-6).abs() < 1e-6 && (distribution.p99 - 990e-6).abs() < 1e-6
        );
    }
}
