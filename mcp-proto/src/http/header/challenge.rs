//! Parsing of `WWW-Authenticate` challenges of any scheme.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Malformed, is_token_byte};

/// The maximum number of challenges in one `WWW-Authenticate` value.
pub const CHALLENGES_MAX: usize = 16;

/// The maximum number of parameters in one challenge.
pub const PARAMS_MAX: usize = 32;

/// An authentication challenge, borrowed from the header value.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ChallengeRef<'a> {
    /// The scheme, in its original case.
    pub scheme: &'a str,
    /// The token68 value (RFC 9110) that some schemes use instead of parameters.
    pub token: Option<&'a str>,
    /// The parameters, as pairs of a name and an unquoted value.
    ///
    /// Names keep their original case. No two names are equal, even if case is ignored.
    pub params: Vec<(&'a str, Cow<'a, str>)>,
}

impl ChallengeRef<'_> {
    /// Returns the value of a parameter, or `None` if it is absent. Names are case-insensitive.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| &**value)
    }
}

/// Parses the challenges of one `WWW-Authenticate` value, in order.
///
/// Tolerates two common, unambiguous server mistakes: unquoted values that are not tokens, such as
/// URLs, and missing commas between parameters.
///
/// ```
/// let value = br#"Bearer error="expired", resource_metadata="https://a.example", Basic realm=b"#;
/// let challenges = mcp_proto::http::header::challenges(value).unwrap();
/// assert_eq!(challenges[0].param("resource_metadata"), Some("https://a.example"));
/// assert_eq!((challenges[1].scheme, challenges[1].param("Realm")), ("Basic", Some("b")));
/// ```
///
/// # Errors
///
/// Returns [`Malformed`] if
/// - there is a syntax error other than the two mistakes above;
/// - a challenge repeats a parameter or has more than [`PARAMS_MAX`] parameters; or
/// - there are more than [`CHALLENGES_MAX`] challenges.
// AUT-11: a client learns from a challenge how to authorize.
pub fn challenges(value: &[u8]) -> Result<Vec<ChallengeRef<'_>>, Malformed> {
    let mut rest = core::str::from_utf8(value).map_err(|_| Malformed)?;
    let mut challenges: Vec<ChallengeRef<'_>> = Vec::new();
    // A scheme may follow at the start and after a comma only.
    let mut scheme_may_follow = true;
    loop {
        let before = rest;
        rest = rest.trim_start_matches([' ', '\t', ',']);
        scheme_may_follow |=
            before.get(..before.len() - rest.len()).unwrap_or_default().contains(',');
        if rest.is_empty() {
            return Ok(challenges);
        }
        let name = take(&mut rest, is_token_byte);
        let value = skip_blanks(rest).strip_prefix('=').map(skip_blanks);
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
            (None, _) if scheme_may_follow && !full => {
                let token = token(&mut rest)?;
                challenges.push(ChallengeRef { scheme: name, token, params: Vec::new() });
            }
            _ => return Err(Malformed),
        }
        scheme_may_follow = false;
    }
}

/// Takes the token68 after a scheme, if any, up to the next comma.
fn token<'a>(rest: &mut &'a str) -> Result<Option<&'a str>, Malformed> {
    let start = skip_blanks(rest);
    if start.len() == rest.len() && !matches!(rest.as_bytes().first(), None | Some(b',')) {
        return Err(Malformed);
    }
    let mut after = start;
    take(&mut after, |byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte));
    take(&mut after, |byte| byte == b'=');
    let token = start.get(..start.len() - after.len()).filter(|token| !token.is_empty());
    let alone = matches!(skip_blanks(after).as_bytes().first(), None | Some(b','));
    *rest = if alone { after } else { start };
    Ok(token.filter(|_| alone))
}

/// Splits off a parameter value: a quoted string, or everything up to the next blank or comma.
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
        append(&mut value, plain);
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

/// Appends to a value; the first part is borrowed.
fn append<'a>(value: &mut Cow<'a, str>, part: &'a str) {
    if matches!(value, Cow::Borrowed("")) {
        *value = Cow::Borrowed(part);
    } else if !part.is_empty() {
        String::push_str(value.to_mut(), part);
    }
}

/// Takes the longest matching prefix. `matches` must treat all non-ASCII bytes alike.
fn take<'a>(rest: &mut &'a str, matches: impl Fn(u8) -> bool) -> &'a str {
    let count = rest.bytes().position(|byte| !matches(byte)).unwrap_or(rest.len());
    let (taken, after) = rest.split_at_checked(count).unwrap_or_default();
    *rest = after;
    taken
}

fn skip_blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}
