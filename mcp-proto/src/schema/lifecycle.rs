//! The handshake's types, and the results that say nothing.

use alloc::string::String;
use alloc::vec::Vec;

use super::ClientRequest;
use super::capabilities::Capabilities;
use super::decode::{AnyObject, Decode, DecodeError, Encode, optional, required, text_member};
use crate::error::Unencodable;
use crate::json::{Object, Raw};
use crate::revision::{Revision, Side};

/// The name and version of an implementation, for people to read: behaviour must not hang on them. (STL-06)
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Implementation {
    /// A name for machines.
    pub name: String,
    /// Its version.
    pub version: String,
    /// A name for people. (since 2025-06-18)
    pub title: Option<String>,
}

impl Implementation {
    /// An implementation without a title.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), title: None }
    }
}

impl Encode for Implementation {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        object.str("name", &self.name);
        object.str("version", &self.version);
        object.opt_str("title", self.title.as_deref());
        object.end();
        Ok(())
    }
}

impl Decode for Implementation {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        Ok(Self {
            name: required(raw, "name")?,
            version: required(raw, "version")?,
            title: text_member(raw, "title"),
        })
    }
}

/// The params of `initialize`. (LIF-01)
#[derive(Debug)]
pub(crate) struct InitializeParams<'a> {
    pub(crate) revision: Revision,
    pub(crate) capabilities: &'a Capabilities,
    pub(crate) info: &'a Implementation,
}

impl Encode for InitializeParams<'_> {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let mut object = Object::begin(out);
        object.str("protocolVersion", self.revision.name());
        self.capabilities.write(object.key("capabilities"), Side::Client, self.revision);
        self.info.encode(self.revision, object.key("clientInfo"))?;
        object.end();
        Ok(())
    }
}

/// The result of `initialize`, as it is read. (LIF-07)
#[derive(Debug)]
pub(crate) struct InitializeResult {
    pub(crate) protocol_version: String,
    pub(crate) capabilities: Raw,
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
}

impl Decode for InitializeResult {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        Ok(Self {
            protocol_version: required(raw, "protocolVersion")?,
            capabilities: required::<AnyObject>(raw, "capabilities")?.0,
            info: required(raw, "serverInfo")?,
            instructions: optional(raw, "instructions")?,
        })
    }
}

/// Asks whether the peer is there; either side may.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Ping;

impl Encode for Ping {
    fn encode(&self, _: Revision, _: &mut Vec<u8>) -> Result<(), Unencodable> {
        Ok(())
    }
}

impl ClientRequest for Ping {
    const METHOD: &'static str = "ping";
    type Result = Empty;
}

impl super::ServerRequest for Ping {
    const METHOD: &'static str = "ping";
    type Result = Empty;
}

/// A result that says nothing but that it worked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Empty;

impl Encode for Empty {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        out.extend_from_slice(b"{}");
        Ok(())
    }
}

impl Decode for Empty {
    fn decode(_: &Raw) -> Result<Self, DecodeError> {
        Ok(Self)
    }
}
