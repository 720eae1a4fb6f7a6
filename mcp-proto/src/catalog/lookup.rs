//! Resolves a request to a handler, or to the result or error to respond with.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::not_found::{not_found, prompt_not_found, resource_not_found, tool_not_found};
use super::quote::shortened;
use super::resolved::{CatalogResult, Resolved, completion};
use super::table::{Entry, Table};
use super::uri_template::Variables;
use super::visibility::{CatalogEntry, Filter};
use super::{Catalog, CatalogView};
use crate::json::Raw;
use crate::revision::Revision;
use crate::rpc::ErrorObject;
use crate::schema::{
    AnyObject, CacheScope, CallTool, CallToolResult, ClientRequest, Complete, Decode, DecodeError,
    ExtraMembers, GetPrompt, JsonReader, ListPrompts, ListPromptsResult, ListResourceTemplates,
    ListResourceTemplatesResult, ListResources, ListResourcesResult, ListTools, ListToolsResult,
    Prompt, ReadResource, Reference, ResourceTemplate,
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
    ///   the templates, most specific first, until one matches. Spellings of a URI that differ in
    ///   the percent-encoding of characters that are not reserved are equivalent (RFC 3986, section
    ///   6.2.2); the handler receives the URI as the client wrote it.
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
        self.all().lookup(request, revision)
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
        self.all().lookup_raw(method, params, revision)
    }

    /// Returns whether a resource has this URI or a resource template matches it.
    #[must_use]
    pub fn has_resource(&self, uri: &str) -> bool {
        self.all().has_resource(uri)
    }

    /// Returns a view of the catalog for a caller who may see only some of the entries.
    ///
    /// The entries for which `is_visible` returns false are missing in lists. Requests for them are
    /// answered as if they did not exist: a request to read a hidden resource resolves to a visible
    /// template that matches its URI, if there is one.
    ///
    /// `is_visible` is called for each entry of a list that precedes the end of the requested page,
    /// and for each entry that a request is about. Filtered lists are never shared between users by
    /// caches. Their cursors contain the name or URI of the last entry on a page: if that entry is
    /// removed or hidden, the cursor becomes invalid.
    ///
    /// ```
    /// use mcp_proto::catalog::{Catalog, CatalogEntry};
    /// use mcp_proto::schema::Prompt;
    /// use mcp_proto::{Raw, Revision};
    ///
    /// let mut catalog = Catalog::new();
    /// catalog.add_prompt(Prompt::new("greet"), "handler").unwrap();
    /// catalog.add_prompt(Prompt::new("dismiss"), "handler").unwrap();
    ///
    /// let is_visible = |entry: CatalogEntry<'_>| entry.name() == "greet";
    /// let view = catalog.visible(&is_visible);
    /// let get = |name| Raw::from_text(&format!(r#"{{"name":"{name}"}}"#)).unwrap();
    /// let lookup = |name| view.lookup_raw("prompts/get", Some(&get(name)), Revision::V2025_11_25);
    /// assert!(lookup("greet").is_ok());
    /// assert_eq!(lookup("dismiss").unwrap_err().to_string(), "no prompt `dismiss` (-32602)");
    /// ```
    // SEC-02: access is decided for each caller.
    pub fn visible<'a>(
        &'a self,
        is_visible: &'a dyn Fn(CatalogEntry<'_>) -> bool,
    ) -> CatalogView<'a, H> {
        CatalogView { catalog: self, filter: Filter(Some(is_visible)) }
    }

    /// Returns a view of the catalog for a caller who may see all entries.
    #[must_use]
    pub const fn all(&self) -> CatalogView<'_, H> {
        CatalogView { catalog: self, filter: Filter(None) }
    }
}

/// A decision about an entry and its handler.
type Admit<'f, 'a, H, E> = &'f mut dyn FnMut(CatalogEntry<'a>, &'a H) -> Result<(), E>;

impl<'a, H> CatalogView<'a, H> {
    /// Resolves `request` for the caller; see [`Catalog::lookup`].
    ///
    /// # Errors
    /// Fails under the conditions documented for [`Catalog::lookup`].
    pub fn lookup(
        &self,
        request: &Request,
        revision: Revision,
    ) -> Result<Resolved<'a, H>, ErrorObject> {
        self.lookup_raw(&request.method, request.params.as_ref(), revision)
    }

    /// Resolves a request given by method name and raw params; see [`Catalog::lookup_raw`].
    ///
    /// # Errors
    /// Fails under the conditions documented for [`Catalog::lookup`].
    pub fn lookup_raw(
        &self,
        method: &str,
        params: Option<&Raw>,
        revision: Revision,
    ) -> Result<Resolved<'a, H>, ErrorObject> {
        self.lookup_admitted(method, params, revision, &mut |_, _| Ok(()))
    }

    /// Resolves a request like [`lookup_raw`](Self::lookup_raw), and calls `admit` with the entry
    /// that the request is about, and its handler, before the arguments are checked.
    ///
    /// `admit` thus decides whether the caller may use the entry before errors describe what
    /// arguments it takes. For a completion, the entry is the prompt or the template. `admit` is
    /// called at most once, and never for lists.
    ///
    /// # Errors
    /// Fails with the error of `admit`, and otherwise under the conditions documented for
    /// [`Catalog::lookup`].
    // AUT-24: before the arguments are checked.
    pub fn lookup_admitted<E: From<ErrorObject>>(
        &self,
        method: &str,
        params: Option<&Raw>,
        revision: Revision,
        admit: Admit<'_, 'a, H, E>,
    ) -> Result<Resolved<'a, H>, E> {
        match method {
            CallTool::METHOD => self.find_tool(decode_params(params)?, admit),
            ReadResource::METHOD => self.find_resource(decode_params(params)?, revision, admit),
            GetPrompt::METHOD => self.find_prompt(decode_params(params)?, admit),
            Complete::METHOD => self.find_completion(decode_params(params)?, admit),
            _ => Ok(self.list(method, params)?.map_or(Resolved::Other, Resolved::Answer)),
        }
    }

    fn find_tool<E: From<ErrorObject>>(
        &self,
        mut call: CallTool,
        admit: Admit<'_, 'a, H, E>,
    ) -> Result<Resolved<'a, H>, E> {
        let entry =
            self.find(&self.catalog.tools, &call.name).ok_or_else(|| tool_not_found(&call.name))?;
        admit((&entry.item).into(), &entry.handler)?;
        let arguments = call.arguments.get_or_insert_with(|| AnyObject(Raw::empty_object()));
        if let Some(Err(problem)) =
            self.catalog.check.as_ref().map(|check| check(&entry.item, &entry.handler, arguments))
        {
            return Ok(Resolved::Answer(CatalogResult::Call(CallToolResult::error(problem))));
        }
        Ok(Resolved::Tool { tool: &entry.item, handler: &entry.handler, call })
    }

    fn find_resource<E: From<ErrorObject>>(
        &self,
        read: ReadResource,
        revision: Revision,
        admit: Admit<'_, 'a, H, E>,
    ) -> Result<Resolved<'a, H>, E> {
        if let Some(entry) = self.find(&self.catalog.resources, &read.uri) {
            admit((&entry.item).into(), &entry.handler)?;
            return Ok(Resolved::Resource { resource: &entry.item, handler: &entry.handler, read });
        }
        if let Some((entry, variables)) = self.find_template(&read.uri) {
            admit((&entry.item).into(), &entry.handler)?;
            let (template, handler) = (&entry.item, &entry.handler);
            return Ok(Resolved::Template { template, handler, variables, read });
        }
        Err(resource_not_found(&read.uri, revision).into())
    }

    /// Returns the visible entry with this key.
    pub(super) fn find<T>(&self, table: &'a Table<T, H>, key: &str) -> Option<&'a Entry<T, H>>
    where
        CatalogEntry<'a>: From<&'a T>,
    {
        table.find(key).filter(|entry| self.filter.shows(&entry.item))
    }

    /// Returns the most specific visible template that matches a URI.
    pub(super) fn find_template(
        &self,
        uri: &str,
    ) -> Option<(&'a Entry<ResourceTemplate, H>, Variables)> {
        self.catalog.patterns.iter().find_map(|((_, number), pattern)| {
            let variables = pattern.match_uri(uri)?;
            let entry = self.catalog.templates.at(*number)?;
            self.filter.shows(&entry.item).then_some((entry, variables))
        })
    }

    fn find_prompt<E: From<ErrorObject>>(
        &self,
        get: GetPrompt,
        admit: Admit<'_, 'a, H, E>,
    ) -> Result<Resolved<'a, H>, E> {
        let entry = self.find(&self.catalog.prompts, &get.name);
        let entry = entry.ok_or_else(|| prompt_not_found(&get.name))?;
        admit((&entry.item).into(), &entry.handler)?;
        reject_mistyped(&get.extra, "arguments", "an object")?;
        let arguments = get.arguments.as_ref();
        if let Some(broken) = arguments.and_then(|arguments| arguments.broken.first()) {
            return Err(invalid_params(&broken.clone().within("arguments")).into());
        }
        let is_present =
            |name: &str| arguments.is_some_and(|arguments| arguments.get(name).is_some());
        let required = entry.item.arguments.iter().flatten().filter(|argument| argument.required);
        let missing: Vec<&str> =
            required.map(|argument| &*argument.name).filter(|name| !is_present(name)).collect();
        if !missing.is_empty() {
            let message = alloc::format!("missing required arguments: {}", missing.join(", "));
            return Err(ErrorObject::invalid_params(message).into());
        }
        Ok(Resolved::Prompt { prompt: &entry.item, handler: &entry.handler, get })
    }

    fn find_completion<E: From<ErrorObject>>(
        &self,
        complete: Complete,
        admit: Admit<'_, 'a, H, E>,
    ) -> Result<Resolved<'a, H>, E> {
        let argument = &*complete.argument.name;
        let (handler, is_known) = match &complete.reference {
            Reference::Prompt(prompt) => {
                let entry = self.find(&self.catalog.prompts, &prompt.name);
                let entry = entry.ok_or_else(|| prompt_not_found(&prompt.name))?;
                admit((&entry.item).into(), &entry.handler)?;
                (entry.completions.get(argument), entry.item.has_argument(argument))
            }
            Reference::Resource(resource) => {
                match self.find(&self.catalog.templates, &resource.uri) {
                    Some(entry) => {
                        admit((&entry.item).into(), &entry.handler)?;
                        let is_known = self.catalog.has_variable(&resource.uri, argument);
                        (entry.completions.get(argument), is_known)
                    }
                    // Resources have no arguments to complete; the request is still valid.
                    None if self.find(&self.catalog.resources, &resource.uri).is_some() => {
                        (None, true)
                    }
                    None => return Err(not_found("resource template", &resource.uri).into()),
                }
            }
            Reference::Other(_) => {
                return Err(ErrorObject::invalid_params("unknown reference type").into());
            }
        };
        match handler {
            Some(handler) => Ok(Resolved::Completion { handler, complete }),
            None if is_known => {
                Ok(Resolved::Answer(CatalogResult::Complete(completion(Vec::new(), None))))
            }
            None => Err(not_found("argument", argument).into()),
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
                    self.page(&self.catalog.$table, request.cursor.as_deref(), &request.extra)?;
                let mut page = <$page>::new(items);
                page.next_cursor = next_cursor;
                page.ttl_ms = self.catalog.ttl_ms;
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
        table: &'a Table<T, H>,
        cursor: Option<&str>,
        extra: &ExtraMembers,
    ) -> Result<(Vec<T>, Option<String>), ErrorObject>
    where
        CatalogEntry<'a>: From<&'a T>,
    {
        reject_mistyped(extra, "cursor", "a string")?;
        let page = table.page(cursor, self.catalog.pages, self.filter);
        page.ok_or_else(|| ErrorObject::invalid_params("invalid cursor"))
    }

    /// A filtered list is private.
    const fn cache_scope(&self) -> CacheScope {
        let is_public = self.catalog.public && self.filter.0.is_none();
        if is_public { CacheScope::Public } else { CacheScope::Private }
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

fn invalid_params(error: &DecodeError) -> ErrorObject {
    let message = error.to_string();
    // The path can contain names that the peer chose.
    ErrorObject::invalid_params(shortened(&message, MESSAGE_CHARS_MAX))
}

/// Rejects a member that decoding kept in `extra` because of its type; `null` counts as absent.
fn reject_mistyped(
    extra: &ExtraMembers,
    name: &str,
    expected: &'static str,
) -> Result<(), ErrorObject> {
    match extra.get(name) {
        Some(value) if value.as_str() != "null" => {
            let found = DecodeError::expected(expected, &JsonReader::new(value));
            Err(invalid_params(&found.within(name)))
        }
        _ => Ok(()),
    }
}
