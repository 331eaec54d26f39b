//! Reading how long a server asks to wait; no clock, since a date is read against the server's own.

use std::time::Duration;

/// The longest wait taken seriously; more is a mistake or a way to say "never".
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Returns the wait asked for.
///
/// `milliseconds` is the value of `retry-after-ms`, `after` that of `retry-after` (seconds or a
/// date), `date` that of `date`. What is no number, no date, or lies in the past is ignored.
pub(crate) fn retry_after(
    milliseconds: Option<&str>,
    after: Option<&str>,
    date: Option<&str>,
) -> Option<Duration> {
    let exact = milliseconds.and_then(|value| duration(value, 1e-3));
    exact.or_else(|| {
        let after = after?;
        duration(after, 1.0).or_else(|| {
            let wait = http_date(after)?.checked_sub(http_date(date?)?)?;
            (wait > 0).then(|| Duration::from_secs(wait).min(LONGEST))
        })
    })
}

fn duration(value: &str, unit: f64) -> Option<Duration> {
    let number: f64 = value.trim().parse().ok()?;
    if !(number.is_finite() && number >= 0.0) {
        return None;
    }
    Duration::try_from_secs_f64((number * unit).min(LONGEST.as_secs_f64())).ok()
}

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT` as seconds since the Unix epoch.
fn http_date(value: &str) -> Option<u64> {
    let mut words = value.split_once(',')?.1.split_whitespace();
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let year: u64 = words.next()?.parse().ok()?;
    let mut time = words.next()?.splitn(3, ':').map(str::parse::<u64>);
    let (hour, minute, second) = (time.next()?.ok()?, time.next()?.ok()?, time.next()?.ok()?);
    let valid = (1..=31).contains(&day)
        && (1970..=9999).contains(&year)
        && (hour < 24 && minute < 60 && second <= 60);
    if !valid {
        return None;
    }
    let days = days_before_year(year)? + days_before_month(month, is_leap(year))? + day - 1;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_before_year(year: u64) -> Option<u64> {
    let leap_days = |year: u64| year / 4 - year / 100 + year / 400;
    let before = year.checked_sub(1)?;
    Some((year.checked_sub(1970)?) * 365 + leap_days(before) - leap_days(1969))
}

fn days_before_month(name: &str, leap: bool) -> Option<u64> {
    let before = match name {
        "Jan" => 0,
        "Feb" => 31,
        "Mar" => 59,
        "Apr" => 90,
        "May" => 120,
        "Jun" => 151,
        "Jul" => 181,
        "Aug" => 212,
        "Sep" => 243,
        "Oct" => 273,
        "Nov" => 304,
        "Dec" => 334,
        _ => return None,
    };
    Some(before + u64::from(leap && before >= 59))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{http_date, retry_after};

    const NOW: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    fn after(value: &str) -> Option<Duration> {
        retry_after(None, Some(value), Some(NOW))
    }

    #[test]
    fn seconds_whole_or_not_are_read() {
        assert_eq!(after(" 17 "), Some(Duration::from_secs(17)));
        assert_eq!(after("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(after("0"), Some(Duration::ZERO));
    }

    #[test]
    fn milliseconds_outrank_seconds() {
        let wait = retry_after(Some("250"), Some("1"), None);
        assert_eq!(wait, Some(Duration::from_millis(250)));
    }

    #[test]
    fn a_date_counts_from_the_servers_own() {
        let wait = after("Sun, 06 Nov 1994 08:50:07 GMT");
        assert_eq!(wait, Some(Duration::from_secs(30)));
    }

    #[test]
    fn what_is_past_or_no_time_is_ignored() {
        let without_date = retry_after(None, Some(NOW), None);
        let waits = [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sat, 05 Nov 1994 08:49:37 GMT",
            "-1",
        ]
        .into_iter()
        .chain(["soon", "", "NaN", "inf", "Sun, 40 Foo 1994 08:49:37 GMT"])
        .map(after)
        .chain([without_date]);
        assert!(waits.into_iter().all(|wait| wait.is_none()));
    }

    #[test]
    fn an_absurd_number_does_not_overflow() {
        assert!(after("1e300").is_some_and(|wait| wait > Duration::from_secs(60)));
    }

    #[test]
    fn dates_are_counted_over_leap_years() {
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date(NOW), Some(784_111_777));
        assert_eq!(
            http_date("Tue, 29 Feb 2000 12:00:00 GMT"),
            Some(951_825_600)
        );
        assert_eq!(
            http_date("Mon, 01 Mar 2100 00:00:00 GMT"),
            Some(4_107_542_400)
        );
    }
}
