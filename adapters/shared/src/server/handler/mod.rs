//! Handlers of every kind as one type, and the job that a handler does for a request.

pub(crate) mod arguments;
pub(crate) mod asking;
pub(crate) mod client_handle;
pub(crate) mod context;
pub(crate) mod extensions;
pub(crate) mod from_request;
pub(crate) mod function;
pub(crate) mod handler_error;
pub(crate) mod into_output;
pub(crate) mod kept;
pub mod kind;
pub(crate) mod list_handler;
pub(crate) mod mirrored_headers;
pub(crate) mod needs;
pub(crate) mod once;
pub(crate) mod operation;
#[cfg(feature = "schemars")]
pub(crate) mod prompt_arguments;
pub(crate) mod replies;
pub(crate) mod reply;
pub(crate) mod required_scopes;
pub(crate) mod round_state;
pub(crate) mod running_task;
mod sampling;
pub(crate) mod state;
pub(crate) mod state_sealing;
pub(crate) mod task_service;
pub(crate) mod task_start;
#[cfg(feature = "schemars")]
pub(crate) mod typed_form;
pub(crate) mod undeclared;

use std::future::Future;
use std::sync::Arc;

use mcp_proto::catalog::{CatalogView, Resolved, Variables};
use mcp_proto::schema::{
    CallToolResult, ClientRequest as _, Complete, CompleteResult, Encode, GetPrompt,
    GetPromptResult, ReadResource, ReadResourceResult, ResourceContents,
};
use mcp_proto::{Caller, Raw, Request};

use self::context::{Cx, RequestState};
use self::handler_error::HandlerError;
use self::reply::{BoxedResult, without_ignored_question};
use crate::box_future::BoxFuture;
use crate::exec::pace::Pace;
#[cfg(feature = "schemars")]
use crate::server::handler::prompt_arguments::Shape;
use crate::server::handler::required_scopes::{RequiredScopes, are_scopes_checked};
use crate::tasks::TaskPolicy;
use crate::validation::{ResultCheck, ToolChecks};

/// The future of an asynchronous handler.
type HandlerFuture = BoxFuture<'static, Result<BoxedResult, HandlerError>>;

/// An asynchronous handler: a function that returns the future.
type AsyncFn<P, R> =
    dyn Fn(P, Cx, Arc<Setup>, Option<ResultCheck<R>>) -> HandlerFuture + Send + Sync;

/// A decision of an entry about who sees it.
type VisibleTo = Arc<dyn Fn(&Caller) -> bool + Send + Sync>;

/// A synchronous handler.
type SyncFn<P, R> = dyn Fn(P, &Cx, &Setup) -> Result<R, HandlerError> + Send + Sync;

/// The properties of a handler's params that are known when its entry is added.
#[derive(Clone, Debug, Default)]
#[expect(unnameable_types, reason = "internal")]
pub struct Setup {
    /// The schema of the tool's arguments allows no further members.
    pub(crate) is_closed: bool,
    /// The arguments of the prompt.
    #[cfg(feature = "schemars")]
    pub(crate) shape: Shape,
}

/// A handler with parameters `P` and result `R`.
pub(crate) struct HandlerFn<P, R> {
    pace: Arc<Pace>,
    scopes: RequiredScopes,
    visible_to: Option<VisibleTo>,
    /// Which calls become tasks, of a tool that supports them.
    task: Option<Arc<TaskPolicy>>,
    /// The schemas of a tool with optional arguments.
    #[cfg(all(feature = "jsonschema", feature = "schemars"))]
    optional: Option<Arc<OptionalArguments>>,
    setup: Arc<Setup>,
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
    Sync(Arc<SyncFn<P, R>>),
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
            visible_to: self.visible_to.clone(),
            task: self.task.clone(),
            #[cfg(all(feature = "jsonschema", feature = "schemars"))]
            optional: self.optional.clone(),
            setup: Arc::clone(&self.setup),
            function,
        }
    }
}

/// The handler of an entry of the catalog. Clones share their pace.
#[derive(Clone)]
pub(crate) enum EntryHandler {
    Completion(HandlerFn<Complete, CompleteResult>),
    Prompt(HandlerFn<GetPrompt, GetPromptResult>),
    Resource(HandlerFn<ResourceParams, ReadResourceResult>),
    Tool(HandlerFn<Raw, CallToolResult>),
}

/// The work of a handler for one request.
pub(crate) enum Job {
    Async(Box<dyn FnOnce(Cx) -> HandlerFuture + Send>),
    Sync(Box<dyn FnOnce(Cx) -> Result<BoxedResult, HandlerError> + Send>),
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
pub(crate) fn scopes_of<'a>(found: &Resolved<'a, EntryHandler>) -> Option<&'a RequiredScopes> {
    let handler: &'a EntryHandler = match found {
        Resolved::Completion { handler, .. }
        | Resolved::Prompt { handler, .. }
        | Resolved::Resource { handler, .. }
        | Resolved::Template { handler, .. }
        | Resolved::Tool { handler, .. } => handler,
        _ => return None,
    };
    Some(handler.scopes())
}

/// Checks that the token of the caller has the scopes of the lookalikes of a resource to read.
///
/// `has_added` is true if an edit has added entries with scopes.
pub(crate) fn check_lookalikes(
    view: CatalogView<'_, EntryHandler>,
    request: &Request,
    caller: Option<&Caller>,
    has_added: bool,
) -> Result<(), HandlerError> {
    if request.method != ReadResource::METHOD || !are_scopes_checked(caller, has_added) {
        return Ok(());
    }
    let uri = request.params.as_ref().and_then(|params| params.member("uri"));
    let uri = uri.as_ref().and_then(Raw::to_text).unwrap_or_default();
    let mut lookalikes = view.lookalike_handlers(&uri).into_iter();
    lookalikes.try_for_each(|handler| handler.scopes().check(caller))
}

impl Resolution {
    /// Creates the failure of a request before its handler runs.
    pub(crate) fn failed(error: HandlerError) -> Self {
        Self::Run(Job::Async(Box::new(|_cx| Box::pin(async { Err(error) }))), Arc::default())
    }

    pub(crate) fn new(found: Resolved<'_, EntryHandler>, checks: &ToolChecks) -> Self {
        match found {
            Resolved::Answer(answer) => Self::Answer(Box::new(answer)),
            Resolved::Completion { handler: EntryHandler::Completion(handler), complete } => {
                handler.run(complete, None)
            }
            Resolved::Prompt { handler: EntryHandler::Prompt(handler), get, .. } => {
                handler.run(get, None)
            }
            Resolved::Resource { handler: EntryHandler::Resource(handler), read, resource } => {
                let complete = with_mime_type(resource.mime_type.as_ref());
                handler.run(resource_params(read, Variables::new()), complete)
            }
            Resolved::Template {
                handler: EntryHandler::Resource(handler),
                variables,
                read,
                template,
            } => handler
                .run(resource_params(read, variables), with_mime_type(template.mime_type.as_ref())),
            Resolved::Tool { handler: EntryHandler::Tool(handler), call, tool } => {
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
    /// Creates a handler that is a function.
    pub(crate) fn function(
        handler: impl Fn(P, &Cx, &Setup) -> Result<R, HandlerError> + Send + Sync + 'static,
    ) -> Self {
        Self::with(HandlerKind::Sync(Arc::new(handler)))
    }

    fn with(function: HandlerKind<P, R>) -> Self {
        Self {
            pace: Arc::default(),
            scopes: RequiredScopes::default(),
            visible_to: None,
            task: None,
            #[cfg(all(feature = "jsonschema", feature = "schemars"))]
            optional: None,
            setup: Arc::default(),
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

    /// Creates a handler that is a future, which `start` creates; `finish` makes its result.
    pub(crate) fn future<O: 'static, F>(
        start: impl Fn(P, &Cx, &Setup) -> Result<F, HandlerError> + Send + Sync + 'static,
        finish: fn(O, &Cx) -> Result<R, HandlerError>,
    ) -> Self
    where
        F: Future<Output = O> + Send + 'static,
    {
        let start = Arc::new(start);
        Self::with(HandlerKind::Async(Arc::new(move |params, cx, setup, check| {
            let start = Arc::clone(&start);
            // Called inside the future: the code before its first wait runs where the future does.
            Box::pin(async move {
                let outcome = match start(params, &cx, &setup) {
                    Ok(future) => finish(future.await, &cx),
                    Err(error) => Err(error),
                };
                checked(outcome, &cx, check)
            })
        })))
    }

    /// Sets the schema of a tool in which optional arguments may be `null`.
    #[cfg_attr(
        not(all(feature = "jsonschema", feature = "schemars")),
        allow(unused_mut, unused_variables, reason = "arguments are not checked")
    )]
    pub(crate) fn with_nullable_form(mut self, published: &Raw, nullable: Raw) -> Self {
        #[cfg(all(feature = "jsonschema", feature = "schemars"))]
        {
            let published = published.clone();
            self.optional = Some(Arc::new(OptionalArguments { published, nullable }));
        }
        self
    }

    /// Replaces the published schema of a tool, if it is still the one that was derived.
    #[cfg_attr(
        not(all(feature = "jsonschema", feature = "schemars")),
        allow(clippy::needless_pass_by_ref_mut, clippy::unused_self, unused_variables)
    )]
    pub(crate) fn republish(&mut self, before: &Raw, after: &Raw) {
        #[cfg(all(feature = "jsonschema", feature = "schemars"))]
        if let Some(optional) = self.optional.as_mut().filter(|it| it.published == *before) {
            let nullable = optional.nullable.clone();
            *optional = Arc::new(OptionalArguments { published: after.clone(), nullable });
        }
    }

    /// Sets what is known of the params.
    pub(crate) fn set_up(&mut self, set_up: impl FnOnce(&mut Setup)) {
        set_up(Arc::make_mut(&mut self.setup));
    }

    /// Makes a handler that is a function always run on the thread pool.
    pub(crate) fn always_on_pool(&self) {
        self.pace.disprove();
    }

    /// Sets who sees the entry.
    pub(crate) fn set_visible_to(&mut self, visible_to: VisibleTo) {
        self.visible_to = Some(visible_to);
    }

    /// Returns the scopes that requests for the handler need.
    pub(crate) const fn scopes(&self) -> &RequiredScopes {
        &self.scopes
    }

    /// Prepares a run of the handler.
    pub(crate) fn run(&self, params: P, check: Option<ResultCheck<R>>) -> Resolution {
        let job = match &self.function {
            HandlerKind::Sync(handler) => {
                let handler = Arc::clone(handler);
                let setup = Arc::clone(&self.setup);
                Job::Sync(Box::new(move |cx| checked(handler(params, &cx, &setup), &cx, check)))
            }
            HandlerKind::Async(handler) => {
                let handler = Arc::clone(handler);
                let setup = Arc::clone(&self.setup);
                Job::Async(Box::new(move |cx| handler(params, cx, setup, check)))
            }
        };
        Resolution::Run(job, Arc::clone(&self.pace))
    }
}

/// A request to read a resource. Each part is taken once.
#[derive(Debug)]
#[expect(unnameable_types, reason = "internal")]
pub struct ResourceParams {
    pub(crate) read: Option<ReadResource>,
    pub(crate) variables: Option<Variables>,
}

fn resource_params(read: ReadResource, variables: Variables) -> ResourceParams {
    ResourceParams { read: Some(read), variables: Some(variables) }
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
    outcome: Result<R, HandlerError>,
    cx: &Cx,
    check: Option<ResultCheck<R>>,
) -> Result<BoxedResult, HandlerError> {
    let RequestState { request, context, .. } = &*cx.request;
    let outcome = outcome.map_err(|error| error.resolved(request, context.peer.revision));
    let result = without_ignored_question(outcome, &cx.rounds())?;
    Ok(Box::new(match check {
        Some(check) => check(result).map_err(HandlerError::refused)?,
        None => result,
    }))
}

impl EntryHandler {
    /// Returns the scopes that requests for the handler need.
    pub(crate) fn scopes(&self) -> &RequiredScopes {
        match self {
            Self::Completion(handler) => &handler.scopes,
            Self::Prompt(handler) => &handler.scopes,
            Self::Resource(handler) => &handler.scopes,
            Self::Tool(handler) => &handler.scopes,
        }
    }

    /// Returns who sees the entry; `None` for everyone.
    pub(crate) fn visible_to(&self) -> Option<&VisibleTo> {
        match self {
            // The entry decides who sees its completions.
            Self::Completion(_) => None,
            Self::Prompt(handler) => handler.visible_to.as_ref(),
            Self::Resource(handler) => handler.visible_to.as_ref(),
            Self::Tool(handler) => handler.visible_to.as_ref(),
        }
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
}
