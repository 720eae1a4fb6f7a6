//! The requests of the extension, and the list of a server's skills.

use mcp_proto::schema::{
    ClientRequest, Decode, DecodeError, Encode, JsonReader, List, ListResourcesResult, Serialized,
};
use mcp_proto::{Capability, Peer, Revision, Unencodable};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, from_value};

use super::manifest::SkillManifest;
use crate::client::connection::Connection;
use crate::client::connection::lists::{ListPage, list};
use crate::exec::operation::Operation;

/// The identifier of the extension.
pub const EXTENSION_ID: &str = "io.modelcontextprotocol/skills";

/// The media type of directories.
pub const DIRECTORY_TYPE: &str = "inode/directory";

/// The params of `skills/list`. [`Connection::list_skills`] fetches all pages.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ListSkills {
    /// The previous page's `next_cursor`, verbatim; `None` for the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// The result of [`ListSkills`]: one page of the list.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillPage {
    /// The skills on this page. Malformed ones are left out.
    #[serde(deserialize_with = "lenient")]
    pub skills: Vec<SkillManifest>,
    /// The cursor of the next page; `None` on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

fn lenient<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<SkillManifest>, D::Error> {
    let all = Vec::<Value>::deserialize(reader)?;
    Ok(all.into_iter().filter_map(|skill| from_value(skill).ok()).collect())
}

/// The params of `skills/get`: a request for one skill, which need not be in the list.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct GetSkill {
    /// The URI of the skill's `SKILL.md`.
    pub uri: String,
}

/// The result of [`GetSkill`].
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct GetSkillResult {
    /// The skill.
    pub skill: SkillManifest,
}

/// The params of `resources/directory/read`: a request for the direct children of a directory.
///
/// Use it to browse: the files of a skill are those of its [`SkillManifest`], whatever the
/// directory contains. Subdirectories have the media type [`DIRECTORY_TYPE`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ReadDirectory {
    pub(super) uri: String,
    /// The previous page's `next_cursor`, verbatim; `None` for the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

impl ReadDirectory {
    /// Creates a request for a directory, whose URI has no trailing slash. Returns `None` if the
    /// server does not list directories.
    #[must_use]
    pub fn new(server: &Peer, uri: &str) -> Option<Self> {
        let settings = server.extension(EXTENSION_ID)?;
        let lists_directories: bool = settings.member("directoryRead")?.parse().ok()?;
        lists_directories.then(|| Self { uri: uri.to_owned(), cursor: None })
    }
}

/// A result with the hint not to cache it, which clients require.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Uncached<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    ttl_ms: u64,
    cache_scope: &'static str,
}

const fn result<T>(result: &T) -> Uncached<'_, T> {
    Uncached { result, ttl_ms: 0, cache_scope: "private" }
}

const fn params<T>(params: &T) -> &T {
    params
}

macro_rules! messages {
    ($($kind:ident $type:ty $(: $method:literal => $result:ty)?;)*) => {$(
        impl Decode for $type {
            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                Ok(Serialized::read(reader)?.0)
            }
        }

        impl Encode for $type {
            fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
                Serialized($kind(self)).encode(revision, out)
            }
        }

        $(impl ClientRequest for $type {
            const METHOD: &'static str = $method;
            type Result = $result;
        })?
    )*};
}

messages! {
    params GetSkill: "skills/get" => GetSkillResult;
    params ListSkills: "skills/list" => SkillPage;
    params ReadDirectory: "resources/directory/read" => ListResourcesResult;
    result GetSkillResult;
    result SkillPage;
}

impl ListPage for SkillPage {
    type Request = ListSkills;
    type Entry = SkillManifest;

    const CAPABILITY: Option<Capability> = None;

    fn request(cursor: Option<String>) -> ListSkills {
        ListSkills { cursor }
    }

    fn into_parts(self) -> (List<SkillManifest>, Option<String>) {
        (self.skills.into(), self.next_cursor)
    }
}

/// Skills.
impl Connection {
    /// Returns all skills that the server lists, fetching every page of the list (feature
    /// `skills`).
    ///
    /// Malformed ones are left out. [`GetSkill`] also finds skills that the server does not list.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    pub fn list_skills(&self) -> Operation<'_, Vec<SkillManifest>> {
        Operation::new(async { list::<SkillPage>(self).await.map(|list| list.items) })
    }
}
