//! Prompts with their handlers.

use mcp_proto::catalog::Catalog;
use mcp_proto::schema::{self, GetPrompt, GetPromptResult, Icon};

use super::{common_setters, completion_setters};
use crate::server::catalog::catalog_edit::{
    CatalogEdit, Completions, EditError, Put, PutEntry, check_completions,
};
use crate::server::handler::function::{Handler, Prepared};
use crate::server::handler::kind::{CompletionRequest, PromptGet};
#[cfg(feature = "schemars")]
use crate::server::handler::needs::Arguments;
use crate::server::handler::needs::NeededState;
use crate::server::handler::{EntryHandler, HandlerFn};

/// A [prompt](https://modelcontextprotocol.io/specification/2025-11-25/server/prompts) with the
/// handler that renders it.
///
/// The handler's arguments are a struct whose fields are strings, numbers, booleans, enums of unit
/// variants, or `Option`s of these. Doc comments become the descriptions of the arguments. Clients
/// send arguments as text: a number or a boolean is read from it, and the values of an enum are
/// offered as completions. A handler without arguments makes a prompt without arguments.
///
/// A request whose arguments do not match fails with `-32602` before the handler runs. If the
/// arguments are of another kind of type, adding the prompt fails.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::schema::Icon;
/// use mcp_tokio::{Prompt, Server};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Plan {
///     /// Number of days.
///     days: u8,
///     place: Option<String>,
/// }
///
/// fn plan(plan: Plan) -> String {
///     let place = plan.place.as_deref().unwrap_or("somewhere warm");
///     format!("Plan {} days in {place}.", plan.days)
/// }
///
/// let plan = Prompt::new("plan", plan)
///     .title("Plan")
///     .description("Plans a trip")
///     .icons([Icon::new("https://trips.example/plan.png")])
///     .completion("place", || vec!["Oslo".to_owned(), "Rome".to_owned()])
///     .requires(["trips"])
///     .visible_to(|caller| caller.principal().is_some());
/// let server = Server::new("trips", "1.0.0").add(plan);
/// # drop(server);
/// ```
#[must_use = "an entry does nothing until it is added"]
pub struct Prompt {
    definition: schema::Prompt,
    /// Why the prompt cannot be offered.
    invalid: Option<String>,
    handler: HandlerFn<GetPrompt, GetPromptResult>,
    completions: Completions,
    scopes: Vec<String>,
    states: Vec<NeededState>,
}

common_setters!(Prompt, schema::Prompt, "prompt");
completion_setters!(Prompt, "an argument");

impl Prompt {
    /// Creates a prompt, with the arguments of the handler.
    pub fn new<M>(name: &str, handler: impl Handler<PromptGet, M>) -> Self {
        Self::define(schema::Prompt::new(name), handler)
    }

    /// Creates a prompt with an explicit definition.
    ///
    /// The handler takes the arguments as [`GetPrompt`]. A request that lacks a required argument
    /// fails before the handler runs. If the handler takes arguments of a type, they replace those
    /// of the definition.
    pub fn define<M>(definition: schema::Prompt, handler: impl Handler<PromptGet, M>) -> Self {
        let Prepared { handler, needs } = handler.prepare();
        let (completions, scopes) = (Completions::default(), Vec::new());
        let states = needs.states;
        let prompt = Self { definition, invalid: None, handler, completions, scopes, states };
        #[cfg(feature = "schemars")]
        if let Arguments::Prompt(shape) = needs.arguments {
            return prompt.shaped(shape);
        }
        prompt
    }

    /// Adds the arguments of the shape, and completions for those with a choice of values.
    #[cfg(feature = "schemars")]
    fn shaped(
        mut self,
        shape: Result<crate::server::handler::prompt_arguments::Shape, String>,
    ) -> Self {
        let shape = match shape {
            Ok(shape) => shape,
            Err(reason) => {
                self.invalid = Some(reason);
                return self;
            }
        };
        self.definition = self.definition.arguments(shape.definitions());
        let prompt = shape.choices().fold(self, |prompt, (name, values)| {
            prompt.completion(name, move |complete: schema::Complete| -> Vec<String> {
                let start = &*complete.argument.value;
                values.iter().filter(|value| value.starts_with(start)).cloned().collect()
            })
        });
        let mut prompt = prompt;
        prompt.handler.set_up(|setup| setup.shape = shape);
        prompt
    }
}

impl PutEntry for Prompt {
    fn put(self, edit: &mut CatalogEdit<'_>, put: Put) -> Result<(), EditError> {
        let Self { definition: prompt, invalid, handler, completions, scopes, states } = self;
        let (name, done) = (prompt.name.clone(), put.done());
        let what = format!("the prompt `{name}`");
        if let Some(reason) = invalid {
            return Err(EditError::new(format!("{what} cannot be {done}: {reason}")));
        }
        let is_argument =
            |name: &str| prompt.arguments.iter().flatten().any(|argument| argument.name == name);
        check_completions(&what, &completions, is_argument)?;
        edit.set_scopes(handler.scopes(), scopes, &what, done)?;
        let required = handler.scopes().clone();
        let handler = EntryHandler::Prompt(handler.named(&what));
        let calls = (Catalog::add_prompt as _, Catalog::replace_prompt as _);
        edit.put(&what, put, prompt, handler, states, calls)?;
        edit.put_completions(&what, completions, &required, |catalog, argument, handler| {
            catalog.add_prompt_completion(&name, argument, handler)
        })
    }
}
