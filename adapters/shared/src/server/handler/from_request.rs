//! The values that a handler can take as parameters.

#![expect(unnameable_types, reason = "markers are always inferred")]

use std::any::{TypeId, type_name};
use std::ops::Deref;
use std::sync::Arc;

use mcp_proto::catalog::Variables;
use mcp_proto::schema::{
    CallTool, ClientRequest, Complete, Decode, Encode, GetPrompt, ReadResource,
};
use mcp_proto::{Principal, Raw};
use serde::de::DeserializeOwned;

use crate::server::handler::arguments::parse;
use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::into_output::Json;
use crate::server::handler::kind::{
    CompletionRequest, Listing, MethodCall, PromptGet, RequestKind, ResourceRead, ToolCall,
    UnknownToolCall,
};
use crate::server::handler::needs::{Arguments, NeededState, Needs};
#[cfg(feature = "schemars")]
use crate::server::handler::prompt_arguments::{read_arguments, shape};
use crate::server::handler::state::State;
use crate::server::handler::{ResourceParams, Setup};
#[cfg(feature = "schemars")]
use mcp_proto::schema::argument_schema;

/// A type that a [handler](crate::Handler) for requests of kind `K` can take as a parameter.
///
/// `V` tells the kinds of parameters apart, and is always inferred.
#[diagnostic::on_unimplemented(
    message = "a handler for a `{K}` cannot take `{Self}`",
    label = "not a parameter of a handler",
    note = "the arguments of a tool or prompt derive both traits: `#[derive(serde::Deserialize, \
            schemars::JsonSchema)]`"
)]
pub trait FromRequest<K: RequestKind, V>: Sized {
    /// The parts of the request's params that the value takes, as bits.
    #[doc(hidden)]
    const PARTS: usize = 0;

    /// Declares what the value needs.
    #[doc(hidden)]
    fn declare(_needs: &mut Needs) {}

    /// Takes the value from a request.
    #[doc(hidden)]
    fn from_request(request: &mut Parts<'_, K>) -> Result<Self, HandlerError>;
}

/// A request whose handler takes its parameters.
#[expect(missing_debug_implementations, reason = "internal")]
pub struct Parts<'a, K: RequestKind> {
    params: Option<K::Params>,
    pub(crate) cx: &'a Cx,
    setup: &'a Setup,
}

impl<'a, K: RequestKind> Parts<'a, K> {
    pub(crate) const fn new(params: K::Params, cx: &'a Cx, setup: &'a Setup) -> Self {
        Self { params: Some(params), cx, setup }
    }

    fn take(&mut self) -> Result<K::Params, HandlerError> {
        // `check_parts` refuses handlers that take them twice.
        self.params.take().ok_or_else(|| HandlerError::internal("the arguments were taken twice"))
    }
}

/// The value of type `T` that a [layer](crate::layers) attached to the request with
/// [`Incoming::set_extension`](crate::layers::Incoming::set_extension), as the parameter of a
/// handler.
///
/// Dereferences to `T`. A request without the value fails with `-32603`.
#[derive(Clone, Debug)]
pub struct FromLayer<T>(pub Arc<T>);

impl<T> Deref for FromLayer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The inferred marker of parameters that every handler can take, for `V` of [`FromRequest`].
#[derive(Debug)]
pub struct OfRequest;

/// The inferred marker of the server's state as a parameter, for `V` of [`FromRequest`].
#[derive(Debug)]
pub struct OfState;

/// The inferred marker of typed arguments as a parameter, for `V` of [`FromRequest`].
#[cfg(feature = "schemars")]
#[derive(Debug)]
pub struct OfArguments;

/// The inferred marker of the params of a request, or a part of them, as a parameter, for `V` of
/// [`FromRequest`].
#[derive(Debug)]
pub struct OfParams;

const ARGUMENTS: usize = 0x1;
const VARIABLES: usize = 0x10;

impl<K: RequestKind> FromRequest<K, OfRequest> for Cx {
    fn from_request(request: &mut Parts<'_, K>) -> Result<Self, HandlerError> {
        Ok(request.cx.clone())
    }
}

impl<K: RequestKind> FromRequest<K, OfRequest> for Option<Principal> {
    fn from_request(request: &mut Parts<'_, K>) -> Result<Self, HandlerError> {
        Ok(request.cx.principal().cloned())
    }
}

impl<K: RequestKind> FromRequest<K, OfRequest> for Principal {
    fn from_request(request: &mut Parts<'_, K>) -> Result<Self, HandlerError> {
        let principal = request.cx.principal().cloned();
        principal.ok_or_else(|| HandlerError::denied("the client is not authenticated"))
    }
}

impl<K: RequestKind, T: Send + Sync + 'static> FromRequest<K, OfRequest> for FromLayer<T> {
    fn from_request(request: &mut Parts<'_, K>) -> Result<Self, HandlerError> {
        request.cx.extension().map(Self).ok_or_else(|| {
            let name = type_name::<T>();
            HandlerError::internal(format!("no layer has attached `{name}` to the request"))
        })
    }
}

impl<K: RequestKind, S: Send + Sync + 'static> FromRequest<K, OfState> for Arc<S> {
    fn declare(needs: &mut Needs) {
        let ids = [TypeId::of::<S>(), TypeId::of::<Self>()];
        needs.states.push(NeededState { name: type_name::<S>(), ids });
    }

    fn from_request(request: &mut Parts<'_, K>) -> Result<Self, HandlerError> {
        // The server does not start without it.
        let state = request.cx.request.link.shared.states.get();
        state.ok_or_else(|| HandlerError::internal("the state of the server is missing"))
    }
}

impl<K: RequestKind, S: Send + Sync + 'static> FromRequest<K, OfState> for State<S> {
    fn declare(needs: &mut Needs) {
        <Arc<S> as FromRequest<K, OfState>>::declare(needs);
    }

    fn from_request(request: &mut Parts<'_, K>) -> Result<Self, HandlerError> {
        <Arc<S> as FromRequest<K, OfState>>::from_request(request).map(Self)
    }
}

#[cfg(feature = "schemars")]
impl<A: DeserializeOwned + schemars::JsonSchema> FromRequest<ToolCall, OfArguments> for A {
    const PARTS: usize = ARGUMENTS;

    fn declare(needs: &mut Needs) {
        needs.arguments = Arguments::Tool(argument_schema::<A>());
    }

    fn from_request(request: &mut Parts<'_, ToolCall>) -> Result<Self, HandlerError> {
        parse(&request.take()?, request.setup.is_closed)
    }
}

impl<A: DeserializeOwned> FromRequest<ToolCall, OfParams> for Json<A> {
    const PARTS: usize = ARGUMENTS;

    fn declare(needs: &mut Needs) {
        needs.arguments = Arguments::Untyped;
    }

    fn from_request(request: &mut Parts<'_, ToolCall>) -> Result<Self, HandlerError> {
        parse(&request.take()?, request.setup.is_closed).map(Self)
    }
}

impl FromRequest<ToolCall, OfParams> for Raw {
    const PARTS: usize = ARGUMENTS;

    fn declare(needs: &mut Needs) {
        needs.arguments = Arguments::Untyped;
    }

    fn from_request(request: &mut Parts<'_, ToolCall>) -> Result<Self, HandlerError> {
        request.take()
    }
}

#[cfg(feature = "schemars")]
impl<A: DeserializeOwned + schemars::JsonSchema> FromRequest<PromptGet, OfArguments> for A {
    const PARTS: usize = ARGUMENTS;

    fn declare(needs: &mut Needs) {
        needs.arguments = Arguments::Prompt(shape::<A>());
    }

    fn from_request(request: &mut Parts<'_, PromptGet>) -> Result<Self, HandlerError> {
        let get = request.take()?;
        read_arguments(&request.setup.shape, &get)
    }
}

impl FromRequest<ResourceRead, OfParams> for ReadResource {
    const PARTS: usize = ARGUMENTS;

    fn from_request(request: &mut Parts<'_, ResourceRead>) -> Result<Self, HandlerError> {
        take_part(&mut request.params, |params| params.read.take())
    }
}

impl FromRequest<ResourceRead, OfParams> for Variables {
    const PARTS: usize = VARIABLES;

    fn from_request(request: &mut Parts<'_, ResourceRead>) -> Result<Self, HandlerError> {
        take_part(&mut request.params, |params| params.variables.take())
    }
}

fn take_part<T>(
    params: &mut Option<ResourceParams>,
    take: impl FnOnce(&mut ResourceParams) -> Option<T>,
) -> Result<T, HandlerError> {
    let part = params.as_mut().and_then(take);
    part.ok_or_else(|| HandlerError::internal("the request was taken twice"))
}

impl<Q> FromRequest<MethodCall<Q>, OfParams> for Q
where
    Q: ClientRequest<Result: Encode + Send + 'static> + Decode + Send + 'static,
{
    const PARTS: usize = ARGUMENTS;

    fn from_request(request: &mut Parts<'_, MethodCall<Q>>) -> Result<Self, HandlerError> {
        request.take()
    }
}

impl<L> FromRequest<Listing<L>, OfParams> for Option<String>
where
    Listing<L>: RequestKind<Params = Self>,
{
    const PARTS: usize = ARGUMENTS;

    fn from_request(request: &mut Parts<'_, Listing<L>>) -> Result<Self, HandlerError> {
        request.take()
    }
}

macro_rules! params {
    ($($kind:ty: $params:ty;)*) => {$(
        impl FromRequest<$kind, OfParams> for $params {
            const PARTS: usize = ARGUMENTS;

            fn from_request(request: &mut Parts<'_, $kind>) -> Result<Self, HandlerError> {
                request.take()
            }
        }
    )*};
}

params! {
    UnknownToolCall: CallTool;
    PromptGet: GetPrompt;
    CompletionRequest: Complete;
}
