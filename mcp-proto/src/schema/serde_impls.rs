//! `Serialize` and `Deserialize` of schema types, through [`Encode`] and [`Decode`].

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use super::decode::{Decode, Encode};
use super::raw_serde::Parts;
use crate::json::Raw;
use crate::revision::R5;

/// Implements `Serialize` and `Deserialize` for types that implement [`Encode`] and [`Decode`].
macro_rules! serde_impls {
    ($($type:ident $(<$parameter:ident>)?),*) => {$(
        impl $(<$parameter: $crate::schema::Encode>)? serde::Serialize for $type $(<$parameter>)? {
            /// Serializes the value in the form of the newest revision.
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::schema::serde_impls::serialize(self, serializer)
            }
        }

        impl<'de $(, $parameter: $crate::schema::Decode)?> serde::Deserialize<'de>
            for $type $(<$parameter>)?
        {
            /// Deserializes the value from the form of any revision.
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::schema::serde_impls::deserialize(deserializer)
            }
        }
    )*};
}

pub(crate) use serde_impls;

pub(crate) fn serialize<T: Encode, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let raw = value.to_raw(R5).map_err(S::Error::custom)?;
    Parts(raw.as_bytes()).serialize(serializer)
}

pub(crate) fn deserialize<'de, T: Decode, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::decode(&Raw::deserialize(deserializer)?).map_err(D::Error::custom)
}

#[cfg(test)]
#[cfg(feature = "schema")]
mod tests {
    use alloc::boxed::Box;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use serde_json::json;

    use crate::schema::{Content, Encode, Image, Level, Tool, ToolExecution, ToolsListChanged};
    use crate::{Raw, Revision};

    #[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize)]
    struct Saved {
        tools: Vec<Tool>,
        level: Option<Level>,
        #[serde(flatten)]
        block: Content,
    }

    #[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize)]
    #[serde(tag = "event")]
    enum Event {
        Added(Box<Tool>),
        Changed(ToolsListChanged),
    }

    #[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize)]
    #[serde(untagged)]
    enum Anything {
        Tool(Box<Tool>),
        Level(Level),
    }

    fn tool() -> Tool {
        let schema = Raw::from_text(r#"{"type":"object","maximum":18446744073709551616}"#).unwrap();
        Tool::new("add", schema).title("Add")
    }

    #[test]
    fn derived_types_contain_schema_types() {
        let added = concat!(
            r#"{"event":"Added","name":"add","title":"Add","#,
            r#""inputSchema":{"type":"object","maximum":18446744073709551616}}"#,
        );
        assert_eq!(serde_json::to_string(&Event::Added(Box::new(tool()))).unwrap(), added);
        let short = Event::Added(Box::new(Tool::new("add", Raw::empty_object())));
        let text = serde_json::to_string(&short).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), short);

        let text = r#"{"tools":[],"level":"error","type":"text","text":"a"}"#;
        let saved = Saved { tools: Vec::new(), level: Some(Level::Error), block: "a".into() };
        assert_eq!(serde_json::to_string(&saved).unwrap(), text);
        assert_eq!(serde_json::from_str::<Saved>(text).unwrap(), saved);
        let saved = Saved { tools: Vec::from([tool()]), ..saved };
        let text = serde_json::to_string(&saved).unwrap();
        assert_eq!(serde_json::from_str::<Saved>(&text).unwrap().tools.len(), 1);

        let level: Anything = serde_json::from_value(json!("error")).unwrap();
        assert_eq!(level, Anything::Level(Level::Error));
        let tool: Anything = serde_json::from_value(json!({"name": "add"})).unwrap();
        assert!(matches!(tool, Anything::Tool(tool) if tool.name == "add"));
    }

    #[test]
    fn serde_uses_the_form_of_the_newest_revision() {
        let tool = tool().execution(ToolExecution::new());
        let value = serde_json::to_value(&tool).unwrap();
        assert_eq!(value["title"], "Add");
        assert_eq!(value.get("execution"), None);
        let older = tool.to_raw(Revision::V2025_11_25).unwrap();
        assert_eq!(older.member("execution"), Some(Raw::empty_object()));
        let read: Tool = serde_json::from_str(older.as_str()).unwrap();
        assert_eq!(read, tool);
    }

    #[test]
    fn errors_name_the_place() {
        let error = serde_json::from_str::<Tool>(r#"{"inputSchema":{}}"#).unwrap_err();
        assert!(error.to_string().contains(r#"expected a value at "/name""#), "{error}");
        let image = Image::new("not base64!", "image/png");
        assert!(serde_json::to_string(&image).is_err());
        assert_eq!(image.to_raw(Revision::V2025_11_25), Err(crate::Unencodable));
    }
}
