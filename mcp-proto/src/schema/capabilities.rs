//! Capabilities of a client or server: a bit set of the known ones, and the declaration as JSON.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::decode::{Decode, DecodeError, Encode};
use super::members::ExtraMembers;
use super::meta::Meta;
use super::serde_impls::serde_impls;
use crate::error::Unencodable;
use crate::json::{JsonReader, Kind, Object, Raw, find, members};
use crate::revision::{CAPABILITIES, Capability, CapabilityRule, Revision, Side};

/// The capabilities of a client or a server.
///
/// A capability is declared if its JSON member is present and neither `false` nor `null`; the usual
/// value is `{}`. [`Capabilities::raw`] also contains members that no revision defines.
///
/// ```
/// use mcp_proto::schema::Capabilities;
/// use mcp_proto::Capability;
///
/// let capabilities = Capabilities::none().with(Capability::ToolsListChanged);
/// assert!(capabilities.has(Capability::Tools)); // added with `ToolsListChanged`
/// assert!(!capabilities.has(Capability::Prompts));
/// ```
// T-41: presence declares. CAP-18: unknown capabilities are ignored.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Capabilities {
    known: u64,
    /// The declaration as received from the peer.
    raw: Option<Raw>,
    /// Boxed: a peer has no such members outside of `raw`.
    own: Option<Box<OwnMembers>>,
}

/// The open parts of capabilities that were built locally.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct OwnMembers {
    experimental: Option<Raw>,
    extensions: ExtraMembers,
}

impl Capabilities {
    /// Creates an empty set of capabilities.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds `capability` and every capability that it is a part of.
    ///
    /// For example, [`ToolsListChanged`](Capability::ToolsListChanged) is a part of
    /// [`Tools`](Capability::Tools), so adding the former also adds the latter.
    #[must_use]
    pub fn with(mut self, capability: Capability) -> Self {
        for whole in CAPABILITIES.iter().filter(|rule| rule.capability == capability) {
            for part in CAPABILITIES.iter().filter(|rule| whole.path.starts_with(rule.path)) {
                self.known |= bit(part.capability);
            }
        }
        self
    }

    /// Removes `capability`, which must have no parts.
    #[cfg(feature = "http")]
    pub(crate) fn without(mut self, capability: Capability) -> Self {
        self.known &= !bit(capability);
        self
    }

    /// Sets the `experimental` member. A value that is not an object removes the member.
    #[must_use]
    pub fn with_experimental(mut self, experimental: impl Into<Raw>) -> Self {
        let experimental = Some(experimental.into()).filter(Raw::is_object);
        if experimental.is_some() || self.own.is_some() {
            self.own.get_or_insert_default().experimental = experimental;
        }
        self
    }

    /// Adds the extension named `id` with its `settings`, a JSON object.
    ///
    /// `id` must be a valid name with a prefix, such as `com.example/name`, and `settings` must be
    /// an object; otherwise the call has no effect. The extension is declared in every revision.
    /// To add methods or result types as well, declare an [`Extension`](crate::Extension).
    // CAP-17: extension ids have a prefix.
    #[must_use]
    pub fn with_extension(mut self, id: &str, settings: impl Into<Raw>) -> Self {
        let settings = settings.into();
        if Meta::is_key(id) && id.contains('/') && settings.is_object() {
            self.own.get_or_insert_default().extensions.set(id, settings);
        }
        self
    }

    /// Returns the settings of extension `id`, or `None` if it is not declared.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<Raw> {
        match &self.raw {
            Some(raw) => raw
                .member("extensions")?
                .member(id)
                .filter(|settings| is_declaring(settings.as_bytes())),
            None => self.own.as_ref()?.extensions.get(id).cloned(),
        }
    }

    /// Returns the open parts of capabilities that were built locally: the experimental features
    /// and the extensions.
    pub(crate) fn own_members(&self) -> (Option<&Raw>, Option<&ExtraMembers>) {
        let own = self.own.as_deref();
        let extensions = own.map(|own| &own.extensions).filter(|all| !all.is_empty());
        (own.and_then(|own| own.experimental.as_ref()), extensions)
    }

    /// Returns whether all of `others` are declared.
    pub(crate) const fn has_all(&self, others: &Self) -> bool {
        self.known & others.known == others.known
    }

    /// Returns whether `capability` is declared.
    ///
    /// On decoded capabilities, always returns `false`: call this method on the result of
    /// [`reinterpret`](Self::reinterpret) instead.
    #[must_use]
    pub const fn has(&self, capability: Capability) -> bool {
        self.known & bit(capability) != 0
    }

    /// Returns the JSON received from the peer, or `None` for capabilities built locally.
    #[must_use]
    pub const fn raw(&self) -> Option<&Raw> {
        self.raw.as_ref()
    }

    /// Parses the capabilities that `side` declared under `revision`.
    ///
    /// If `raw` is not an object, no capability is declared.
    #[must_use]
    pub fn declared(raw: Raw, side: Side, revision: Revision) -> Self {
        let mut known = 0;
        for rule in recognized_rules(side, revision) {
            let mut at = Some(raw.as_bytes());
            for name in rule.path {
                at = at.and_then(|object| find(object, name)).filter(|value| is_declaring(value));
            }
            if at.is_some() {
                known |= bit(rule.capability);
            }
        }
        // CAP-08, T-43: `elicitation` without modes means forms.
        let elicitation = find(raw.as_bytes(), "elicitation").filter(|value| is_declaring(value));
        let modeless = elicitation.is_some_and(|value| {
            !members(value).any(|(_, mode)| is_declaring(mode))
                || !revision.rules().elicitation_modes
        });
        let forms = bit(Capability::ElicitationForm);
        if modeless && recognized_rules(side, revision).any(|rule| bit(rule.capability) == forms) {
            known |= forms;
        }
        Self { known, raw: Some(raw), own: None }
    }

    /// Interprets decoded capabilities as those that `side` declared under `revision`.
    ///
    /// Call [`has`](Self::has) on the returned capabilities. On decoded capabilities, `has` always
    /// returns `false`, because the meaning of their JSON depends on the side and the revision.
    /// Capabilities built locally are returned unchanged.
    #[must_use]
    pub fn reinterpret(&self, side: Side, revision: Revision) -> Self {
        match &self.raw {
            Some(raw) => Self::declared(raw.clone(), side, revision),
            None => self.clone(),
        }
    }

    /// Returns whether `side` declares `capability` in a handshake of `revision`.
    pub(crate) fn declares_to(
        &self,
        capability: Capability,
        side: Side,
        revision: Revision,
    ) -> bool {
        // The name first: it is tested for each request, and rarely fits.
        self.has(capability)
            && CAPABILITIES
                .iter()
                .any(|rule| rule.capability == capability && rule.is_declared(side, revision))
    }

    /// Writes the object that declares these capabilities to a peer of `revision`.
    pub(crate) fn write(&self, out: &mut Vec<u8>, side: Side, revision: Revision) {
        self.write_rules(out, declared_rules(side, revision), revision);
    }

    /// Writes the object that a peer of `revision` would have to declare.
    // CAP-15: the error names the missing capabilities.
    pub(crate) fn write_required(&self, out: &mut Vec<u8>, side: Side, revision: Revision) {
        self.write_rules(out, recognized_rules(side, revision), revision);
    }

    fn write_rules(
        &self,
        out: &mut Vec<u8>,
        rules: impl Iterator<Item = &'static CapabilityRule>,
        revision: Revision,
    ) {
        let declared: Vec<&CapabilityRule> =
            rules.filter(|rule| self.has(rule.capability)).collect();
        let mut object = Object::begin(out);
        let own = self.own.as_deref();
        if let Some(experimental) = own.and_then(|own| own.experimental.as_ref()) {
            object.raw("experimental", experimental.as_bytes());
        }
        write_level(&mut object, &declared, 0, revision);
        // SEP-2133: also in `initialize`, whose capabilities are an open set.
        if let Some(own) = own.filter(|own| !own.extensions.is_empty()) {
            let mut extensions = Object::begin(object.key("extensions"));
            own.extensions.write(&mut extensions, |_| false);
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
        // A capability without parts at this depth comes first in its group.
        let parts =
            group.iter().position(|rule| rule.path.len() > depth + 1).unwrap_or(group.len());
        let flat = *name == "elicitation" && !revision.rules().elicitation_modes;
        if !flat {
            write_level(&mut inner, group.get(parts..).unwrap_or_default(), depth + 1, revision);
        }
        inner.end();
    }
}

/// Returns the capabilities that count if a peer of `revision` declares them.
fn recognized_rules(
    side: Side,
    revision: Revision,
) -> impl Iterator<Item = &'static CapabilityRule> {
    CAPABILITIES.iter().filter(move |rule| {
        rule.side == side && rule.accepted_since <= revision && revision <= rule.until
    })
}

fn declared_rules(side: Side, revision: Revision) -> impl Iterator<Item = &'static CapabilityRule> {
    CAPABILITIES.iter().filter(move |rule| rule.is_declared(side, revision))
}

const fn bit(capability: Capability) -> u64 {
    1 << capability as u64
}

fn is_declaring(value: &[u8]) -> bool {
    !matches!(value, b"false" | b"null")
}

/// Keeps the object as text, because its meaning depends on the side and the revision.
///
/// [`Capabilities::has`] returns `false` until [`Capabilities::reinterpret`] is called.
impl Decode for Capabilities {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        if reader.kind() == Some(Kind::Object) {
            Ok(Self { raw: Some(reader.raw()), ..Self::default() })
        } else {
            Err(DecodeError::expected("an object", reader))
        }
    }
}

serde_impls!(Capabilities);

/// Writes a received declaration verbatim, and other capabilities as `revision` defines them.
impl Encode for Capabilities {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match &self.raw {
            Some(raw) => return raw.encode(revision, out),
            None => {
                // Only tasks exist on both sides.
                let of_client = |capability| {
                    declared_rules(Side::Client, revision).any(|rule| rule.capability == capability)
                };
                let of_server = declared_rules(Side::Server, revision)
                    .any(|rule| self.has(rule.capability) && !of_client(rule.capability));
                self.write(out, if of_server { Side::Server } else { Side::Client }, revision);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
