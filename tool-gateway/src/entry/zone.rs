//! Times with their zone.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A time zone.
pub(super) struct Zone {
    zone: TimeZone,
    name: String,
}

impl Zone {
    /// Finds a zone in the database of the system.
    pub(super) fn named(name: &str) -> Option<Self> {
        let zone = match name {
            "UTC" => TimeZone::UTC,
            name => TimeZone::get(name).ok()?,
        };
        Some(Self {
            zone,
            name: name.to_owned(),
        })
    }

    /// Returns a time in this zone, as RFC 3339 writes it.
    pub(super) fn write(&self, ms: u64) -> String {
        let stamp = i64::try_from(ms)
            .ok()
            .and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let zoned = stamp
            .unwrap_or(Timestamp::MAX)
            .to_zoned_datetime(self.zone.clone());
        zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// Says what is wrong with the zone of a date and time; `None` if nothing is, or if it is no
    /// date and time at all, which the schema says.
    pub(super) fn problem(&self, text: &str) -> Option<String> {
        let (date, rest) = text.split_once(['T', 't', ' '])?;
        date.parse::<jiff::civil::Date>().ok()?;
        let Ok(stamp) = text.parse::<Timestamp>() else {
            let example = format!("{text}{}", self.write(0).get(19..).unwrap_or("Z"));
            let has_zone = rest.ends_with(['Z', 'z']) || rest.contains(['+', '-']);
            return (!has_zone && example.parse::<Timestamp>().is_ok()).then(|| {
                format!(
                    "has no time zone; times here are in {}: {example}",
                    self.name
                )
            });
        };
        let here = self.zone.to_offset(stamp);
        let written = offset_of(rest)?;
        (written != SignedDuration::from_secs(i64::from(here.seconds()))).then(|| {
            let ms = u64::try_from(stamp.as_millisecond()).unwrap_or_default();
            format!(
                "is in another time zone than {}; there the same moment is {}",
                self.name,
                self.write(ms)
            )
        })
    }
}

/// Returns the offset that stands at the end of a time.
fn offset_of(time: &str) -> Option<SignedDuration> {
    if time.ends_with(['Z', 'z']) {
        return Some(SignedDuration::ZERO);
    }
    let at = time.rfind(['+', '-'])?;
    let (sign, digits) = (time.get(at..=at)?, time.get(at + 1..)?);
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let seconds = hours.parse::<i64>().ok()? * 3_600 + minutes.parse::<i64>().ok()? * 60;
    Some(SignedDuration::from_secs(if sign == "-" {
        -seconds
    } else {
        seconds
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_without_a_zone_or_in_another_one_is_named() {
        let zone = Zone::named("Asia/Shanghai").unwrap();
        let problem = |text: &str| zone.problem(text);
        assert_eq!(problem("2026-11-29T10:00:00+08:00"), None);
        assert_eq!(
            problem("2026-11-29T10:00:00").unwrap(),
            "has no time zone; times here are in Asia/Shanghai: 2026-11-29T10:00:00+08:00"
        );
        assert_eq!(
            problem("2026-11-29T10:00:00Z").unwrap(),
            "is in another time zone than Asia/Shanghai; there the same moment is 2026-11-29T18:00:00+08:00"
        );
        for no_time in ["tomorrow", "2026-11-29", "", "2026-13-01T00:00:00"] {
            assert_eq!(problem(no_time), None, "{no_time}");
        }
        assert_eq!(zone.write(1_700_000_000_000), "2023-11-15T06:13:20+08:00");
    }
}
