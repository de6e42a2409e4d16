//! The one form of date that a sender may generate: IMF-fixdate (RFC 9110 5.6.7).

use std::time::{SystemTime, UNIX_EPOCH};

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Seconds since the epoch of an IMF-fixdate such as `Sun, 06 Nov 1994 08:49:37 GMT`;
/// `None` if the text is not exactly of that form, or names the wrong day of the week.
pub fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 29 || !text.is_ascii() || &text[3..5] != ", " || &text[25..] != " GMT" {
        return None;
    }
    if [7, 11, 16].iter().any(|&at| bytes[at] != b' ')
        || [19, 22].iter().any(|&at| bytes[at] != b':')
    {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = &text[from..to];
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            digits.parse().ok()
        } else {
            None
        }
    };
    let (day, year) = (number(5, 7)?, number(12, 16)?);
    let month = MONTHS.iter().position(|name| *name == &text[8..11])? as i64 + 1;
    let (hour, minute, second) = (number(17, 19)?, number(20, 22)?, number(23, 25)?);
    if !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_from_civil(year, month, day);
    let weekday = DAYS[usize::try_from(days.rem_euclid(7)).ok()?];
    (weekday == &text[..3]).then_some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// Whether the text is an IMF-fixdate within a day of this machine's clock.
pub fn is_current(text: &str) -> bool {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    parse(text).is_some_and(|then| then.abs_diff(i64::try_from(now).unwrap_or(i64::MAX)) <= 86_400)
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // The year is taken to begin in March, so that the leap day is its last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rfcs_example_is_read() {
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(parse("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
    }

    #[test]
    fn other_forms_are_not() {
        for text in [
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(!is_current("Sun, 06 Nov 1994 08:49:37 GMT"));
    }
}
