//! The extensions that one side declares, and which of their requests have handlers.

use mcp_proto::server::Config;
use mcp_proto::{Extension, ExtensionError, ExtensionMethod, Side};

/// The declared extensions of one side, the handled requests, and the first error so far.
#[derive(Clone, Default)]
pub(crate) struct DeclaredExtensions {
    all: Vec<Extension>,
    /// The requests of the extensions that have handlers.
    handled: Vec<&'static str>,
    /// The requests of no extension that have handlers.
    served: Vec<&'static str>,
    error: Option<String>,
}

impl DeclaredExtensions {
    /// Returns `config` with an extension that `declare` adds. [`check`](Self::check) reports the
    /// first error.
    pub(crate) fn declare<C: Clone>(
        &mut self,
        config: &C,
        extension: Extension,
        declare: impl FnOnce(C, Extension) -> Result<C, ExtensionError>,
    ) -> C {
        match declare(config.clone(), extension.clone()) {
            Ok(declared) => {
                self.all.push(extension);
                declared
            }
            Err(error) => {
                self.error.get_or_insert_with(|| error.to_string());
                config.clone()
            }
        }
    }

    /// Registers the handler of a request of an extension. A request has only one.
    pub(crate) fn handle(&mut self, method: &'static str) {
        self.refuse_second(method);
        self.handled.push(method);
    }

    /// Registers the handler of a request that belongs to no extension. A request has only one.
    pub(crate) fn serve(&mut self, method: &'static str) {
        self.refuse_second(method);
        self.served.push(method);
    }

    fn refuse_second(&mut self, method: &'static str) {
        if self.handled.contains(&method) || self.served.contains(&method) {
            self.error.get_or_insert_with(|| {
                format!("method {method:?} has two handlers; remove one of them")
            });
        }
    }

    /// Checks that each handler serves a request of a declared extension that `sender` sends, or a
    /// request that neither an extension nor the protocol defines.
    ///
    /// # Errors
    /// Fails with the first error of an extension or a handler.
    pub(crate) fn check(&self, sender: Side) -> Result<(), String> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let is_known = |method: &str| self.all.iter().any(|it| it.has_request(sender, method));
        if let Some(method) = self.handled.iter().find(|method| !is_known(method)) {
            return Err(format!(
                "method {method:?} has a handler, but no declared extension has such a request of \
                 the {sender:?}: declare the extension with `extension`"
            ));
        }
        if let Some(method) = self.served.iter().find(|method| is_known(method)) {
            return Err(format!(
                "method {method:?} belongs to a declared extension: add its handler without \
                 `without_extension`"
            ));
        }
        self.served.iter().try_for_each(|method| is_undefined(method))
    }
}

/// Fails if a method cannot be defined outside of the protocol.
fn is_undefined(method: &str) -> Result<(), String> {
    // An extension cannot have such a method, either.
    let probe =
        Extension::new("served/methods").method(ExtensionMethod::request(Side::Client, method));
    let declared = Config::new("", "").extension(probe);
    declared.map(drop).map_err(|_| {
        format!("method {method:?} cannot be served: it is invalid, or the protocol defines it")
    })
}
