//! State that the handlers of a server share.

use std::any::{Any, TypeId};
use std::ops::Deref;
use std::sync::Arc;

use crate::server::handler::needs::NeededState;

/// State that the handlers of a server share, such as a database, as the parameter of a handler.
///
/// [`Server::state`](crate::Server::state) sets it. Dereferences to `S`. A parameter of type
/// `Arc<S>` receives it, too, as does the `self` of a method: `&self`, or `self: Arc<Self>` if the
/// method is `async`.
///
/// Handlers run concurrently: protect what they change with a lock.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::sync::{Arc, Mutex};
///
/// use mcp_tokio::{Server, State};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Default)]
/// struct Notes(Mutex<Vec<String>>);
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     text: String,
/// }
///
/// impl Notes {
///     fn add(&self, add: Add) {
///         self.0.lock().unwrap().push(add.text);
///     }
///
///     async fn list(self: Arc<Self>) -> String {
///         self.0.lock().unwrap().join("\n")
///     }
/// }
///
/// let server = Server::new("notes", "1.0.0")
///     .state(Notes::default())
///     .tool("add", "Adds a note", Notes::add)
///     .tool("list", "Lists all notes", Notes::list)
///     .tool("count", "Counts the notes", |State(notes): State<Notes>| {
///         notes.0.lock().unwrap().len()
///     });
/// # drop(server);
/// ```
pub struct State<S>(pub Arc<S>);

impl<S> Clone for State<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> Deref for State<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

// State may contain secrets.
opaque_debug!(State<S> [S]);

/// The states of a server, one of each type.
#[derive(Clone, Default)]
pub(crate) struct States(Vec<(TypeId, Arc<dyn Any + Send + Sync>)>);

impl States {
    /// Adds a state. Replaces an earlier one of that type.
    pub(crate) fn insert<S: Send + Sync + 'static>(&mut self, state: S) {
        let key = TypeId::of::<S>();
        self.0.retain(|(other, _)| *other != key);
        self.0.push((key, Arc::new(state)));
    }

    /// Returns the state of type `S`, which may have been set in an `Arc`.
    pub(crate) fn get<S: Send + Sync + 'static>(&self) -> Option<Arc<S>> {
        let found =
            self.find(TypeId::of::<S>()).and_then(|state| Arc::clone(state).downcast().ok());
        found.or_else(|| {
            let shared = self.find(TypeId::of::<Arc<S>>())?;
            shared.downcast_ref::<Arc<S>>().map(Arc::clone)
        })
    }

    /// Returns whether a handler that needs this state finds it.
    pub(crate) fn has(&self, needed: &NeededState) -> bool {
        needed.ids.iter().any(|id| self.find(*id).is_some())
    }

    fn find(&self, key: TypeId) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.0.iter().find(|(other, _)| *other == key).map(|(_, state)| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_found_by_its_type_also_in_an_arc() {
        let mut states = States::default();
        states.insert(1_u8);
        states.insert(Arc::new("text"));
        states.insert(2_u8);
        assert_eq!(states.get::<u8>().as_deref(), Some(&2));
        assert_eq!(states.get::<&str>().as_deref(), Some(&"text"));
        assert_eq!(states.get::<Arc<&str>>().as_deref().map(|it| **it), Some("text"));
        assert_eq!(states.get::<u16>(), None);
    }
}
