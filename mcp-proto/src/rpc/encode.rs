//! Encodes JSON-RPC messages, without a line terminator.

use alloc::vec::Vec;

use super::{ErrorObject, RequestId};
use crate::error::Unencodable;
use crate::json::{write_str, write_u64};

// JSON-01: every message names version 2.0.
const PREFIX: &[u8] = b"{\"jsonrpc\":\"2.0\"";

/// Writes a request. `params` must write an object, or nothing for no params. Returns the offset of
/// the params in `out`.
pub(crate) fn request(
    out: &mut Vec<u8>,
    id: u64,
    method: &str,
    params: impl FnOnce(&mut Vec<u8>) -> Result<(), Unencodable>,
) -> Result<Option<usize>, Unencodable> {
    out.extend_from_slice(PREFIX);
    out.extend_from_slice(b",\"id\":");
    write_u64(out, id);
    out.extend_from_slice(b",\"method\":");
    write_str(out, method);
    member(out, b",\"params\":", Presence::Optional, params)
}

/// Writes a notification. `params` must write an object, or nothing for no params. Returns the
/// offset of the params in `out`.
pub(crate) fn notification(
    out: &mut Vec<u8>,
    method: &str,
    params: impl FnOnce(&mut Vec<u8>) -> Result<(), Unencodable>,
) -> Result<Option<usize>, Unencodable> {
    out.extend_from_slice(PREFIX);
    out.extend_from_slice(b",\"method\":");
    write_str(out, method);
    member(out, b",\"params\":", Presence::Optional, params)
}

/// Writes a response with a result. `result` must write an object.
pub(crate) fn response(
    out: &mut Vec<u8>,
    id: &RequestId,
    result: impl FnOnce(&mut Vec<u8>) -> Result<(), Unencodable>,
) -> Result<(), Unencodable> {
    out.extend_from_slice(PREFIX);
    out.extend_from_slice(b",\"id\":");
    id.write(out);
    // JSON-08: a response has a result or an error.
    member(out, b",\"result\":", Presence::Required, result).map(|_| ())
}

// D-01: revisions differ in the id of an error for an unreadable message.
/// Writes a response with an error. If `id` is `None`, the member is `null` if `null_id` is set and
/// omitted otherwise.
pub(crate) fn error_line(
    out: &mut Vec<u8>,
    id: Option<&RequestId>,
    null_id: bool,
    error: &ErrorObject,
) {
    out.extend_from_slice(PREFIX);
    // JSON-11, JSON-12: the id of the request; if it is unreadable, the revision decides.
    match id {
        Some(id) => {
            out.extend_from_slice(b",\"id\":");
            id.write(out);
        }
        None if null_id => out.extend_from_slice(b",\"id\":null"),
        None => {}
    }
    out.extend_from_slice(b",\"error\":");
    error.write(out);
    out.push(b'}');
}

#[derive(Clone, Copy)]
enum Presence {
    /// Omitted if nothing is written.
    Optional,
    Required,
}

/// Writes the last member of a message, whose value must be an object. Returns the offset of the
/// value in `out`.
fn member(
    out: &mut Vec<u8>,
    key: &[u8],
    presence: Presence,
    value: impl FnOnce(&mut Vec<u8>) -> Result<(), Unencodable>,
) -> Result<Option<usize>, Unencodable> {
    let start = out.len();
    out.extend_from_slice(key);
    let before = out.len();
    value(out)?;
    let found = match (out.get(before), presence) {
        (Some(b'{'), _) => Some(before),
        (None, Presence::Optional) => {
            out.truncate(start);
            None
        }
        _ => return Err(Unencodable),
    };
    out.push(b'}');
    Ok(found)
}

#[cfg(test)]
mod tests;
