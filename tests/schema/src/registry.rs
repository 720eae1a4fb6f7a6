//! The coverage of each definition of each revision: by a type, by the envelope, or by other
//! definitions.
//!
//! Messages are found by the method in their schema, everything else by name. Nothing here is
//! specific to a revision: the schemas list the definitions.

use mcp_proto::Revision;
use mcp_proto::schema::InputRequired;
use serde_json::Value;

use crate::codec::Codec;
use crate::flat::{extends, flat};
use crate::spec::Spec;
use crate::types::{elicitation, messages, type_of};

/// The coverage of a definition.
#[derive(Clone, Debug)]
pub enum Cover {
    /// A type holds the whole value.
    Type(Codec),
    /// A message with this method; a type holds its `params`.
    Message(&'static str, Codec),
    /// A response; the type of the result's own definition holds its `result`.
    Response(Codec),
    /// The machines handle it: see [`envelope`](crate::envelope).
    Envelope,
    /// A union of these definitions, each of which is covered.
    Union(Vec<String>),
    /// The common base of these definitions, each of which is covered by a type.
    Base(Vec<String>),
    /// Not covered, for this reason.
    Not(&'static str),
}

/// The part of a definition's value that a type holds.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The member that holds the part; none for the whole value.
    pub member: Option<&'static str>,
    /// The type's codec.
    pub codec: Codec,
}

impl Part {
    /// Extracts the part; missing params count as empty ones.
    #[must_use]
    pub fn of(&self, whole: &Value) -> Value {
        let none = || Value::Object(serde_json::Map::new());
        self.member
            .map_or_else(|| whole.clone(), |member| whole.get(member).cloned().unwrap_or_else(none))
    }

    /// Replaces the part within the whole.
    #[must_use]
    pub fn put(&self, whole: &Value, part: Value) -> Value {
        let Some(member) = self.member else { return part };
        let mut whole = whole.clone();
        whole[member] = part;
        whole
    }
}

impl Cover {
    /// Returns the part of `value` that a type holds, if any.
    #[must_use]
    pub fn part(&self, value: &Value) -> Option<Part> {
        match self {
            Self::Type(codec) => Some(Part { member: None, codec: *codec }),
            Self::Message(_, codec) => Some(Part { member: Some("params"), codec: *codec }),
            Self::Response(codec) => {
                // The machines choose by the result's type, too.
                let asks = value["result"]["resultType"] == "input_required";
                let codec = if asks { Codec::of::<InputRequired>("InputRequired") } else { *codec };
                Some(Part { member: Some("result"), codec })
            }
            Self::Envelope | Self::Union(_) | Self::Base(_) | Self::Not(_) => None,
        }
    }
}

/// Returns the coverage of the definition `name` of `spec`.
///
/// # Panics
///
/// If the definition does not exist.
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
        return type_of(result).map_or(Cover::Not("no type holds its result"), Cover::Response);
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
        return if heirs.is_empty() { Cover::Not("nothing uses it") } else { Cover::Base(heirs) };
    }
    Cover::Not("unknown definition")
}

/// Collects the definitions a union refers to, including elements of arrays.
fn references(spec: &Spec, schema: &Value, names: &mut Vec<String>) {
    names.extend(spec.reference(schema).map(str::to_owned));
    let members = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    for schema in members.chain(schema.get("items")) {
        references(spec, schema, names);
    }
}

/// Returns whether a type is a message of the kind `kind`, such as `ClientRequest`, with this
/// method.
#[must_use]
pub fn is_sent_as(kind: &str, method: &str) -> bool {
    messages()
        .into_iter()
        .chain([elicitation()])
        .any(|(known, name, _)| known == kind && name == method)
}

/// Returns the definitions that extend the base `name` and are of its kind: requests, results,
/// params, objects.
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

/// Base definitions.
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

/// Definitions that only the machines handle.
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

/// Returns the name in `older` of the definition `name` of a later revision, if it exists.
#[must_use]
pub fn name_in<'a>(older: &Spec, name: &'a str) -> Option<&'a str> {
    let renamed = [("ResourceTemplateReference", "ResourceReference")];
    let earlier = renamed.into_iter().find(|(later, _)| *later == name).map(|(_, earlier)| earlier);
    [Some(name), earlier].into_iter().flatten().find(|name| older.definition(name).is_some())
}

/// Returns whether both definitions are of one kind; some names were reused for another.
#[must_use]
pub fn is_same_kind(later: Revision, older: Revision, name: &str) -> bool {
    // `EnumSchema` was renamed to `LegacyTitledEnumSchema`, and a union took its name.
    let is_reused = match name {
        "EnumSchema" => later > Revision::V2025_06_18 && older <= Revision::V2025_06_18,
        "ClientNotification" => later > Revision::V2025_11_25 && older <= Revision::V2025_11_25,
        _ => false,
    };
    !is_reused
}
