//! Tasks: tool calls that outlive their response.
//!
//! A tool becomes a task with [`Tool::as_task`](crate::Tool::as_task): the server responds to its
//! call immediately, its handler continues, and the client fetches the result later. Handlers do
//! not change. [`Tasks`] has the settings of a server, [`TaskStore`] keeps tasks across restarts.
//!
//! ```
//! # use mcp_adapter as mcp_tokio;
//! use std::time::Duration;
//!
//! use mcp_tokio::tasks::{TaskPolicy, Tasks};
//! use mcp_tokio::{Cx, Server, Tool};
//!
//! fn index(cx: Cx) -> &'static str {
//!     while !cx.is_cancelled() {
//!         // One document after the other.
//!         # break;
//!     }
//!     "done"
//! }
//!
//! let index = Tool::new("index", index).description("Indexes all documents");
//! let server = Server::new("search", "1.0.0")
//!     .add(index.as_task(TaskPolicy::optional()))
//!     .tasks(Tasks::new().result_time(Duration::from_secs(24 * 3600)));
//! # drop(server);
//! ```

mod created;
mod extension;
#[cfg(feature = "task-store")]
mod file_store;
mod params;
mod policy;
mod settings;
mod store;
mod update;

pub(crate) use created::{random_id, task_time};
pub(crate) use extension::{EXTENSION, LISTEN_KEY, extension};
pub(crate) use params::WithTask;

#[cfg(feature = "task-store")]
pub use file_store::FileTaskStore;
pub use policy::TaskPolicy;
pub use settings::Tasks;
pub use store::TaskStore;
pub use update::TaskUpdate;
