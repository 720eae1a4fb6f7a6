//! Events of clients and servers.

use alloc::string::String;
use alloc::vec::Vec;

use super::document::{Tagged, TextForm};
use super::macros::{object, variants};
use super::value::{Value, like, read_members, read_tag, take, write_member};
use crate::client::Event as ClientEvent;
use crate::json::{JsonReader, Object};
use crate::method::Method;
use crate::schema::DecodeError;
use crate::server::Event as ServerEvent;
use crate::vocabulary::{Caller, Context, Peer, Principal, Request};

variants! { ServerEvent "event" {
    "closed" Closed { reason @ 0 }
    "completed" Completed { call, outcome }
    "late_task" LateTask { result @ 0 }
    "notification" Notification { method, params }
    "progress" Progress { call, progress }
    "ready" Ready { peer @ 0 }
    "request" Request { incoming, request, context }
    "request_cancelled" RequestCancelled { incoming, reason }
    "unwatched" Unwatched { uri, principal }
    "violation" Violation { violation @ 0 }
    "watched" Watched { uri, principal }
}}

variants! { ClientEvent "event" {
    "closed" Closed { reason @ 0 }
    "completed" Completed { call, outcome }
    "subscribed" Subscribed { call, filter }
    "late_task" LateTask { result @ 0 }
    "notification" Notification { call, method, params }
    "progress" Progress { call, progress }
    "ready" Ready { peer @ 0 }
    "request" Request { incoming, call, request }
    "request_cancelled" RequestCancelled { incoming, reason }
    "task_progress" TaskProgress { call, progress }
    "violation" Violation { violation @ 0 }
}}

impl TextForm for ServerEvent {}
impl TextForm for ClientEvent {}

object!(Peer { revision, info, capabilities, instructions });
object!(Request { method, params });
object! {
    Context { peer, log_level, wants_progress, input_responses, state, meta, caller }
}

like! {
    Method: String, |it| (**it).into(), |name: String| Self::from(&*name);
}

impl Value for Principal {
    fn write(&self, out: &mut Vec<u8>) {
        String::from(self.id()).write(out);
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let before = reader.clone();
        let id = <String as Value>::read(reader)?;
        Self::new(id).ok_or_else(|| DecodeError::expected("an id that is not empty", &before))
    }
}

/// Without the data of the driver.
impl Value for Caller {
    fn write(&self, out: &mut Vec<u8>) {
        let mut object = Object::begin(out);
        write_member(&mut object, "principal", &self.principal().cloned());
        object.end();
    }

    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let mut caller = Self::new();
        read_members(reader, &["principal"], &mut |_, reader| {
            caller = Self::new().with_principal(Principal::read(reader)?);
            Ok(())
        })?;
        Ok(caller)
    }
}
