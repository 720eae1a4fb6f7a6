//! The properties that every value of every definition must have.

use mcp_proto::Revision;
use serde_json::Value;

use crate::codec::{Written, write};
use crate::compare::difference;
use crate::generate::Generator;
use crate::random::Random;
use crate::registry::{Cover, Part, is_same_kind, name_in};
use crate::spec::Spec;
use crate::strict::with_envelope_of;

/// Decodes the part of `whole` that a type holds and encodes it for the revision of `spec`: nothing
/// is lost, nothing is added, and the schema accepts it.
///
/// # Errors
///
/// The violated property.
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

/// The outcome of encoding a value for an older revision.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Older {
    /// The value conforms to the older schema.
    Fits,
    /// The older revision lacks the definition.
    Unknown,
    /// The value was not encoded.
    Unencodable,
}

/// Decodes the part of `whole`, which has the revision of `spec`, and encodes it for the revision
/// of `older`.
///
/// # Errors
///
/// If the output violates the schema of `older`, or has members that its closed form `strict` does
/// not name.
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

/// Generates deterministic values of a definition, each with a generator for its text.
pub fn instances<'a>(
    spec: &'a Spec,
    name: &'a str,
    count: u64,
) -> impl Iterator<Item = (Value, Generator<'a>)> {
    made(spec, name, count, false)
}

/// Like [`instances`], with no members that the schema does not name.
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

/// Returns the definitions of `spec` of which a type holds a part, with their coverage.
pub fn held(spec: &Spec) -> impl Iterator<Item = (&str, Cover)> {
    let all = spec.definitions().map(|(name, _)| (name, crate::registry::cover(spec, name)));
    all.filter(|(_, cover)| {
        matches!(cover, Cover::Type(_) | Cover::Message(..) | Cover::Response(_))
    })
}

/// The number of failures printed per kind.
const KINDS_SHOWN_MAX: usize = 25;

/// The failures of a run, limited to a few of each kind.
#[derive(Debug, Default)]
pub struct Failures(std::collections::BTreeMap<String, (usize, String)>);

impl Failures {
    /// Records that `value` of the definition `name` failed.
    pub fn add(&mut self, revision: Revision, name: &str, why: &str, value: &Value) {
        let shape: String = why.chars().take_while(|c| *c != ':').collect();
        let entry = self.0.entry(format!("{revision} {name}: {shape}"));
        let (count, _) =
            entry.or_insert_with(|| (0, format!("{revision} {name} {why}\n  of {value}")));
        *count += 1;
    }

    /// Ends the run.
    ///
    /// # Panics
    ///
    /// If there are failures.
    pub fn finish(self) {
        let kinds = self.0.len();
        let first = self.0.into_values().take(KINDS_SHOWN_MAX);
        let first: Vec<String> =
            first.map(|(count, first)| format!("{count} times: {first}")).collect();
        assert!(kinds == 0, "{kinds} kinds of failures, among them\n{}", first.join("\n"));
    }
}
