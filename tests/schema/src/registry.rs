//! How each definition of each revision is covered: by which type, by the envelope, or by other
//! definitions.
//!
//! Messages are found by the method that the schema gives them, all else by name. Nothing here is
//! specific to a revision: the schemas say which definitions one has.

use mcp_proto::Revision;
use mcp_proto::schema::InputRequired;
use serde_json::Value;

use crate::codec::Codec;
use crate::flat::{extends, flat};
use crate::spec::Spec;
use crate::types::{elicitation, messages, type_of};

/// How a definition is covered.
#[derive(Clone, Debug)]
pub enum Cover {
    /// A type holds all of it.
    Type(Codec),
    /// It is a message of this method, and a type holds its `params`.
    Message(&'static str, Codec),
    /// It is a response, and a type holds its `result`: by the result's own definition.
    Response(Codec),
    /// The machines make and take it: see [`envelope`](crate::envelope).
    Envelope,
    /// It is one of these definitions, each of which is covered.
    Union(Vec<String>),
    /// It is what these definitions share, each of which is covered by a type.
    Base(Vec<String>),
    /// It is not.
    Not(&'static str),
}

/// The part of a definition's value that a type holds.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where it stands in the value: nothing for all of it, or one member.
    pub member: Option<&'static str>,
    /// The type.
    pub codec: Codec,
}

impl Part {
    /// The part itself, out of the whole; no params are empty ones.
    #[must_use]
    pub fn of(&self, whole: &Value) -> Value {
        let none = || Value::Object(serde_json::Map::new());
        self.member
            .map_or_else(|| whole.clone(), |member| whole.get(member).cloned().unwrap_or_else(none))
    }

    /// The whole, with this part in place of the one it had.
    #[must_use]
    pub fn put(&self, whole: &Value, part: Value) -> Value {
        let Some(member) = self.member else { return part };
        let mut whole = whole.clone();
        whole[member] = part;
        whole
    }
}

impl Cover {
    /// The part of `value` that a type holds, if one does.
    #[must_use]
    pub fn part(&self, value: &Value) -> Option<Part> {
        match self {
            Self::Type(codec) => Some(Part { member: None, codec: *codec }),
            Self::Message(_, codec) => Some(Part { member: Some("params"), codec: *codec }),
            Self::Response(codec) => {
                // As the machines tell them apart: by the result's type.
                let asks = value["result"]["resultType"] == "input_required";
                let codec = if asks { Codec::of::<InputRequired>("InputRequired") } else { *codec };
                Some(Part { member: Some("result"), codec })
            }
            Self::Envelope | Self::Union(_) | Self::Base(_) | Self::Not(_) => None,
        }
    }
}

/// How the definition `name` of `spec` is covered.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn cover(spec: &Spec, name: &str) -> Cover {
    let schema = spec.definition(name).unwrap_or_else(|| panic!("{name} is not defined"));
    if let Some(codec) = type_of(name) {
        return Cover::Type(codec);
    }
    if ENVELOPES.contains(&name) {
        return Cover::Envelope;
    }
    if let Some(method) = schema["properties"]["method"]["const"].as_str() {
        let found =
            messages().into_iter().chain([elicitation()]).find(|(_, known, _)| *known == method);
        return match found {
            Some((_, method, params)) => Cover::Message(method, params),
            None => Cover::Not("no type has its method"),
        };
    }
    if let Some(result) =
        name.strip_suffix("Response").filter(|result| spec.definition(result).is_some())
    {
        return type_of(result).map_or(Cover::Not("no type has its result"), Cover::Response);
    }
    if schema.get("anyOf").or_else(|| schema.get("$ref")).is_some() {
        let mut members = Vec::new();
        references(spec, schema, &mut members);
        let covered = members.iter().all(|member| !matches!(cover(spec, member), Cover::Not(_)));
        return if covered {
            Cover::Union(members)
        } else {
            Cover::Not("one of its members is not covered")
        };
    }
    if BASES.contains(&name) {
        let heirs = heirs(spec, name, schema);
        return if heirs.is_empty() {
            Cover::Not("nothing is made of it")
        } else {
            Cover::Base(heirs)
        };
    }
    Cover::Not("nobody thought of it")
}

/// The definitions that a union refers to, also as elements of arrays.
fn references(spec: &Spec, schema: &Value, names: &mut Vec<String>) {
    names.extend(spec.reference(schema).map(str::to_owned));
    let members = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    for schema in members.chain(schema.get("items")) {
        references(spec, schema, names);
    }
}

/// Whether a type is a message of the kind `kind`, such as `ClientRequest`, and has this method.
#[must_use]
pub fn is_sent_as(kind: &str, method: &str) -> bool {
    messages()
        .into_iter()
        .chain([elicitation()])
        .any(|(known, name, _)| known == kind && name == method)
}

/// The definitions that have all that the base `name` has, and are of its kind: requests, results,
/// params, things.
fn heirs(spec: &Spec, name: &str, base: &Value) -> Vec<String> {
    let kinds = ["Params", "Request", "Notification", "Result"];
    let kind = |name: &str| kinds.into_iter().find(|kind| name.ends_with(kind));
    let is_object =
        |schema: &Value| flat(spec, schema).get("type").is_some_and(|kind| kind == "object");
    spec.definitions()
        .filter(|(heir, _)| *heir != name && kind(heir) == kind(name))
        .filter(|(heir, _)| !BASES.contains(heir) && !ENVELOPES.contains(heir))
        .filter(|(_, schema)| is_object(schema) && extends(spec, schema, base))
        .map(|(heir, _)| heir.to_owned())
        .collect()
}

/// Definitions that others are made of.
const BASES: &[&str] = &[
    "Annotated",
    "BaseMetadata",
    "CacheableResult",
    "Icons",
    "InputResponseRequestParams",
    "Notification",
    "NotificationParams",
    "PaginatedRequest",
    "PaginatedResult",
    "Request",
    "RequestParams",
    "ResourceContents",
    "ResourceRequestParams",
    "TaskAugmentedRequestParams",
];

/// Definitions that only the machines know.
const ENVELOPES: &[&str] = &[
    "Error",
    "HeaderMismatchError",
    "InternalError",
    "InvalidParamsError",
    "InvalidRequestError",
    "JSONRPCBatchRequest",
    "JSONRPCBatchResponse",
    "JSONRPCError",
    "JSONRPCErrorResponse",
    "JSONRPCNotification",
    "JSONRPCRequest",
    "JSONRPCResponse",
    "JSONRPCResultResponse",
    "MethodNotFoundError",
    "MissingRequiredClientCapabilityError",
    "ParseError",
    "URLElicitationRequiredError",
    "UnsupportedProtocolVersionError",
];

/// The name that `older` has for the definition `name` of a later revision, if it has it.
#[must_use]
pub fn name_in<'a>(older: &Spec, name: &'a str) -> Option<&'a str> {
    let renamed = [("ResourceTemplateReference", "ResourceReference")];
    let earlier = renamed.into_iter().find(|(later, _)| *later == name).map(|(_, earlier)| earlier);
    [Some(name), earlier].into_iter().flatten().find(|name| older.definition(name).is_some())
}

/// Whether the two definitions are of the same kind: some names were given anew.
#[must_use]
pub fn is_same_kind(later: Revision, older: Revision, name: &str) -> bool {
    // `EnumSchema` is called `LegacyTitledEnumSchema` since, and what was a union became its one
    // member.
    let anew = match name {
        "EnumSchema" => later > Revision::V2025_06_18 && older <= Revision::V2025_06_18,
        "ClientNotification" => later > Revision::V2025_11_25 && older <= Revision::V2025_11_25,
        _ => false,
    };
    !anew
}
