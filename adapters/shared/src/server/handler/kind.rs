//! The kinds of requests that handlers serve.

use std::marker::PhantomData;

use mcp_proto::Raw;
use mcp_proto::schema::{
    CallTool, CallToolResult, ClientRequest, Complete, CompleteResult, Decode, Encode, GetPrompt,
    GetPromptResult, ListPromptsResult, ListResourcesResult, ListToolsResult, Prompt,
    ReadResourceResult, Resource, ResourceContents, Tool,
};

use crate::server::handler::arguments::parse;
use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::list_handler::{Page, listed};
use crate::server::handler::{ResourceParams, Setup};

/// A kind of request that [handlers](crate::Handler) serve.
///
/// The implementations are [`ToolCall`], [`UnknownToolCall`], [`ResourceRead`], [`PromptGet`],
/// [`CompletionRequest`], [`Listing`] and [`MethodCall`]. The compiler infers them from the method
/// that takes the handler.
#[expect(private_bounds, reason = "the trait is sealed")]
pub trait RequestKind: Sealed + 'static {
    /// The type that the handler's parameters are extracted from.
    #[doc(hidden)]
    type Params: Send + 'static;
    /// The type that the handler's value is converted to.
    #[doc(hidden)]
    type Output: 'static;
    /// The type of the result that the client receives.
    #[doc(hidden)]
    type Result: Encode + Send + 'static;

    /// Checks params that the handler does not take.
    #[doc(hidden)]
    fn check_untaken(_params: &Self::Params, _setup: &Setup) -> Result<(), HandlerError> {
        Ok(())
    }

    /// Completes an output for the client.
    #[doc(hidden)]
    fn finish(output: Self::Output, cx: &Cx) -> Self::Result;
}

trait Sealed {}

/// The kind of request that calls a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall;

/// The kind of request that calls a tool which is not registered.
#[derive(Clone, Copy, Debug)]
pub struct UnknownToolCall;

/// The kind of request that reads a resource, also one of a template.
#[derive(Clone, Copy, Debug)]
pub struct ResourceRead;

/// The kind of request that gets a prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptGet;

/// The kind of request that completes an argument of a prompt or a variable of a template.
#[derive(Clone, Copy, Debug)]
pub struct CompletionRequest;

/// The kind of request that gets a page of a list, with results of type `L`.
pub struct Listing<L>(PhantomData<fn() -> L>);

/// The kind of request of type `Q`, which an extension defines.
pub struct MethodCall<Q>(PhantomData<fn() -> Q>);

opaque_debug!(Listing<L> [L]);

opaque_debug!(MethodCall<Q> [Q]);

/// The result of a method that an extension defines.
#[derive(Debug)]
pub struct MethodResult<R>(pub(crate) R);

macro_rules! kind {
    ($kind:ty, $params:ty, $result:ty) => {
        impl Sealed for $kind {}

        impl RequestKind for $kind {
            type Params = $params;
            type Output = $result;
            type Result = $result;

            fn finish(output: $result, _: &Cx) -> $result {
                output
            }
        }
    };
}

impl Sealed for ToolCall {}

impl RequestKind for ToolCall {
    type Params = Raw;
    type Output = CallToolResult;
    type Result = CallToolResult;

    /// A closed schema allows no arguments.
    fn check_untaken(params: &Raw, setup: &Setup) -> Result<(), HandlerError> {
        if setup.is_closed { parse(params, true) } else { Ok(()) }
    }

    fn finish(output: CallToolResult, _: &Cx) -> CallToolResult {
        output
    }
}

kind!(UnknownToolCall, CallTool, CallToolResult);
kind!(PromptGet, GetPrompt, GetPromptResult);
kind!(CompletionRequest, Complete, CompleteResult);

impl Sealed for ResourceRead {}

impl RequestKind for ResourceRead {
    type Params = ResourceParams;
    type Output = ReadResourceResult;
    type Result = ReadResourceResult;

    /// Contents without a URI are those of the URI that was read.
    fn finish(mut output: ReadResourceResult, cx: &Cx) -> ReadResourceResult {
        for contents in &mut *output.contents {
            let uri = match contents {
                ResourceContents::Blob(blob) => &mut blob.uri,
                ResourceContents::Text(text) => &mut text.uri,
                _ => continue,
            };
            if uri.is_empty() {
                let params = cx.request.request.params.as_ref();
                let read = params.and_then(|params| params.member("uri"));
                *uri = read.and_then(|uri| uri.to_text().map(Into::into)).unwrap_or_default();
            }
        }
        output
    }
}

macro_rules! listing {
    ($result:ty, $entry:ty) => {
        impl Sealed for Listing<$result> {}

        impl RequestKind for Listing<$result> {
            type Params = Option<String>;
            type Output = Page<$entry>;
            type Result = $result;

            fn finish(output: Page<$entry>, cx: &Cx) -> $result {
                listed(output, cx)
            }
        }
    };
}

listing!(ListPromptsResult, Prompt);
listing!(ListResourcesResult, Resource);
listing!(ListToolsResult, Tool);

impl<Q: 'static> Sealed for MethodCall<Q> {}

impl<Q> RequestKind for MethodCall<Q>
where
    Q: ClientRequest<Result: Encode + Send + 'static> + Decode + Send + 'static,
{
    type Params = Q;
    type Output = MethodResult<Q::Result>;
    type Result = Q::Result;

    fn finish(output: MethodResult<Q::Result>, _: &Cx) -> Q::Result {
        output.0
    }
}
