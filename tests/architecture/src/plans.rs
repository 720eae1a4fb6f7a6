//! The plans of the crates: their rooms and floors, and the order of files inside of large rooms.

use crate::imports::levels::Order;

/// The folder of the core's sources.
pub(crate) const CORE: &str = "mcp-proto/src/";

/// The plan of one crate.
#[derive(Debug)]
pub struct Plan {
    /// The folder of the crate's sources, with a trailing `/`.
    pub sources: &'static str,
    /// The name of the crate in paths.
    pub(crate) name: &'static str,
    /// The lowest floor first.
    pub(crate) floors: &'static [Floor],
}

impl Plan {
    pub(crate) fn floor_of(&self, room: &str) -> Option<usize> {
        self.floors.iter().position(|floor| floor.rooms.contains(&room))
    }

    /// Returns the room of a file: the longest one whose name begins its path.
    pub(crate) fn room_of(&self, path: &str) -> Option<&'static str> {
        let is_inside = |room: &str| {
            path.strip_prefix(room).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        let rooms = self.floors.iter().flat_map(|floor| floor.rooms.iter().copied());
        rooms.filter(|room| is_inside(room)).max_by_key(|room| room.len())
    }
}

/// A layer of rooms, which may use all lower floors but not each other.
///
/// A room is a file or a folder, relative to the sources. A room can be inside of another one, and
/// is then not part of it.
#[derive(Debug)]
pub(crate) struct Floor {
    pub(crate) rooms: &'static [&'static str],
    /// Lower rooms that this floor may not use.
    pub(crate) closed: &'static [&'static str],
}

/// The floors of ARCHITECTURE.md.
pub const PLANS: &[Plan] = &[
    Plan { sources: CORE, name: "mcp_proto", floors: CORE_FLOORS },
    Plan { sources: "adapters/shared/src/", name: "mcp_adapter", floors: ADAPTER_FLOORS },
];

const CORE_FLOORS: &[Floor] = &[
    Floor {
        rooms: &["_guide", "collections", "error", "limits", "printable", "secret", "time"],
        closed: &[],
    },
    Floor { rooms: &["json", "method", "wire"], closed: &[] },
    Floor { rooms: &["revision", "rpc"], closed: &["wire"] },
    Floor { rooms: &["schema"], closed: &["wire"] },
    Floor { rooms: &["extension"], closed: &["wire"] },
    Floor { rooms: &["vocabulary"], closed: &["wire"] },
    Floor { rooms: &["cache", "meta", "permissions", "queues", "tasks"], closed: &[] },
    Floor { rooms: &["connection"], closed: &[] },
    Floor { rooms: &["command"], closed: &[] },
    Floor { rooms: &["message_endpoint"], closed: &[] },
    Floor { rooms: &["client", "endpoint", "server"], closed: &[] },
    Floor { rooms: &["catalog", "http", "seal", "stdio"], closed: &[] },
    Floor { rooms: &["auth"], closed: &[] },
    Floor { rooms: &["text"], closed: &[] },
    Floor { rooms: &["record", "testing"], closed: &[] },
];

const ADAPTER_FLOORS: &[Floor] = &[
    Floor { rooms: &["box_future", "error", "outcome", "trace"], closed: &[] },
    Floor { rooms: &["exec"], closed: &[] },
    Floor { rooms: &["process", "tasks"], closed: &[] },
    Floor { rooms: &["declared_extensions", "transport", "validation"], closed: &[] },
    Floor { rooms: &["recorder"], closed: &[] },
    Floor { rooms: &["client", "server"], closed: &[] },
    Floor { rooms: &["http", "relay", "stdio"], closed: &[] },
    Floor { rooms: &["http/client", "http/server"], closed: &[] },
    Floor { rooms: &["apps", "auth", "skills"], closed: &[] },
    Floor { rooms: &["on_runtime", "runtime", "testing"], closed: &[] },
    Floor { rooms: &["api"], closed: &[] },
];

/// The rooms whose files have their own order, lowest first.
pub const ORDERS: &[Order] = &[
    Order {
        room: "mcp-proto/src/connection/",
        levels: &[
            &["lifecycle/phase", "violations"],
            &["input_required/round", "pending_calls/call"],
            &["context"],
            &["eras/rules", "keep_alive"],
            &["inbound", "input_required", "lifecycle", "pending_calls", "subscriptions"],
            &["eras"],
            &["dispatch"],
            &["mod"],
            // The router's methods: input from the peer, commands, events of the transport.
            &["commands", "opening", "receive", "subscribing", "transport"],
        ],
    },
    Order {
        room: "mcp-proto/src/http/",
        levels: &[
            &[
                "byte_order_mark",
                "headers",
                "header",
                "redact",
                "refusal",
                "server/event_id",
                "server/settings",
                "server/usage",
                "session_table",
                "sse",
            ],
            &["legacy_sse/server_url", "policy", "request_headers"],
            &[
                "admit",
                "param_headers",
                "reply",
                "server/exchange",
                "server/replay",
                "server/scope",
            ],
            &[
                "client/action",
                "client/config",
                "client/credentials",
                "client/event_stream",
                "client/legacy_session",
                "cross_origin",
                "guard",
            ],
            &["client/event"],
            &["client/exchange"],
            &[
                "client/backoff",
                "client/exchanges",
                "client/tool_cache",
                "server/streams",
                "validate/modern",
            ],
            &["client/outbound_post", "validate"],
            &["client", "server"],
            &["legacy_sse"],
            &["hub/connections", "hub/limits"],
            &["hub/request"],
            &["hub"],
            &["mod"],
        ],
    },
    Order {
        room: "mcp-proto/src/tasks/",
        levels: &[
            &["account"],
            &["clock", "id", "limits", "links", "poller/inputs", "poller/limits", "poller/phase"],
            &["error", "event", "poller/event", "status"],
            &["protocol"],
            &["poller/status", "record"],
            &["entry", "poller", "requestor"],
            &["store"],
            &["table"],
            &["handlers", "requests", "restore"],
            &["mod"],
        ],
    },
    Order {
        room: "mcp-proto/src/auth/",
        levels: &[
            &["flow_secrets", "form", "limits", "loopback_host"],
            &["client_auth", "document", "scopes", "uri"],
            &["invalid_record", "oauth_error", "reach"],
            &["authorization_request", "metadata_error", "redirect", "registration"],
            &["resource_metadata", "server_metadata"],
            &["token_request"],
            &["token_response"],
            &["challenge", "record"],
            &["extensions"],
            &["authorization"],
            &["mod"],
        ],
    },
    Order {
        room: "adapters/shared/src/server/",
        levels: &[
            &["handler"],
            &["catalog"],
            &["layers", "tasks"],
            &["connection"],
            &["settings/builder", "settings/mod"],
            &[
                "settings/additions",
                "settings/lists",
                "settings/open",
                "settings/scope_settings",
                "settings/unregistered_settings",
            ],
            &["mod"],
            // Methods of the builder.
            &["manual", "settings"],
        ],
    },
    Order {
        room: "adapters/shared/src/auth/",
        levels: &[
            &[
                "browser",
                "configured_uri",
                "extensions/signing_key",
                "login",
                "redirect_listener",
                "store",
                "system",
            ],
            &["extensions/dpop", "oauth_http"],
            &["extensions/mod"],
            &["builder"],
            // Clients, and verifiers of servers, which use nothing of each other.
            &["driver", "introspection", "jwt"],
            &["membership"],
            &["log_out", "session"],
            &["mod"],
            // Methods of the builder.
            &["extensions/methods"],
        ],
    },
];
