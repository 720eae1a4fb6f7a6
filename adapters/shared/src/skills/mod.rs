//! Skills (feature `skills`): instructions for models with their files, served as resources.
//!
//! A skill is a directory with a `SKILL.md`; see [Agent Skills]. A server offers [`Skills`] with
//! `Server::add`. A host fetches the [`SkillManifest`]s with `Connection::list_skills`, and a
//! file only when it is needed; the manifest verifies the file.
//!
//! Skills are untrusted text, and so are their digests. Hosts ask the user before
//! they load a skill, tell the model where it is from, and ignore frontmatter that would grant
//! permissions. See the [specification].
//!
//! ```
//! # use mcp_adapter as mcp_tokio;
//! use mcp_tokio::skills::{self, SkillManifest};
//! use mcp_tokio::{Client, Connection};
//!
//! let host = Client::new("host", "1.0.0").extension(skills::extension());
//!
//! // Loads a skill, and reads a file to which its instructions refer.
//! async fn load(connection: &Connection, name: &str) -> Result<(), Box<dyn std::error::Error>> {
//!     let skills = connection.list_skills().await?;
//!     let skill = skills.iter().find(|skill| skill.name() == name).ok_or("unknown")?;
//!     let instructions = skill.load(&connection.read_resource(&skill.uri).await?)?;
//!     let forms = skill.resolve("references/FORMS.md")?;
//!     let bytes = skill.verify(&forms.uri, &connection.read_resource(&forms.uri).await?)?;
//!     println!("{instructions}: {} bytes", bytes.len());
//!     Ok(())
//! }
//! # drop(host);
//! ```
//!
//! [Agent Skills]: https://agentskills.io/specification
//! [specification]: https://modelcontextprotocol.io/seps/2640-skills-extension

mod error;
mod frontmatter;
mod manifest;
mod offer;
mod requests;

use mcp_proto::schema::ClientRequest;
use mcp_proto::{Extension, ExtensionMethod, Peer, Side};

pub use self::error::{SkillError, SkillFault};
pub use self::manifest::{BYTES_MAX, FILES_MAX, SkillFile, SkillFiles, SkillManifest};
pub use self::offer::Skills;
pub use self::requests::{
    DIRECTORY_TYPE, EXTENSION_ID, GetSkill, GetSkillResult, ListSkills, ReadDirectory, SkillPage,
};

/// Returns the declaration of the extension for `Client::extension`.
#[must_use]
pub fn extension() -> Extension {
    let request = |name| ExtensionMethod::request(Side::Client, name);
    Extension::new(EXTENSION_ID)
        .method(request(ListSkills::METHOD))
        .method(request(GetSkill::METHOD))
        .method(request(ReadDirectory::METHOD))
}

/// Returns whether a server offers skills.
#[must_use]
pub fn is_supported_by(server: &Peer) -> bool {
    server.extension(EXTENSION_ID).is_some()
}
