//! Checks that the headers of a modern message agree with its body.

use alloc::borrow::Cow;
use alloc::format;

use crate::error::code;
use crate::http::admit::{PostHead, VersionHeader};
use crate::http::header::{decode, text};
use crate::http::headers::Headers;
use crate::http::param_headers::ParamHeaders;
use crate::http::policy::Policy;
use crate::json::{Frame, Raw, find_each, unescape};
use crate::meta::{missing_context, supported};
use crate::method::MethodId;
use crate::revision::{Era, Revision, Side, named_by};
use crate::rpc::{ErrorObject, MethodName, Params};
use crate::schema::key;

/// The HTTP status and JSON-RPC error of a rejected message.
pub(super) type Rejection = (u16, ErrorObject);

/// The head of a modern message, and the context to check it in.
pub(super) struct ModernChecks<'a> {
    pub(super) policy: &'a Policy,
    pub(super) fields: &'a dyn Headers,
    pub(super) head: &'a PostHead,
    pub(super) schema_of: &'a dyn Fn(&str) -> Option<Raw>,
}

impl ModernChecks<'_> {
    /// Checks a request and returns its revision.
    // T-105: the order of the checks decides which error a client receives.
    pub(super) fn check_request(
        &self,
        method: &MethodName<'_>,
        params: &Params<'_>,
    ) -> Result<Revision, Rejection> {
        let revision = self.check_context(method, params).map_err(|(status, error)| {
            // LIF-33: the error of `initialize` always lists the supported revisions.
            match (method.id, &error.data) {
                (Some(MethodId::Initialize), None) => {
                    (status, error.with_data(supported(&self.policy.revisions, None)))
                }
                _ => (status, error),
            }
        })?;
        self.check_name(method, params)?;
        if method.id == Some(MethodId::CallTool) {
            self.check_param_headers(params)?;
        }
        Ok(revision)
    }

    /// Checks the version, the request context and the method of a request.
    fn check_context(
        &self,
        method: &MethodName<'_>,
        params: &Params<'_>,
    ) -> Result<Revision, Rejection> {
        let revision = self.revision(params)?;
        let named = self.method()?.ok_or_else(|| mismatch("`Mcp-Method` is missing"))?;
        let names = [key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES];
        let [version, capabilities] = find_each(params.meta.unwrap_or_default(), names);
        let has_capabilities = capabilities.is_some_and(|value| value.starts_with(b"{"));
        let Some(version) = version.and_then(unescape).filter(|_| has_capabilities) else {
            return Err((400, missing_context(&self.policy.revisions)));
        };
        self.match_version(&version)?;
        if named != method.text {
            return Err(mismatch("`Mcp-Method` does not match the method in the body"));
        }
        let rule = method.id.and_then(|method| method.rule(revision));
        let known = rule.is_some_and(|rule| rule.is_request && rule.is_sent_by(Side::Client));
        if !known && !self.policy.serves(&method.text, revision) {
            return Err((404, ErrorObject::method_not_found(&method.text)));
        }
        Ok(revision)
    }

    /// Checks a notification and returns its revision. `Mcp-Method` and `_meta` are optional here,
    /// but must agree if present.
    pub(super) fn check_notification(
        &self,
        method: &MethodName<'_>,
        params: &Params<'_>,
    ) -> Result<Revision, Rejection> {
        let version = self.version()?;
        let revision = match params.meta_member(key::PROTOCOL_VERSION).and_then(unescape) {
            Some(version) => self.match_version(&version)?,
            None => self.head.version.revision(),
        };
        if self.method()?.is_some_and(|named| named != method.text) {
            return Err(mismatch("`Mcp-Method` does not match the method in the body"));
        }
        self.require_supported(revision, version)
    }

    /// Returns the revision in `MCP-Protocol-Version`.
    ///
    /// Fails if the revision is not supported, unless the body names another one, which is a
    /// mismatch. This comes first: a request of another revision may lack what this one requires.
    // HTTP-41: an unsupported version is rejected with the supported ones.
    fn revision(&self, params: &Params<'_>) -> Result<Revision, Rejection> {
        let version = self.version()?;
        self.require_supported(self.head.version.revision(), version).map_err(|unsupported| {
            let named = params.meta_member(key::PROTOCOL_VERSION).and_then(unescape);
            let mismatch = named.and_then(|named| self.match_version(&named).err());
            mismatch.unwrap_or(unsupported)
        })
    }

    /// Returns the value of `MCP-Protocol-Version`.
    // HTTP-39, HTTP-43, HTTP-45: the header is required and well-formed.
    fn version(&self) -> Result<&str, Rejection> {
        match &self.head.version {
            VersionHeader::Known(revision) => Ok(revision.name()),
            VersionHeader::Unknown(name) => Ok(name),
            VersionHeader::Absent => {
                let (status, error) = mismatch("`MCP-Protocol-Version` is missing");
                Err((status, error.with_data(supported(&self.policy.revisions, None))))
            }
            VersionHeader::Malformed => Err(mismatch("`MCP-Protocol-Version` is malformed")),
        }
    }

    /// Checks the body's version against `MCP-Protocol-Version` and returns the revision, if known.
    // HTTP-40: header and body name one version.
    fn match_version(&self, version: &str) -> Result<Option<Revision>, Rejection> {
        if self.version()? != version {
            return Err(mismatch(
                "`MCP-Protocol-Version` does not match the protocol version in the body",
            ));
        }
        Ok(self.head.version.revision())
    }

    /// Returns the revision if it is modern and supported, else an error that lists supported ones.
    // HTTP-41: an unsupported version is rejected with the supported ones.
    fn require_supported(
        &self,
        revision: Option<Revision>,
        version: &str,
    ) -> Result<Revision, Rejection> {
        let is_supported =
            |revision: &Revision| revision.era() == Era::Modern && self.policy.supports(*revision);
        revision.filter(is_supported).ok_or_else(|| {
            let error = ErrorObject::new(
                code::UNSUPPORTED_PROTOCOL_VERSION,
                "unsupported protocol version",
            );
            (400, error.with_data(supported(&self.policy.revisions, Some(version))))
        })
    }

    /// Returns the value of `Mcp-Method`.
    // HTTP-44, HTTP-45: the header is well-formed.
    fn method(&self) -> Result<Option<&str>, Rejection> {
        let Ok(value) = self.fields.single("mcp-method") else {
            return Err(mismatch("`Mcp-Method` is repeated"));
        };
        value
            .map(|value| text(value).ok_or_else(|| mismatch("`Mcp-Method` is malformed")))
            .transpose()
    }

    /// Checks `Mcp-Name` against the name, URI or task id in the params.
    // HTTP-45: header and body agree. T-106: without a name in the body, the params are invalid;
    // that is reported when they are parsed.
    fn check_name(&self, method: &MethodName<'_>, params: &Params<'_>) -> Result<(), Rejection> {
        let extended = || self.policy.extensions.named_by(&method.text);
        let Some(member) = named_by(&method.text).or_else(extended) else { return Ok(()) };
        let Ok(value) = self.fields.single("mcp-name") else {
            return Err(mismatch("`Mcp-Name` is repeated"));
        };
        let sent = match value.map(decode) {
            None => None,
            Some(Ok(name)) => Some(name),
            Some(Err(_)) => return Err(mismatch("`Mcp-Name` is malformed")),
        };
        match (sent, params.member(member).and_then(unescape)) {
            (None, Some(_)) => Err(mismatch("`Mcp-Name` is missing")),
            (Some(sent), Some(name)) if sent != name => {
                Err(mismatch(format!("`Mcp-Name` does not match `{member}` in the body")))
            }
            (_, None) | (Some(_), Some(_)) => Ok(()),
        }
    }

    /// Checks the `Mcp-Param-*` headers against the arguments of a tool call.
    // HTTP-50: header and body agree.
    fn check_param_headers(&self, params: &Params<'_>) -> Result<(), Rejection> {
        let tool = params.member("name").and_then(unescape);
        let Some(schema) = tool.and_then(|tool| (self.schema_of)(&tool)) else { return Ok(()) };
        let Ok(mirror) = ParamHeaders::from_schema(&schema) else { return Ok(()) };
        if mirror.is_empty() {
            return Ok(());
        }
        let arguments =
            params.member("arguments").map(|value| Frame::Borrowed(value).keep(value, true));
        mirror.check(arguments.as_ref(), self.fields).map_err(|found| mismatch(format!("{found}")))
    }
}

/// Creates the rejection of headers that are missing, malformed or different from the body.
// HTTP-40, HTTP-45, HTTP-50: such requests are rejected with 400 and the code of a header mismatch.
fn mismatch(why: impl Into<Cow<'static, str>>) -> Rejection {
    (400, ErrorObject::new(code::HEADER_MISMATCH, why.into()))
}
