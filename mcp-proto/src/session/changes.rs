//! Telling of changes: a server's subscribers, in both eras; knows nothing of what changed or why.
//!
//! Without sessions a subscriber is a request that stays open and is answered when the server ends. In a session it is
//! a resource that the client subscribed to, and changes of lists are told unasked. (STL-29…36, CAN-15, T-102, T-103)

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::StreamId;
use super::core::Core;
use super::event::Event;
use super::filter::{Change, Filter, is_part};
use super::listen::ACKNOWLEDGED;
use super::phase::Phase;
use crate::collections::Empty;
use crate::error::Misuse;
use crate::json::Object;
use crate::rpc::{self, ErrorObject, Params, RequestId};
use crate::schema::key;
use crate::time::Instant;
use crate::wire::To;

/// Whoever hears of a server's changes.
#[derive(Debug, Default)]
pub(crate) struct Subscribers {
    open: BTreeMap<RequestId, (StreamId, Filter)>,
    /// What the session's client subscribed to.
    session: BTreeSet<Box<str>>,
    /// How many subscribe to each resource, over both.
    uris: BTreeMap<Box<str>, usize>,
    bytes: usize,
}

impl Empty for Subscribers {
    const EMPTY: &'static Self =
        &Self { open: BTreeMap::new(), session: BTreeSet::new(), uris: BTreeMap::new(), bytes: 0 };
}

impl Subscribers {
    /// Whether a request with this id is an open subscription.
    pub(crate) fn has(&self, id: &RequestId) -> bool {
        !self.open.is_empty() && self.open.contains_key(id)
    }

    fn len(&self) -> usize {
        self.open.len() + self.session.len()
    }

    /// One more for `uri`; whether it is the first.
    fn watch(&mut self, uri: &str) -> bool {
        self.bytes += uri.len();
        let count = self.uris.entry(uri.into()).or_default();
        *count += 1;
        *count == 1
    }

    /// One less for `uri`; whether it was the last.
    fn unwatch(&mut self, uri: &str) -> bool {
        let Some(count) = self.uris.get_mut(uri) else { return false };
        self.bytes -= uri.len();
        *count -= 1;
        let is_last = *count == 0;
        if is_last {
            self.uris.remove(uri);
        }
        is_last
    }
}

impl Core {
    /// Tells whoever wants to hear of it. (CAP-12, STL-31, STL-32)
    pub(crate) fn changed(&mut self, now: Instant, change: Change<'_>) -> Result<(), Misuse> {
        self.advance(now);
        if !self.phase.allows().input {
            return Err(Misuse::Closed);
        }
        if !self.me.capabilities.has(change.needs()) {
            return Err(Misuse::Undeclared);
        }
        let hears = |(_, (_, filter)): &(&RequestId, &(StreamId, Filter))| change.is_named_by(filter);
        let open = self.subscribers.open.iter().filter(hears);
        let tags: Vec<(StreamId, RequestId)> = open.map(|(id, (stream, _))| (*stream, id.clone())).collect();
        for stream in tags.iter().map(|(stream, _)| Some(*stream)).chain([None]) {
            self.has_room(stream)?;
        }
        let in_session = matches!(self.phase, Phase::Greeted | Phase::Ready)
            && match change {
                Change::Resource(uri) => self.subscribers.session.iter().any(|whole| is_part(whole, uri)),
                _ => true,
            };
        if in_session {
            self.tell(change, None);
        }
        for tag in tags {
            self.tell(change, Some(&tag));
        }
        Ok(())
    }

    fn tell(&mut self, change: Change<'_>, subscription: Option<&(StreamId, RequestId)>) {
        let uri = match change {
            Change::Resource(uri) => Some(uri),
            _ => None,
        };
        let to = subscription.map_or(To::ANY, |(stream, _)| To::along(*stream));
        let _infallible = self.try_write(to, |out| {
            rpc::notification(out, change.method(), |out| {
                if subscription.is_none() && uri.is_none() {
                    return Ok(());
                }
                let mut params = Object::begin(out);
                if let Some((_, id)) = subscription {
                    write_tag(params.key("_meta"), id);
                }
                params.opt_str("uri", uri);
                params.end();
                Ok(())
            })
        });
    }

    /// Opens a subscription: what it will be told of is the first thing it is told. (STL-29, STL-30, T-103)
    pub(super) fn subscribe(
        &mut self,
        stream: StreamId,
        id: &RequestId,
        params: &Params<'_>,
    ) -> Result<(), ErrorObject> {
        let uris_max = self.limits().subscription_uris_max;
        let filter = params.member("notifications").and_then(|filter| Filter::read(filter, uris_max));
        let Some(filter) = filter else {
            return Err(ErrorObject::invalid_params("`notifications` must be a filter"));
        };
        self.has_room_to_subscribe(filter.uris.len(), 0)?;
        let mut filter = filter.offered_by(&self.me.capabilities);
        filter.uris.sort_unstable();
        filter.uris.dedup();
        self.has_room_to_subscribe(filter.uris.len(), filter.bytes())?;
        for uri in &filter.uris {
            if self.subscribers.watch(uri) {
                self.events.push(Event::Watched { uri: uri.clone() });
            }
        }
        let _infallible = self.try_write(To::along(stream), |out| {
            rpc::notification(out, ACKNOWLEDGED, |out| {
                let mut params = Object::begin(out);
                write_tag(params.key("_meta"), id);
                filter.write(params.key("notifications"));
                params.end();
                Ok(())
            })
        });
        self.subscribers.open.insert(id.clone(), (stream, filter));
        Ok(())
    }

    fn has_room_to_subscribe(&self, uris: usize, bytes: usize) -> Result<(), ErrorObject> {
        let limits = self.limits();
        if self.subscribers.len() >= limits.subscriptions_max
            || uris > limits.subscription_uris_max
            || self.subscribers.bytes + bytes > limits.subscriptions_bytes_max
        {
            return Err(ErrorObject::internal("too many subscriptions"));
        }
        Ok(())
    }

    /// The client ends a subscription; true if there was one.
    pub(super) fn unsubscribe(&mut self, id: &RequestId) -> bool {
        if !self.subscribers.has(id) {
            return false;
        }
        let Some((stream, filter)) = self.subscribers.open.remove(id) else { return false };
        for uri in &filter.uris {
            self.unwatch(uri);
        }
        self.end_path(To::back(stream));
        true
    }

    /// The client hears nothing more on a path, and so of none of the subscriptions there.
    #[cfg(feature = "http")]
    pub(super) fn unsubscribe_all(&mut self, stream: StreamId) {
        let on_it = |(_, (path, _)): &(&RequestId, &(StreamId, Filter))| *path == stream;
        while let Some(id) = self.subscribers.open.iter().find(on_it).map(|(id, _)| id.clone()) {
            self.unsubscribe(&id);
        }
    }

    fn unwatch(&mut self, uri: &str) {
        if self.subscribers.unwatch(uri) {
            self.events.push(Event::Unwatched { uri: uri.into() });
        }
    }

    /// In a session: the client subscribes to a resource, or no longer wants to hear of it.
    pub(super) fn watch_in_session(&mut self, uri: &str, wants: bool) -> Result<(), ErrorObject> {
        if !wants {
            if self.subscribers.session.remove(uri) {
                self.unwatch(uri);
            }
            return Ok(());
        }
        if self.subscribers.session.contains(uri) {
            return Ok(());
        }
        self.has_room_to_subscribe(1, uri.len())?;
        self.subscribers.session.insert(uri.into());
        if self.subscribers.watch(uri) {
            self.events.push(Event::Watched { uri: uri.into() });
        }
        Ok(())
    }

    /// The connection ends: nobody listens any more.
    pub(super) fn forget_watched(&mut self) {
        if self.subscribers.uris.is_empty() {
            return;
        }
        for uri in core::mem::take(&mut self.subscribers.uris).into_keys() {
            self.events.push(Event::Unwatched { uri });
        }
    }

    /// The server ends: every subscription gets its last word. (STL-36, CAN-15, T-102)
    pub(super) fn end_subscriptions(&mut self) {
        self.forget_watched();
        let open = self.subscribers.take();
        for (id, (stream, _)) in &open.open {
            let mut result = Vec::new();
            let mut object = Object::begin(&mut result);
            write_tag(object.key("_meta"), id);
            object.end();
            self.stamp.finish_result(&mut result, 0, None);
            // Where it has a path of its own, the end of that is the last word.
            let has_paths = self.has_paths();
            let to = if has_paths { To::back(*stream) } else { To::along(*stream) };
            let _infallible = self.try_write(to, |out| {
                rpc::response(out, id, |out| {
                    out.extend_from_slice(&result);
                    Ok(())
                })
            });
            if has_paths {
                continue;
            }
            let _infallible = self.try_write(to, |out| {
                rpc::notification(out, "notifications/cancelled", |out| {
                    let mut params = Object::begin(out);
                    id.write(params.key("requestId"));
                    params.str("reason", "the server ends");
                    params.end();
                    Ok(())
                })
            });
        }
    }
}

/// Writes the `_meta` that says which subscription a message belongs to. (ID-12)
fn write_tag(out: &mut Vec<u8>, id: &RequestId) {
    let mut meta = Object::begin(out);
    id.write(meta.key(key::SUBSCRIPTION_ID));
    meta.end();
}

#[cfg(test)]
mod tests;
