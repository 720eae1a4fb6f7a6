//! [`Skills`]: the skills that a server offers.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_proto::catalog::CatalogView;
use mcp_proto::schema::{ListResourcesResult, Resource, ResourceContents};
use mcp_proto::{ErrorObject, Extension};
use serde_json::{Value, json};

use super::error::{SkillError, SkillFault};
use super::manifest::{SkillFile, SkillFiles, SkillManifest, digest};
use super::requests::{
    DIRECTORY_TYPE, EXTENSION_ID, GetSkill, GetSkillResult, ListSkills, ReadDirectory, SkillPage,
};
use crate::frontmatter::parse;
use crate::server::additions::AddTo;
use crate::server::extension_settings::MethodHandler;
use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::HandlerError;
use crate::server::settings::ServerSettings;

/// The number of files that the skills on a page have together, unless one skill has more.
const PAGE_FILES: usize = 1000;

/// A tree of files that a server offers. Each directory with a `SKILL.md` is a skill.
#[derive(Clone, Debug, Default)]
#[must_use = "skills do nothing until they are added"]
pub struct Skills(BTreeMap<String, (Resource, Vec<u8>)>);

impl Skills {
    /// Creates an empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces it. The last directory of the path of a skill is its name.
    pub fn file(mut self, path: &str, media_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        let (uri, bytes) = (format!("skill://{path}"), bytes.into());
        let name = path.rsplit('/').next().unwrap_or_default();
        let resource = Resource::new(&*uri, name).mime_type(media_type).size(bytes.len() as u64);
        self.0.insert(uri, (resource, bytes));
        self
    }

    /// Creates the manifest of each skill. The files of a skill in another one belong to both.
    fn manifests(&self) -> Result<BTreeMap<String, SkillManifest>, SkillError> {
        let invalid = |uri: &String, why: String| SkillError {
            skill: uri.clone(),
            fault: SkillFault::Invalid(why),
        };
        let mut manifests = BTreeMap::new();
        for (uri, (_, bytes)) in &self.0 {
            let Some(root) = uri.strip_suffix("SKILL.md") else { continue };
            let frontmatter = parse(bytes).map_err(|why| invalid(uri, why))?;
            let files = below(&self.0, root).map(|(uri, (_, bytes))| SkillFile {
                uri: uri.clone(),
                digest: digest(bytes),
                size: bytes.len() as u64,
            });
            let resources = SkillFiles::Listed(files.collect());
            let manifest = SkillManifest { uri: uri.clone(), frontmatter, resources };
            manifest.check()?;
            manifests.insert(uri.clone(), manifest);
        }
        let has_skill = |uri: &&String| manifests.values().any(|skill| skill.path(uri).is_some());
        match self.0.keys().find(|uri| !has_skill(uri)) {
            Some(uri) => Err(invalid(uri, "the file is in no directory with a `SKILL.md`".into())),
            None => Ok(manifests),
        }
    }
}

/// Returns the entries whose URIs begin with that of a directory.
fn below<'a, T>(
    all: &'a BTreeMap<String, T>,
    directory: &'a str,
) -> impl Iterator<Item = (&'a String, &'a T)> {
    all.range(directory.to_owned()..).take_while(move |(uri, _)| uri.starts_with(directory))
}

/// The data of the handlers.
struct Offer {
    manifests: BTreeMap<String, SkillManifest>,
    files: BTreeMap<String, Resource>,
}

impl Offer {
    fn list(&self, request: &ListSkills, cx: &Cx) -> Result<SkillPage, HandlerError> {
        let start = request.cursor.as_ref().map_or(Some(0), |cursor| cursor.parse().ok());
        let start = start.filter(|start| *start == 0 || *start < self.manifests.len());
        let start = start.ok_or_else(|| invalid_params("invalid cursor", ""))?;
        let mut page = SkillPage { skills: Vec::new(), next_cursor: None };
        let mut files = 0;
        for (index, skill) in self.manifests.values().enumerate().skip(start) {
            files += skill.files().len();
            if files > PAGE_FILES && index > start {
                page.next_cursor = Some(index.to_string());
                break;
            }
            page.skills.extend(visible(skill, cx));
        }
        Ok(page)
    }

    fn get(&self, request: &GetSkill, cx: &Cx) -> Result<GetSkillResult, HandlerError> {
        let skill = self.manifests.get(&request.uri).and_then(|skill| visible(skill, cx));
        let skill = skill.ok_or_else(|| invalid_params("no skill has the URI ", &request.uri))?;
        Ok(GetSkillResult { skill })
    }

    fn read(&self, request: &ReadDirectory, cx: &Cx) -> Result<ListResourcesResult, HandlerError> {
        if request.cursor.is_some() {
            return Err(invalid_params("invalid cursor", ""));
        }
        let start = format!("{}/", request.uri);
        let mut children: Vec<Resource> = Vec::new();
        for (uri, file) in below(&self.files, &start).filter(|(uri, _)| is_visible(cx, uri)) {
            let Some(path) = uri.strip_prefix(&start) else { continue };
            let child = path.split_once('/').map_or_else(
                || file.clone(),
                |(name, _)| Resource::new(format!("{start}{name}"), name).mime_type(DIRECTORY_TYPE),
            );
            if children.last() != Some(&child) {
                children.push(child);
            }
        }
        if children.is_empty() || start.len() <= "skill://".len() {
            return Err(invalid_params("no directory has the URI ", &request.uri));
        }
        Ok(ListResourcesResult::new(children))
    }
}

/// Returns the manifest of a skill as the sender of a request sees it; `None` if the skill is
/// hidden. The files of a hidden skill inside it are left out.
fn visible(skill: &SkillManifest, cx: &Cx) -> Option<SkillManifest> {
    is_visible(cx, &skill.uri).then(|| {
        let mut skill = skill.clone();
        if let SkillFiles::Listed(files) = &mut skill.resources {
            files.retain(|file| is_visible(cx, &file.uri));
        }
        skill
    })
}

/// Returns whether the sender of a request sees a file.
fn is_visible(cx: &Cx, uri: &str) -> bool {
    let shared = &cx.request.link.shared;
    let caller = cx.request.context.caller.as_deref();
    let is_served = |view: CatalogView<'_, _>| view.resource(uri).is_some();
    shared.visibility.of(&shared.changes.catalog(), caller).read(is_served)
}

fn invalid_params(why: &str, uri: &str) -> HandlerError {
    let uri: String = uri.chars().take(200).collect();
    HandlerError::refused(ErrorObject::invalid_params(format!("{why}{uri}")))
}

/// Declares the extension, and offers the skills as resources.
impl AddTo for Skills {
    fn add_to(self, server: &mut ServerSettings) {
        let manifests = match self.manifests() {
            Ok(manifests) => manifests,
            Err(error) => return server.builder.refuse(&error.to_string()),
        };
        server.declare(Extension::new(EXTENSION_ID).settings(json!({"directoryRead": true})));
        let mut files = BTreeMap::new();
        for (uri, (mut resource, bytes)) in self.0 {
            if let Some(skill) = manifests.get(&uri) {
                let description = skill.frontmatter.get("description").and_then(Value::as_str);
                resource.name = skill.name().to_owned();
                resource.description = description.map(str::to_owned);
            }
            let contents = match String::from_utf8(bytes) {
                Ok(text) => ResourceContents::text(&*uri, text),
                Err(error) => ResourceContents::from_bytes(&*uri, error.as_bytes()),
            };
            let contents = contents.mime_type(resource.mime_type.clone().unwrap_or_default());
            files.insert(uri, resource.clone());
            crate::Resource::define(resource, move || contents.clone()).add_to(server);
        }
        let list = Arc::new(Offer { manifests, files });
        let (get, read) = (Arc::clone(&list), Arc::clone(&list));
        MethodHandler::new(move |request: ListSkills, cx: Cx| list.list(&request, &cx))
            .without_extension()
            .add_to(server);
        MethodHandler::new(move |request: GetSkill, cx: Cx| get.get(&request, &cx))
            .without_extension()
            .add_to(server);
        MethodHandler::new(move |request: ReadDirectory, cx: Cx| read.read(&request, &cx))
            .without_extension()
            .add_to(server);
    }
}
