//! The metadata of the protected resource: its document, its URL and the paths that serve it.
//!
//! <https://www.rfc-editor.org/rfc/rfc9728>

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use bytes::Bytes;

use super::identifier::Identifier;
use crate::http::refusal::Refusal;
use crate::http::reply::{Body, Reply};
use crate::json::{Array, Object, write_str};

/// The path of the metadata of a resource without a path.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The metadata of a protected resource.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    pub(super) resource: Box<str>,
    /// The URL for challenges.
    pub(super) url: Box<str>,
    /// The paths that serve the document.
    pub(super) paths: Vec<Box<str>>,
    document: Bytes,
}

impl Metadata {
    pub(super) fn new(
        resource: &str,
        parts: Identifier<'_>,
        name: Option<&str>,
        authorization_servers: &[Box<str>],
        scopes: &[Box<str>],
    ) -> Self {
        // AUT-71: the well-known path comes before the path of the resource.
        let inserted = format!("{WELL_KNOWN}{}", if parts.path == "/" { "" } else { parts.path });
        let url = format!("{}{inserted}", parts.origin);
        let mut paths: Vec<Box<str>> = Vec::new();
        for path in [&*inserted, inserted.trim_end_matches('/'), WELL_KNOWN] {
            super::scopes::insert(&mut paths, path);
        }
        let document = document(resource, name, authorization_servers, scopes);
        Self { resource: resource.into(), url: url.into(), paths, document }
    }

    /// Answers a request for the document; `None` for other paths.
    // AUT-71: no token is needed, and any page may read the document.
    pub(super) fn reply(&self, method: &str, path: &str) -> Option<Reply> {
        if !self.paths.iter().any(|known| **known == *path) {
            return None;
        }
        let mut reply = match method {
            "GET" | "HEAD" => Reply::json(200, self.document.clone()),
            "OPTIONS" => {
                let mut reply = Reply::empty(204);
                reply.headers.push(("access-control-allow-methods", METHODS.into()));
                // Clients may send `MCP-Protocol-Version` here as well.
                reply.headers.push(("access-control-allow-headers", "*".into()));
                reply.headers.push(("access-control-max-age", "7200".into()));
                reply
            }
            _ => Reply::from(
                Refusal::new(405, "only GET reads the metadata").header("allow", METHODS),
            ),
        };
        reply.headers.push(("access-control-allow-origin", "*".into()));
        debug_assert!(matches!(reply.body, Body::Whole(_)));
        Some(reply)
    }

    pub(super) fn document(&self) -> &Bytes {
        &self.document
    }
}

const METHODS: &str = "GET, HEAD, OPTIONS";

fn document(
    resource: &str,
    name: Option<&str>,
    authorization_servers: &[Box<str>],
    scopes: &[Box<str>],
) -> Bytes {
    let mut out = Vec::new();
    let mut object = Object::begin(&mut out);
    object.str("resource", resource);
    object.opt_str("resource_name", name);
    array(object.key("authorization_servers"), authorization_servers);
    if !scopes.is_empty() {
        array(object.key("scopes_supported"), scopes);
    }
    array(object.key("bearer_methods_supported"), &["header".into()]);
    object.end();
    out.into()
}

fn array(out: &mut Vec<u8>, texts: &[Box<str>]) {
    let mut array = Array::begin(out);
    texts.iter().for_each(|text| write_str(array.next(), text));
    array.end();
}
