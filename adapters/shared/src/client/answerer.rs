//! [`Answerer`]: functions and futures that answer requests of servers.

#![expect(unnameable_types, reason = "markers are always inferred")]

use std::future::Future;
use std::sync::Arc;

use mcp_proto::schema::{Decode, Encode, ListRootsResult, Root};
use mcp_proto::{ErrorObject, Request};

use crate::box_future::BoxFuture;
use crate::client::context::ClientCx;
use crate::client::request_handler::{Answer, RequestHandler};

/// A function or closure that answers requests `Q` of a server with an `A`.
///
/// It takes the request, the [`ClientCx`], both or neither, and returns `A`, or
/// `Result<A, ErrorObject>` to refuse the request. The roots of a client may also be a `Vec<Root>`.
///
/// A synchronous function runs on its own thread and may block. A future runs on the adapter's
/// runtime, and is dropped when the request is cancelled or the connection ends.
///
/// The last parameter of this trait, `M`, tells the forms apart, and is always inferred.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::schema::{Elicit, ElicitResult};
/// use mcp_tokio::{Client, ClientCx};
///
/// fn ask(form: Elicit, cx: ClientCx) -> ElicitResult {
///     println!("{} asks: {}", cx.label().unwrap_or("a server"), form.message);
///     ElicitResult::decline()
/// }
///
/// let client = Client::new("demo", "1.0.0").on_elicitation(ask);
/// let patient = Client::new("demo", "1.0.0").on_elicitation(async || ElicitResult::decline());
/// # drop((client, patient));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot answer a `{Q}` with a `{A}`",
    label = "not a function that answers this request",
    note = "name the types of a closure's parameters: `|form: Elicit, cx: ClientCx|`",
    note = "it takes `{Q}` and `ClientCx` by value, and returns `{A}` or `Result<_, ErrorObject>`"
)]
pub trait Answerer<Q, A, M>: Send + Sync + 'static {
    #[doc(hidden)]
    fn prepare(self) -> PreparedAnswerer;
}

/// An [`Answerer`] in the form in which a client runs it.
pub struct PreparedAnswerer(pub(super) RequestHandler);

opaque_debug!(PreparedAnswerer);

/// The inferred marker of synchronous functions, for the parameter `M` of [`Answerer`].
#[derive(Debug)]
pub struct IsFunction;

/// The inferred marker of asynchronous functions, for the parameter `M` of [`Answerer`].
#[derive(Debug)]
pub struct IsFuture;

/// The inferred marker of the parameter that is the request.
#[derive(Debug)]
pub struct TakesRequest;

/// The inferred marker of the parameter that is the context.
#[derive(Debug)]
pub struct TakesContext;

/// A parameter of an [`Answerer`]: the request, or the context.
pub trait TakeRequest<Q, V>: Sized {
    #[doc(hidden)]
    fn take(request: &mut Option<Q>, cx: &ClientCx) -> Result<Self, ErrorObject>;
}

impl<Q> TakeRequest<Q, TakesRequest> for Q {
    fn take(request: &mut Option<Q>, _: &ClientCx) -> Result<Self, ErrorObject> {
        request.take().ok_or_else(|| ErrorObject::internal("the request was taken twice"))
    }
}

impl<Q> TakeRequest<Q, TakesContext> for ClientCx {
    fn take(_: &mut Option<Q>, cx: &ClientCx) -> Result<Self, ErrorObject> {
        Ok(cx.clone())
    }
}

/// A value that an [`Answerer`] can return: an `A`, or a `Result` of one.
pub trait IntoAnswer<A> {
    #[doc(hidden)]
    fn into_answer(self) -> Result<A, ErrorObject>;
}

impl<A: Encode> IntoAnswer<A> for A {
    fn into_answer(self) -> Result<A, ErrorObject> {
        Ok(self)
    }
}

impl<A: Encode> IntoAnswer<A> for Result<A, ErrorObject> {
    fn into_answer(self) -> Self {
        self
    }
}

impl IntoAnswer<ListRootsResult> for Vec<Root> {
    fn into_answer(self) -> Result<ListRootsResult, ErrorObject> {
        Ok(ListRootsResult::new(self))
    }
}

macro_rules! answerer {
    ($($parameter:ident $via:ident $value:ident),*) => {
        #[diagnostic::do_not_recommend]
        impl<Q, A, F, R, $($parameter, $via),*> Answerer<Q, A, (IsFunction, $($parameter, $via),*)>
            for F
        where
            Q: Decode + 'static,
            A: Encode + Send + 'static,
            F: Fn($($parameter),*) -> R + Send + Sync + 'static,
            R: IntoAnswer<A>,
            $($parameter: TakeRequest<Q, $via>,)*
        {
            fn prepare(self) -> PreparedAnswerer {
                let answer = move |request: &Request, _cx: ClientCx| {
                    let mut _request = Some(decode::<Q>(request)?);
                    $(let $value = $parameter::take(&mut _request, &_cx)?;)*
                    Ok(boxed(self($($value),*).into_answer()?))
                };
                PreparedAnswerer(RequestHandler::Blocking(Arc::new(answer)))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<Q, A, F, Fut, R, $($parameter, $via),*>
            Answerer<Q, A, (IsFuture, $($parameter, $via),*)> for F
        where
            Q: Decode + 'static,
            A: Encode + Send + 'static,
            F: Fn($($parameter),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = R> + Send + 'static,
            R: IntoAnswer<A>,
            $($parameter: TakeRequest<Q, $via>,)*
        {
            fn prepare(self) -> PreparedAnswerer {
                let start = move |request: &Request, _cx: ClientCx| {
                    let mut _request = Some(decode::<Q>(request)?);
                    $(let $value = $parameter::take(&mut _request, &_cx)?;)*
                    Ok(self($($value),*))
                };
                let answer = move |request: &Request, cx: ClientCx| {
                    let started: Result<Fut, ErrorObject> = start(request, cx);
                    let answer = async move { Ok(boxed(started?.await.into_answer()?)) };
                    Box::pin(answer) as BoxFuture<'static, Answer>
                };
                PreparedAnswerer(RequestHandler::Async(Arc::new(answer)))
            }
        }
    };
}

answerer!();
answerer!(B ViaB b);
answerer!(B ViaB b, C ViaC c);

fn boxed(answer: impl Encode + Send + 'static) -> Box<dyn Encode + Send> {
    Box::new(answer)
}

fn decode<Q: Decode>(request: &Request) -> Result<Q, ErrorObject> {
    request.decode().map_err(|error| ErrorObject::invalid_params(error.to_string()))
}
