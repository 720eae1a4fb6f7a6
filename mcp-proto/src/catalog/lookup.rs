//! From a request to what it asks for, or to the error that refuses it; knows nothing of what
//! handlers do.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Catalog;
use super::quote::{quoted, shortened};
use super::resolved::{Answer, Found, completion, no_resource};
use super::table::Table;
use crate::connection::Request;
use crate::json::Raw;
use crate::revision::Revision;
use crate::rpc::ErrorObject;
use crate::schema::{
    AnyObject, CallTool, CallToolResult, ClientRequest, Complete, Decode, GetPrompt, ListPrompts,
    ListPromptsResult, ListResourceTemplates, ListResourceTemplatesResult, ListResources,
    ListResourcesResult, ListTools, ListToolsResult, Members, Prompt, ReadResource, Reference,
};

/// The longest error message about a place in the params.
const SENTENCE_CHARS_MAX: usize = 256;

impl<H> Catalog<H> {
    /// Says what `request` asks for: send the [`Answer`], or have the handler make one.
    ///
    /// `revision` is the peer's, [`Context::peer`](crate::Context::peer) has it. A list costs
    /// copies of the entries on its page; a read that names no resource costs one try of each
    /// template, down to the one that matches.
    ///
    /// # Errors
    /// What to answer instead: `-32602` when the params are wrong, there is no such tool or prompt,
    /// a required argument is missing, or a cursor is none of the list's (T-117, PAG-05); the
    /// revision's code for a resource that does not exist, with its URI (STL-46).
    pub fn find(&self, request: &Request, revision: Revision) -> Result<Found<'_, H>, ErrorObject> {
        self.find_raw(&request.method, request.params.as_ref(), revision)
    }

    /// As [`find`](Self::find), with the parts of a request; absent params count as an empty
    /// object.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn find_raw(
        &self,
        method: &str,
        params: Option<&Raw>,
        revision: Revision,
    ) -> Result<Found<'_, H>, ErrorObject> {
        match method {
            CallTool::METHOD => self.find_tool(read(params)?),
            ReadResource::METHOD => self.find_resource(read(params)?, revision),
            GetPrompt::METHOD => self.find_prompt(read(params)?),
            Complete::METHOD => self.find_completion(read(params)?),
            _ => Ok(self.list(method, params)?.map_or(Found::Other, Found::Answer)),
        }
    }

    fn find_tool(&self, mut call: CallTool) -> Result<Found<'_, H>, ErrorObject> {
        let entry = self.tools.find(&call.name).ok_or_else(|| unknown("tool", &call.name))?;
        let arguments = call.arguments.get_or_insert_with(|| AnyObject(Raw::empty_object()));
        if let Some(Err(problem)) = self.check.as_ref().map(|check| check(&entry.item, arguments)) {
            return Ok(Found::Answer(Answer::Call(CallToolResult::error(problem))));
        }
        Ok(Found::Tool { tool: &entry.item, handler: &entry.handler, call })
    }

    fn find_resource(
        &self,
        read: ReadResource,
        revision: Revision,
    ) -> Result<Found<'_, H>, ErrorObject> {
        if let Some(entry) = self.resources.find(&read.uri) {
            return Ok(Found::Resource { resource: &entry.item, handler: &entry.handler, read });
        }
        for ((_, number), pattern) in &self.patterns {
            let Some(variables) = pattern.match_uri(&read.uri) else { continue };
            let Some(entry) = self.templates.at(*number) else { continue };
            let (template, handler) = (&entry.item, &entry.handler);
            return Ok(Found::Template { template, handler, variables, read });
        }
        Err(no_resource(&read.uri, revision))
    }

    fn find_prompt(&self, get: GetPrompt) -> Result<Found<'_, H>, ErrorObject> {
        let entry = self.prompts.find(&get.name).ok_or_else(|| unknown("prompt", &get.name))?;
        refuse_kept(&get.extra, "arguments", "an object")?;
        let arguments = get.arguments.as_ref();
        if let Some(broken) = arguments.and_then(|arguments| arguments.broken.first()) {
            return Err(wrong(&broken.clone().within("arguments")));
        }
        let is_there =
            |name: &str| arguments.is_some_and(|arguments| arguments.find(name).is_some());
        let required = entry.item.arguments.iter().flatten().filter(|argument| argument.required);
        let missing: Vec<&str> =
            required.map(|argument| &*argument.name).filter(|name| !is_there(name)).collect();
        if !missing.is_empty() {
            let message = alloc::format!("required arguments are missing: {}", missing.join(", "));
            return Err(ErrorObject::invalid_params(message));
        }
        Ok(Found::Prompt { prompt: &entry.item, handler: &entry.handler, get })
    }

    fn find_completion(&self, complete: Complete) -> Result<Found<'_, H>, ErrorObject> {
        let argument = &*complete.argument.name;
        let (handler, is_known) = match &complete.reference {
            Reference::Prompt(prompt) => {
                let entry = self
                    .prompts
                    .find(&prompt.name)
                    .ok_or_else(|| unknown("prompt", &prompt.name))?;
                (entry.completions.get(argument), entry.item.has_argument(argument))
            }
            Reference::Resource(resource) => match self.templates.find(&resource.uri) {
                Some(entry) => {
                    (entry.completions.get(argument), self.has_variable(&resource.uri, argument))
                }
                // A resource has nothing that could be completed, and asking is no mistake.
                None if self.resources.find(&resource.uri).is_some() => (None, true),
                None => return Err(unknown("resource template", &resource.uri)),
            },
            Reference::Other(_) => {
                return Err(ErrorObject::invalid_params("no such kind of reference"));
            }
        };
        match handler {
            Some(handler) => Ok(Found::Completion { handler, complete }),
            None if is_known => Ok(Found::Answer(Answer::Complete(completion(Vec::new(), None)))),
            None => Err(unknown("argument", argument)),
        }
    }

    /// A page of the list that `method` asks for; `None` when it asks for no list.
    fn list(&self, method: &str, params: Option<&Raw>) -> Result<Option<Answer>, ErrorObject> {
        macro_rules! page {
            ($table:ident, $asked:ty, $page:ty, $answer:path) => {{
                let asked: $asked = read(params)?;
                let (items, next_cursor) =
                    self.page(&self.$table, asked.cursor.as_deref(), &asked.extra)?;
                let mut page = <$page>::new(items);
                page.next_cursor = next_cursor;
                page.ttl_ms = self.ttl_ms;
                page.cache_scope = self.cache_scope();
                $answer(page)
            }};
        }
        Ok(Some(match method {
            ListTools::METHOD => page!(tools, ListTools, ListToolsResult, Answer::Tools),
            ListResources::METHOD => {
                page!(resources, ListResources, ListResourcesResult, Answer::Resources)
            }
            ListResourceTemplates::METHOD => {
                page!(
                    templates,
                    ListResourceTemplates,
                    ListResourceTemplatesResult,
                    Answer::Templates
                )
            }
            ListPrompts::METHOD => page!(prompts, ListPrompts, ListPromptsResult, Answer::Prompts),
            _ => return Ok(None),
        }))
    }

    fn page<T: Clone>(
        &self,
        table: &Table<T, H>,
        cursor: Option<&str>,
        extra: &Members,
    ) -> Result<(Vec<T>, Option<String>), ErrorObject> {
        refuse_kept(extra, "cursor", "a string")?;
        let page = table.page(cursor, self.pages);
        page.ok_or_else(|| ErrorObject::invalid_params("the cursor is none of this list's"))
    }
}

impl Prompt {
    pub(super) fn has_argument(&self, name: &str) -> bool {
        self.arguments.iter().flatten().any(|argument| argument.name == name)
    }
}

fn read<T: Decode>(params: Option<&Raw>) -> Result<T, ErrorObject> {
    params.map_or_else(|| T::decode(&Raw::empty_object()), T::decode).map_err(|error| wrong(&error))
}

fn wrong(error: &crate::schema::DecodeError) -> ErrorObject {
    let sentence = error.to_string();
    // The place may have names of the peer's in it.
    ErrorObject::invalid_params(shortened(&sentence, SENTENCE_CHARS_MAX))
}

/// Refuses a member that has another type than it must; reading set it aside. `null` counts as
/// absent.
fn refuse_kept(extra: &Members, name: &str, expected: &str) -> Result<(), ErrorObject> {
    match extra.find(name) {
        Some(value) if value.as_str() != "null" => {
            Err(ErrorObject::invalid_params(alloc::format!("expected {expected} at \"/{name}\"")))
        }
        _ => Ok(()),
    }
}

fn unknown(kind: &str, name: &str) -> ErrorObject {
    ErrorObject::invalid_params(alloc::format!("no {kind} `{}`", quoted(name)))
}
