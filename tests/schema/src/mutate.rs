//! Values with a single defect, and the permitted outcomes of decoding them.

use serde_json::{Map, Value, json};

use crate::compare::{child, difference};

/// A single defect.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// The kind of defect.
    pub kind: Kind,
    /// The place, as a JSON pointer.
    pub place: String,
    /// The defective value.
    pub value: Value,
}

/// The kinds of defects.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// The member or element is missing.
    Removed,
    /// It has another type.
    Retyped,
    /// It is an unknown word.
    Unknown,
    /// It is `null`.
    Null,
    /// The object has an additional member.
    Added,
}

/// Returns every defective variant of `value`.
#[must_use]
pub fn mutations(value: &Value) -> Vec<Mutation> {
    let mut places = Vec::new();
    collect(value, String::new(), &mut places);
    let mut all = Vec::new();
    for place in places {
        let old = value.pointer(&place).expect("the place exists");
        let mut put = |kind, new: Value| {
            let mut value = value.clone();
            *value.pointer_mut(&place).expect("the place exists") = new;
            all.push(Mutation { kind, place: place.clone(), value });
        };
        if !old.is_null() {
            put(Kind::Null, Value::Null);
        }
        for other in [json!(17), json!("seventeen"), json!([true]), json!({ "x-other": 17 })] {
            if std::mem::discriminant(&other) != std::mem::discriminant(old) {
                put(Kind::Retyped, other);
            }
        }
        if old.is_string() {
            put(Kind::Unknown, json!("x-unknown"));
        }
        if let Some(object) = old.as_object() {
            let mut more = object.clone();
            more.insert("x-added".to_owned(), json!([{ "deep": null }]));
            all.push(Mutation {
                kind: Kind::Added,
                place: child(&place, "x-added"),
                value: replaced(value, &place, Value::Object(more)),
            });
        }
        if let Some((parent, name)) = place.rsplit_once('/') {
            let name = name.replace("~1", "/").replace("~0", "~");
            let less = match value.pointer(parent).expect("the place has a parent") {
                Value::Array(elements) => {
                    let mut elements = elements.clone();
                    elements.remove(name.parse().expect("an index"));
                    // Later elements move up, so the list itself is the place.
                    all.push(Mutation {
                        kind: Kind::Removed,
                        place: parent.to_owned(),
                        value: replaced(value, parent, Value::Array(elements)),
                    });
                    continue;
                }
                Value::Object(members) => {
                    let mut members = members.clone();
                    members.remove(&name);
                    Value::Object(members)
                }
                _ => continue,
            };
            all.push(Mutation {
                kind: Kind::Removed,
                place: place.clone(),
                value: replaced(value, parent, less),
            });
        }
    }
    all
}

fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                collect(element, child(&place, &index.to_string()), places);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                collect(member, child(&place, name), places);
            }
        }
        _ => {}
    }
    places.push(place);
}

fn replaced(value: &Value, place: &str, new: Value) -> Value {
    let mut value = value.clone();
    *value.pointer_mut(place).expect("the place exists") = new;
    value
}

/// The outcome of decoding a defective value.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Outcome {
    /// Everything was preserved, including the defect.
    Kept,
    /// Everything was preserved except the defect, which was replaced by a default.
    Defaulted,
    /// The surrounding list element or map value was set aside, with an error that names the place.
    SetAside,
    /// The value was refused, with an error that names the place.
    Refused,
}

/// Members that are always encoded with a fixed value.
const STAMPED: &[&str] = &["/cacheScope", "/resultType", "/ttl", "/ttlMs"];

/// Members that identify an object's type; where only one type is possible they are optional.
const TAGS: &[&str] = &["/mode", "/type"];

/// Members that servers leave out or set to `null`, which reads as the least that is allowed.
const LEFT_OUT: &[&str] = &["/content", "/inputSchema"];

/// Returns whether an error at `pointer` covers `place`: at it, inside of it, or at its parent.
#[must_use]
pub fn names(pointer: &str, place: &str) -> bool {
    let is_in = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
    };
    pointer == place || is_in(pointer, place) || (!pointer.is_empty() && is_in(place, pointer))
}

/// Determines the outcome of `mutation`, given what a type encoded again, `written`, and its debug
/// output, `debug`.
///
/// # Errors
///
/// What was lost and should not have been.
pub fn came_through(mutation: &Mutation, written: &Value, debug: &str) -> Result<Outcome, String> {
    let Some(first) = difference(&mutation.value, written) else { return Ok(Outcome::Kept) };
    // The place may hold another value; nothing else may differ.
    if let Some(own) = written.pointer(&mutation.place) {
        let mut expected = mutation.value.clone();
        put(&mut expected, &mutation.place, own.clone());
        let is_removed = mutation.kind == Kind::Removed;
        let stamped = STAMPED.iter().chain(TAGS.iter().filter(|_| is_removed));
        let is_absent = is_removed || mutation.kind == Kind::Null;
        let defaults = stamped.chain(LEFT_OUT.iter().filter(|_| is_absent));
        let is_stamped = defaults.into_iter().any(|name| mutation.place.ends_with(name));
        if difference(&expected, written).is_none() {
            let said = broken(debug).next().is_some();
            return match (is_stamped, said) {
                (true, _) => Ok(Outcome::Defaulted),
                (false, true) => Ok(Outcome::SetAside),
                (false, false) => Err(format!("is lost in silence: {first}")),
            };
        }
    }
    // Otherwise the surrounding list element is gone, and an error names it.
    let mut at = mutation.place.as_str();
    while let Some((list, _)) = at.rsplit_once('/') {
        let mut expected = mutation.value.clone();
        remove(&mut expected, at);
        let rest = &mutation.place[list.len()..];
        let said = broken(debug).any(|pointer| names(pointer, rest));
        if difference(&expected, written).is_none() && said {
            return Ok(Outcome::SetAside);
        }
        at = list;
    }
    Err(format!("loses something else: {first}"))
}

/// Returns the pointers of broken parts in the debug output of a type.
fn broken(debug: &str) -> impl Iterator<Item = &str> {
    let errors = debug.match_indices("DecodeError { pointer: \"");
    errors.filter_map(|(at, start)| debug[at + start.len()..].split('"').next())
}

fn put(value: &mut Value, place: &str, new: Value) {
    if let Some(old) = value.pointer_mut(place) {
        *old = new;
    } else if let Some((parent, name)) = place.rsplit_once('/')
        && let Some(Value::Object(parent)) = value.pointer_mut(parent)
    {
        parent.insert(name.replace("~1", "/").replace("~0", "~"), new);
    }
}

fn remove(value: &mut Value, place: &str) {
    let Some((parent, name)) = place.rsplit_once('/') else { return };
    match value.pointer_mut(parent) {
        Some(Value::Object(parent)) => {
            _ = Map::remove(parent, &name.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(parent)) => {
            if let Some(at) = name.parse().ok().filter(|at| *at < parent.len()) {
                let _gone: Value = Vec::remove(parent, at);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Kind, Mutation, Outcome, came_through, mutations, names};

    fn mutation(place: &str) -> Mutation {
        let value = json!({ "tools": [{ "name": 7 }, { "name": "b" }], "size": 1 });
        Mutation { kind: Kind::Retyped, place: place.to_owned(), value }
    }

    #[test]
    fn losses_elsewhere_are_found() {
        let mutation = mutation("/tools/0/name");
        let said = "DecodeError { pointer: \"/0/name\", expected";
        let set_aside = json!({ "tools": [{ "name": "b" }], "size": 1 });
        assert_eq!(came_through(&mutation, &mutation.value, ""), Ok(Outcome::Kept));
        assert_eq!(came_through(&mutation, &set_aside, said), Ok(Outcome::SetAside));
        // Without an error, with an error elsewhere, or with more than the element lost.
        assert!(came_through(&mutation, &set_aside, "").is_err());
        assert!(came_through(&mutation, &set_aside, "DecodeError { pointer: \"/1/name\"").is_err());
        assert!(came_through(&mutation, &json!({ "tools": [{ "name": "b" }] }), said).is_err());
        assert!(came_through(&mutation, &json!({ "tools": [], "size": 1 }), said).is_err());
        let changed = json!({ "tools": [{ "name": "7" }, { "name": "b" }], "size": 1 });
        assert!(came_through(&mutation, &changed, "").is_err());
    }

    #[test]
    fn an_error_covers_its_place_and_its_parent() {
        for pointer in ["/tools/0/name", "/tools/0", "/tools", "/tools/0/name/deeper"] {
            assert!(names(pointer, "/tools/0/name"), "{pointer}");
        }
        for pointer in ["", "/tools/1", "/tool", "/tools/0/nam"] {
            assert!(!names(pointer, "/tools/0/name"), "{pointer}");
        }
    }

    #[test]
    fn every_place_gets_every_defect() {
        let all = mutations(&json!({ "a": ["x"] }));
        let count = |kind| all.iter().filter(|mutation| mutation.kind == kind).count();
        assert_eq!(count(Kind::Null), 3);
        assert_eq!(count(Kind::Retyped), 9);
        assert_eq!(count(Kind::Removed), 2);
        assert_eq!(count(Kind::Unknown), 1);
        assert_eq!(count(Kind::Added), 1);
    }
}
