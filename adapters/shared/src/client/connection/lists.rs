//! The lists of a server, fetched page by page.

use futures_lite::future::or;
use mcp_proto::schema::{
    ClientRequest, Decode, DecodeError, List, ListPrompts, ListPromptsResult,
    ListResourceTemplates, ListResourceTemplatesResult, ListResources, ListResourcesResult,
    ListTools, ListToolsResult, Prompt, Resource, ResourceTemplate, Tool,
};
use mcp_proto::{Capability, Limits, MessageEndpoint as _, Raw};

use super::Connection;
use crate::client::call::Call;
use crate::client::pages::Pages;
use crate::error::{Error, ListError};
use crate::exec::operation::Operation;

/// The result of a request for one page of a list.
pub(crate) trait ListPage: Decode {
    type Request: ClientRequest<Result = Self> + Send;
    type Entry;

    /// The capability without which the list is empty and need not be requested; `None` if there is
    /// none.
    const CAPABILITY: Option<Capability>;

    fn request(cursor: Option<String>) -> Self::Request;

    /// Returns the entries and the cursor of the next page.
    fn into_parts(self) -> (List<Self::Entry>, Option<String>);
}

macro_rules! list_page {
    ($page:ty, $request:ty, $entry:ty, $entries:ident, $capability:ident) => {
        impl ListPage for $page {
            type Request = $request;
            type Entry = $entry;

            const CAPABILITY: Option<Capability> = Some(Capability::$capability);

            fn request(cursor: Option<String>) -> $request {
                let mut request = <$request>::new();
                request.cursor = cursor;
                request
            }

            fn into_parts(self) -> (List<$entry>, Option<String>) {
                (self.$entries, self.next_cursor)
            }
        }
    };
}

list_page!(ListPromptsResult, ListPrompts, Prompt, prompts, Prompts);
list_page!(ListResourcesResult, ListResources, Resource, resources, Resources);
list_page!(
    ListResourceTemplatesResult,
    ListResourceTemplates,
    ResourceTemplate,
    resource_templates,
    Resources
);
list_page!(ListToolsResult, ListTools, Tool, tools, Tools);

// PAG-07: each list is bounded in entries, bytes, pages and time.
impl Connection {
    /// Returns all of the server's tools, fetching every page of the list.
    ///
    /// Entries that cannot be read are left out and reported in [`List::broken`]. The list of a
    /// server that does not declare the capability is empty, and is not requested.
    ///
    /// # Errors
    /// Fails if the request for a page fails. Fails with [`Error::List`] if the list exceeds
    /// `Limits::list_entries_max`, `Limits::list_bytes_max`, `Limits::list_timeout` or 10,000
    /// pages, or if the server repeats a page's cursor.
    pub fn list_tools(&self) -> Operation<'_, List<Tool>> {
        Operation::new(list_tools(self))
    }

    /// Returns all of the server's resources, fetching every page of the list.
    ///
    /// Resources that only match a template are not included; see
    /// [`list_resource_templates`](Self::list_resource_templates).
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    pub fn list_resources(&self) -> Operation<'_, List<Resource>> {
        Operation::new(list::<ListResourcesResult>(self))
    }

    /// Returns all of the server's resource templates, fetching every page of the list.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    pub fn list_resource_templates(&self) -> Operation<'_, List<ResourceTemplate>> {
        Operation::new(list::<ListResourceTemplatesResult>(self))
    }

    /// Returns all of the server's prompts, fetching every page of the list.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    pub fn list_prompts(&self) -> Operation<'_, List<Prompt>> {
        Operation::new(list::<ListPromptsResult>(self))
    }
}

/// Returns all tools of the server at the other end of a connection.
pub(crate) async fn list_tools(connection: &Connection) -> Result<List<Tool>, Error> {
    list::<ListToolsResult>(connection).await
}

pub(crate) async fn list<P: ListPage>(connection: &Connection) -> Result<List<P::Entry>, Error> {
    let link = connection.link();
    let (limits, peer) =
        link.inspect(|state| (state.connection.limits().clone(), state.role.peer.clone()));
    let declares = |capability| peer.is_none_or(|peer| peer.capabilities.has(capability));
    if !P::CAPABILITY.is_none_or(declares) {
        return Ok(List { items: Vec::new(), broken: Vec::new() });
    }
    let after = limits.list_timeout;
    let late = async {
        link.sleep_until(link.clock.now() + after).await;
        Err(ListError::TimedOut { after }.into())
    };
    or(collect::<P>(connection, &limits), late).await
}

async fn collect<P: ListPage>(
    connection: &Connection,
    limits: &Limits,
) -> Result<List<P::Entry>, Error> {
    let mut pages = Pages::new(limits);
    let (mut broken, mut offset) = (Vec::new(), 0);
    loop {
        let request = P::request(pages.cursor());
        // As raw JSON first, because its length counts.
        let page: Raw = Call::new(connection, P::Request::METHOD, request).await?;
        let bytes = page.as_bytes().len();
        let (entries, next) = P::decode(&page)?.into_parts();
        let count = entries.items.len() + entries.broken.len();
        let room = BROKEN_MAX.saturating_sub(broken.len());
        broken.extend(entries.broken.into_iter().take(room).map(|error| moved(error, offset)));
        offset += count;
        // PAG-03, PAG-04: no cursor means the end, as does an empty one in some revisions.
        let ends = connection
            .link()
            .inspect(|state| state.connection.revision().rules().empty_cursor_ends);
        let next = next.filter(|cursor| !cursor.is_empty() || !ends);
        if let Some(items) = pages.add(bytes, entries.items, next)? {
            return Ok(List { items, broken });
        }
    }
}

/// The maximum number of errors that are kept per list, as for one page.
const BROKEN_MAX: usize = 64;

/// Makes the error of an entry of a page that of an entry of the list. `offset` is the number of
/// entries before the page.
fn moved(mut error: DecodeError, offset: usize) -> DecodeError {
    let pointer = error.pointer.trim_start_matches('/');
    let digits = pointer.find('/').unwrap_or(pointer.len());
    let (index, inner) = pointer.split_at(digits);
    if let Ok(index) = index.parse::<usize>() {
        error.pointer = format!("/{}{inner}", index.saturating_add(offset));
    }
    error
}
