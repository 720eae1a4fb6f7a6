//! Configurations, limits and capabilities.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::convert::identity;
use core::ops::RangeInclusive;

use super::document::TextForm;
use super::macros::{key, object, words};
use super::value::{Value, read_members, take, write_member};
use crate::client::Config as ClientConfig;
use crate::extension::{Extension, ExtensionMethod, Extensions};
use crate::json::{JsonReader, Object, Raw, write_str};
use crate::limits::Limits;
use crate::revision::{Capability, Era, Revision, Side};
use crate::schema::{Capabilities, Decode, DecodeError, Encode, ExtraMembers};
use crate::server::Config as ServerConfig;
use crate::vocabulary::{Identity, ViolationPolicy};

object! { Limits as Limits: identity, Self::default(), Ok; {
    input_bytes_max, idle_bytes_max,
    message_bytes_max, depth_max, id_bytes_max, calls_max, calls_bytes_max, retired_calls_max,
    requests_max, requests_bytes_max, batch_members_max, events_max, events_bytes_max,
    outbox_bytes_max, replies_bytes_max, error_replies_max, error_reply_every, violations_max,
    input_rounds_max, input_requests_max, subscriptions_max, subscription_uris_max,
    subscriptions_bytes_max, peer_bytes_max, cache_bytes_max, list_entries_max, list_bytes_max,
    call_timeout, call_timeout_max, human_timeout, human_timeout_max, handshake_timeout,
    probe_timeout, ping_every, ping_timeout, pings_missed_max, drain_timeout, eof_drain_timeout,
    stall_timeout, exit_timeout, terminate_timeout, list_timeout,
}}

object! { ServerConfig as Identity: Self::identity, unnamed(ViolationPolicy::Reply), server; {
    info, capabilities, instructions, revisions, served_methods, extensions,
    decides_subscriptions: "decide_subscriptions", limits, policy: "on_violation",
} without { accepts_modern_initialize_result, expected_era, sends_info }}

object! { ClientConfig as Identity: Self::identity, unnamed(ViolationPolicy::Ignore), client; {
    info, capabilities, revisions, served_methods, extensions,
    accepts_modern_initialize_result: "accept_modern_initialize", expected_era: "expect_era",
    sends_info, limits, policy: "on_violation",
} without { instructions, decides_subscriptions }}

impl TextForm for Limits {}
impl TextForm for ServerConfig {}
impl TextForm for ClientConfig {}

fn unnamed(policy: ViolationPolicy) -> Identity {
    Identity::new("", "", policy)
}

fn server(identity: Identity) -> Result<ServerConfig, DecodeError> {
    checked(identity).map(ServerConfig::from_identity)
}

fn client(identity: Identity) -> Result<ClientConfig, DecodeError> {
    checked(identity).map(ClientConfig)
}

fn checked(mut identity: Identity) -> Result<Identity, DecodeError> {
    identity.revisions.sort_unstable();
    if identity.info.name.is_empty() {
        return Err(DecodeError::missing("name").within("info"));
    }
    Ok(identity)
}

words!(Era { "legacy" Legacy, "modern" Modern });
words!(Side { "client" Client, "server" Server });
words!(ViolationPolicy { "close" Close, "ignore" Ignore, "reply" Reply });

/// Implements [`Value`] for types with names.
macro_rules! named {
    ($($type:ident)*) => {$(
        impl Value for $type {
            fn write(&self, out: &mut Vec<u8>) {
                write_str(out, &self.to_string());
            }

            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                let before = reader.clone();
                reader.text().and_then(|name| Self::from_name(&name)).ok_or_else(|| {
                    let expected = concat!("the name of a `", stringify!($type), "`");
                    DecodeError::expected(expected, &before)
                })
            }
        }
    )*};
}

named!(Capability Revision);

object! { Extension as Extension: identity, Self::new(""), Ok; {
    id, settings, revisions, methods, result_types, listen_keys,
}}

object!(ExtensionMethod { name, is_request, sender, named_by });

impl Value for RangeInclusive<Revision> {
    fn write(&self, out: &mut Vec<u8>) {
        (*self.start(), *self.end()).write(out);
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        <(Revision, Revision)>::read(reader).map(|(first, last)| first..=last)
    }
}

impl Value for Extensions {
    fn write(&self, out: &mut Vec<u8>) {
        self.all().to_vec().write(out);
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let (mut all, before) = (Self::default(), reader.clone());
        for extension in Vec::<Extension>::read(reader)? {
            all.add(extension).map_err(|error| {
                DecodeError::expected(format!("a valid extension ({error})"), &before)
            })?;
        }
        Ok(all)
    }
}

/// How many extensions capabilities declare at most.
const EXTENSIONS_MAX: usize = 256;

/// Capabilities as an object. Those without open parts are written as the list `declared`.
struct Declaration {
    declared: Vec<Capability>,
    experimental: Option<Raw>,
    extensions: Option<Raw>,
    /// The declaration as received from the peer.
    raw: Option<Raw>,
}

object!(Declaration { declared, experimental, extensions, raw });

impl Value for Capabilities {
    fn write(&self, out: &mut Vec<u8>) {
        let declared = Capability::all().filter(|capability| self.has(*capability)).collect();
        let (experimental, extensions) = self.own_members();
        let extensions = extensions.and_then(|it| it.to_raw(crate::revision::R5).ok());
        match (experimental, extensions, self.raw()) {
            (None, None, None) => Vec::write(&declared, out),
            (experimental, extensions, raw) => {
                let (experimental, raw) = (experimental.cloned(), raw.cloned());
                Declaration { declared, experimental, extensions, raw }.write(out);
            }
        }
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let invalid = |name: &str, found: &Raw| {
            let found = JsonReader::new(found);
            DecodeError::expected("valid extensions or features", &found).within(name)
        };
        let list = <Vec<Capability> as Value>::read(&mut reader.clone());
        let parts = match list {
            Ok(declared) => {
                reader.skip();
                Declaration { declared, experimental: None, extensions: None, raw: None }
            }
            Err(error) if error.pointer.is_empty() => Declaration::read(reader)?,
            Err(error) => return Err(error),
        };
        let mut all = match &parts.raw {
            Some(raw) => Self::decode(raw).map_err(|error| error.within("raw"))?,
            None => Self::none(),
        };
        all = parts.declared.into_iter().fold(all, Self::with);
        if let Some(features) = parts.experimental {
            all = all.with_experimental(features.clone());
            all.own_members().0.ok_or_else(|| invalid("experimental", &features))?;
        }
        if let Some(extensions) = parts.extensions {
            let declared = ExtraMembers::decode(&extensions);
            let declared = declared.map_err(|error| error.within("extensions"))?;
            // Each is looked up among the earlier ones.
            if declared.iter().count() > EXTENSIONS_MAX {
                return Err(invalid("extensions", &extensions));
            }
            for (id, settings) in declared.iter() {
                all = all.with_extension(id, settings.clone());
                let own = all.own_members().1.and_then(|own| own.get(id));
                own.ok_or_else(|| invalid("extensions", &extensions))?;
            }
        }
        Ok(all)
    }
}
