//! The lists of a server, fetched page by page.

use std::sync::Arc;

use futures_lite::future::or;
use mcp_proto::client::Client as Machine;
use mcp_proto::schema::{
    ClientRequest, Decode, ListPrompts, ListPromptsResult, ListResourceTemplates,
    ListResourceTemplatesResult, ListResources, ListResourcesResult, ListTools, ListToolsResult,
    Prompt, Resource, ResourceTemplate, Tool,
};
use mcp_proto::{Limits, MessageEndpoint as _, Raw};

use super::Connection;
use crate::client::call::Call;
use crate::client::pages::Pages;
use crate::error::{Error, ListError};
use crate::transport::link::Link;

/// The result of a request for one page of a list.
pub(crate) trait ListPage: Decode {
    type Request: ClientRequest<Result = Self> + Send;
    type Entry;

    fn request(cursor: Option<String>) -> Self::Request;

    /// Returns the entries and the cursor of the next page.
    fn into_parts(self) -> (Vec<Self::Entry>, Option<String>);
}

macro_rules! list_page {
    ($page:ty, $request:ty, $entry:ty, $entries:ident) => {
        impl ListPage for $page {
            type Request = $request;
            type Entry = $entry;

            fn request(cursor: Option<String>) -> $request {
                let mut request = <$request>::new();
                request.cursor = cursor;
                request
            }

            fn into_parts(self) -> (Vec<$entry>, Option<String>) {
                (self.$entries.items, self.next_cursor)
            }
        }
    };
}

list_page!(ListPromptsResult, ListPrompts, Prompt, prompts);
list_page!(ListResourcesResult, ListResources, Resource, resources);
list_page!(
    ListResourceTemplatesResult,
    ListResourceTemplates,
    ResourceTemplate,
    resource_templates
);
list_page!(ListToolsResult, ListTools, Tool, tools);

// PAG-07: each list is bounded in entries, bytes, pages and time.
impl Connection {
    /// Returns all of the server's tools, fetching every page of the list.
    ///
    /// # Errors
    /// Fails if the request for a page fails. Fails with [`Error::List`] if the list exceeds
    /// `Limits::list_entries_max`, `Limits::list_bytes_max`, `Limits::list_timeout` or 10,000
    /// pages, or if the server repeats a page's cursor.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, Error> {
        list_tools(self.link()).await
    }

    /// Returns all of the server's resources, fetching every page of the list.
    ///
    /// Resources that only match a template are not included; see
    /// [`list_resource_templates`](Self::list_resource_templates).
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    pub async fn list_resources(&self) -> Result<Vec<Resource>, Error> {
        list::<ListResourcesResult>(self.link()).await
    }

    /// Returns all of the server's resource templates, fetching every page of the list.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>, Error> {
        list::<ListResourceTemplatesResult>(self.link()).await
    }

    /// Returns all of the server's prompts, fetching every page of the list.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> Result<Vec<Prompt>, Error> {
        list::<ListPromptsResult>(self.link()).await
    }
}

/// Returns all tools of the server at the other end of `link`.
pub(crate) async fn list_tools(link: &Arc<Link<Machine>>) -> Result<Vec<Tool>, Error> {
    list::<ListToolsResult>(link).await
}

pub(crate) async fn list<P: ListPage>(link: &Arc<Link<Machine>>) -> Result<Vec<P::Entry>, Error> {
    let limits = link.inspect(|state| state.connection.limits().clone());
    let after = limits.list_timeout;
    let late = async {
        link.sleep_until(link.clock.now() + after).await;
        Err(ListError::TimedOut { after }.into())
    };
    or(collect::<P>(link, &limits), late).await
}

async fn collect<P: ListPage>(
    link: &Arc<Link<Machine>>,
    limits: &Limits,
) -> Result<Vec<P::Entry>, Error> {
    let mut pages = Pages::new(limits);
    loop {
        let request = P::request(pages.cursor());
        // As raw JSON first, because its length counts.
        let page: Raw = Call::new(link, P::Request::METHOD, request).await?;
        let bytes = page.as_bytes().len();
        let (entries, next) = P::decode(&page)?.into_parts();
        // PAG-03: no cursor means the end.
        if let Some(list) = pages.add(bytes, entries, next)? {
            return Ok(list);
        }
    }
}
