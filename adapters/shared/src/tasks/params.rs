//! The params of a request that asks for a task.

use mcp_proto::schema::{Decode as _, Encode, Map, TaskRequest};
use mcp_proto::{Raw, Revision, Unencodable};

/// Params that encode themselves, with a request for a task. (2025-11-25)
pub(crate) struct WithTask<P> {
    pub(crate) params: P,
    pub(crate) task: Option<TaskRequest>,
}

impl<P: Encode> Encode for WithTask<P> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let Some(task) = &self.task else { return self.params.encode(revision, out) };
        let params = self.params.to_raw(revision)?;
        let members: Map<Raw> = Map::decode(&params).map_err(|_| Unencodable)?;
        members.with("task", task.to_raw(revision)?).encode(revision, out)
    }
}
