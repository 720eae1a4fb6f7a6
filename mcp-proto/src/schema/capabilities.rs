//! What one side declares it can do: a set of known capabilities, and whatever else a peer
//! declared, as text.

use alloc::vec::Vec;

use super::decode::{Decode, DecodeError, Encode};
use super::meta::Meta;
use super::open::Members;
use crate::error::Unencodable;
use crate::json::{Kind, Object, Raw, Reader, find, members};
use crate::revision::{CAPABILITIES, Capability, CapabilityRule, Revision, Side};

/// The capabilities of one side.
///
/// Presence counts, not truth: `{}` and `true` declare a capability; `false`, `null` and absence do
/// not (T-41, CAP-18). Members that no revision defines are kept and can be read from
/// [`Capabilities::raw`].
///
/// ```
/// use mcp_proto::schema::Capabilities;
/// use mcp_proto::Capability;
///
/// let capabilities = Capabilities::none().with(Capability::ToolsListChanged);
/// assert!(capabilities.has(Capability::Tools)); // a part declares the whole
/// assert!(!capabilities.has(Capability::Prompts));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Capabilities {
    known: u64,
    raw: Option<Raw>,
    experimental: Option<Raw>,
    extensions: Members,
}

impl Capabilities {
    /// No capability at all.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// These capabilities and one more, along with what it is a part of.
    #[must_use]
    pub fn with(mut self, capability: Capability) -> Self {
        for whole in CAPABILITIES.iter().filter(|rule| rule.capability == capability) {
            for part in CAPABILITIES.iter().filter(|rule| whole.path.starts_with(rule.path)) {
                self.known |= bit(part.capability);
            }
        }
        self
    }

    /// These capabilities with an `experimental` member, which must be an object.
    #[must_use]
    pub fn with_experimental(mut self, experimental: Raw) -> Self {
        self.experimental = experimental.is_object().then_some(experimental);
        self
    }

    /// These capabilities with the extension `id`, for peers of a revision that has extensions;
    /// `settings` is an object. An id without a prefix is none, and is not declared. (since
    /// 2026-07-28, CAP-17)
    #[must_use]
    pub fn with_extension(mut self, id: &str, settings: Raw) -> Self {
        if Meta::is_key(id) && id.contains('/') && settings.is_object() {
            self.extensions.set(id, settings);
        }
        self
    }

    /// The settings of the extension `id`, if it is declared. (since 2026-07-28)
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<Raw> {
        match &self.raw {
            Some(raw) => raw
                .member("extensions")?
                .member(id)
                .filter(|settings| declares(settings.as_bytes())),
            None => self.extensions.find(id).cloned(),
        }
    }

    /// Whether we declare an extension that the peer of these capabilities declared too. (LIF-34,
    /// STL-48)
    pub(crate) fn shares_extension(&self, ours: &Self) -> bool {
        ours.extensions.iter().any(|(id, _)| self.extension(id).is_some())
    }

    /// Whether all of `others` are declared.
    pub(crate) const fn has_all(&self, others: &Self) -> bool {
        self.known & others.known == others.known
    }

    /// Whether `capability` is declared.
    #[must_use]
    pub const fn has(&self, capability: Capability) -> bool {
        self.known & bit(capability) != 0
    }

    /// What a peer declared, as it came; `None` for our own.
    #[must_use]
    pub const fn raw(&self) -> Option<&Raw> {
        self.raw.as_ref()
    }

    /// Reads what `side` declared under `revision`; anything but an object declares nothing.
    #[must_use]
    pub fn declared(raw: &Raw, side: Side, revision: Revision) -> Self {
        let mut known = 0;
        for rule in heard(side, revision) {
            let mut at = Some(raw.as_bytes());
            for name in rule.path {
                at = at.and_then(|object| find(object, name)).filter(|value| declares(value));
            }
            if at.is_some() {
                known |= bit(rule.capability);
            }
        }
        // `elicitation` without modes means forms. (CAP-08, T-43)
        let elicitation = find(raw.as_bytes(), "elicitation").filter(|value| declares(value));
        let modeless = elicitation.is_some_and(|value| {
            !members(value).any(|(_, mode)| declares(mode)) || !revision.rules().elicitation_modes
        });
        let forms = bit(Capability::ElicitationForm);
        if modeless && heard(side, revision).any(|rule| bit(rule.capability) == forms) {
            known |= forms;
        }
        Self { known, raw: Some(raw.clone()), ..Self::default() }
    }

    /// These capabilities, read as what `side` declared under `revision`, if they came from a peer.
    #[must_use]
    pub fn seen_from(&self, side: Side, revision: Revision) -> Self {
        self.raw.as_ref().map_or_else(|| self.clone(), |raw| Self::declared(raw, side, revision))
    }

    /// Whether `side` says that it has `capability` when it speaks first, in `revision`.
    pub(crate) fn says(&self, capability: Capability, side: Side, revision: Revision) -> bool {
        self.has(capability) && rules(side, revision).any(|rule| rule.capability == capability)
    }

    /// Writes the object that declares these capabilities to a peer of `revision`.
    pub(crate) fn write(&self, out: &mut Vec<u8>, side: Side, revision: Revision) {
        self.write_those(out, rules(side, revision), revision);
    }

    /// Writes the object that a peer of `revision` would have had to declare. (CAP-15)
    pub(crate) fn write_needed(&self, out: &mut Vec<u8>, side: Side, revision: Revision) {
        self.write_those(out, heard(side, revision), revision);
    }

    fn write_those(
        &self,
        out: &mut Vec<u8>,
        those: impl Iterator<Item = &'static CapabilityRule>,
        revision: Revision,
    ) {
        let declared: Vec<&CapabilityRule> =
            those.filter(|rule| self.has(rule.capability)).collect();
        let mut object = Object::begin(out);
        if let Some(experimental) = &self.experimental {
            object.raw("experimental", experimental.as_bytes());
        }
        write_level(&mut object, &declared, 0, revision);
        if revision.rules().extensions && !self.extensions.is_empty() {
            let mut extensions = Object::begin(object.key("extensions"));
            self.extensions.write(&mut extensions, |_| false);
            extensions.end();
        }
        object.end();
    }
}

fn write_level(
    object: &mut Object<'_>,
    mut rules: &[&CapabilityRule],
    depth: usize,
    revision: Revision,
) {
    while let Some(name) = rules.first().and_then(|rule| rule.path.get(depth)) {
        let same = rules.iter().take_while(|rule| rule.path.get(depth) == Some(name)).count();
        let (group, rest) = rules.split_at(same);
        rules = rest;
        let is_flag = group.iter().any(|rule| rule.flag && rule.path.len() == depth + 1);
        if is_flag {
            object.bool(name, true);
            continue;
        }
        let mut inner = Object::begin(object.key(name));
        // A whole that has no parts of its own here stands first in its group.
        let parts =
            group.iter().position(|rule| rule.path.len() > depth + 1).unwrap_or(group.len());
        let flat = *name == "elicitation" && !revision.rules().elicitation_modes;
        if !flat {
            write_level(&mut inner, group.get(parts..).unwrap_or_default(), depth + 1, revision);
        }
        inner.end();
    }
}

/// What counts when a peer of `revision` declares it.
fn heard(side: Side, revision: Revision) -> impl Iterator<Item = &'static CapabilityRule> {
    CAPABILITIES.iter().filter(move |rule| {
        rule.side == side && rule.accepted_since <= revision && revision <= rule.until
    })
}

fn rules(side: Side, revision: Revision) -> impl Iterator<Item = &'static CapabilityRule> {
    CAPABILITIES
        .iter()
        .filter(move |rule| rule.side == side && rule.since <= revision && revision <= rule.until)
}

const fn bit(capability: Capability) -> u64 {
    1 << capability as u64
}

fn declares(value: &[u8]) -> bool {
    !matches!(value, b"false" | b"null")
}

/// Keeps the object as text; which capabilities it declares depends on the side and the revision.
impl Decode for Capabilities {
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if reader.kind() == Some(Kind::Object) {
            Ok(Self { raw: Some(reader.raw()), ..Self::default() })
        } else {
            Err(DecodeError::expected("an object", reader))
        }
    }
}

/// What a peer declared is written as it came; what we declare, for our side of a peer of
/// `revision`.
impl Encode for Capabilities {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match &self.raw {
            Some(raw) => return raw.encode(revision, out),
            None => {
                // Tasks are on both sides; all else is on one.
                let of_client = |capability| {
                    rules(Side::Client, revision).any(|rule| rule.capability == capability)
                };
                let of_server = rules(Side::Server, revision)
                    .any(|rule| self.has(rule.capability) && !of_client(rule.capability));
                self.write(out, if of_server { Side::Server } else { Side::Client }, revision);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
