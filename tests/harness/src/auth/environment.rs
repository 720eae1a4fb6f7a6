//! [`Environment`]: everything outside of an authorization.

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::auth::Fetch;
use serde_json::json;

use super::issuer::{Answer, Issuer};

/// The authorization servers, the documents of other servers, and the store.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The authorization servers.
    pub issuers: Vec<Issuer>,
    /// The documents of all other servers, by URL.
    pub documents: BTreeMap<String, (u16, String)>,
    /// The stored records, by the file names of their keys.
    pub store: BTreeMap<String, String>,
    /// The token endpoints that the metadata of each host have named.
    pub(super) endpoints: BTreeMap<String, BTreeSet<String>>,
}

impl Environment {
    /// The URL of the MCP server.
    pub const SERVER: &'static str = "https://mcp.example/mcp";
    /// The URL of its metadata.
    pub const METADATA: &'static str =
        "https://mcp.example/.well-known/oauth-protected-resource/mcp";
    /// The issuer of the first authorization server.
    pub const ISSUER: &'static str = "https://as.example";

    /// Creates a world with one authorization server.
    #[must_use]
    pub fn new() -> Self {
        let mut places = Self {
            issuers: vec![Issuer::new(Self::ISSUER)],
            documents: BTreeMap::new(),
            store: BTreeMap::new(),
            endpoints: BTreeMap::new(),
        };
        places.publish(Self::SERVER, &[Self::ISSUER]);
        places
    }

    /// Publishes the metadata of the MCP server.
    pub fn publish(&mut self, resource: &str, issuers: &[&str]) {
        let document = json!({"resource": resource, "authorization_servers": issuers});
        self.documents.insert(Self::METADATA.to_owned(), (200, document.to_string()));
    }

    /// Returns the first authorization server.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn issuer(&mut self) -> &mut Issuer {
        let first = self.issuers.first_mut();
        first.unwrap_or_else(|| panic!("there is an authorization server"))
    }

    /// Answers a request as it should be.
    pub fn answer(&mut self, fetch: &Fetch) -> Answer {
        let answer = self.issuers.iter_mut().find_map(|issuer| issuer.answer(fetch));
        let document = || self.documents.get(&*fetch.url).cloned();
        let answer = answer.or_else(document).unwrap_or_else(|| (404, "<html>".to_owned()));
        self.note(&fetch.url, &answer.1);
        answer
    }

    /// Notes the token endpoint that a document names.
    pub(super) fn note(&mut self, url: &str, document: &str) {
        let Ok(document) = serde_json::from_str::<serde_json::Value>(document) else { return };
        if let Some(endpoint) = document["token_endpoint"].as_str() {
            let host = url.split('/').nth(2).unwrap_or_default().to_owned();
            self.endpoints.entry(host).or_default().insert(endpoint.to_owned());
        }
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::new()
    }
}
