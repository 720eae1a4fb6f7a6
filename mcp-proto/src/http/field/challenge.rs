//! The challenges of `WWW-Authenticate`; knows no scheme by name.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Malformed, is_token_byte};

/// The most challenges that one value may have.
pub const CHALLENGES_MAX: usize = 16;

/// The most parameters that one challenge may have.
pub const PARAMS_MAX: usize = 32;

/// One way to authenticate that a server offers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Challenge<'a> {
    /// The scheme, in the case it came in.
    pub scheme: &'a str,
    /// What some schemes have in place of parameters.
    pub token: Option<&'a str>,
    /// Names, in the case they came in and each once, and values, without quotes.
    pub params: Vec<(&'a str, Cow<'a, str>)>,
}

impl Challenge<'_> {
    /// The value of a parameter, whatever the case of its name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| &**value)
    }
}

/// The challenges of one `WWW-Authenticate`, in their order. (AUT-11)
///
/// Read with leave where servers are careless and nothing else can be meant: a value may stand
/// without quotes though it is no token (a URL), and parameters may stand without commas between
/// them.
///
/// ```
/// let value = br#"Bearer error="invalid_token", resource_metadata="https://example.com/x", Basic realm=simple"#;
/// let challenges = mcp_proto::http::field::challenges(value).unwrap();
/// assert_eq!(challenges[0].param("resource_metadata"), Some("https://example.com/x"));
/// assert_eq!((challenges[1].scheme, challenges[1].param("Realm")), ("Basic", Some("simple")));
/// ```
///
/// # Errors
///
/// [`Malformed`] if it is none of that, if a parameter comes twice, or if there are more than
/// [`CHALLENGES_MAX`] or [`PARAMS_MAX`].
pub fn challenges(value: &[u8]) -> Result<Vec<Challenge<'_>>, Malformed> {
    let mut rest = core::str::from_utf8(value).map_err(|_| Malformed)?;
    let mut challenges: Vec<Challenge<'_>> = Vec::new();
    // What comes next may be a scheme: it is the first thing, or stands after a comma.
    let mut scheme_may_come = true;
    loop {
        let before = rest;
        rest = rest.trim_start_matches([' ', '\t', ',']);
        scheme_may_come |=
            before.get(..before.len() - rest.len()).unwrap_or_default().contains(',');
        if rest.is_empty() {
            return Ok(challenges);
        }
        let name = take(&mut rest, is_token_byte);
        let value = blanks(rest).strip_prefix('=').map(blanks);
        let full = challenges.len() == CHALLENGES_MAX;
        match (value, challenges.last_mut()) {
            _ if name.is_empty() => return Err(Malformed),
            (Some(value), Some(challenge)) if challenge.token.is_none() => {
                let (value, after) = param_value(value)?;
                if challenge.params.len() == PARAMS_MAX || challenge.param(name).is_some() {
                    return Err(Malformed);
                }
                challenge.params.push((name, value));
                rest = after;
            }
            (None, _) if scheme_may_come && !full => {
                let token = token(&mut rest)?;
                challenges.push(Challenge { scheme: name, token, params: Vec::new() });
            }
            _ => return Err(Malformed),
        }
        scheme_may_come = false;
    }
}

/// What stands after a scheme in place of parameters, up to the next comma.
fn token<'a>(rest: &mut &'a str) -> Result<Option<&'a str>, Malformed> {
    let start = blanks(rest);
    if start.len() == rest.len() && !matches!(rest.as_bytes().first(), None | Some(b',')) {
        return Err(Malformed);
    }
    let mut after = start;
    take(&mut after, |byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte));
    take(&mut after, |byte| byte == b'=');
    let token = start.get(..start.len() - after.len()).filter(|token| !token.is_empty());
    let alone = matches!(blanks(after).as_bytes().first(), None | Some(b','));
    *rest = if alone { after } else { start };
    Ok(token.filter(|_| alone))
}

/// A value in quotes, or up to the next blank or comma; and what comes after it.
fn param_value(text: &str) -> Result<(Cow<'_, str>, &str), Malformed> {
    let Some(quoted) = text.strip_prefix('"') else {
        let mut after = text;
        let value =
            take(&mut after, |byte| byte.is_ascii_graphic() && byte != b',' && byte != b'"');
        let ends = matches!(after.as_bytes().first(), None | Some(b' ' | b'\t' | b','));
        return if ends && !value.is_empty() {
            Ok((Cow::Borrowed(value), after))
        } else {
            Err(Malformed)
        };
    };
    let mut value = Cow::Borrowed("");
    let mut rest = quoted;
    loop {
        let plain = take(&mut rest, |byte| {
            !matches!(byte, b'"' | b'\\') && (byte == b'\t' || !byte.is_ascii_control())
        });
        join(&mut value, plain);
        let mut chars = rest.chars();
        match chars.next() {
            Some('"') => return Ok((value, chars.as_str())),
            Some('\\') => {
                let escaped = chars
                    .next()
                    .filter(|char| *char == '\t' || !char.is_ascii_control())
                    .ok_or(Malformed)?;
                value.to_mut().push(escaped);
                rest = chars.as_str();
            }
            _ => return Err(Malformed),
        }
    }
}

/// Adds to a value, without a copy if it is the first part.
fn join<'a>(value: &mut Cow<'a, str>, part: &'a str) {
    if matches!(value, Cow::Borrowed("")) {
        *value = Cow::Borrowed(part);
    } else if !part.is_empty() {
        String::push_str(value.to_mut(), part);
    }
}

/// Takes as many bytes from the front as match; bytes beyond ASCII match all or none.
fn take<'a>(rest: &mut &'a str, matches: impl Fn(u8) -> bool) -> &'a str {
    let count = rest.bytes().position(|byte| !matches(byte)).unwrap_or(rest.len());
    let (taken, after) = rest.split_at_checked(count).unwrap_or_default();
    *rest = after;
    taken
}

fn blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}
