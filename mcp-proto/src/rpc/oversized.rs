//! Reads the id of a response that was too long to be kept, from its first and last bytes.

use super::id::RequestId;
use crate::json::{Cursor, unescape};

/// Returns the id of the response that begins with `first` and ends with `last`; `None` if the
/// message is no response or its id is in neither part.
///
/// Servers write the id first or last, because the result is in between.
// T-21: a response that is too long ends its call.
pub(crate) fn oversized_response_id(first: &[u8], last: &[u8], depth_max: u8) -> Option<u64> {
    let (mut id, mut is_response) = (None, false);
    // The text ends within a value, which ends the iteration.
    let _incomplete = Cursor::over(first, depth_max).object(|cursor, key| {
        let key = unescape(key).unwrap_or_default();
        is_response |= matches!(&*key, "result" | "error");
        let value = cursor.value()?;
        // A number at the end of the part may go on.
        if key == "id" && cursor.peek().is_some() {
            id = RequestId::from_json(value).and_then(|id| id.as_u64());
        }
        Ok(())
    });
    if !is_response { None } else { id.or_else(|| last_id(last)) }
}

/// Returns the value of `id` if that is the last member of the object that ends with `text`.
// A number before the last brace is the value of a member of the outermost object.
fn last_id(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = text.split_at_checked(text.len() - digits)?;
    let before = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    let before = before.strip_suffix(b"\"id\"")?.trim_ascii_end();
    let is_member = before.ends_with(b",") || before.ends_with(b"{");
    core::str::from_utf8(digits).ok()?.parse().ok().filter(|_| is_member)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_oversized_response_is_read_from_either_end_t_21() {
        let rows: &[(&str, &str, Option<u64>)] = &[
            (r#"{"jsonrpc":"2.0","id":7,"result":{"a":"#, "xx\"}}", Some(7)),
            (r#" { "id" : 7 , "error" : {"a":""#, "", Some(7)),
            (r#"{"error":7,"id":1"#, "", None),
            (r#"{"\u0069d":7,"result":{"a":""#, "", Some(7)),
            (r#"{"result":{"a":""#, r#"x"},"jsonrpc":"2.0","id":12}"#, Some(12)),
            (r#"{"result":{"a":""#, "x\"} , \"id\" : 12 } \r", Some(12)),
            // The end of a text, of another member and of another object.
            (r#"{"result":{"a":""#, r#"x\",\"id\":12"}}"#, None),
            (r#"{"result":{"a":""#, r#"x"},"x\",\"id":12}"#, None),
            (r#"{"result":{"a":""#, r#"x","id":12}}"#, None),
            (r#"{"result":{"a":""#, r#"x"},"id":"12"}"#, None),
            (r#"{"result":{"a":""#, r#"x"},"grid":12}"#, None),
            (r#"{"result":{"a":""#, r#"x"},"id":99999999999999999999}"#, None),
            // No responses.
            (r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"#, "}}", None),
            (r#"{"params":{"result":""#, r#"x"},"method":"a","id":12}"#, None),
            ("[", r#"{"result":{},"id":12}"#, None),
            ("", "", None),
        ];
        for (first, last, id) in rows {
            let found = oversized_response_id(first.as_bytes(), last.as_bytes(), 100);
            assert_eq!(found, *id, "{first} ... {last}");
        }
    }
}
