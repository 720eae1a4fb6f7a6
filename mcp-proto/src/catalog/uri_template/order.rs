//! Parameters of URIs in the order in which a template has them.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// Sorts the parameters that follow the first `start` by the position of their names, stably. Those
/// with other names come first. Returns `None` if there is nothing to sort.
///
/// The parameters are divided by `separator` and end at a character of `ends`.
pub(super) fn reorder(
    uri: &str,
    start: char,
    separator: char,
    ends: &str,
    names: &[Cow<'_, str>],
) -> Option<String> {
    if names.len() < 2 {
        return None;
    }
    let (before, rest) = uri.split_once(start)?;
    let end = rest.find(|char| ends.contains(char)).unwrap_or(rest.len());
    let (parameters, after) = rest.split_at_checked(end)?;
    let position = |parameter: &str| {
        let name = parameter.split_once('=').map_or(parameter, |(name, _)| name);
        names.iter().position(|it| *it == name)
    };
    let mut sorted: Vec<&str> = parameters.split(separator).collect();
    sorted.sort_by_key(|parameter| position(parameter));
    let mut ordered = String::with_capacity(uri.len());
    ordered.push_str(before);
    for (at, parameter) in sorted.into_iter().enumerate() {
        ordered.push(if at == 0 { start } else { separator });
        ordered.push_str(parameter);
    }
    ordered.push_str(after);
    Some(ordered)
}
