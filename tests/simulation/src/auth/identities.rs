//! [`Identities`]: two users of one client and one store, and whose token each request carries.

use std::collections::BTreeMap;

use mcp_proto::auth::{AuthAction, AuthInput};
use serde_json::{Value, json};

/// The claims `sub` of the users: `{"iss":"https://idp.example","sub":…}` in base64url.
const CLAIMS: [&str; 2] = [
    "eyJpc3MiOiJodHRwczovL2lkcC5leGFtcGxlIiwic3ViIjoiYWRhIn0",
    "eyJpc3MiOiJodHRwczovL2lkcC5leGFtcGxlIiwic3ViIjoiYm9iIn0",
];

/// Two users of one client, of whom one is in use at a time.
#[derive(Debug, Default)]
pub(super) struct Identities {
    current: usize,
    /// The number of assertions so far: each differs from the others.
    assertions: u32,
    /// The user whom each access token was issued for.
    owners: BTreeMap<String, usize>,
    /// What the records of each user say about their subject.
    subjects: BTreeMap<usize, Value>,
}

impl Identities {
    /// Lets the other user take over.
    pub(super) const fn switch(&mut self) {
        self.current = 1 - self.current;
    }

    /// Returns an assertion of the current user.
    pub(super) fn assertion(&mut self) -> AuthInput {
        self.assertions += 1;
        let (claims, signature) = (CLAIMS[self.current], self.assertions);
        AuthInput::Identity(format!("e30.{claims}.identity-{signature}").into())
    }

    /// Notes whose tokens are saved.
    pub(super) fn note(&mut self, action: &AuthAction) {
        let AuthAction::Save { record: Some(record), .. } = action else { return };
        let Ok(record) = serde_json::from_str::<Value>(record.expose()) else { return };
        if let Some(token) = record["tokens"]["access_token"].as_str() {
            self.owners.entry(token.to_owned()).or_insert(self.current);
            self.subjects.insert(self.current, record["subject"].clone());
        }
    }

    /// Checks that identities are never mixed: a token in use is that of the current user.
    pub(super) fn check(&mut self, authorization: &str) {
        let token = authorization.split(' ').next_back().unwrap_or_default();
        // Hostile servers issue one token twice.
        if token.starts_with("access-") {
            let owner = *self.owners.entry(token.to_owned()).or_insert(self.current);
            assert_eq!(owner, self.current, "a request carries the token of another user");
        }
    }

    /// Makes stored grants look like those of the current user, as if records said nothing of their
    /// subject.
    pub(super) fn leak(&self, store: &mut BTreeMap<String, String>) {
        let Some(subject) = self.subjects.get(&self.current) else { return };
        for record in store.values_mut() {
            let Ok(mut parsed) = serde_json::from_str::<Value>(record) else { continue };
            if parsed["kind"] == json!("grant") {
                parsed["subject"] = subject.clone();
                *record = parsed.to_string();
            }
        }
    }
}
