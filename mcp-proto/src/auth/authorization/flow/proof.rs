//! DPoP: whether a flow asks for tokens that are bound to a key, and the proofs of token requests.
//!
//! | configuration | MCP server | authorization server | token requests | a bearer token is |
//! |---|---|---|---|---|
//! | no key | requires bound tokens | any | none: denied | |
//! | no key | else | any | without proof | used |
//! | `dpop` | requires them | any | with proof | refused |
//! | `dpop` | accepts them | lists ES256 | with proof | used |
//! | `dpop` | else | any | without proof | used |
//! | `require_dpop` | any | any | with proof | refused |
//!
//! The MCP server speaks by its metadata and by the schemes of its challenges. With a key, the
//! successor of a bound token is asked for with a proof, too.

use super::Flow;
use super::proof_state::ProofState;
use super::step::{Env, Outcome, SigningPurpose, TokenCall};
use crate::auth::authorization::Denial;
use crate::auth::authorization::action::KeyUse;
use crate::auth::authorization::challenge::DpopSupport;
use crate::auth::{DpopProof, TokenType};
use crate::secret::Secret;

impl Flow {
    /// Decides on DPoP, before a user is asked.
    // AUT-82.
    pub(super) fn choose_proof(&self, env: &Env<'_>) -> Result<ProofState, Denial> {
        let support = self.wanted.dpop.max(self.target.dpop());
        let Some(dpop) = env.config.dpop else {
            let is_required = support == DpopSupport::Required;
            return if is_required { Err(Denial::DpopRequired) } else { Ok(ProofState::default()) };
        };
        let was_bound = self.tokens().is_some_and(|tokens| tokens.token_type == TokenType::Dpop);
        let is_required = dpop.is_required || support == DpopSupport::Required;
        let is_offered = support == DpopSupport::Accepted && self.server()?.dpop;
        let key = Some(dpop.key).filter(|_| is_required || is_offered || was_bound);
        Ok(ProofState::new(key, is_required))
    }

    /// Sends a token request, after its DPoP proof is signed if there is one.
    pub(super) fn prove(
        &mut self,
        env: &mut Env<'_>,
        call: TokenCall,
        assertion: Option<Secret>,
    ) -> Outcome {
        // AUT-80: what an identity provider issues is no access token.
        let key = self.proof.key().filter(|_| !matches!(call, TokenCall::Exchange(_)));
        let Some(key) = key else { return self.send(env, call, assertion.as_ref(), None) };
        let endpoint = self.token_endpoint(env, &call)?;
        let proof = DpopProof {
            key: &key,
            method: "POST",
            uri: &endpoint,
            jti: &self.secrets.jti(self.signatures),
            issued_at: env.time.unix,
            access_token: None,
            nonce: self.proof.nonce(),
        };
        let jwt = proof.to_jwt();
        self.sign(env, KeyUse::Dpop, jwt, call, SigningPurpose::Proof { assertion })
    }
}
