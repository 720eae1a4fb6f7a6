//! What must hold of one value of one definition, whatever type holds it.

use mcp_proto::Revision;
use serde_json::Value;

use crate::codec::{Written, write};
use crate::compare::difference;
use crate::generate::Generator;
use crate::random::Random;
use crate::registry::{Cover, Part, is_same_kind, name_in};
use crate::spec::Spec;
use crate::strict::with_envelope_of;

/// Reads the part of `whole` that a type holds and writes it for the revision of `spec`: nothing is
/// lost, nothing is added, and the schema agrees.
///
/// # Errors
/// What does not hold.
pub fn round_trip(
    spec: &Spec,
    name: &str,
    part: Part,
    whole: &Value,
    text: &str,
) -> Result<(), String> {
    let typed = part.codec.read(text).map_err(|error| format!("is not read: {error}"))?;
    let written = match write(&*typed, spec.revision)? {
        Written::As(written) => written,
        Written::Not => return Err(format!("cannot be written: {typed:?}")),
    };
    if let Some(difference) = difference(&part.of(whole), &written) {
        return Err(format!("was changed: {difference}"));
    }
    let again = part.put(whole, written);
    spec.validate(name, &again)
        .map_err(|error| format!("is written as the schema does not allow: {error}"))
}

/// What became of a value that was written for an older revision.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Older {
    /// It is as the older schema says.
    Fits,
    /// The older revision has no such definition.
    Unknown,
    /// It was not written.
    Unencodable,
}

/// Reads the part of `whole`, which is of the revision of `spec`, and writes it for the revision of
/// `older`.
///
/// # Errors
/// When what is written is not as the schema of `older` says, or has members that `strict`, its
/// narrower form, does not name.
pub fn down(
    spec: &Spec,
    older: &Spec,
    strict: &Spec,
    name: &str,
    part: Part,
    whole: &Value,
) -> Result<Older, String> {
    let name =
        name_in(older, name).filter(|name| is_same_kind(spec.revision, older.revision, name));
    let Some(name) = name else { return Ok(Older::Unknown) };
    let text = part.of(whole).to_string();
    let typed = part.codec.read(&text).map_err(|error| format!("is not read: {error}"))?;
    let Written::As(written) = write(&*typed, older.revision)? else {
        return Ok(Older::Unencodable);
    };
    let whole = with_envelope_of(older, name, &part.put(whole, written.clone()));
    let allowed = older.validate(name, &whole).and_then(|()| strict.validate(name, &whole));
    let say = |error| format!("is not as {} says: {error}\n  as {written}", older.revision);
    allowed.map(|()| Older::Fits).map_err(say)
}

/// Values of a definition, the same ones every time, each with a generator to write it with.
pub fn instances<'a>(
    spec: &'a Spec,
    name: &'a str,
    count: u64,
) -> impl Iterator<Item = (Value, Generator<'a>)> {
    made(spec, name, count, false)
}

/// The same, of which the schema names every member.
pub fn closed_instances<'a>(
    spec: &'a Spec,
    name: &'a str,
    count: u64,
) -> impl Iterator<Item = (Value, Generator<'a>)> {
    made(spec, name, count, true)
}

fn made<'a>(
    spec: &'a Spec,
    name: &'a str,
    count: u64,
    is_closed: bool,
) -> impl Iterator<Item = (Value, Generator<'a>)> {
    (0..count).map(move |index| {
        let seed = format!("{}/{name}", spec.revision);
        let generator = Generator::new(spec, Random::new(&seed, index));
        let mut generator = if is_closed { generator.closed() } else { generator };
        (generator.definition(name), generator)
    })
}

/// The definitions of `spec` that a type holds a part of, with how.
pub fn held(spec: &Spec) -> impl Iterator<Item = (&str, Cover)> {
    let all = spec.definitions().map(|(name, _)| (name, crate::registry::cover(spec, name)));
    all.filter(|(_, cover)| {
        matches!(cover, Cover::Type(_) | Cover::Message(..) | Cover::Response(_))
    })
}

/// More would hide what is wrong.
const KINDS_SHOWN_MAX: usize = 25;

/// The failures of a run, a few of each kind: enough to see what is wrong.
#[derive(Debug, Default)]
pub struct Failures(std::collections::BTreeMap<String, (usize, String)>);

impl Failures {
    /// Notes that `value` of the definition `name` failed.
    pub fn add(&mut self, revision: Revision, name: &str, why: &str, value: &Value) {
        let shape: String = why.chars().take_while(|c| *c != ':').collect();
        let entry = self.0.entry(format!("{revision} {name}: {shape}"));
        let (count, _) =
            entry.or_insert_with(|| (0, format!("{revision} {name} {why}\n  of {value}")));
        *count += 1;
    }

    /// Stops with all of them, if there are any.
    ///
    /// # Panics
    /// If there are any.
    pub fn finish(self) {
        let kinds = self.0.len();
        let first = self.0.into_values().take(KINDS_SHOWN_MAX);
        let first: Vec<String> =
            first.map(|(count, first)| format!("{count} times: {first}")).collect();
        assert!(kinds == 0, "{kinds} kinds of failures, among them\n{}", first.join("\n"));
    }
}
