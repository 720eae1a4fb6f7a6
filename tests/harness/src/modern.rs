//! The rules of modern messages: metadata of requests, form of results and subscriptions, and what
//! a retry must repeat.
//!
//! They are taken from the specification rather than from the crate under test, like
//! [`methods`](crate::methods).

use std::collections::BTreeMap;

use mcp_proto::{Revision, Side};
use serde_json::{Map, Value};

use crate::methods::{forbids, forbids_question};

const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
const CAPABILITIES: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
const LOG_LEVEL: &str = "/params/_meta/io.modelcontextprotocol~1logLevel";
const TAG: &str = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The params that only a retry has, and those that differ between rounds.
const OF_ROUNDS: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// The rules of modern messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModernRules {
    /// The capabilities of the server, once discovered.
    pub(crate) discovered: Option<Value>,
    /// Rounds of input that may be answered, with what the retry must repeat.
    rounds: Vec<Round>,
    /// Subscriptions by the spelling of their id, oldest first: an id may be reused once its
    /// subscription has ended.
    subscriptions: BTreeMap<String, Vec<Subscription>>,
}

#[derive(Clone, Debug)]
struct Round {
    method: String,
    params: Map<String, Value>,
    keys: Option<Vec<String>>,
    state: Option<Value>,
}

#[derive(Clone, Debug)]
struct Subscription {
    asked: Value,
    is_acknowledged: bool,
    is_over: bool,
}

/// A modern request as its receiver sees it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    method: String,
    capabilities: Value,
    pub(crate) wants_logs: bool,
}

impl Asked {
    /// Parses a request; `None` if it has no metadata and so belongs to a session.
    pub(crate) fn of(message: &Value) -> Option<Self> {
        let version = message.pointer(VERSION)?.as_str().and_then(Revision::from_name);
        let capabilities = message.pointer(CAPABILITIES).filter(|it| it.is_object())?;
        (version == Some(Revision::V2026_07_28)).then(|| Self {
            method: message["method"].as_str().unwrap_or_default().to_owned(),
            capabilities: capabilities.clone(),
            wants_logs: message.pointer(LOG_LEVEL).is_some_and(Value::is_string),
        })
    }
}

impl ModernRules {
    /// Records a response: a round of input, or a discovery.
    pub(crate) fn hear_response(&mut self, method: &str, params: Option<&Value>, message: &Value) {
        let result = &message["result"];
        if method == "server/discover" && result["supportedVersions"].is_array() {
            self.discovered = Some(result["capabilities"].clone());
        }
        if result["resultType"] == "input_required" {
            let keys = |requests: &Map<String, Value>| requests.keys().cloned().collect();
            self.rounds.push(Round {
                method: method.to_owned(),
                params: stripped(params),
                keys: result.get("inputRequests").and_then(Value::as_object).map(keys),
                state: result.get("requestState").cloned(),
            });
        }
    }

    /// Records a subscription received by a server.
    pub(crate) fn hear_request(&mut self, id: &str, message: &Value) {
        if message["method"] == "subscriptions/listen" {
            let asked = message.pointer("/params/notifications").cloned().unwrap_or_default();
            let subscription = Subscription { asked, is_acknowledged: false, is_over: false };
            self.subscriptions.entry(id.to_owned()).or_default().push(subscription);
        }
    }

    /// Records that a server received the cancellation of a subscription.
    pub(crate) fn hear_cancel(&mut self, id: &str) {
        if let Some(subscription) = self.open(id) {
            subscription.is_over = true;
        }
    }

    /// Records that a request was refused: a refused subscription was never opened, even if another
    /// with an equal id is open.
    // ID-09: the id may be taken by an open request.
    pub(crate) fn refuse(&mut self, id: &str, asked: &Asked) {
        let subscriptions =
            self.subscriptions.get_mut(id).filter(|_| asked.method == "subscriptions/listen");
        let mut subscriptions = subscriptions.into_iter().flatten();
        let is_refused = |it: &&mut Subscription| !it.is_over && !it.is_acknowledged;
        if let Some(subscription) = subscriptions.rfind(is_refused) {
            subscription.is_over = true;
        }
    }

    /// Returns the oldest open subscription with this id.
    fn open(&mut self, id: &str) -> Option<&mut Subscription> {
        self.subscriptions.get_mut(id)?.iter_mut().find(|subscription| !subscription.is_over)
    }

    /// Checks a client's request.
    // STL-01, STL-20…22: metadata, and what a retry repeats.
    pub(crate) fn check_request(&mut self, method: &str, message: &Value) -> Result<(), String> {
        if Asked::of(message).is_none() {
            return Err(format!("{method} lacks its version or capabilities (STL-01)"));
        }
        if method != "server/discover"
            && let Some(theirs) = &self.discovered
        {
            let ours = message.pointer(CAPABILITIES).cloned().unwrap_or_default();
            if let Some(why) =
                forbids(message, true, Side::Client, Revision::V2026_07_28, &ours, theirs)
            {
                return Err(format!("{why} (CAP-03)"));
            }
        }
        let params = &message["params"];
        let (responses, state) = (params.get("inputResponses"), params.get("requestState"));
        if responses.is_none() && state.is_none() {
            return Ok(());
        }
        let keys = responses.and_then(Value::as_object).map(|map| map.keys().cloned().collect());
        let is_it = |round: &Round| {
            round.method == method
                && round.params == stripped(Some(params))
                && round.keys == keys
                && round.state.as_ref() == state
        };
        match self.rounds.iter().position(is_it) {
            Some(index) => {
                self.rounds.remove(index);
                Ok(())
            }
            None => {
                Err(format!("{method} answers a round that does not exist (STL-18…22): {params}"))
            }
        }
    }

    /// Checks a server's response to a modern request.
    // STL-05, STL-13…17, STL-36, STL-39, STL-40: metadata, input requests and cache hints.
    pub(crate) fn check_answer(
        &mut self,
        id: &str,
        asked: &Asked,
        message: &Value,
    ) -> Result<(), String> {
        let code = message.pointer("/error/code").and_then(Value::as_i64);
        if code.is_none()
            && let Some(subscription) = self.open(id)
        {
            subscription.is_over = true;
        }
        if let Some(code) = code {
            let is_old = matches!(code, -32002 | -32042 | -32019..=-32000);
            return if is_old {
                Err(format!("the error {code} does not exist in this revision"))
            } else {
                Ok(())
            };
        }
        let result = &message["result"];
        let Some(kind) = result["resultType"].as_str() else { return Err("no resultType".into()) };
        if result.pointer("/_meta/io.modelcontextprotocol~1serverInfo").is_none() {
            return Err("the result does not say whose it is (STL-05)".into());
        }
        let hints =
            (result.get("ttlMs").is_some_and(Value::is_u64), result.get("cacheScope").is_some());
        let cacheable = matches!(
            asked.method.as_str(),
            "server/discover"
                | "tools/list"
                | "prompts/list"
                | "resources/list"
                | "resources/templates/list"
                | "resources/read"
        );
        match kind {
            "input_required" if hints != (false, false) => {
                Err("hints on a question (STL-40)".into())
            }
            "input_required" => check_questions(asked, result),
            "complete" if cacheable && hints != (true, true) => {
                Err("no cache hints (STL-39)".into())
            }
            "complete" if asked.method == "subscriptions/listen" => {
                let tag = result.pointer("/_meta/io.modelcontextprotocol~1subscriptionId");
                let tag = tag.map(Value::to_string);
                let is_right = tag.as_deref() == Some(id);
                if is_right {
                    Ok(())
                } else {
                    Err("the end of a subscription is not tagged (STL-36)".into())
                }
            }
            _ => Ok(()),
        }
    }

    /// Checks a server's notification that belongs to a subscription.
    // STL-29…32, CAN-14: acknowledgement first, only what the filter covers, tagged.
    pub(crate) fn check_tagged(&mut self, method: &str, message: &Value) -> Result<(), String> {
        let Some(tag) = message.pointer(TAG) else {
            return Err(format!("{method} is not tagged (STL-32)"));
        };
        let Some(subscriptions) = self.subscriptions.get_mut(&tag.to_string()) else {
            return Err(format!("{method} for {tag}, which is not a subscription"));
        };
        let mut open = subscriptions.iter_mut().filter(|subscription| !subscription.is_over);
        // Several may have arrived together, each cancelled before the next.
        let meant = match method {
            ACKNOWLEDGED => open.find(|subscription| !subscription.is_acknowledged),
            _ => open.next(),
        };
        let Some(subscription) = meant else {
            return Err(format!("{method} for {tag}, which is over, or again"));
        };
        if method == ACKNOWLEDGED {
            subscription.is_acknowledged = true;
            let honoured = &message["params"]["notifications"];
            return check_subset(honoured, &subscription.asked);
        }
        if !subscription.is_acknowledged {
            return Err(format!("{method} before {tag} was acknowledged (STL-29)"));
        }
        let asked = &subscription.asked;
        let is_asked = match method {
            "notifications/tools/list_changed" => asked["toolsListChanged"] == true,
            "notifications/prompts/list_changed" => asked["promptsListChanged"] == true,
            "notifications/resources/list_changed" => asked["resourcesListChanged"] == true,
            "notifications/resources/updated" => {
                let uri =
                    message.pointer("/params/uri").and_then(Value::as_str).unwrap_or_default();
                let uris = asked["resourceSubscriptions"].as_array().into_iter().flatten();
                uris.filter_map(Value::as_str).any(|asked| uri.starts_with(asked))
            }
            _ => false,
        };
        if is_asked { Ok(()) } else { Err(format!("{method} was not asked for (STL-31)")) }
    }

    /// Checks a server's cancellation, which ends a subscription.
    // CAN-14, CAN-15: servers cancel nothing else.
    pub(crate) fn check_cancel(&mut self, message: &Value) -> Result<(), String> {
        let id = message.pointer("/params/requestId").unwrap_or(&Value::Null).to_string();
        match self.subscriptions.get_mut(&id) {
            Some(subscriptions) => {
                subscriptions.iter_mut().for_each(|subscription| subscription.is_over = true);
                Ok(())
            }
            None => Err(format!("a server cancels {id}, which is no subscription (CAN-14)")),
        }
    }

    /// Returns whether a notification belongs to a subscription, by its tag or its method.
    pub(crate) fn is_tagged(method: &str, message: &Value) -> bool {
        method == ACKNOWLEDGED || message.pointer(TAG).is_some()
    }
}

/// Checks that the request's own capabilities allow each input request.
// STL-14…17, CAP-16: method, form and capability of input requests.
fn check_questions(asked: &Asked, result: &Value) -> Result<(), String> {
    if !matches!(asked.method.as_str(), "tools/call" | "prompts/get" | "resources/read") {
        return Err(format!("{} asks for input (STL-14)", asked.method));
    }
    if result.get("inputRequests").is_none() && result.get("requestState").is_none() {
        return Err("neither questions nor a state (STL-15)".into());
    }
    for (key, question) in result["inputRequests"].as_object().into_iter().flatten() {
        if let Some(why) = forbids_question(question, &asked.capabilities) {
            return Err(format!("the question {key:?}: {why} (CAP-16)"));
        }
        if question.get("id").is_some() || question.get("jsonrpc").is_some() {
            return Err(format!("the question {key:?} has an envelope"));
        }
    }
    Ok(())
}

fn check_subset(honoured: &Value, asked: &Value) -> Result<(), String> {
    let Some(honoured) = honoured.as_object() else {
        return Err("what is honoured is no filter".into());
    };
    for (name, value) in honoured {
        let is_asked = match value {
            Value::Array(uris) => {
                let asked = asked[name].as_array().cloned().unwrap_or_default();
                uris.iter().all(|uri| asked.contains(uri))
            }
            value => asked.get(name) == Some(value),
        };
        if !is_asked {
            return Err(format!("{name} was not requested (STL-30)"));
        }
    }
    Ok(())
}

fn stripped(params: Option<&Value>) -> Map<String, Value> {
    let mut params = params.and_then(Value::as_object).cloned().unwrap_or_default();
    params.retain(|name, _| !OF_ROUNDS.contains(&name.as_str()));
    params
}
