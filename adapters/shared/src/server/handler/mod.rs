//! Handlers of every kind as one type, and the job that a handler does for a request.

pub(crate) mod arguments;
pub(crate) mod asking;
pub(crate) mod bounds;
pub(crate) mod context;
pub(crate) mod extensions;
mod once;
pub(crate) mod reply;
pub(crate) mod round_state;
pub(crate) mod running_task;
mod sampling;
pub(crate) mod state;
pub(crate) mod tool_error;
pub(crate) mod tool_result;
#[cfg(feature = "schemars")]
pub(crate) mod typed_form;

use std::future::Future;
use std::sync::Arc;

use mcp_proto::catalog::{CatalogView, Resolved, Variables};
use mcp_proto::schema::{
    CallToolResult, ClientRequest as _, Complete, CompleteResult, Encode, GetPrompt,
    GetPromptResult, ReadResource, ReadResourceResult, ResourceContents,
};
use mcp_proto::{Caller, Raw, Request};
use serde::de::DeserializeOwned;

use self::arguments::parse_arguments;
use self::context::{AsyncCx, Cx};
use self::reply::{BoxedResult, without_ignored_question};
use self::tool_error::ToolError;
use self::tool_result::IntoToolResult;
use crate::BoxFuture;
use crate::exec::pace::Pace;
use crate::server::required_scopes::{RequiredScopes, are_scopes_checked};
use crate::tasks::TaskPolicy;
use crate::validation::{ResultCheck, ToolChecks};

/// The future of an asynchronous handler.
type HandlerFuture = BoxFuture<'static, Result<BoxedResult, ToolError>>;

/// An asynchronous handler: a function that returns the future.
type AsyncFn<P, R> = dyn Fn(P, AsyncCx, Option<ResultCheck<R>>) -> HandlerFuture + Send + Sync;

/// A handler with parameters `P` and result `R`.
pub(crate) struct HandlerFn<P, R> {
    pace: Arc<Pace>,
    scopes: RequiredScopes,
    /// Which calls become tasks, of a tool that supports them.
    task: Option<Arc<TaskPolicy>>,
    /// The schemas of a tool with optional arguments.
    #[cfg(all(feature = "jsonschema", feature = "schemars"))]
    optional: Option<Arc<OptionalArguments>>,
    function: HandlerKind<P, R>,
}

/// The schemas of a tool with optional arguments: clients may leave them out, and serde also reads
/// `null`.
#[cfg(all(feature = "jsonschema", feature = "schemars"))]
struct OptionalArguments {
    /// The schema in which they are not `null`.
    published: Raw,
    /// The schema in which they may be `null`.
    nullable: Raw,
}

/// A function or a future.
enum HandlerKind<P, R> {
    Async(Arc<AsyncFn<P, R>>),
    Sync(Arc<dyn Fn(P, Cx) -> Result<R, ToolError> + Send + Sync>),
}

impl<P, R> Clone for HandlerFn<P, R> {
    fn clone(&self) -> Self {
        let function = match &self.function {
            HandlerKind::Async(handler) => HandlerKind::Async(Arc::clone(handler)),
            HandlerKind::Sync(handler) => HandlerKind::Sync(Arc::clone(handler)),
        };
        Self {
            pace: Arc::clone(&self.pace),
            scopes: self.scopes.clone(),
            task: self.task.clone(),
            #[cfg(all(feature = "jsonschema", feature = "schemars"))]
            optional: self.optional.clone(),
            function,
        }
    }
}

/// The handler of an entry of the catalog. Clones share their pace.
#[derive(Clone)]
pub(crate) enum Handler {
    Completion(HandlerFn<Complete, CompleteResult>),
    Prompt(HandlerFn<GetPrompt, GetPromptResult>),
    Resource(HandlerFn<(ReadResource, Variables), ReadResourceResult>),
    Tool(HandlerFn<Raw, CallToolResult>),
}

/// The work of a handler for one request.
pub(crate) enum Job {
    Async(Box<dyn FnOnce(AsyncCx) -> HandlerFuture + Send>),
    Sync(Box<dyn FnOnce(Cx) -> Result<BoxedResult, ToolError> + Send>),
}

/// How a request is served.
pub(crate) enum Resolution {
    /// The catalog answers it.
    Answer(BoxedResult),
    /// A handler serves it.
    Run(Job, Arc<Pace>),
    /// Its method is unknown.
    Unknown,
}

/// Returns the scopes that a request needs for the handler that it resolved to.
pub(crate) fn scopes_of<'a>(found: &Resolved<'a, Handler>) -> Option<&'a RequiredScopes> {
    let handler: &'a Handler = match found {
        Resolved::Completion { handler, .. }
        | Resolved::Prompt { handler, .. }
        | Resolved::Resource { handler, .. }
        | Resolved::Template { handler, .. }
        | Resolved::Tool { handler, .. } => handler,
        _ => return None,
    };
    Some(handler.scopes())
}

/// Checks that the token of the caller has the scopes of the entry to which a request passes
/// arguments, which are not looked at, and of the lookalikes of a resource to read.
///
/// `has_added` is true if an edit has added entries with scopes.
pub(crate) fn check_scopes_first(
    view: CatalogView<'_, Handler>,
    request: &Request,
    caller: Option<&Caller>,
    has_added: bool,
) -> Result<(), ToolError> {
    if !are_scopes_checked(caller, has_added) {
        return Ok(());
    }
    let params = request.params.as_ref();
    if request.method == ReadResource::METHOD {
        let uri = params.and_then(|params| params.member("uri"));
        let uri = uri.as_ref().and_then(Raw::to_text).unwrap_or_default();
        let mut lookalikes = view.lookalike_handlers(&uri).into_iter();
        return lookalikes.try_for_each(|handler| handler.scopes().check(caller));
    }
    let handler = view.argument_handler(&request.method, params);
    handler.map_or(Ok(()), |handler| handler.scopes().check(caller))
}

impl Resolution {
    /// Creates the failure of a request before its handler runs.
    pub(crate) fn failed(error: ToolError) -> Self {
        Self::Run(Job::Async(Box::new(|_cx| Box::pin(async { Err(error) }))), Arc::default())
    }

    pub(crate) fn new(found: Resolved<'_, Handler>, checks: &ToolChecks) -> Self {
        match found {
            Resolved::Answer(answer) => Self::Answer(Box::new(answer)),
            Resolved::Completion { handler: Handler::Completion(handler), complete } => {
                handler.run(complete, None)
            }
            Resolved::Prompt { handler: Handler::Prompt(handler), get, .. } => {
                handler.run(get, None)
            }
            Resolved::Resource { handler: Handler::Resource(handler), read, resource } => {
                let complete = with_mime_type(resource.mime_type.as_ref());
                handler.run((read, Variables::new()), complete)
            }
            Resolved::Template {
                handler: Handler::Resource(handler),
                variables,
                read,
                template,
            } => handler.run((read, variables), with_mime_type(template.mime_type.as_ref())),
            Resolved::Tool { handler: Handler::Tool(handler), call, tool } => {
                let arguments =
                    call.arguments.map_or_else(Raw::empty_object, |arguments| arguments.0);
                let check = checks.result_check(tool.output_schema.as_ref());
                handler.run(arguments, check)
            }
            // Kinds of entries that this crate never registers.
            _ => Self::Unknown,
        }
    }
}

impl<P: Send + 'static, R: Encode + Send + 'static> HandlerFn<P, R> {
    pub(crate) fn function<I: Into<R>>(
        handler: impl Fn(P, Cx) -> Result<I, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::with(HandlerKind::Sync(Arc::new(move |params, cx| {
            handler(params, cx).map(Into::into)
        })))
    }

    fn with(function: HandlerKind<P, R>) -> Self {
        Self {
            pace: Arc::default(),
            scopes: RequiredScopes::default(),
            task: None,
            #[cfg(all(feature = "jsonschema", feature = "schemars"))]
            optional: None,
            function,
        }
    }

    /// Sets what the handler serves, for warnings.
    pub(crate) fn named(self, name: &str) -> Self {
        self.pace.set_name(name);
        self
    }

    /// Lets calls become tasks.
    pub(crate) fn with_task(mut self, policy: TaskPolicy) -> Self {
        self.task = Some(Arc::new(policy));
        self
    }

    /// Returns which calls become tasks; `None` if none do.
    pub(crate) fn task_policy(&self) -> Option<&TaskPolicy> {
        self.task.as_deref()
    }

    /// Makes requests for the handler need the scopes of an entry.
    pub(crate) fn sharing_scopes(mut self, scopes: &RequiredScopes) -> Self {
        self.scopes = scopes.clone();
        self
    }

    pub(crate) fn future<I: Into<R>, F>(
        handler: impl Fn(P, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<I, ToolError>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        Self::with(HandlerKind::Async(Arc::new(move |params, cx, check| {
            let handler = Arc::clone(&handler);
            // Called inside the future: the code before its first wait runs where the future does.
            Box::pin(async move {
                let outcome = handler(params, cx.clone()).await.map(Into::into);
                checked(outcome, &cx, check)
            })
        })))
    }

    /// Prepares a run of the handler.
    pub(crate) fn run(&self, params: P, check: Option<ResultCheck<R>>) -> Resolution {
        let job = match &self.function {
            HandlerKind::Sync(handler) => {
                let handler = Arc::clone(handler);
                Job::Sync(Box::new(move |cx| checked(handler(params, cx.clone()), &cx, check)))
            }
            HandlerKind::Async(handler) => {
                let handler = Arc::clone(handler);
                Job::Async(Box::new(move |cx| handler(params, cx, check)))
            }
        };
        Resolution::Run(job, Arc::clone(&self.pace))
    }
}

/// Sets the media type of contents to that of their resource, unless they have one.
fn with_mime_type(mime_type: Option<&String>) -> Option<ResultCheck<ReadResourceResult>> {
    let mime_type = mime_type?.clone();
    Some(Box::new(move |mut result: ReadResourceResult| {
        for contents in &mut *result.contents {
            let given = match contents {
                ResourceContents::Blob(blob) => &mut blob.mime_type,
                ResourceContents::Text(text) => &mut text.mime_type,
                _ => continue,
            };
            given.get_or_insert_with(|| mime_type.clone());
        }
        Ok(result)
    }))
}

/// Checks the outcome of a handler, before layers see it.
fn checked<R: Encode + Send + 'static>(
    outcome: Result<R, ToolError>,
    cx: &Cx,
    check: Option<ResultCheck<R>>,
) -> Result<BoxedResult, ToolError> {
    let result = without_ignored_question(outcome, &cx.rounds())?;
    Ok(Box::new(match check {
        Some(check) => check(result)?,
        None => result,
    }))
}

/// Deserializes the arguments of a tool; see [`parse_arguments`].
fn parse<A: DeserializeOwned>(arguments: &Raw, is_closed: bool) -> Result<A, ToolError> {
    parse_arguments(arguments, is_closed)
        .map_err(|why| ToolError::failed(format!("invalid arguments: {why}")))
}

impl Handler {
    fn pace(&self) -> &Pace {
        match self {
            Self::Completion(handler) => &handler.pace,
            Self::Prompt(handler) => &handler.pace,
            Self::Resource(handler) => &handler.pace,
            Self::Tool(handler) => &handler.pace,
        }
    }

    /// Sets what the handler serves, for warnings.
    pub(crate) fn named(self, name: &str) -> Self {
        self.pace().set_name(name);
        self
    }

    /// Returns the scopes that requests for the handler need.
    pub(crate) fn scopes(&self) -> &RequiredScopes {
        match self {
            Self::Completion(handler) => &handler.scopes,
            Self::Prompt(handler) => &handler.scopes,
            Self::Resource(handler) => &handler.scopes,
            Self::Tool(handler) => &handler.scopes,
        }
    }

    /// Sets the schema of a tool in which optional arguments may be `null`.
    #[cfg(feature = "schemars")]
    #[cfg_attr(
        not(feature = "jsonschema"),
        allow(unused_mut, unused_variables, reason = "arguments are not checked")
    )]
    pub(crate) fn with_nullable_form(mut self, published: Raw, nullable: Raw) -> Self {
        #[cfg(feature = "jsonschema")]
        if let Self::Tool(handler) = &mut self {
            handler.optional = Some(Arc::new(OptionalArguments { published, nullable }));
        }
        self
    }

    /// Returns the schema in which optional arguments may be `null`, if `published` is the schema
    /// that was derived with it.
    #[cfg(feature = "jsonschema")]
    #[cfg_attr(not(feature = "schemars"), allow(unused_variables, reason = "no schema is derived"))]
    pub(crate) fn nullable_form(&self, published: &Raw) -> Option<&Raw> {
        #[cfg(feature = "schemars")]
        if let Self::Tool(HandlerFn { optional: Some(optional), .. }) = self {
            return (optional.published == *published).then_some(&optional.nullable);
        }
        None
    }

    /// Declares that the handler blocks.
    pub(crate) fn always_on_pool(self) -> Self {
        self.pace().disprove();
        self
    }

    /// Returns the handler of a tool whose arguments are a Rust type. If `is_closed`, the schema
    /// allows no further members.
    pub(crate) fn tool<A: DeserializeOwned, R: IntoToolResult>(
        is_closed: bool,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::tool_raw(move |arguments: Raw, cx| handler(parse(&arguments, is_closed)?, cx))
    }

    /// Returns the handler of a tool whose arguments are JSON.
    pub(crate) fn tool_raw<R: IntoToolResult>(
        handler: impl Fn(Raw, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Tool(HandlerFn::function(move |arguments, cx| {
            handler(arguments, cx)?.into_tool_result()
        }))
    }

    /// Like [`tool`](Self::tool), for an asynchronous handler.
    pub(crate) fn tool_async<A, R, F>(
        is_closed: bool,
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        Self::Tool(HandlerFn::future(move |arguments: Raw, cx| {
            let served = parse(&arguments, is_closed).map(|arguments| handler(arguments, cx));
            async move { served?.await?.into_tool_result() }
        }))
    }

    /// Like [`tool_raw`](Self::tool_raw), for an asynchronous handler.
    pub(crate) fn tool_raw_async<R, F>(
        handler: impl Fn(Raw, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        Self::Tool(HandlerFn::future(move |arguments, cx| {
            let served = handler(arguments, cx);
            async move { served.await?.into_tool_result() }
        }))
    }
}
