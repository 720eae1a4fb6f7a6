//! Adding, replacing and removing entries.

use alloc::collections::BTreeSet;

use super::Catalog;
use super::changed::ChangedList;
use super::error::CatalogError;
use super::table::{Entry, Position};
use super::uri_template::UriTemplate;
use crate::schema::{Prompt, Resource, ResourceTemplate, Tool, scheme};

impl<H> Catalog<H> {
    /// Adds a tool at the end of the list, with [readable schemas](Tool::with_readable_schemas).
    ///
    /// # Errors
    /// Fails if
    /// - a tool with this name exists;
    /// - the name is empty;
    /// - the input schema is not an object with `"type":"object"`;
    /// - the output schema is not an object;
    /// - the tool does not fit on a page.
    pub fn add_tool(&mut self, tool: Tool, handler: H) -> Result<ChangedList, CatalogError> {
        self.insert_tool(tool, handler, Position::End)
    }

    /// Replaces the tool of this name, at its position in the list.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such tool, and under the conditions
    /// documented for [`add_tool`](Self::add_tool).
    pub fn replace_tool(&mut self, tool: Tool, handler: H) -> Result<ChangedList, CatalogError> {
        self.insert_tool(tool, handler, Position::Same)
    }

    fn insert_tool(
        &mut self,
        tool: Tool,
        handler: H,
        position: Position,
    ) -> Result<ChangedList, CatalogError> {
        if tool.name.is_empty() {
            return Err(CatalogError::Invalid("the name is empty"));
        }
        let kind = tool.input_schema.member("type");
        if kind.is_none_or(|kind| kind.to_text().as_deref() != Some("object")) {
            return Err(CatalogError::Invalid("the input schema lacks `\"type\":\"object\"`"));
        }
        if tool.output_schema.as_ref().is_some_and(|schema| !schema.is_object()) {
            return Err(CatalogError::Invalid("the output schema is not an object"));
        }
        let (name, tool) = (tool.name.clone(), tool.with_readable_schemas());
        self.tools.insert(&name, tool, handler, self.pages, position).map(|_| ChangedList::Tools)
    }

    /// Adds a resource at the end of the list.
    ///
    /// # Errors
    /// Fails if
    /// - a resource with this URI exists, in this or an equivalent spelling;
    /// - the URI has no scheme;
    /// - the resource does not fit on a page.
    pub fn add_resource(
        &mut self,
        resource: Resource,
        handler: H,
    ) -> Result<ChangedList, CatalogError> {
        self.insert_resource(resource, handler, Position::End)
    }

    /// Replaces the resource with this URI, at its position in the list.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such resource, and under the conditions
    /// documented for [`add_resource`](Self::add_resource).
    pub fn replace_resource(
        &mut self,
        resource: Resource,
        handler: H,
    ) -> Result<ChangedList, CatalogError> {
        self.insert_resource(resource, handler, Position::Same)
    }

    fn insert_resource(
        &mut self,
        resource: Resource,
        handler: H,
        position: Position,
    ) -> Result<ChangedList, CatalogError> {
        if scheme(&resource.uri).is_none() {
            return Err(CatalogError::Invalid("the URI has no scheme"));
        }
        let uri = resource.uri.clone();
        self.resources
            .insert(&uri, resource, handler, self.pages, position)
            .map(|_| ChangedList::Resources)
    }

    /// Adds a resource template at the end of the list.
    ///
    /// A read request resolves to the resource with the requested URI. If there is none, the
    /// request resolves to the most specific template that matches the URI. These criteria decide
    /// which template is the most specific; each one applies if those before it result in a tie:
    /// 1. the most literal characters;
    /// 2. the fewest `{+x}` and `{#x}` expressions;
    /// 3. the fewest variables;
    /// 4. the earliest position in the list.
    ///
    /// # Errors
    /// Fails if
    /// - an entry with this URI template exists;
    /// - the URI template is invalid or not supported (see [`UriTemplate`]);
    /// - the entry does not fit on a page.
    pub fn add_template(
        &mut self,
        template: ResourceTemplate,
        handler: H,
    ) -> Result<ChangedList, CatalogError> {
        self.insert_template(template, handler, Position::End)
    }

    /// Replaces the resource template with this URI template, at its position in the list.
    ///
    /// The completion handlers of the replaced template are removed.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such template, and under the conditions
    /// documented for [`add_template`](Self::add_template).
    pub fn replace_template(
        &mut self,
        template: ResourceTemplate,
        handler: H,
    ) -> Result<ChangedList, CatalogError> {
        self.insert_template(template, handler, Position::Same)
    }

    fn insert_template(
        &mut self,
        template: ResourceTemplate,
        handler: H,
        position: Position,
    ) -> Result<ChangedList, CatalogError> {
        let pattern = UriTemplate::parse(&template.uri_template)?;
        let number =
            self.templates.insert(pattern.as_str(), template, handler, self.pages, position)?;
        self.patterns.insert((pattern.rank(), number), pattern);
        Ok(ChangedList::Resources)
    }

    /// Adds a prompt at the end of the list.
    ///
    /// # Errors
    /// Fails if
    /// - a prompt with this name exists;
    /// - the name is empty;
    /// - the argument names are not unique;
    /// - the prompt does not fit on a page.
    pub fn add_prompt(&mut self, prompt: Prompt, handler: H) -> Result<ChangedList, CatalogError> {
        self.insert_prompt(prompt, handler, Position::End)
    }

    /// Replaces the prompt of this name, at its position in the list.
    ///
    /// The completion handlers of the replaced prompt are removed.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such prompt, and under the conditions
    /// documented for [`add_prompt`](Self::add_prompt).
    pub fn replace_prompt(
        &mut self,
        prompt: Prompt,
        handler: H,
    ) -> Result<ChangedList, CatalogError> {
        self.insert_prompt(prompt, handler, Position::Same)
    }

    fn insert_prompt(
        &mut self,
        prompt: Prompt,
        handler: H,
        position: Position,
    ) -> Result<ChangedList, CatalogError> {
        if prompt.name.is_empty() {
            return Err(CatalogError::Invalid("the name is empty"));
        }
        let mut names = BTreeSet::new();
        if !prompt.arguments.iter().flatten().all(|argument| names.insert(&*argument.name)) {
            return Err(CatalogError::Invalid("argument names are not unique"));
        }
        let name = prompt.name.clone();
        self.prompts
            .insert(&name, prompt, handler, self.pages, position)
            .map(|_| ChangedList::Prompts)
    }

    /// Adds a handler that completes an argument of a prompt.
    ///
    /// The handler is removed together with the prompt.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if the prompt or its argument does not exist, and with
    /// [`CatalogError::Duplicate`] if the argument already has a completion handler.
    pub fn add_prompt_completion(
        &mut self,
        prompt: &str,
        argument: &str,
        handler: H,
    ) -> Result<(), CatalogError> {
        let entry = self.prompts.find_mut(prompt).ok_or(CatalogError::Unknown)?;
        let is_known = entry.item.has_argument(argument);
        entry.add_completion(argument, handler, is_known)
    }

    /// Adds a handler that completes a variable of the resource template `uri_template`.
    ///
    /// The handler is removed together with the template.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if the template or its variable does not exist, and
    /// with [`CatalogError::Duplicate`] if the variable already has a completion handler.
    pub fn add_template_completion(
        &mut self,
        uri_template: &str,
        variable: &str,
        handler: H,
    ) -> Result<(), CatalogError> {
        let is_known = self.has_variable(uri_template, variable);
        let entry = self.templates.find_mut(uri_template).ok_or(CatalogError::Unknown)?;
        entry.add_completion(variable, handler, is_known)
    }

    /// Removes a tool and returns its handler.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such tool.
    pub fn remove_tool(&mut self, name: &str) -> Result<(ChangedList, H), CatalogError> {
        self.tools.remove(name).map(|(_, handler)| (ChangedList::Tools, handler))
    }

    /// Removes a resource and returns its handler.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such resource.
    pub fn remove_resource(&mut self, uri: &str) -> Result<(ChangedList, H), CatalogError> {
        self.resources.remove(uri).map(|(_, handler)| (ChangedList::Resources, handler))
    }

    /// Removes a resource template and returns its handler.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such template.
    pub fn remove_template(
        &mut self,
        uri_template: &str,
    ) -> Result<(ChangedList, H), CatalogError> {
        let (number, handler) = self.templates.remove(uri_template)?;
        let pattern = self.patterns.keys().find(|(_, other)| *other == number).copied();
        pattern.and_then(|pattern| self.patterns.remove(&pattern));
        Ok((ChangedList::Resources, handler))
    }

    /// Removes a prompt and returns its handler.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no such prompt.
    pub fn remove_prompt(&mut self, name: &str) -> Result<(ChangedList, H), CatalogError> {
        self.prompts.remove(name).map(|(_, handler)| (ChangedList::Prompts, handler))
    }
}

impl<T, H> Entry<T, H> {
    fn add_completion(
        &mut self,
        argument: &str,
        handler: H,
        is_known: bool,
    ) -> Result<(), CatalogError> {
        if !is_known {
            return Err(CatalogError::Unknown);
        }
        if self.completions.contains_key(argument) {
            return Err(CatalogError::Duplicate);
        }
        self.completions.insert(argument.into(), handler);
        Ok(())
    }
}
