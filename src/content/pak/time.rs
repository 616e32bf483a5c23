//! Times of files, as DOS keeps them: two seconds exactly, from 1980 to 2107, without a time zone.

use std::fmt;

use crate::bytes::escaped;
use crate::{Error, ErrorKind, Result};

/// The time of a file of a pakfile (PKWARE's APPNOTE.TXT, 4.4.6).
///
/// ```
/// use bspkit::content::pak::{Pak, Time};
/// let mut pak = Pak::new(b"");
/// pak.add("a.txt", "one")?;
/// assert_eq!(pak.get(0).unwrap().time(), Time::NONE);
/// pak.set_time(&[0], Time::parse("2013-06-20T12:34:56")?)?;
/// assert_eq!(pak.get(0).unwrap().time().to_string(), "2013-06-20T12:34:56");
/// # Ok::<(), bspkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Bits 0 to 4 are the day, 5 to 8 the month, the rest the years since 1980.
    pub date: u16,
    /// Bits 0 to 4 are half of the seconds, 5 to 10 the minutes, the rest the hours.
    pub time: u16,
}

const SECONDS_OF_DAY: u64 = 24 * 60 * 60;
const MONTHS: [u16; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

fn days_of(year: u16, month: u16) -> u16 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    MONTHS[usize::from(month - 1)] + u16::from(month == 2 && is_leap)
}

impl Time {
    /// Zeros, as Valve's tools write them.
    pub const NONE: Time = Time { date: 0, time: 0 };

    /// Reads `2013-06-20`, `2013-06-20T12:34:56` or the same with a space. An odd second becomes the even one before
    /// it.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a text of another form, a date that does not exist, and a year outside of 1980 to
    /// 2107.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Time> {
        let text = text.as_ref();
        let wrong = || {
            let message = format!("`{}` is not a time of a file in a zip", escaped(text));
            Error::new(ErrorKind::Argument, message)
                .with_hint("write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS, from 1980 to 2107")
        };
        let text = std::str::from_utf8(text).map_err(|_| wrong())?;
        let (day, clock) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
        let parts = |text: &str, mark: char, lengths: [usize; 3]| -> Option<[u16; 3]> {
            let parts: Vec<&str> = text.split(mark).collect();
            let is_number =
                |(part, length): (&&str, usize)| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
            let is_whole = parts.len() == 3 && parts.iter().zip(lengths).all(is_number);
            let numbers: Option<Vec<u16>> = parts.iter().map(|part| part.parse().ok()).collect();
            numbers.filter(|_| is_whole)?.try_into().ok()
        };
        let [year, month, day] = parts(day, '-', [4, 2, 2]).ok_or_else(wrong)?;
        let [hour, minute, second] = parts(clock, ':', [2, 2, 2]).ok_or_else(wrong)?;
        let is_date =
            (1980..=2107).contains(&year) && (1..=12).contains(&month) && day >= 1 && day <= days_of(year, month);
        if !is_date || hour > 23 || minute > 59 || second > 59 {
            return Err(wrong());
        }
        let (date, time) = ((year - 1980) << 9 | month << 5 | day, hour << 11 | minute << 5 | (second / 2));
        Ok(Time { date, time })
    }

    /// The time of these seconds since the start of 1970, in UTC.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a year outside of 1980 to 2107.
    ///
    /// ```
    /// use bspkit::content::pak::Time;
    /// assert_eq!(Time::from_unix(1_371_731_696)?.to_string(), "2013-06-20T12:34:56");
    /// assert!(Time::from_unix(0).is_err());
    /// # Ok::<(), bspkit::Error>(())
    /// ```
    pub fn from_unix(seconds: u64) -> Result<Time> {
        let wrong = || {
            let message = format!(
                "{seconds} seconds since 1970 are not a time of a file in a zip: it has a year from 1980 to 2107"
            );
            Error::new(ErrorKind::Argument, message)
        };
        let (mut days, clock) = (seconds / SECONDS_OF_DAY, seconds % SECONDS_OF_DAY);
        let (mut year, mut month) = (1970_u16, 1_u16);
        while year <= 2107 && days >= u64::from(days_of(year, month)) {
            days -= u64::from(days_of(year, month));
            (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        }
        let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
        Time::parse(format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}", days + 1))
            .map_err(|_| wrong())
    }
}

impl fmt::Display for Time {
    /// `2013-06-20T12:34:56`, also for a date that does not exist; `none` for zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NONE {
            return f.write_str("none");
        }
        let Time { date, time } = self;
        write!(f, "{:04}-{:02}-{:02}T", 1980 + (date >> 9), date >> 5 & 15, date & 31)?;
        write!(f, "{:02}:{:02}:{:02}", time >> 11, time >> 5 & 63, (time & 31) * 2)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (text, date, time) in [
            ("1980-01-01", 0x0021, 0),
            ("2107-12-31 23:59:59", 0xFF9F, 0xBF7D),
            ("2000-02-29T00:00:02", 20 << 9 | 2 << 5 | 29, 1),
        ] {
            assert_eq!(Time::parse(text).unwrap(), Time { date, time }, "{text}");
        }
        for text in [
            "",
            "now",
            "1979-12-31",
            "2108-01-01",
            "2001-02-29",
            "2100-02-29",
            "2000-13-01",
            "2000-1-1",
            "2000-01-01T24:00:00",
            "+200-01-01",
            "2000-01-01T1:00:00",
            "2000-00-01",
            "2000-01-00",
        ] {
            assert!(Time::parse(text).is_err(), "{text}");
        }
        assert_eq!(Time::from_unix(315_532_800).unwrap().to_string(), "1980-01-01T00:00:00");
        assert_eq!(Time::from_unix(951_782_399).unwrap().to_string(), "2000-02-28T23:59:58");
        assert!(Time::from_unix(315_532_799).is_err() && Time::from_unix(u64::MAX).is_err());
    }

    proptest! {
        /// Any two words print, and what is a time reads back.
        #[test]
        fn times_read_back(date in any::<u16>(), time in any::<u16>()) {
            let own = Time { date, time };
            if let Ok(again) = Time::parse(own.to_string()) {
                prop_assert_eq!(again, own);
            }
        }
    }
}
