//! Parts of JSON texts, for programs without a JSON library.

use mcp_proto::Raw;

use crate::status::{Failure, Status};

/// Reads a JSON text.
///
/// # Errors
/// Fails if it is no JSON.
pub(crate) fn parse(text: &str) -> Result<Raw, Failure> {
    let why = "the text is no JSON, or is nested too deeply";
    Raw::from_text(text).map_err(|_| Failure::new(Status::InvalidJson, why))
}

/// Returns the value that a JSON pointer (RFC 6901) names, if there is one.
///
/// # Errors
/// Fails if `text` is no JSON, or if the pointer is invalid.
pub(crate) fn value_at(text: &str, pointer: &str) -> Result<Option<Raw>, Failure> {
    let mut value = parse(text)?;
    if pointer.is_empty() {
        return Ok(Some(value));
    }
    let tokens = pointer.strip_prefix('/').ok_or_else(|| {
        let why = format!("invalid JSON pointer `{pointer}`: it must be empty or begin with `/`");
        Failure::new(Status::InvalidJson, why)
    })?;
    for token in tokens.split('/') {
        let token = token.replace("~1", "/").replace("~0", "~");
        let part = if value.is_object() {
            value.member(&token)
        } else {
            token.parse().ok().and_then(|index: usize| value.elements().nth(index))
        };
        match part {
            Some(part) => value = part,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::value_at;
    use crate::status::Status;

    #[test]
    fn pointers_name_members_and_elements() {
        let text = r#"{"a":[1,{"b/~":"\u00e9"}],"":true,"0":null}"#;
        for (pointer, expected) in [
            ("", Some(text)),
            ("/a", Some(r#"[1,{"b/~":"\u00e9"}]"#)),
            ("/a/0", Some("1")),
            ("/a/1/b~1~0", Some(r#""\u00e9""#)),
            ("/", Some("true")),
            ("/0", Some("null")),
            ("/a/2", None),
            ("/a/-1", None),
            ("/a/0/x", None),
            ("/b", None),
        ] {
            let found = value_at(text, pointer).unwrap();
            assert_eq!(found.as_ref().map(mcp_proto::Raw::as_str), expected, "{pointer}");
        }
        for (text, pointer) in [("{", ""), ("{}", "a"), ("", "")] {
            let failure = value_at(text, pointer).unwrap_err();
            assert_eq!(failure.status, Status::InvalidJson, "{text} {pointer}");
        }
    }
}
