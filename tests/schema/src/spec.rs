//! The published schemas and examples: their location, their definitions, and validation.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use jsonschema::Validator;
use mcp_proto::Revision;
use serde_json::{Map, Value, json};

/// The schema of one revision.
pub struct Spec {
    /// The revision.
    pub revision: Revision,
    root: &'static str,
    schema: Value,
    validators: RefCell<BTreeMap<String, Validator>>,
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schema of {}", self.revision)
    }
}

/// Returns the directory of the published schemas; without `MCP_SPEC_DIR`, prints a note and
/// returns `None`.
///
/// # Panics
///
/// If `MCP_SPEC_DIR` is not set and `MCP_SPEC_REQUIRED` is 1.
#[must_use]
pub fn directory() -> Option<PathBuf> {
    let directory = env::var_os("MCP_SPEC_DIR").filter(|directory| !directory.is_empty());
    if directory.is_none() {
        println!("MCP_SPEC_DIR is not set; run by .ci/run");
        let required = env::var("MCP_SPEC_REQUIRED").is_ok_and(|required| required == "1");
        assert!(!required, "MCP_SPEC_REQUIRED is 1 and MCP_SPEC_DIR is not set");
    }
    directory.map(PathBuf::from)
}

/// Reads the schemas of all revisions, oldest first; `None` without a directory.
#[must_use]
pub fn all() -> Option<Vec<Spec>> {
    let directory = directory()?;
    Some(Revision::ALL.into_iter().map(|revision| Spec::read(&directory, revision)).collect())
}

/// A published example.
#[derive(Clone, Debug)]
pub struct Example {
    /// The name of its definition.
    pub definition: String,
    /// The file, as `Definition/name.json`.
    pub file: String,
    /// The value.
    pub value: Value,
}

/// Reads the published examples of `revision`, by file name; `None` without a directory.
///
/// # Panics
///
/// If they cannot be read.
#[must_use]
pub fn examples(revision: Revision) -> Option<Vec<Example>> {
    let directory = directory()?.join("examples").join(revision.name());
    let mut examples = Vec::new();
    for definition in entries(&directory) {
        for path in entries(&definition).into_iter().filter(|path| path.extension().is_some()) {
            let name =
                |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let definition = name(&definition);
            let file = format!("{definition}/{}", name(&path));
            examples.push(Example { definition, file, value: read_json(&path) });
        }
    }
    Some(examples)
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn read_json(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Spec {
    /// Reads the schema of `revision`.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    #[must_use]
    pub fn read(directory: &Path, revision: Revision) -> Self {
        Self::new(
            revision,
            read_json(&directory.join("schema").join(format!("{}.json", revision.name()))),
        )
    }

    /// Creates a schema of `revision`.
    #[must_use]
    pub fn new(revision: Revision, schema: Value) -> Self {
        let root = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
        Self { revision, root, schema, validators: RefCell::default() }
    }

    /// Returns the whole schema.
    #[must_use]
    pub const fn schema(&self) -> &Value {
        &self.schema
    }

    /// Returns the member with the definitions: `definitions` or `$defs`.
    #[must_use]
    pub const fn root(&self) -> &'static str {
        self.root
    }

    /// Returns every definition, by name.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, &Value)> {
        let definitions = self.schema[self.root].as_object().expect("definitions");
        definitions.iter().map(|(name, schema)| (name.as_str(), schema))
    }

    /// Returns the definition `name`.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<&Value> {
        self.schema[self.root].get(name)
    }

    /// Returns the name of the definition that `schema` refers to, if any.
    #[must_use]
    pub fn reference<'a>(&self, schema: &'a Value) -> Option<&'a str> {
        schema.get("$ref")?.as_str()?.strip_prefix("#/")?.strip_prefix(self.root)?.strip_prefix('/')
    }

    /// Validates `value` against the definition `name`.
    ///
    /// # Errors
    ///
    /// All violations, in one text.
    ///
    /// # Panics
    ///
    /// If the definition does not exist.
    pub fn validate(&self, name: &str, value: &Value) -> Result<(), String> {
        assert!(self.definition(name).is_some(), "{name} is not in {}", self.revision);
        let mut validators = self.validators.borrow_mut();
        let validator = validators.entry(name.to_owned()).or_insert_with(|| self.validator(name));
        let wrong: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{} at {:?}", error, error.instance_path().to_string()))
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }

    fn validator(&self, name: &str) -> Validator {
        let mut used = Map::new();
        self.collect(&json!({ "$ref": format!("#/{}/{name}", self.root) }), &mut used);
        let schema = json!({
            "$schema": self.schema["$schema"],
            "$ref": format!("#/{}/{name}", self.root),
            self.root: used,
        });
        let options = jsonschema::options().should_validate_formats(true);
        options
            .build(&schema)
            .unwrap_or_else(|error| panic!("{name} of {}: {error}", self.revision))
    }

    /// Adds the definitions that `schema` needs.
    fn collect(&self, schema: &Value, used: &mut Map<String, Value>) {
        if let Some((name, definition)) =
            self.reference(schema).and_then(|name| Some((name, self.definition(name)?)))
            && used.insert(name.to_owned(), definition.clone()).is_none()
        {
            self.collect(definition, used);
        }
        match schema {
            Value::Array(elements) => {
                elements.iter().for_each(|element| self.collect(element, used));
            }
            Value::Object(members) => {
                members.values().for_each(|member| self.collect(member, used));
            }
            _ => {}
        }
    }
}
