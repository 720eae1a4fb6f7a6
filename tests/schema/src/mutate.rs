//! Values with one thing wrong in them, and what must become of them; knows nothing of types.

use serde_json::{Map, Value, json};

use crate::compare::{child, difference};

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// What was done.
    pub kind: Kind,
    /// Where, as a JSON pointer.
    pub place: String,
    /// What came of it.
    pub value: Value,
}

/// What can be done to a value.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// The member or element is not there.
    Removed,
    /// It has another type.
    Retyped,
    /// It is a word that nobody knows.
    Unknown,
    /// It is `null`.
    Null,
    /// The object has one more member.
    Added,
}

/// Every way of doing one thing wrong to `value`.
#[must_use]
pub fn mutations(value: &Value) -> Vec<Mutation> {
    let mut places = Vec::new();
    collect(value, String::new(), &mut places);
    let mut all = Vec::new();
    for place in places {
        let old = value.pointer(&place).expect("it was found there");
        let mut put = |kind, new: Value| {
            let mut value = value.clone();
            *value.pointer_mut(&place).expect("it was found there") = new;
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
            let less = match value.pointer(parent).expect("it has a parent") {
                Value::Array(elements) => {
                    let mut elements = elements.clone();
                    elements.remove(name.parse().expect("an index"));
                    // What comes after moves up: the list itself is the place.
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
    *value.pointer_mut(place).expect("it was found there") = new;
    value
}

/// How a value with something wrong in it came through.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Outcome {
    /// All of it is still there, what is wrong as well.
    Kept,
    /// All of it is still there but for what is wrong, in whose place stands a default.
    Defaulted,
    /// The element of a list, or value of a map, that it is in was set aside, with an error that
    /// says where.
    SetAside,
    /// It was refused, with an error that says where.
    Refused,
}

/// Members that are written whatever was read.
const STAMPED: &[&str] = &["/cacheScope", "/resultType", "/ttlMs"];

/// Members that say what an object is: one that is only looked for where it can be but one thing
/// need not say so.
const TAGS: &[&str] = &["/mode", "/type"];

/// Whether an error at `pointer` says that something is wrong at `place`: there, in it, or in what
/// it is directly in.
#[must_use]
pub fn names(pointer: &str, place: &str) -> bool {
    let is_in = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
    };
    pointer == place || is_in(pointer, place) || (!pointer.is_empty() && is_in(place, pointer))
}

/// What became of `mutation`, of which `written` is what a type wrote again and `debug` how it
/// shows itself.
///
/// # Errors
/// What is lost that should not be.
pub fn came_through(mutation: &Mutation, written: &Value, debug: &str) -> Result<Outcome, String> {
    let Some(first) = difference(&mutation.value, written) else { return Ok(Outcome::Kept) };
    // In its place another value may stand; nothing else may differ.
    if let Some(own) = written.pointer(&mutation.place) {
        let mut expected = mutation.value.clone();
        put(&mut expected, &mutation.place, own.clone());
        let is_removed = mutation.kind == Kind::Removed;
        let stamped = STAMPED.iter().chain(TAGS.iter().filter(|_| is_removed));
        let is_stamped = stamped.into_iter().any(|name| mutation.place.ends_with(name));
        if difference(&expected, written).is_none() {
            let said = broken(debug).next().is_some();
            return match (is_stamped, said) {
                (true, _) => Ok(Outcome::Defaulted),
                (false, true) => Ok(Outcome::SetAside),
                (false, false) => Err(format!("is lost in silence: {first}")),
            };
        }
    }
    // Or the element of a list that it is in is gone, and the error says so.
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

/// The pointers of what was set aside, in the debug output of a type.
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
            _ = Map::remove(parent, &name.replace("~1", "/").replace("~0", "~"))
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
    fn what_is_lost_beside_the_place_is_found() {
        let mutation = mutation("/tools/0/name");
        let said = "DecodeError { pointer: \"/0/name\", expected";
        let set_aside = json!({ "tools": [{ "name": "b" }], "size": 1 });
        assert_eq!(came_through(&mutation, &mutation.value, ""), Ok(Outcome::Kept));
        assert_eq!(came_through(&mutation, &set_aside, said), Ok(Outcome::SetAside));
        // Without a word, or with a word on another place, or with more than the element.
        assert!(came_through(&mutation, &set_aside, "").is_err());
        assert!(came_through(&mutation, &set_aside, "DecodeError { pointer: \"/1/name\"").is_err());
        assert!(came_through(&mutation, &json!({ "tools": [{ "name": "b" }] }), said).is_err());
        assert!(came_through(&mutation, &json!({ "tools": [], "size": 1 }), said).is_err());
        let changed = json!({ "tools": [{ "name": "7" }, { "name": "b" }], "size": 1 });
        assert!(came_through(&mutation, &changed, "").is_err());
    }

    #[test]
    fn an_error_names_its_place_or_what_the_place_is_in() {
        for pointer in ["/tools/0/name", "/tools/0", "/tools", "/tools/0/name/deeper"] {
            assert!(names(pointer, "/tools/0/name"), "{pointer}");
        }
        for pointer in ["", "/tools/1", "/tool", "/tools/0/nam"] {
            assert!(!names(pointer, "/tools/0/name"), "{pointer}");
        }
    }

    #[test]
    fn every_place_is_made_wrong_in_every_way() {
        let all = mutations(&json!({ "a": ["x"] }));
        let count = |kind| all.iter().filter(|mutation| mutation.kind == kind).count();
        assert_eq!(count(Kind::Null), 3);
        assert_eq!(count(Kind::Retyped), 9);
        assert_eq!(count(Kind::Removed), 2);
        assert_eq!(count(Kind::Unknown), 1);
        assert_eq!(count(Kind::Added), 1);
    }
}
