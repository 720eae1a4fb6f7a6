//! [`Checkpoint`]: what starts the handler of a task again after a restart of the server.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_proto::schema::Encode;
use mcp_proto::server::{Event, Server as Machine};
use mcp_proto::tasks::OnRestart;
use mcp_proto::{
    Caller, Context, Era, IncomingId, Instant, MessageEndpoint as _, Principal, Raw, Request,
    Revision, StreamId,
};

use crate::server::handler::required_scopes::GrantedScopes;

/// A tool call, and the progress of its handler.
pub(super) struct Checkpoint {
    revision: Revision,
    /// The params of the client's `initialize`; `None` in the modern era, whose requests describe
    /// their client.
    client: Option<Raw>,
    params: Raw,
    principal: Option<Principal>,
    /// The scopes of the client; `None` if it was not authorized by scopes.
    scopes: Option<Vec<String>>,
    /// The answers and the state of earlier runs.
    pub(super) rounds: Option<String>,
    /// How often the handler was started again.
    pub(super) restarts: u32,
}

impl Checkpoint {
    /// Creates the checkpoint of a call whose handler has not started.
    pub(super) fn new(request: &Request, context: &Context, rounds: Option<String>) -> Self {
        let revision = context.peer.revision;
        Self {
            revision,
            client: (revision.era() == Era::Legacy).then(|| initialize_params(context)).flatten(),
            params: request.params.clone().unwrap_or_else(Raw::empty_object),
            principal: context.principal().cloned(),
            scopes: GrantedScopes::of(context.caller.as_deref()).map(|granted| granted.0),
            rounds,
            restarts: 0,
        }
    }

    /// Returns what a durable record keeps.
    pub(super) fn to_restart(&self) -> OnRestart {
        let text = |text: &str| Raw::new(text).ok();
        let members = [
            ("revision", text(self.revision.name())),
            ("client", self.client.clone()),
            ("params", Some(self.params.clone())),
            ("principal", self.principal.as_ref().and_then(|principal| text(principal.id()))),
            ("scopes", Raw::new(&self.scopes).ok()),
            ("rounds", self.rounds.as_deref().and_then(text)),
            ("restarts", Raw::new(&self.restarts).ok()),
        ];
        let members: BTreeMap<_, _> =
            members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        Raw::new(&members).map_or(OnRestart::Fail, OnRestart::Run)
    }

    /// Reads what a durable record has kept; `None` if it is damaged or of another version.
    pub(super) fn read(kept: &Raw) -> Option<Self> {
        let text = |name| kept.member(name).map(|value| value.to_text().map(String::from));
        Some(Self {
            revision: Revision::from_name(&text("revision")??)?,
            client: kept.member("client"),
            params: kept.member("params")?,
            principal: match text("principal") {
                Some(id) => Some(Principal::new(id?)?),
                None => None,
            },
            // AUT-76: a record without the member is damaged.
            scopes: kept.member("scopes")?.parse().ok()?,
            rounds: match text("rounds") {
                Some(rounds) => Some(rounds?),
                None => None,
            },
            restarts: kept.member("restarts")?.parse().ok()?,
        })
    }

    /// Brings a new connection to the call, as the client did; returns `None` if the server no
    /// longer accepts the call.
    pub(super) fn replay(&self, machine: &mut Machine) -> Option<(IncomingId, Request, Context)> {
        let caller = self
            .principal
            .iter()
            .fold(Caller::new(), |caller, principal| caller.with_principal(principal.clone()));
        let caller = match &self.scopes {
            Some(scopes) => caller.with_data(GrantedScopes(scopes.clone())),
            None => caller,
        };
        machine.set_caller(Some(Arc::new(caller)));
        let mut send = |message: String| {
            machine.handle_message(Instant::ZERO, StreamId::ONLY, message.as_bytes());
        };
        if let Some(client) = &self.client {
            send(format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}}"#,
                client.as_str()
            ));
            send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned());
        }
        send(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}}"#,
            self.params.as_str()
        ));
        while let Some(event) = machine.poll_event() {
            if let Event::Request { incoming, request, context } = event {
                return Some((incoming, request, context));
            }
        }
        None
    }
}

/// Returns the params with which a client of a legacy session described itself.
fn initialize_params(context: &Context) -> Option<Raw> {
    let peer = &context.peer;
    let members = BTreeMap::from([
        ("protocolVersion", Raw::new(peer.revision.name()).ok()?),
        ("capabilities", peer.capabilities.to_raw(peer.revision).ok()?),
        ("clientInfo", peer.info.to_raw(peer.revision).ok()?),
    ]);
    Raw::new(&members).ok()
}

#[cfg(test)]
mod tests {
    use mcp_proto::Capability;
    use mcp_proto::server::Config;
    use serde_json::{Value, json};

    use super::*;
    use crate::server::handler::required_scopes::check_scopes;

    fn machine() -> Machine {
        Machine::new(Instant::ZERO, Config::new("s", "1").capability(Capability::Tools))
    }

    /// Returns a call as it reaches a server, from a client that is authenticated as `ada`.
    fn call(messages: &[Value], scopes: Option<&[&str]>) -> (Request, Context) {
        let mut machine = machine();
        let ada = Caller::new().with_principal(Principal::new("ada").unwrap());
        let granted = scopes.map(|it| GrantedScopes(it.iter().map(|&it| it.into()).collect()));
        let ada = match granted {
            Some(granted) => ada.with_data(granted),
            None => ada,
        };
        machine.set_caller(Some(Arc::new(ada)));
        for message in messages {
            let message = message.to_string();
            machine.handle_message(Instant::ZERO, StreamId::ONLY, message.as_bytes());
        }
        loop {
            if let Event::Request { request, context, .. } = machine.poll_event().unwrap() {
                return (request, context);
            }
        }
    }

    fn message(id: Option<u8>, method: &str, params: &Value) -> Value {
        match id {
            Some(id) => json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
            None => json!({"jsonrpc": "2.0", "method": method, "params": params}),
        }
    }

    #[test]
    fn a_call_survives_a_restart() {
        let capabilities = json!({"elicitation": {}, "experimental": {"x": {"y": [1]}}});
        let info = json!({"name": "c \"1\"", "version": "2"});
        let legacy = [
            message(
                Some(0),
                "initialize",
                &json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": capabilities,
                    "clientInfo": info,
                }),
            ),
            message(None, "notifications/initialized", &json!({})),
            message(Some(1), "tools/call", &json!({"name": "t\n", "task": {"ttl": 5}})),
        ];
        let modern = [message(
            Some(1),
            "tools/call",
            &json!({
                "name": "t", "arguments": {"a": "\u{e9}"}, "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": capabilities,
                    "io.modelcontextprotocol/clientInfo": info,
                },
            }),
        )];
        let scopes = [None, Some(&[][..]), Some(&["a", "b c"][..])];
        let calls = [&legacy[..], &modern[..]].into_iter().flat_map(|it| scopes.map(|s| (it, s)));
        for (messages, scopes) in calls {
            let (request, context) = call(messages, scopes);
            let mut checkpoint = Checkpoint::new(&request, &context, Some("[[],1,[]]".to_owned()));
            checkpoint.restarts = 3;
            let OnRestart::Run(kept) = checkpoint.to_restart() else { panic!("nothing is kept") };
            let read = Checkpoint::read(&kept).unwrap();
            assert_eq!((read.rounds.as_deref(), read.restarts), (Some("[[],1,[]]"), 3));
            let (_, again, its_context) = read.replay(&mut machine()).unwrap();
            assert_eq!(again, request);
            assert_eq!(its_context.peer, context.peer);
            assert_eq!(its_context.principal(), context.principal());
            // AUT-24, AUT-76: the scopes that the client has, and no others.
            let caller = its_context.caller.as_deref();
            let has = |scope| check_scopes(caller, [scope]).is_ok();
            let had = |scope| scopes.is_none_or(|scopes| scopes.contains(&scope));
            for scope in ["a", "b c", "b", "c", ""] {
                assert_eq!(has(scope), had(scope), "{scopes:?} {scope}");
            }
        }
    }

    #[test]
    fn damaged_checkpoints_are_refused() {
        for kept in [
            json!(null),
            json!({}),
            json!({"revision": "2026-07-28", "params": {}}),
            json!({"revision": "1999-01-01", "params": {}, "restarts": 0}),
            json!({"revision": "2026-07-28", "params": {}, "restarts": -1, "scopes": null}),
            json!({
                "revision": "2026-07-28", "params": {}, "restarts": 0, "scopes": null,
                "principal": 1
            }),
            json!({
                "revision": "2026-07-28", "params": {}, "restarts": 0, "scopes": null, "rounds": []
            }),
            json!({"revision": "2026-07-28", "params": {}, "restarts": 0}),
            json!({"revision": "2026-07-28", "params": {}, "restarts": 0, "scopes": "a"}),
            json!({"revision": "2026-07-28", "params": {}, "restarts": 0, "scopes": [1]}),
        ] {
            assert!(Checkpoint::read(&Raw::new(&kept).unwrap()).is_none(), "{kept}");
        }
        // A call that is not valid any more.
        let kept = json!({"revision": "2026-07-28", "params": {}, "restarts": 0, "scopes": null});
        let checkpoint = Checkpoint::read(&Raw::new(&kept).unwrap()).unwrap();
        assert!(checkpoint.replay(&mut machine()).is_none());
    }
}
