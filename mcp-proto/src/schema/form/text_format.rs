//! The formats of text fields: examples and checks.

use core::ops::Range;

use super::fields::TextFormat;
use crate::schema::uri::is_uri;

impl TextFormat {
    /// Describes the format with an example.
    pub(super) fn example(&self) -> &str {
        match self {
            Self::Date => "a date such as 2026-07-28",
            Self::DateTime => "a date and time such as 2026-07-28T12:00:00Z",
            Self::Email => "an e-mail address",
            Self::Uri => "a URI",
            Self::Other(_) => "a text",
        }
    }

    /// Returns whether `text` has the format. An e-mail address or URI is checked only roughly; an
    /// unknown format allows any text.
    pub(super) fn allows(&self, text: &str) -> bool {
        match self {
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
            Self::Email => text.split_once('@').is_some_and(|(user, domain)| {
                let is_part = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
                is_part(user) && is_part(domain) && !domain.contains('@')
            }),
            Self::Uri => is_uri(text) && !text.contains(char::is_whitespace),
            Self::Other(_) => true,
        }
    }
}

fn is_date(text: &str) -> bool {
    let (year, month, day) = (number(text, 0..4), number(text, 5..7), number(text, 8..10));
    let days = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    has_shape(text, "0000-00-00") && (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// RFC 3339, section 5.6.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else { return false };
    let Some((clock, zone)) = time.split_at_checked(8) else { return false };
    let is_time =
        |text: &str| number(text, 0..2) < 24 && number(text, 3..5) < 60 && number(text, 6..8) <= 60;
    let zone = match zone.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|char: char| char.is_ascii_digit()),
        None => zone,
    };
    let is_zone = zone.eq_ignore_ascii_case("z")
        || zone.strip_prefix(['+', '-']).is_some_and(|it| has_shape(it, "00:00") && is_time(it));
    is_date(date) && has_shape(clock, "00:00:00") && is_time(clock) && is_zone
}

/// Returns whether `text` has digits where `shape` has zeros, and is equal otherwise.
fn has_shape(text: &str, shape: &str) -> bool {
    let is_alike = |(char, like): (u8, u8)| char == like || like == b'0' && char.is_ascii_digit();
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(is_alike)
}

fn number(text: &str, place: Range<usize>) -> u16 {
    text.get(place).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}
