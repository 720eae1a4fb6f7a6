//! The scopes of the requests in a batch.

use mcp_proto::http::Refusal;
use mcp_proto::{Caller, Raw, Revision};

use super::shared::ServiceShared;
use crate::http::server::request_head::RequestHead;

/// Parses a body like the connection, which skips a byte order mark.
pub(super) fn parse(body: &[u8]) -> Option<Raw> {
    let text = std::str::from_utf8(body).ok()?;
    Raw::from_text(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()
}

impl ServiceShared {
    /// Refuses a batch if the token of the caller lacks the scopes of one of its requests.
    ///
    /// The challenge names the scopes of the first such request. Responses of the batch's handlers
    /// never become challenges: others of them may have succeeded.
    // AUT-24: one challenge, before any handler of the batch runs.
    pub(super) fn authorize_batch(
        &self,
        head: &RequestHead,
        revision: Option<Revision>,
        caller: &Caller,
        body: &[u8],
    ) -> Result<(), Refusal> {
        head.authorization().never_challenge();
        // The connection refuses what cannot be parsed.
        let Some(batch) = parse(body) else { return Ok(()) };
        let members_max = self.config.limits_ref().batch_members_max;
        for request in batch.elements().take(members_max) {
            self.authorize_message(head, revision, caller, &request)?;
        }
        Ok(())
    }

    /// Refuses a message if it is a request and the token of the caller lacks its scopes.
    pub(super) fn authorize_message(
        &self,
        head: &RequestHead,
        revision: Option<Revision>,
        caller: &Caller,
        message: &Raw,
    ) -> Result<(), Refusal> {
        let method = message.member("method");
        let Some(method) = method.as_ref().and_then(Raw::to_text) else { return Ok(()) };
        let scopes = self.server.scopes_for(&method, message.member("params").as_ref(), caller);
        head.allows(scopes.iter().map(|scope| &**scope))
            .map_err(|missing| missing.refusal(revision, None))
    }
}
