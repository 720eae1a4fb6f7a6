//! Nonces for DPoP proofs (RFC 9449, section 9): kept from responses, and demanded by rejections.

use super::HttpClient;
use super::action::ExchangeId;
use super::event::{Challenge, challenges};
use crate::http::Headers;
use crate::http::header::visible;
use crate::time::Instant;

/// The maximum length of a nonce in bytes; longer ones are ignored.
const NONCE_BYTES_MAX: usize = 1024;

/// How often a request is repeated with another nonce: concurrent requests may use up a nonce that
/// is valid only once.
const REPETITIONS_MAX: u8 = 3;

impl HttpClient {
    /// Keeps the nonce of a response, and sends a request again that was rejected for its nonce.
    /// Returns whether the request is sent again.
    // AUT-82: any response may bring the nonce for the next request.
    pub(super) fn on_dpop_nonce(
        &mut self,
        now: Instant,
        id: ExchangeId,
        status: u16,
        fields: &dyn Headers,
    ) -> bool {
        let nonce = fields.value("dpop-nonce", 0).and_then(|it| visible(it, NONCE_BYTES_MAX));
        let Some(nonce) = nonce else { return false };
        self.authorization.dpop_nonce = Some(nonce.into());
        status == 401 && challenges(fields).iter().any(wants_nonce) && self.repeat(now, id)
    }

    /// Sends a rejected request again, unless that has happened too often.
    fn repeat(&mut self, now: Instant, id: ExchangeId) -> bool {
        let repetitions = self.exchanges.get(id).map(|exchange| exchange.nonce_repetitions);
        let Some(repetitions) = repetitions.filter(|count| *count < REPETITIONS_MAX) else {
            return false;
        };
        let Some(mut rejected) = self.take_rejected(now, id) else { return false };
        rejected.nonce_repetitions = repetitions + 1;
        let next = self.exchanges.repeat(rejected);
        self.move_gate(id, next);
        true
    }
}

/// Returns whether a challenge asks for a proof with the nonce of the response.
fn wants_nonce(challenge: &Challenge) -> bool {
    challenge.scheme.eq_ignore_ascii_case("DPoP")
        && challenge.param("error") == Some("use_dpop_nonce")
}
