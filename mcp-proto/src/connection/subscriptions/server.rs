//! A server's subscribers, in both eras.
//!
//! A modern subscriber is an open `subscriptions/listen` request. In a legacy session the client
//! subscribes to resources, and changes of lists are always reported.
// STL-29…36, CAN-15, T-102, T-103: acknowledgement, tags, the final response and empty filters.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::super::context::Env;
use super::super::lifecycle::phase::Phase;
use crate::collections::{Empty, SortedMap};
use crate::error::{Misuse, Unencodable};
use crate::json::{Object, Raw, TextWithMeta, find, with_meta};
use crate::limits::Limits;
use crate::method::MethodId;
use crate::permissions::outgoing_extension;
use crate::queues::Draft;
use crate::rpc::{self, ErrorObject, RequestId};
use crate::schema::{is_uri, key};
use crate::vocabulary::{
    Change, Event, Filter, OutgoingKind, Peer, Principal, Route, StreamId, is_within_resource,
};

/// The subscribers of a server.
#[derive(Debug, Default)]
pub(crate) struct Subscribers {
    open: SortedMap<RequestId, OpenSubscription>,
    /// Legacy: the resources that the client subscribed to, with the sender of the request.
    session: SortedMap<Box<str>, Option<Principal>>,
    /// Number of subscriptions per resource and principal, in both eras.
    uris: SortedMap<(Box<str>, Option<Principal>), usize>,
    bytes: usize,
}

/// An open `subscriptions/listen`.
#[derive(Debug)]
struct OpenSubscription {
    stream: StreamId,
    filter: Filter,
    principal: Option<Principal>,
}

/// The memory of a subscription: its slot and its id.
const SUBSCRIPTION_BYTES: usize = 512;

/// The memory of a resource with subscribers, beyond its URI.
const URI_BYTES: usize = 160;

impl Empty for Subscribers {
    const EMPTY: &'static Self = &Self {
        open: SortedMap::new(),
        session: SortedMap::new(),
        uris: SortedMap::new(),
        bytes: 0,
    };
}

impl Subscribers {
    /// Returns whether `id` is an open modern subscription.
    pub(crate) fn has(&self, id: &RequestId) -> bool {
        !self.open.is_empty() && self.open.contains_key(id)
    }

    fn len(&self) -> usize {
        self.open.len() + self.session.len()
    }

    /// Returns the memory of all subscriptions, in bytes.
    pub(crate) fn cost(&self) -> usize {
        self.bytes * 4 + self.len() * SUBSCRIPTION_BYTES + self.uris.len() * URI_BYTES
    }

    fn watch(&mut self, env: &mut Env, uri: &str, principal: Option<&Principal>) {
        self.bytes += uri.len();
        let watched = (uri.into(), principal.cloned());
        if let Some(count) = self.uris.get_mut(&watched) {
            *count += 1;
            return;
        }
        self.uris.insert(watched, 1);
        env.emit(Event::Watched { uri: uri.into(), principal: principal.cloned() });
    }

    fn unwatch(&mut self, env: &mut Env, uri: &str, principal: Option<&Principal>) {
        let watched = (uri.into(), principal.cloned());
        let Some(count) = self.uris.get_mut(&watched) else { return };
        self.bytes -= uri.len();
        *count -= 1;
        if *count == 0 {
            self.uris.remove(&watched);
            env.emit(Event::Unwatched { uri: watched.0, principal: watched.1 });
        }
    }

    fn require_room(&self, uris: usize, bytes: usize, limits: &Limits) -> Result<(), ErrorObject> {
        if self.len() >= limits.subscriptions_max
            || uris > limits.subscription_uris_max
            || self.bytes + bytes > limits.subscriptions_bytes_max
        {
            return Err(ErrorObject::internal("too many subscriptions"));
        }
        Ok(())
    }

    /// Notifies all subscribers that cover a change, or none if one has no room.
    // CAP-12, STL-31, STL-32: only requested changes, tagged with the subscription id.
    pub(crate) fn changed(&self, env: &mut Env, change: Change<'_>) -> Result<(), Misuse> {
        let open = self.open.iter().filter(|(_, open)| change.matches(&open.filter));
        let tags: Vec<(StreamId, &RequestId)> = open.map(|(id, open)| (open.stream, id)).collect();
        for (stream, _) in &tags {
            env.require_room(Route::Stream(*stream))?;
        }
        env.require_room(Route::Any)?;
        let in_session = matches!(env.phase(), Phase::Greeted | Phase::Ready)
            && match change {
                Change::Resource(uri) => {
                    self.session.keys().any(|whole| is_within_resource(whole, uri))
                }
                Change::Extension { method, .. } => outgoing(env, method) == Ok(true),
                _ => true,
            };
        if in_session {
            notify(env, change, None);
        }
        for tag in tags {
            notify(env, change, Some(tag));
        }
        Ok(())
    }

    /// Parses the requested filter and restricts it to what this server supports.
    // SEC-02, STL-30: invalid URIs are not acknowledged.
    pub(crate) fn requested(
        &self,
        env: &Env,
        peer: &Peer,
        notifications: Option<&[u8]>,
    ) -> Result<Filter, ErrorObject> {
        let limits = env.limits();
        let filter = notifications.and_then(|filter| env.read_filter(filter, peer.revision));
        let Some(filter) = filter else {
            return Err(ErrorObject::invalid_params("`notifications` must be a filter"));
        };
        // LIF-34: a listen key of an extension needs a client that declared the extension.
        let mut keys = env.identity.extensions.listen_keys(peer.revision);
        let missing = keys.find(|(extension, key)| {
            notifications.is_some_and(|all| find(all, key).is_some())
                && !extension.is_declared_in(&peer.capabilities)
        });
        if let Some((extension, _)) = missing {
            return Err(ErrorObject::missing_extension(extension.id()));
        }
        self.require_room(filter.len(), 0, limits)?;
        let mut filter = filter.offered_by(&env.identity.capabilities);
        filter.uris.retain(|uri| is_uri(uri));
        filter.normalize();
        self.require_room(filter.len(), filter.bytes(), limits)?;
        Ok(filter)
    }

    /// Opens a modern subscription and acknowledges it with the filter in effect.
    // STL-29, STL-30, T-103: the acknowledgement comes first; an empty filter is valid.
    pub(crate) fn open(
        &mut self,
        env: &mut Env,
        stream: StreamId,
        id: &RequestId,
        filter: Filter,
        principal: Option<&Principal>,
    ) -> Result<(), ErrorObject> {
        self.require_room(filter.len(), filter.bytes(), env.limits())?;
        for uri in &filter.uris {
            self.watch(env, uri, principal);
        }
        self.bytes += filter.elements_bytes();
        env.notify(Route::Stream(stream), MethodId::Acknowledged, |out| {
            let mut params = Object::begin(out);
            write_tag(params.key("_meta"), id);
            filter.write(params.key("notifications"));
            params.end();
            Ok(())
        });
        let principal = principal.cloned();
        self.open.insert(id.clone(), OpenSubscription { stream, filter, principal });
        Ok(())
    }

    /// Ends a modern subscription. Returns whether it was open.
    pub(crate) fn unsubscribe(&mut self, env: &mut Env, id: &RequestId) -> bool {
        if !self.has(id) {
            return false;
        }
        let Some(open) = self.open.remove(id) else { return false };
        self.bytes -= open.filter.elements_bytes();
        for uri in &open.filter.uris {
            self.unwatch(env, uri, open.principal.as_ref());
        }
        env.end_stream(open.stream, true);
        true
    }

    /// Ends the subscriptions on a closed stream.
    pub(crate) fn on_stream_closed(&mut self, env: &mut Env, stream: StreamId) {
        let on_it = |(_, open): &(&RequestId, &OpenSubscription)| open.stream == stream;
        let ended: Vec<RequestId> =
            self.open.iter().filter(on_it).map(|(id, _)| id.clone()).collect();
        for id in ended {
            self.unsubscribe(env, &id);
        }
    }

    /// Legacy: returns whether the client is subscribed to a resource as this principal.
    pub(crate) fn has_in_session(&self, uri: &str, principal: Option<&Principal>) -> bool {
        self.session.get(uri).is_some_and(|its| its.as_ref() == principal)
    }

    /// Legacy: subscribes the client to a resource.
    pub(crate) fn subscribe_in_session(
        &mut self,
        env: &mut Env,
        uri: &str,
        principal: Option<&Principal>,
    ) -> Result<(), ErrorObject> {
        if self.session.contains_key(uri) {
            return Ok(());
        }
        self.require_room(1, uri.len(), env.limits())?;
        self.session.insert(uri.into(), principal.cloned());
        self.watch(env, uri, principal);
        Ok(())
    }

    /// Legacy: ends the client's subscription to a resource.
    pub(crate) fn unsubscribe_in_session(&mut self, env: &mut Env, uri: &str) {
        if let Some(principal) = self.session.remove(uri) {
            self.unwatch(env, uri, principal.as_ref());
        }
    }

    /// Reports all resources as unwatched, because the connection ends.
    pub(crate) fn forget_watched(&mut self, env: &mut Env) {
        for ((uri, principal), _) in core::mem::take(&mut self.uris) {
            env.emit(Event::Unwatched { uri, principal });
        }
    }

    /// Sends the final response of every subscription, because the server closes.
    // STL-36, CAN-15, T-102: on stdio a cancellation follows the response.
    pub(crate) fn end(mut self, env: &mut Env) {
        self.forget_watched(env);
        for (id, OpenSubscription { stream, .. }) in self.open.iter() {
            let mut result = Vec::new();
            let mut object = Object::begin(&mut result);
            write_tag(object.key("_meta"), id);
            object.end();
            env.terms.meta.finish_result(&mut result, 0, None);
            // On HTTP the end of the stream ends the subscription.
            let has_streams = env.out.has_streams();
            let kind = OutgoingKind::Response { incoming: None, error: None };
            let draft = Draft::new(Route::Stream(*stream), kind);
            let _infallible = env.send(if has_streams { draft.last() } else { draft }, |out| {
                rpc::response(out, id, |out| {
                    out.extend_from_slice(&result);
                    Ok::<(), Unencodable>(())
                })
                .map(|()| None)
            });
            if has_streams {
                continue;
            }
            env.notify(Route::Stream(*stream), MethodId::Cancelled, |out| {
                let mut params = Object::begin(out);
                id.write(params.key("requestId"));
                params.str("reason", "the server ends");
                params.end();
                Ok(())
            });
        }
    }
}

/// Fails unless this side may send a notification of an extension to the client of the session.
fn outgoing(env: &Env, method: &str) -> Result<bool, Misuse> {
    let Env { identity, terms, .. } = env;
    let (extensions, peer) = (&identity.extensions, terms.peer.as_deref());
    outgoing_extension(extensions, env.side(), env.revision(), method, false, peer)
}

fn notify(env: &mut Env, change: Change<'_>, subscription: Option<(StreamId, &RequestId)>) {
    if let Change::Extension { method, params, .. } = change {
        return notify_extension(env, method, params, subscription);
    }
    let Some(method) = change.method() else { return };
    let uri = match change {
        Change::Resource(uri) => Some(uri),
        _ => None,
    };
    let route = Route::of(subscription.map(|(stream, _)| stream));
    env.notify(route, method, |out| {
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
    });
}

fn notify_extension(
    env: &mut Env,
    method: &str,
    params: Option<&Raw>,
    subscription: Option<(StreamId, &RequestId)>,
) {
    let params = params.map(Raw::as_bytes);
    let route = Route::of(subscription.map(|(stream, _)| stream));
    let draft = Draft::new(route, OutgoingKind::Notification(method.into()));
    let _infallible = env.send(draft, |out| {
        rpc::notification(out, method, |out| {
            match (subscription, params) {
                (Some((_, id)), _) => {
                    with_meta(out, TextWithMeta::of(params), &[key::SUBSCRIPTION_ID], |meta| {
                        id.write(meta.key(key::SUBSCRIPTION_ID));
                    });
                }
                (None, Some(params)) => out.extend_from_slice(params),
                (None, None) => {}
            }
            Ok::<(), Unencodable>(())
        })
    });
}

// ID-12: writes the `_meta` that tags a message with the id of its `subscriptions/listen`.
fn write_tag(out: &mut Vec<u8>, id: &RequestId) {
    let mut meta = Object::begin(out);
    id.write(meta.key(key::SUBSCRIPTION_ID));
    meta.end();
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod part_tests;
