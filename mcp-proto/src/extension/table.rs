//! The extensions that one side declares, with their methods by name.

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Extension, ExtensionError, ExtensionMethod};
use crate::collections::SortedMap;
use crate::method::MethodId;
use crate::revision::Revision;
use crate::schema::{Capabilities, Meta};

/// The declared extensions of one side. Clones share one table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extensions(Option<Arc<Table>>);

#[derive(Clone, Debug, Default)]
struct Table {
    all: Vec<Extension>,
    /// The indices of the extension and of the method, by name.
    methods: SortedMap<Box<str>, (usize, usize)>,
}

/// The listen keys of the protocol.
const LISTEN_KEYS: &[&str] =
    &["toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"];

impl Extensions {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn all(&self) -> &[Extension] {
        self.0.as_deref().map_or(&[], |table| &table.all)
    }

    /// Returns the method called `name` and its extension.
    fn find(&self, name: &str) -> Option<(&Extension, &ExtensionMethod)> {
        let table = self.0.as_deref()?;
        let (extension, method) = table.methods.get(name)?;
        let extension = table.all.get(*extension)?;
        Some((extension, extension.methods.get(*method)?))
    }

    /// Adds an extension.
    ///
    /// # Errors
    /// Fails if the extension is invalid or contradicts the protocol or another extension.
    pub(crate) fn add(&mut self, extension: Extension) -> Result<(), ExtensionError> {
        if let Err(why) = self.check(&extension) {
            return Err(ExtensionError { id: extension.id, why });
        }
        let table = Arc::make_mut(self.0.get_or_insert_default());
        let index = table.all.len();
        for (place, method) in extension.methods.iter().enumerate() {
            table.methods.insert(method.name.clone(), (index, place));
        }
        table.all.push(extension);
        Ok(())
    }

    /// Returns why an extension cannot be added.
    fn check(&self, new: &Extension) -> Result<(), Box<str>> {
        // CAP-17: extension ids have a prefix.
        if !Meta::is_key(&new.id) || !new.id.contains('/') {
            return Err("the identifier needs a prefix, as in `com.example/name`".into());
        }
        if self.all().iter().any(|other| other.id == new.id) {
            return Err("the extension is already declared".into());
        }
        if !new.settings.is_object() {
            return Err("the settings must be a JSON object".into());
        }
        if self.all().len() >= Extension::COUNT_MAX {
            return Err(format!("only {} extensions can be declared", Extension::COUNT_MAX).into());
        }
        let rows = new.methods.len().max(new.result_types.len()).max(new.listen_keys.len());
        if rows > Extension::ROWS_MAX {
            return Err(format!("an extension has at most {} rows", Extension::ROWS_MAX).into());
        }
        for (index, method) in new.methods.iter().enumerate() {
            let earlier = new.methods.iter().take(index);
            self.check_method(new, method, earlier.map(|other| &*other.name))?;
        }
        for (method, result_type) in &new.result_types {
            let is_own = new.methods.iter().any(|own| own.is_request && own.name == *method);
            if !is_own && !MethodId::from_name(method).is_some_and(MethodId::is_request) {
                return Err(format!("result type of {method:?}, which is no request").into());
            }
            if matches!(&**result_type, "" | "complete" | "input_required") {
                return Err(format!("the protocol defines result type {result_type:?}").into());
            }
        }
        for (index, key) in new.listen_keys.iter().enumerate() {
            let others = self.all().iter().flat_map(|other| &other.listen_keys);
            let mut taken = others.chain(new.listen_keys.iter().take(index)).map(|other| &**other);
            if LISTEN_KEYS.contains(&&**key) || taken.any(|other| other == &**key) {
                return Err(format!("listen key {key:?} is already defined").into());
            }
        }
        Ok(())
    }

    /// Returns why an extension cannot have a method.
    fn check_method<'a>(
        &self,
        extension: &Extension,
        method: &ExtensionMethod,
        mut earlier: impl Iterator<Item = &'a str>,
    ) -> Result<(), Box<str>> {
        let name = &*method.name;
        // JSON-RPC reserves the prefix.
        if name.is_empty() || name.starts_with("rpc.") {
            return Err(format!("invalid method name {name:?}").into());
        }
        if self.find(name).is_some() || earlier.any(|other| other == name) {
            return Err(format!("method {name:?} is already declared").into());
        }
        let is_defined = |revision: Revision| {
            MethodId::from_name(name).is_some_and(|id| id.rule(revision).is_some())
        };
        let mut revisions = Revision::ALL.into_iter().filter(|it| extension.is_in(*it));
        if revisions.any(is_defined) {
            return Err(format!("the protocol defines method {name:?}").into());
        }
        Ok(())
    }

    /// Returns whether an extension defines the method in any revision.
    pub(crate) fn defines(&self, method: &str) -> bool {
        self.find(method).is_some()
    }

    /// Returns the extensions that exist in `revision`.
    pub(crate) fn of(&self, revision: Revision) -> impl Iterator<Item = &Extension> {
        self.all().iter().filter(move |extension| extension.is_in(revision))
    }

    /// Returns the method called `name` and its extension, if it exists in `revision`.
    pub(crate) fn method(
        &self,
        name: &str,
        revision: Revision,
    ) -> Option<(&Extension, &ExtensionMethod)> {
        self.find(name).filter(|(extension, _)| extension.is_in(revision))
    }

    /// Returns the listen keys in `revision`, each with its extension.
    pub(crate) fn listen_keys(
        &self,
        revision: Revision,
    ) -> impl Iterator<Item = (&Extension, &str)> {
        self.of(revision)
            .flat_map(|extension| extension.listen_keys.iter().map(move |key| (extension, &**key)))
    }

    /// Returns whether a peer with the capabilities `theirs` shares the extension of a listen key.
    pub(crate) fn shares_listen_key(
        &self,
        key: &str,
        revision: Revision,
        theirs: &Capabilities,
    ) -> bool {
        self.listen_keys(revision).any(|(it, own)| own == key && it.is_declared_in(theirs))
    }

    /// Returns the member of the params that the HTTP header `Mcp-Name` repeats.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "used only by HTTP"))]
    pub(crate) fn named_by(&self, method: &str) -> Option<&str> {
        self.find(method)?.1.named_by.as_deref()
    }

    /// Returns whether results of `method` can have a type of an extension.
    pub(crate) fn has_result_types(&self, method: &str) -> bool {
        self.all().iter().any(|it| it.result_types.iter().any(|(name, _)| **name == *method))
    }

    /// Returns whether a peer with the capabilities `theirs` shares an extension in which results
    /// of `method` can have the type `result_type`.
    // LIF-34, STL-48: only with an extension of both sides.
    pub(crate) fn shares_result_type(
        &self,
        method: &str,
        result_type: &str,
        revision: Revision,
        theirs: &Capabilities,
    ) -> bool {
        self.of(revision).any(|extension| {
            let is_it = |(of, it): &(Box<str>, Box<str>)| **of == *method && **it == *result_type;
            extension.result_types.iter().any(is_it) && extension.is_declared_in(theirs)
        })
    }
}

impl Extension {
    fn is_in(&self, revision: Revision) -> bool {
        revision.is_in(&self.revisions)
    }

    /// Returns whether a peer with the capabilities `theirs` declared the extension.
    pub(crate) fn is_declared_in(&self, theirs: &Capabilities) -> bool {
        theirs.extension(&self.id).is_some()
    }

    /// Returns `base` with the declaration of this extension.
    pub(crate) fn declare(&self, base: Capabilities) -> Capabilities {
        base.with_extension(&self.id, self.settings.clone())
    }
}
