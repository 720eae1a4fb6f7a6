//! Tasks of a client: tool calls that outlive their response.

pub(crate) mod call;
pub(crate) mod driver;
pub(crate) mod handle;
pub(crate) mod mailbox;
pub(crate) mod served_tasks;
pub(crate) mod settings;
