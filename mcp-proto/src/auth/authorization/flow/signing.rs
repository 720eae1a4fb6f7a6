//! Signatures of token requests: client assertions (`private_key_jwt`), and DPoP proofs.

use alloc::string::ToString;
use core::mem;

use super::Flow;
use super::step::{ClientSource, Env, Outcome, Signing, SigningPurpose, Step, TokenCall};
use super::tokens::TOKEN_TIMEOUT;
use crate::auth::UnsignedJwt;
use crate::auth::authorization::Denial;
use crate::auth::authorization::action::{AuthAction, KeyUse, SignId};

impl Flow {
    /// Has the assertion signed with which the client of a token request authenticates.
    pub(super) fn sign_assertion(&mut self, env: &mut Env<'_>, call: TokenCall) -> Outcome {
        let client = self.caller(env, &call)?;
        let key_id = match &client.source {
            ClientSource::Known(key_id) => key_id.as_deref(),
            _ => None,
        };
        // AUT-78: each request has its own assertion.
        let jti = self.secrets.jti(self.signatures);
        let audience = match &call {
            TokenCall::Exchange(_) => self.token_endpoint(env, &call)?.as_str().to_string(),
            _ => self.server()?.issuer.as_str().to_string(),
        };
        let id = &client.client.client_id;
        let jwt = UnsignedJwt::client_assertion(id, &audience, &jti, env.time.unix, key_id);
        self.sign(env, KeyUse::ClientAuthentication, jwt, call, SigningPurpose::Assertion)
    }

    /// Has a JWT of a token request signed.
    pub(super) fn sign(
        &mut self,
        env: &mut Env<'_>,
        key: KeyUse,
        jwt: UnsignedJwt,
        call: TokenCall,
        purpose: SigningPurpose,
    ) -> Outcome {
        self.signatures += 1;
        let id = env.out.sign_id();
        env.out.act(AuthAction::Sign { id, key, input: jwt.input().clone() });
        self.step = Step::Signing(Signing { id, jwt, call, purpose }.into());
        self.deadline = Some(env.time.now + TOKEN_TIMEOUT);
        Ok(None)
    }

    pub(in crate::auth::authorization) fn on_signature(
        &mut self,
        env: &mut Env<'_>,
        id: SignId,
        signature: Option<&[u8]>,
    ) -> Outcome {
        match mem::replace(&mut self.step, Step::Over) {
            Step::Signing(signing) if signing.id == id => {
                let Signing { jwt, call, purpose, .. } = *signing;
                let signed = signature.and_then(|signature| jwt.signed(signature));
                let signed = signed.ok_or(Denial::NoSignature)?;
                match purpose {
                    SigningPurpose::Assertion => self.prove(env, call, Some(signed)),
                    SigningPurpose::Proof { assertion } => {
                        self.send(env, call, assertion.as_ref(), Some(&signed))
                    }
                }
            }
            step => {
                self.step = step;
                Ok(None)
            }
        }
    }
}
