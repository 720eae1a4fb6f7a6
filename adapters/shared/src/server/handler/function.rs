//! [`Handler`]: functions, closures and methods that serve requests.

#![expect(unnameable_types, reason = "markers are always inferred")]

use std::future::Future;
use std::sync::Arc;

use crate::server::handler::context::Cx;
use crate::server::handler::from_request::{FromRequest, OfState, Parts};
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::into_output::IntoOutput;
use crate::server::handler::kind::RequestKind;
use crate::server::handler::needs::Needs;
use crate::server::handler::{HandlerFn, Setup};

/// A function, closure or method that serves requests of one kind.
///
/// It may be synchronous or asynchronous, and has up to six parameters in any order:
///
/// | parameter | value |
/// |---|---|
/// | a type with `Deserialize` and `JsonSchema` | the arguments of a tool or a prompt |
/// | [`Raw`](mcp_proto::Raw) | the arguments of a tool as JSON |
/// | [`Json<T>`](crate::Json) | the arguments of a tool, without a schema from `T` |
/// | [`ReadResource`], [`Variables`] | the request of a resource; the variables of its template |
/// | [`GetPrompt`], [`Complete`], [`CallTool`] | the request of a prompt, completion or fallback |
/// | `Option<String>` | the cursor of a list |
/// | [`Cx`] | the context: progress, logging, questions, the client |
/// | [`State<S>`](crate::State), `Arc<S>` | what [`Server::state`](crate::Server::state) has set |
/// | [`Principal`](mcp_proto::Principal), `Option<Principal>` | who sends the request |
/// | `RequestHead`, `Option<RequestHead>` | the head of the HTTP request (feature `http`) |
/// | [`FromLayer<T>`](crate::FromLayer) | what a layer has attached to the request |
///
/// It returns a value or a `Result` with a [`HandlerError`]; see [`IntoOutput`] for the values.
/// A synchronous method with `&self` is a handler, too: `self` is the state of that type.
///
/// The second parameter of this trait, `M`, tells the forms apart, and is always inferred.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{Cx, HandlerError, Server, State};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// async fn add(Add { a, b }: Add) -> Result<i64, HandlerError> {
///     a.checked_add(b).ok_or_else(|| HandlerError::failed("the sum is too large"))
/// }
///
/// fn greet(State(greeting): State<String>, cx: Cx) -> String {
///     format!("{greeting}, {}", cx.peer().info.name)
/// }
///
/// let server = Server::new("demo", "1.0.0")
///     .state("Hello".to_owned())
///     .tool("add", "Adds two numbers", add)
///     .tool("greet", "Greets the client", greet)
///     .tool("now", "Tells the time", || "noon");
/// # drop(server);
/// ```
///
/// [`ReadResource`]: mcp_proto::schema::ReadResource
/// [`Variables`]: mcp_proto::catalog::Variables
/// [`GetPrompt`]: mcp_proto::schema::GetPrompt
/// [`Complete`]: mcp_proto::schema::Complete
/// [`CallTool`]: mcp_proto::schema::CallTool
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler for a `{K}`",
    label = "not a handler",
    note = "name the types of a closure's parameters: `|add: Add, cx: Cx|`",
    note = "a handler takes arguments (one struct that derives `serde::Deserialize` and \
            `schemars::JsonSchema`), `Cx`, `State<S>`, `Principal`, `RequestHead` or \
            `FromLayer<T>`, by value",
    note = "a tool returns text, a number, `()`, content, `Json(value)` whose type derives \
            `serde::Serialize` and `schemars::JsonSchema`, or `CallToolResult`",
    note = "a resource returns text or `ResourceContents`, a prompt text or `PromptMessage`, a \
            completion `Vec<String>`, and a list `Page`",
    note = "a handler that can fail returns `Result<_, HandlerError>`, with this error type; `?` \
            converts all others: `|| Ok(read()?)`",
    note = "a method with `&self` is not `async`; an async method takes `self: Arc<Self>`",
    note = "the future of an async handler is `Send`: it keeps no lock, `Rc` or `RefCell` over an \
            `.await`"
)]
pub trait Handler<K: RequestKind, M>: Send + Sync + 'static {
    /// Prepares the handler for a server.
    #[doc(hidden)]
    fn prepare(self) -> Prepared<K>;
}

/// A handler that a server can run, and what it declares.
pub struct Prepared<K: RequestKind> {
    pub(crate) handler: HandlerFn<K::Params, K::Result>,
    pub(crate) needs: Needs,
}

opaque_debug!(Prepared<K> [K: RequestKind]);

/// The inferred marker of synchronous handlers, for the parameter `M` of [`Handler`].
#[derive(Debug)]
pub struct IsSync;

/// The inferred marker of asynchronous handlers, for the parameter `M` of [`Handler`].
#[derive(Debug)]
pub struct IsAsync;

/// The inferred marker of handlers that are methods with `&self`, for the parameter `M` of
/// [`Handler`].
#[derive(Debug)]
pub struct IsMethod;

/// Fails to compile for a handler that takes its arguments, or a part of them, twice.
const fn check_parts(parts: usize) {
    assert!(
        parts & 0xf <= 1 && parts >> 4 <= 1,
        "a handler takes its arguments once: put them into one struct"
    );
}

macro_rules! handler {
    ($($parameter:ident $via:ident $value:ident),*) => {
        #[diagnostic::do_not_recommend]
        impl<K, F, R, $($parameter, $via),*> Handler<K, (IsSync, $($parameter, $via),*)> for F
        where
            K: RequestKind,
            F: Fn($($parameter),*) -> R + Send + Sync + 'static,
            R: IntoOutput<K::Output>,
            $($parameter: FromRequest<K, $via>,)*
        {
            fn prepare(self) -> Prepared<K> {
                const { check_parts(0 $(+ $parameter::PARTS)*) };
                #[allow(unused_mut, reason = "a handler may have no parameters")]
                let mut needs = Needs { output_schema: R::output_schema(), ..Needs::default() };
                $($parameter::declare(&mut needs);)*
                let handler = HandlerFn::function(move |params, cx: &Cx, setup: &Setup| {
                    if const { 0 $(+ $parameter::PARTS)* } == 0 {
                        K::check_untaken(&params, setup)?;
                    }
                    let mut _parts = Parts::<K>::new(params, cx, setup);
                    $(let $value = $parameter::from_request(&mut _parts)?;)*
                    Ok(K::finish(self($($value),*).into_output()?, cx))
                });
                Prepared { handler, needs }
            }
        }

        #[diagnostic::do_not_recommend]
        impl<K, F, Fut, R, $($parameter, $via),*> Handler<K, (IsAsync, $($parameter, $via),*)>
            for F
        where
            K: RequestKind,
            F: Fn($($parameter),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = R> + Send + 'static,
            R: IntoOutput<K::Output> + 'static,
            $($parameter: FromRequest<K, $via>,)*
        {
            fn prepare(self) -> Prepared<K> {
                const { check_parts(0 $(+ $parameter::PARTS)*) };
                #[allow(unused_mut, reason = "a handler may have no parameters")]
                let mut needs = Needs { output_schema: R::output_schema(), ..Needs::default() };
                $($parameter::declare(&mut needs);)*
                let start = move |params, cx: &Cx, setup: &Setup| {
                    if const { 0 $(+ $parameter::PARTS)* } == 0 {
                        K::check_untaken(&params, setup)?;
                    }
                    let mut _parts = Parts::<K>::new(params, cx, setup);
                    $(let $value = $parameter::from_request(&mut _parts)?;)*
                    Ok::<_, HandlerError>(self($($value),*))
                };
                let handler = HandlerFn::future(start, |output: R, cx| {
                    Ok(K::finish(output.into_output()?, cx))
                });
                Prepared { handler, needs }
            }
        }
    };
}

handler!();
handler!(A ViaA a);
handler!(A ViaA a, B ViaB b);
handler!(A ViaA a, B ViaB b, C ViaC c);
handler!(A ViaA a, B ViaB b, C ViaC c, D ViaD d);
handler!(A ViaA a, B ViaB b, C ViaC c, D ViaD d, E ViaE e);
handler!(A ViaA a, B ViaB b, C ViaC c, D ViaD d, E ViaE e, G ViaG g);

macro_rules! method {
    ($($parameter:ident $via:ident $value:ident),*) => {
        #[diagnostic::do_not_recommend]
        impl<K, F, S, R, $($parameter, $via),*> Handler<K, (IsMethod, S, $($parameter, $via),*)>
            for F
        where
            K: RequestKind,
            F: Fn(&S, $($parameter),*) -> R + Send + Sync + 'static,
            S: Send + Sync + 'static,
            R: IntoOutput<K::Output>,
            $($parameter: FromRequest<K, $via>,)*
        {
            fn prepare(self) -> Prepared<K> {
                let method =
                    move |state: Arc<S>, $($value: $parameter),*| self(&state, $($value),*);
                Handler::<K, (IsSync, Arc<S>, OfState, $($parameter, $via),*)>::prepare(method)
            }
        }
    };
}

method!();
method!(A ViaA a);
method!(A ViaA a, B ViaB b);
method!(A ViaA a, B ViaB b, C ViaC c);
method!(A ViaA a, B ViaB b, C ViaC c, D ViaD d);
