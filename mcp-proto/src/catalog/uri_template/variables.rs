//! The values of a template's variables, by name; knows nothing of templates.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// What a variable stands for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Variable {
    /// Several texts, in order; an empty list counts as absent.
    List(Vec<String>),
    /// One text.
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

/// The values of variables, by name, in order.
///
/// ```
/// use mcp_proto::catalog::Variables;
///
/// let variables = Variables::new().with("city", "Oslo").with("tags", vec!["a".to_owned()]);
/// assert_eq!(variables.text("city"), Some("Oslo"));
/// assert_eq!(variables.list("tags").unwrap().len(), 1);
/// assert!(variables.find("country").is_none());
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Variables(Vec<(Box<str>, Variable)>);

impl Variables {
    /// No values.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The same, with one more value; it takes the place of one of its name.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Variable>) -> Self {
        self.0.retain(|(known, _)| **known != *name);
        self.push(name, value.into());
        self
    }

    /// What `name` stands for; `None` when it is absent.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Variable> {
        self.0.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// The text that `name` stands for; `None` when it is absent or a list.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.find(name)? {
            Variable::Text(text) => Some(text),
            Variable::List(_) => None,
        }
    }

    /// The list that `name` stands for; `None` when it is absent or a text.
    #[must_use]
    pub fn list(&self, name: &str) -> Option<&[String]> {
        match self.find(name)? {
            Variable::List(list) => Some(list),
            Variable::Text(_) => None,
        }
    }

    /// The values with their names, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Variable)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Adds a value whose name is not there.
    pub(super) fn push(&mut self, name: &str, value: Variable) {
        self.0.push((name.into(), value));
    }
}
