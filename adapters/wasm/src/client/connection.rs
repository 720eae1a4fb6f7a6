//! [`Connection`]: a handle to an open connection of a client.

use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use mcp_proto::schema::Encode;
use mcp_proto::{CloseReason, Limits, Peer, Raw};

use crate::client::call::Call;
use crate::client::calls::Calls;
use crate::error::Error;

/// An open connection to a server.
///
/// Cheap to clone. Calls can be made from several tasks of the thread concurrently. A task of the
/// platform drives the connection until [`close`](Self::close) or the end of the transport;
/// dropping the handle does not close it.
///
/// ```
/// use mcp_wasm::proto::Raw;
/// use mcp_wasm::{Connection, Error};
///
/// async fn tools(connection: &Connection) -> Result<usize, Error> {
///     Ok(connection.list_raw("tools/list", "tools").await?.len())
/// }
/// # let _tools = tools;
/// ```
#[derive(Clone)]
pub struct Connection {
    calls: Rc<Calls>,
    limits: Limits,
}

/// The most pages of a list.
const PAGES_MAX: usize = 10_000;

impl Connection {
    /// Waits until a connection is open.
    ///
    /// # Errors
    /// Fails with [`Error::Start`] if the connection ends before.
    pub(crate) async fn open(calls: Rc<Calls>, limits: Limits) -> Result<Self, Error> {
        // Dropped with this future, it closes the connection, which has no handle yet.
        let opening = CloseOnDrop(Some(Rc::clone(&calls)));
        let opened =
            poll_fn(|cx| calls.poll_opened(cx.waker()).map_or(Poll::Pending, Poll::Ready)).await;
        opening.disarm();
        opened.map_err(Error::Start)?;
        Ok(Self { calls, limits })
    }

    /// Returns the server's description, with the negotiated revision.
    ///
    /// Returns `None` while a lost HTTP session is being replaced.
    #[must_use]
    pub fn peer(&self) -> Option<Arc<Peer>> {
        let mut peer = None;
        self.calls.link.command(&mut |client, _| peer = client.peer().cloned());
        peer
    }

    /// Prepares a call of any method, with JSON params and result.
    ///
    /// The call is sent when you await it or [start](Call::start) it.
    pub fn call_raw<'c>(&'c self, method: &str, params: impl Encode + 'c) -> Call<'c, Raw> {
        Call::new(&self.calls, method, params)
    }

    /// Prepares a tool call with JSON arguments and result.
    ///
    /// The call is sent when you await it or [start](Call::start) it.
    pub fn call_tool_raw<'c>(&'c self, name: &str, arguments: impl Into<Raw>) -> Call<'c, Raw> {
        let name = Raw::new(name).unwrap_or_else(|_| Raw::empty_object());
        let arguments = arguments.into();
        let params = format!(r#"{{"name":{name},"arguments":{arguments}}}"#);
        // Both are JSON, so the whole is.
        let params = Raw::from_text(&params).unwrap_or_else(|_| Raw::empty_object());
        Call::new(&self.calls, "tools/call", params)
    }

    /// Returns all elements of a list, over all its pages.
    ///
    /// `method` is the request, such as `tools/list`, and `member` the member of its result that
    /// holds the elements, such as `tools`.
    ///
    /// # Errors
    /// Fails under the conditions of a call, and with [`Error::List`] if the list exceeds
    /// [`Limits::list_entries_max`], [`Limits::list_bytes_max`] or 10,000 pages, or if the server
    /// repeats a cursor.
    pub async fn list_raw(&self, method: &str, member: &str) -> Result<Vec<Raw>, Error> {
        let (mut entries, mut bytes) = (Vec::new(), 0_usize);
        let mut cursors: Vec<Raw> = Vec::new();
        loop {
            let params = match cursors.last() {
                Some(cursor) => Raw::from_text(&format!(r#"{{"cursor":{cursor}}}"#)),
                None => Ok(Raw::empty_object()),
            };
            let params = params.unwrap_or_else(|_| Raw::empty_object());
            let page = self.call_raw(method, params).await?;
            bytes = bytes.saturating_add(page.as_bytes().len());
            if bytes > self.limits.list_bytes_max {
                return Err(Error::List("the list is too long (`Limits::list_bytes_max`)"));
            }
            if let Some(list) = page.member(member) {
                entries.extend(list.elements());
            }
            if entries.len() > self.limits.list_entries_max {
                return Err(Error::List("the list is too long (`Limits::list_entries_max`)"));
            }
            let ends = self.peer().is_some_and(|peer| peer.revision.rules().empty_cursor_ends);
            let is_cursor = |text: &str| !text.is_empty() || !ends;
            let next = page.member("nextCursor");
            let next = next.filter(|next| next.to_text().is_some_and(|text| is_cursor(&text)));
            let Some(next) = next else { return Ok(entries) };
            if cursors.len() == PAGES_MAX {
                return Err(Error::List("the list has more than 10000 pages"));
            }
            if cursors.contains(&next) {
                return Err(Error::List("the list repeats a cursor and would never end"));
            }
            cursors.push(next);
        }
    }

    /// Closes the connection and waits until it is closed.
    ///
    /// Calls in flight fail. Over HTTP, the session is ended as well.
    pub async fn close(self) {
        self.calls.link.close();
        self.closed().await;
    }

    /// Waits until the connection is closed, and returns why.
    pub async fn closed(&self) -> CloseReason {
        poll_fn(|cx| self.calls.poll_closed(cx.waker()).map_or(Poll::Pending, Poll::Ready)).await
    }

    /// Returns whether the connection is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.calls.is_closed()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

#[cfg(feature = "schema")]
mod typed {
    use mcp_proto::Raw;
    use mcp_proto::schema::{
        CallTool, CallToolResult, ClientRequest, Decode, List, ListTools, Tool,
    };
    use serde::Serialize;

    use super::Connection;
    use crate::client::call::Call;
    use crate::error::Error;

    /// Calls with the types of the protocol, with the feature `schema`.
    impl Connection {
        /// Prepares a call.
        ///
        /// The call is sent when you await it or [start](Call::start) it.
        pub fn call<'c, R: ClientRequest + 'c>(&'c self, request: R) -> Call<'c, R::Result> {
            Call::new(&self.calls, R::METHOD, request)
        }

        /// Prepares a tool call.
        ///
        /// The call is sent when you await it or [start](Call::start) it. The call fails unless
        /// `arguments` serializes to a JSON object.
        pub fn call_tool(
            &self,
            name: &str,
            arguments: &(impl Serialize + ?Sized),
        ) -> Call<'_, CallToolResult> {
            // What is no object is refused when the call is sent.
            let arguments = Raw::new(arguments).unwrap_or_else(|_| false_json());
            self.call(CallTool::new(name).arguments(arguments))
        }

        /// Returns all tools of the server, over all pages.
        ///
        /// Tools that cannot be read are left out and reported in [`List::broken`].
        ///
        /// # Errors
        /// Fails under the conditions of [`list_raw`](Self::list_raw).
        pub async fn list_tools(&self) -> Result<List<Tool>, Error> {
            let tools = self.list_raw(<ListTools as ClientRequest>::METHOD, "tools").await?;
            let mut list = List::default();
            for (index, tool) in tools.iter().enumerate() {
                match Tool::decode(tool) {
                    Ok(tool) => list.items.push(tool),
                    Err(error) => list.broken.push(error.within(index)),
                }
            }
            Ok(list)
        }
    }

    fn false_json() -> Raw {
        serde_json::Value::Bool(false).into()
    }
}

/// Closes a connection when it is dropped.
struct CloseOnDrop(Option<Rc<Calls>>);

impl CloseOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(calls) = &self.0 {
            calls.link.close();
        }
    }
}
