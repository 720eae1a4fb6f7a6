//! The values of the variables of a URI template.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// The value of a template variable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Variable {
    /// An ordered list of strings. An expansion omits a variable whose list is empty.
    List(Vec<String>),
    /// A single string.
    Text(String),
}

impl From<&str> for Variable {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Variable {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for Variable {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}

/// An ordered list of template variables, each with its name and value.
///
/// ```
/// use mcp_proto::catalog::Variables;
///
/// let variables = Variables::new().with("city", "Oslo").with("tags", vec!["a".to_owned()]);
/// assert_eq!(variables.text("city"), Some("Oslo"));
/// assert_eq!(variables.list("tags").unwrap().len(), 1);
/// assert!(variables.get("country").is_none());
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Variables(Vec<(Box<str>, Variable)>);

impl Variables {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds the value of the variable `name`, replacing its existing value, if any.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Variable>) -> Self {
        self.0.retain(|(known, _)| **known != *name);
        self.push(name, value.into());
        self
    }

    /// Returns the value of the variable `name`, or `None` if it is absent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.0.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// Returns the string value of the variable `name`, or `None` if it is absent or a list.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Variable::Text(text) => Some(text),
            Variable::List(_) => None,
        }
    }

    /// Returns the list value of the variable `name`, or `None` if it is absent or a string.
    #[must_use]
    pub fn list(&self, name: &str) -> Option<&[String]> {
        match self.get(name)? {
            Variable::List(list) => Some(list),
            Variable::Text(_) => None,
        }
    }

    /// Iterates over the names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Variable)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Appends a value whose name must not be present.
    pub(super) fn push(&mut self, name: &str, value: Variable) {
        self.0.push((name.into(), value));
    }
}
