//! Dates in cookies, read as browsers read them (RFC 6265 section 5.1.1).

const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

/// Seconds since 1970 of a cookie date, or `None` for a text that is none. Order, weekday and time zone do not matter: the time
/// of day, the day, the month and the year are the first words that look like one.
pub(super) fn parse(text: &[u8]) -> Option<i64> {
    let (mut clock, mut day, mut month, mut year) = (None, None, None, None);
    for word in text.split(|byte| is_delimiter(*byte)) {
        if clock.is_none()
            && let Some(found) = time(word)
        {
            clock = Some(found);
        } else if day.is_none()
            && let Some(found) = number(word, 1..=2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(word)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number(word, 2..=4)
        {
            year = Some(found);
        }
    }
    let (hour, minute, second) = clock?;
    let (day, month, year) = (day?, month?, year?);
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    };
    let exists = year >= 1601 && (1..=days_in(month, year)).contains(&day);
    if !exists || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

const fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// The number that a word begins with, if its count of digits is within these bounds.
fn number(word: &[u8], digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let length = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&word[..length]).ok()?.parse().ok()?;
    digits.contains(&length).then_some(number)
}

/// `8:49:37`, and whatever follows that is not a digit.
fn time(word: &[u8]) -> Option<(i64, i64, i64)> {
    let mut parts = word.splitn(3, |byte| *byte == b':');
    let mut part = |whole: bool| {
        let part = parts.next()?;
        let number = number(part, 1..=2)?;
        (!whole || part.iter().all(u8::is_ascii_digit)).then_some(number)
    };
    Some((part(true)?, part(true)?, part(false)?))
}

/// 1 to 12.
fn month_of(word: &[u8]) -> Option<i64> {
    let name = word.get(..3)?;
    let place = MONTHS
        .iter()
        .position(|month| name.eq_ignore_ascii_case(*month))?;
    Some(place as i64 + 1)
}

const fn days_in(month: i64, year: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// In the Gregorian calendar; years begin in March here, so that the leap day is the last.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_browsers_read_them() {
        for text in [
            "Thu, 01 Jan 1970 00:00:10 GMT",
            "Thu, 01-Jan-1970 00:00:10 GMT",
            "Thu, 01-Jan-70 00:00:10 GMT",
            "Thursday, 01-Jan-70 00:00:10 GMT",
            "Thu Jan  1 00:00:10 1970",
            "Thu, 01 Jan 1970 00:00:10 UTC",
            "Thu, 01 Jan 1970 00:00:10 +0000",
            "1 January 1970 0:0:10",
            "\"Thu, 01 Jan 1970 00:00:10 GMT\"",
            "Mon, 01 Jan 1970 00:00:10 GMT",
            "1970 jan 1 00:00:10",
            "00:00:10x 1 jAn 70",
        ] {
            assert_eq!(parse(text.as_bytes()), Some(10), "{text}");
        }
        assert_eq!(parse(b"Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse(b"Tue, 29 Feb 2028 12:00:00 GMT"), Some(1_835_438_400));
        assert_eq!(
            parse(b"Fri, 31 Dec 9999 23:59:59 GMT"),
            Some(253_402_300_799)
        );
        assert_eq!(parse(b"01 Jan 1601 00:00:00"), Some(-11_644_473_600));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "0",
            "-1",
            "never",
            "Thu, 01 Jan 1970",
            "01 Jan 00:00:00",
            "32 Jan 2030 00:00:00",
            "29 Feb 2027 00:00:00",
            "01 Jan 1600 00:00:00",
            "01 Jan 2030 24:00:00",
            "01 Jan 2030 00:60:00",
            "01 Jan 20300 00:00:00",
            "001 Jan 2030 00:00:00",
            "01 Foo 2030 00:00:00",
            "01 Jan 2030 00:00",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
