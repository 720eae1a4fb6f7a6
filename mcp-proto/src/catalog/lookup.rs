//! Resolves a request to a handler, or to the result or error to respond with.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Catalog;
use super::quote::{quoted, shortened};
use super::resolved::{CatalogResult, Resolved, completion, resource_not_found};
use super::table::Table;
use crate::json::Raw;
use crate::revision::Revision;
use crate::rpc::ErrorObject;
use crate::schema::{
    AnyObject, CallTool, CallToolResult, ClientRequest, Complete, Decode, ExtraMembers, GetPrompt,
    ListPrompts, ListPromptsResult, ListResourceTemplates, ListResourceTemplatesResult,
    ListResources, ListResourcesResult, ListTools, ListToolsResult, Prompt, ReadResource,
    Reference,
};
use crate::vocabulary::Request;

/// Longest error message about malformed params, in characters.
const MESSAGE_CHARS_MAX: usize = 256;

impl<H> Catalog<H> {
    /// Resolves `request` to a handler, or to a [`CatalogResult`] to respond with.
    ///
    /// `revision` is the peer's revision; see [`Context::peer`](crate::Context::peer).
    ///
    /// - For a list request, returns a copy of the entries on the requested page.
    /// - For a read request, prefers the resource with the requested URI. If there is none, tries
    ///   the templates, most specific first, until one matches.
    /// - For a method that the catalog does not handle, returns [`Resolved::Other`].
    ///
    /// # Errors
    /// Returns the error to send as the response. If no resource or template matches the URI to
    /// read, the error is that of [`resource_not_found`]. In all other cases, the error code is
    /// `-32602`, for one of these reasons:
    /// - the params are malformed;
    /// - the tool, prompt, resource template or argument is unknown;
    /// - a required argument is missing;
    /// - the cursor is invalid.
    // T-117: an unknown tool is a protocol error. PAG-05: so is an invalid cursor. STL-46: the code
    // for unknown resources depends on the revision.
    pub fn lookup(
        &self,
        request: &Request,
        revision: Revision,
    ) -> Result<Resolved<'_, H>, ErrorObject> {
        self.lookup_raw(&request.method, request.params.as_ref(), revision)
    }

    /// Resolves a request given by method name and raw params; see [`lookup`](Self::lookup).
    ///
    /// Absent params are treated as an empty object.
    ///
    /// # Errors
    /// Fails under the conditions documented for [`lookup`](Self::lookup).
    pub fn lookup_raw(
        &self,
        method: &str,
        params: Option<&Raw>,
        revision: Revision,
    ) -> Result<Resolved<'_, H>, ErrorObject> {
        match method {
            CallTool::METHOD => self.find_tool(decode_params(params)?),
            ReadResource::METHOD => self.find_resource(decode_params(params)?, revision),
            GetPrompt::METHOD => self.find_prompt(decode_params(params)?),
            Complete::METHOD => self.find_completion(decode_params(params)?),
            _ => Ok(self.list(method, params)?.map_or(Resolved::Other, Resolved::Answer)),
        }
    }

    fn find_tool(&self, mut call: CallTool) -> Result<Resolved<'_, H>, ErrorObject> {
        let entry = self.tools.find(&call.name).ok_or_else(|| unknown("tool", &call.name))?;
        let arguments = call.arguments.get_or_insert_with(|| AnyObject(Raw::empty_object()));
        if let Some(Err(problem)) = self.check.as_ref().map(|check| check(&entry.item, arguments)) {
            return Ok(Resolved::Answer(CatalogResult::Call(CallToolResult::error(problem))));
        }
        Ok(Resolved::Tool { tool: &entry.item, handler: &entry.handler, call })
    }

    fn find_resource(
        &self,
        read: ReadResource,
        revision: Revision,
    ) -> Result<Resolved<'_, H>, ErrorObject> {
        if let Some(entry) = self.resources.find(&read.uri) {
            return Ok(Resolved::Resource { resource: &entry.item, handler: &entry.handler, read });
        }
        for ((_, number), pattern) in &self.patterns {
            let Some(variables) = pattern.match_uri(&read.uri) else { continue };
            let Some(entry) = self.templates.at(*number) else { continue };
            let (template, handler) = (&entry.item, &entry.handler);
            return Ok(Resolved::Template { template, handler, variables, read });
        }
        Err(resource_not_found(&read.uri, revision))
    }

    /// Returns whether a resource has this URI or a resource template matches it.
    #[must_use]
    pub fn has_resource(&self, uri: &str) -> bool {
        self.resources.find(uri).is_some()
            || self.patterns.values().any(|pattern| pattern.match_uri(uri).is_some())
    }

    fn find_prompt(&self, get: GetPrompt) -> Result<Resolved<'_, H>, ErrorObject> {
        let entry = self.prompts.find(&get.name).ok_or_else(|| unknown("prompt", &get.name))?;
        reject_mistyped(&get.extra, "arguments", "an object")?;
        let arguments = get.arguments.as_ref();
        if let Some(broken) = arguments.and_then(|arguments| arguments.broken.first()) {
            return Err(invalid_params(&broken.clone().within("arguments")));
        }
        let is_present =
            |name: &str| arguments.is_some_and(|arguments| arguments.get(name).is_some());
        let required = entry.item.arguments.iter().flatten().filter(|argument| argument.required);
        let missing: Vec<&str> =
            required.map(|argument| &*argument.name).filter(|name| !is_present(name)).collect();
        if !missing.is_empty() {
            let message = alloc::format!("missing required arguments: {}", missing.join(", "));
            return Err(ErrorObject::invalid_params(message));
        }
        Ok(Resolved::Prompt { prompt: &entry.item, handler: &entry.handler, get })
    }

    fn find_completion(&self, complete: Complete) -> Result<Resolved<'_, H>, ErrorObject> {
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
                // Resources have no arguments to complete; the request is still valid.
                None if self.resources.find(&resource.uri).is_some() => (None, true),
                None => return Err(unknown("resource template", &resource.uri)),
            },
            Reference::Other(_) => {
                return Err(ErrorObject::invalid_params("unknown reference type"));
            }
        };
        match handler {
            Some(handler) => Ok(Resolved::Completion { handler, complete }),
            None if is_known => {
                Ok(Resolved::Answer(CatalogResult::Complete(completion(Vec::new(), None))))
            }
            None => Err(unknown("argument", argument)),
        }
    }

    /// Returns the page that `method` requests; `None` if it is not a list method.
    fn list(
        &self,
        method: &str,
        params: Option<&Raw>,
    ) -> Result<Option<CatalogResult>, ErrorObject> {
        // PAG-06: every list is paged.
        macro_rules! page {
            ($table:ident, $request:ty, $page:ty, $answer:path) => {{
                let request: $request = decode_params(params)?;
                let (items, next_cursor) =
                    self.page(&self.$table, request.cursor.as_deref(), &request.extra)?;
                let mut page = <$page>::new(items);
                page.next_cursor = next_cursor;
                page.ttl_ms = self.ttl_ms;
                page.cache_scope = self.cache_scope();
                $answer(page)
            }};
        }
        Ok(Some(match method {
            ListTools::METHOD => page!(tools, ListTools, ListToolsResult, CatalogResult::Tools),
            ListResources::METHOD => {
                page!(resources, ListResources, ListResourcesResult, CatalogResult::Resources)
            }
            ListResourceTemplates::METHOD => {
                page!(
                    templates,
                    ListResourceTemplates,
                    ListResourceTemplatesResult,
                    CatalogResult::Templates
                )
            }
            ListPrompts::METHOD => {
                page!(prompts, ListPrompts, ListPromptsResult, CatalogResult::Prompts)
            }
            _ => return Ok(None),
        }))
    }

    fn page<T: Clone>(
        &self,
        table: &Table<T, H>,
        cursor: Option<&str>,
        extra: &ExtraMembers,
    ) -> Result<(Vec<T>, Option<String>), ErrorObject> {
        reject_mistyped(extra, "cursor", "a string")?;
        let page = table.page(cursor, self.pages);
        page.ok_or_else(|| ErrorObject::invalid_params("invalid cursor"))
    }
}

impl Prompt {
    pub(super) fn has_argument(&self, name: &str) -> bool {
        self.arguments.iter().flatten().any(|argument| argument.name == name)
    }
}

fn decode_params<T: Decode>(params: Option<&Raw>) -> Result<T, ErrorObject> {
    params
        .map_or_else(|| T::decode(&Raw::empty_object()), T::decode)
        .map_err(|error| invalid_params(&error))
}

fn invalid_params(error: &crate::schema::DecodeError) -> ErrorObject {
    let message = error.to_string();
    // The path can contain names that the peer chose.
    ErrorObject::invalid_params(shortened(&message, MESSAGE_CHARS_MAX))
}

/// Rejects a member that decoding kept in `extra` because of its type; `null` counts as absent.
fn reject_mistyped(extra: &ExtraMembers, name: &str, expected: &str) -> Result<(), ErrorObject> {
    match extra.get(name) {
        Some(value) if value.as_str() != "null" => {
            Err(ErrorObject::invalid_params(alloc::format!("expected {expected} at \"/{name}\"")))
        }
        _ => Ok(()),
    }
}

fn unknown(kind: &str, name: &str) -> ErrorObject {
    ErrorObject::invalid_params(alloc::format!("no {kind} `{}`", quoted(name)))
}
