//! Events, commands, errors and configurations as JSON.
//!
//! Use this form for values that leave the program: bindings to other languages, remote control,
//! logs and files. [`TextForm`] converts a value to JSON on one line and back. [`Numbered`] gives
//! each error, close reason and violation a number and a name that never change.
//!
//! | document | tag | other members |
//! |---|---|---|
//! | [`client::Event`], [`server::Event`] | `event` | the fields of the variant |
//! | [`OwnedCommand`] | `command` | the fields of the variant |
//! | the outcome of a command | | `result` or `error` |
//! | [`Misuse`], [`CallError`] | `name` | `number`, `message`, the fields of the variant |
//! | [`CloseReason`], [`Fault`] | `name` | `number`, `message`, the fields of the variant |
//! | [`client::Config`], [`server::Config`] | | those that the configuration sets, `limits` |
//! | [`Limits`] | | the fields |
//!
//! - A tag is the name of the variant, such as `request_cancelled`. The field of a variant without
//!   field names is called after its type, such as `peer`, `reason` or `error`.
//! - Members that are `None`, `false` or empty are left out. Only configurations contain all
//!   members; those left out of a configuration have their defaults.
//! - A time is a number of seconds, such as `0.05`. Calls and incoming requests are numbers.
//! - Params, results, `_meta` and the description of a peer have the form of the protocol.
//!   Capabilities are a list of [names](crate::Capability::from_name); those of a peer are an
//!   object with this list as `declared` and the declaration as `raw`.
//! - An unknown member is an error that names a similar one. `v`, the version of the form, is
//!   optional; any version but [`VERSION`] is an error. Kinds and optional members can be added
//!   without a new version.
//!
//! Encoding a value and decoding the text returns an equal value, with these exceptions: the
//! [data of a caller](crate::Caller::data) and malformed icons are left out, and typed
//! [questions](crate::NeededInput) of a command become raw ones. JSON that is nested deeper than
//! 128 levels cannot be decoded. Documents contain payloads, including secrets.
//!
//! ```
//! use mcp_proto::client::{Client, Config};
//! use mcp_proto::text::TextForm;
//! use mcp_proto::{Instant, MessageEndpoint, OwnedCommand, Raw};
//!
//! let json = |text| Raw::from_text(text).unwrap();
//! let config = r#"{"info": {"name": "demo", "version": "1.0.0"}, "capabilities": ["roots"],
//!     "revisions": ["2025-11-25"], "limits": {"call_timeout": 2.5}}"#;
//! let mut client = Client::new(Instant::ZERO, Config::from_json(&json(config)).unwrap());
//!
//! let command = OwnedCommand::from_json(&json(r#"{"command": "close"}"#)).unwrap();
//! let outcome = client.apply(Instant::ZERO, (&command).try_into().unwrap());
//! assert_eq!(outcome.to_json().as_str(), r#"{"result":{"outcome":"done"},"v":1}"#);
//! let event = client.poll_event().unwrap().to_json();
//! assert_eq!(
//!     event.as_str(),
//!     concat!(
//!         r#"{"event":"closed","reason":{"name":"local","number":302,"#,
//!         r#""message":"closed by this side"},"v":1}"#
//!     )
//! );
//!
//! let misspelled = json(r#"{"info": {"name": "x", "version": "1"}, "limits": {"calls": 2}}"#);
//! assert_eq!(
//!     Config::from_json(&misspelled).unwrap_err().to_string(),
//!     r#"expected a known member such as `calls_max` at "/limits/calls", found 2"#
//! );
//! ```
//!
//! [`CallError`]: crate::CallError
//! [`CloseReason`]: crate::CloseReason
//! [`Fault`]: crate::Fault
//! [`Limits`]: crate::Limits
//! [`Misuse`]: crate::Misuse
//! [`OwnedCommand`]: crate::OwnedCommand
//! [`client::Config`]: crate::client::Config
//! [`client::Event`]: crate::client::Event
//! [`server::Config`]: crate::server::Config
//! [`server::Event`]: crate::server::Event

mod command;
mod config;
mod document;
mod errors;
mod event;
mod macros;
mod value;

pub use document::{Numbered, TextForm};
pub use value::VERSION;
#[cfg(feature = "record")]
pub(crate) use value::Value;

#[cfg(test)]
mod tests;
