//! Nanoseconds as a type.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::time::Duration;

/// A time in nanoseconds: a moment on a clock, or the span between two. As cheap as the number in it; `Duration`, which keeps
/// seconds and nanoseconds apart, is not, and knows no moments.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time; of a moment, mostly that it has not come.
    pub const ZERO: Self = Self(0);
    /// The end of time.
    pub const MAX: Self = Self(u64::MAX);
    /// A second.
    pub const SECOND: Self = Self::from_millis(1_000);

    /// Time from microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// Time from milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self::from_micros(millis * 1_000)
    }

    /// The difference, or zero where the other is later.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The sum, or the end of time.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// How many of the other it takes to reach it.
    #[inline]
    #[must_use]
    pub const fn div_ceil(self, other: Self) -> u64 {
        self.0.div_ceil(other.0)
    }
}

impl Add for Nanos {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Nanos {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;

    #[inline]
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl Div<u64> for Nanos {
    type Output = Self;

    #[inline]
    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        Self(all.map(|one| one.0).sum())
    }
}

impl From<Nanos> for Duration {
    #[inline]
    fn from(time: Nanos) -> Self {
        Self::from_nanos(time.0)
    }
}

impl From<Duration> for Nanos {
    #[inline]
    fn from(time: Duration) -> Self {
        Self(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_reckoned_with_as_their_numbers() {
        let (one, two) = (Nanos::from_millis(1), Nanos::from_micros(2_000));
        assert_eq!(two - one, one);
        assert_eq!(one + one, one * 2);
        assert_eq!(two / 2, one);
        assert_eq!(one.saturating_sub(two), Nanos::ZERO);
        assert_eq!(Nanos::MAX.saturating_add(one), Nanos::MAX);
        assert_eq!(Nanos(2_000_001).div_ceil(one), 3);
        assert_eq!([one, two].into_iter().sum::<Nanos>(), Nanos(3_000_000));
        assert_eq!(Nanos::from(Duration::from(Nanos::SECOND)), Nanos::SECOND);
    }
}
