//! The handlers of the requests that extensions define.

use std::sync::Arc;

use mcp_proto::schema::{ClientRequest, Decode, Encode};
use mcp_proto::{Caller, ErrorObject, Request};

use crate::server::handler::required_scopes::RequiredScopes;
use crate::server::handler::{HandlerFn, Resolution};

/// The handlers of the requests of extensions, by method.
#[derive(Clone, Default)]
pub(crate) struct ExtensionMethods(Vec<(&'static str, MethodHandler)>);

#[derive(Clone)]
struct MethodHandler {
    scopes: RequiredScopes,
    prepare: Arc<Prepare>,
}

/// Decodes a request and prepares the run of its handler.
type Prepare = dyn Fn(&Request) -> Result<Resolution, ErrorObject> + Send + Sync;

impl ExtensionMethods {
    /// Adds the handler of a request, which needs the scopes.
    pub(in crate::server) fn insert<Q>(&mut self, handler: HandlerFn<Q, Q::Result>)
    where
        Q: ClientRequest<Result: Encode + Send> + Decode + Send + 'static,
    {
        let scopes = handler.scopes().clone();
        let handler = handler.named(Q::METHOD);
        let prepare = Arc::new(move |request: &Request| {
            let params = request.decode::<Q>();
            let params = params.map_err(|error| ErrorObject::invalid_params(error.to_string()))?;
            Ok(handler.run(params, None))
        });
        self.0.retain(|(method, _)| *method != Q::METHOD);
        self.0.push((Q::METHOD, MethodHandler { scopes, prepare }));
    }

    fn find(&self, method: &str) -> Option<&MethodHandler> {
        self.0.iter().find(|(of, _)| *of == method).map(|(_, handler)| handler)
    }

    /// Resolves a request that one of these handlers serves; returns `None` for any other.
    pub(in crate::server) fn resolve(
        &self,
        request: &Request,
        caller: Option<&Caller>,
    ) -> Option<Result<Resolution, ErrorObject>> {
        let handler = self.find(&request.method)?;
        // AUT-24: before the params are checked, so that errors do not describe them.
        Some(match handler.scopes.check(caller) {
            Ok(()) => (handler.prepare)(request),
            Err(error) => Ok(Resolution::failed(error)),
        })
    }

    /// Returns the scopes that requests of a method need; `None` for a method without handler.
    #[cfg(feature = "http")]
    pub(in crate::server) fn scopes(&self, method: &str) -> Option<&[String]> {
        self.find(method).map(|handler| handler.scopes.get())
    }

    /// Returns a method that requires scopes, if there is one.
    #[cfg(feature = "http")]
    pub(in crate::server) fn method_with_scopes(&self) -> Option<&'static str> {
        let mut methods = self.0.iter();
        methods.find(|(_, handler)| !handler.scopes.get().is_empty()).map(|(method, _)| *method)
    }
}
