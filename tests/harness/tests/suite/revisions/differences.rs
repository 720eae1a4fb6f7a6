//! The differences between revisions that applications see, with reasons.

use mcp_proto::Revision;
use mcp_proto::Revision::{V2024_11_05 as R1, V2025_03_26 as R2, V2026_07_28 as R5};

/// In these revisions, some lines of a step of the reference are replaced.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) what: &'static str,
    pub(crate) why: &'static str,
    pub(crate) revisions: &'static [Revision],
    /// Only if the client supports nothing else: such a client declares more than is negotiated.
    pub(crate) client_alone: bool,
    pub(crate) step: &'static str,
    pub(crate) lines: &'static [&'static str],
    pub(crate) instead: &'static [&'static str],
}

const QUESTION_HAS_CALL: &str = "a question comes with the call that it belongs to";
const BY_RESULT: &str =
    "it comes in that call's result; in a session nothing says so (STL-13, D-32)";
const SESSIONS_ONLY: &str = "only servers in a session send requests (STL-13, FRM-17)";
const ONLY_IF_LISTENED_TO: &str = "a change without a subscription is not announced";
const UNASKED: &str =
    "sessions receive changes unsolicited, modern clients by subscription (STL-31, CAP-12)";
const NO_FORMS: &str = "forms are not declared: the request is refused";
const SINCE_R3: &str = "clients declare elicitation since 2025-06-18 only (CAP-03)";

/// The reference is the log in 2025-11-25.
pub(crate) const EVERYTHING: &[Difference] = &[
    Difference {
        what: "a server learns of a client with its first request",
        why: "there is no handshake (STL-01)",
        revisions: &[R5],
        client_alone: false,
        step: "connect",
        lines: &["server | ready: demo 1.0.0"],
        instead: &[],
    },
    Difference {
        what: "progress has no message",
        why: "`message` came with 2025-03-26 (PRG-07)",
        revisions: &[R1],
        client_alone: false,
        step: "progress",
        lines: &[
            r#"client | progress for count: 1 of Some(3.0), Some("step 1")"#,
            r#"client | progress for count: 2 of Some(3.0), Some("step 2")"#,
            r#"client | progress for count: 3 of Some(3.0), Some("step 3")"#,
        ],
        instead: &[
            "client | progress for count: 1 of Some(3.0), None",
            "client | progress for count: 2 of Some(3.0), None",
            "client | progress for count: 3 of Some(3.0), None",
        ],
    },
    Difference {
        what: NO_FORMS,
        why: SINCE_R3,
        revisions: &[R1, R2],
        client_alone: true,
        step: "form",
        lines: &[
            r#"client | elicitation/create "Who?""#,
            "client | roots/list",
            r#"client | elicitation/create "Sure?""#,
            r#"client | form: Some("then 31 31"), is error false"#,
        ],
        instead: &[
            r#"client | form: refused the client `demo` did not declare the capabilities {"elicitation":{},"roots":{}}, which the request needs: use a client that declares them (-32603) {"requiredCapabilities":{"elicitation":{},"roots":{}}}"#,
        ],
    },
    Difference {
        what: NO_FORMS,
        why: SINCE_R3,
        revisions: &[R1, R2],
        client_alone: true,
        step: "form",
        lines: &[
            r#"server | form {} by demo, who is {"action":"accept","content":{"word":"Ann"}}, where is {"roots":[{"uri":"file:///home"}]}, state "first""#,
            r#"server | form {} by demo, sure is {"action":"accept","content":{"word":"Ann"}}, state "then 31""#,
        ],
        instead: &["server | asking: Undeclared"],
    },
    Difference {
        what: QUESTION_HAS_CALL,
        why: BY_RESULT,
        revisions: &[R5],
        client_alone: false,
        step: "form",
        lines: &[
            r#"client | elicitation/create "Who?""#,
            "client | roots/list",
            r#"client | elicitation/create "Sure?""#,
        ],
        instead: &[
            r#"client | elicitation/create for form "Who?""#,
            "client | roots/list for form",
            r#"client | elicitation/create for form "Sure?""#,
        ],
    },
    Difference {
        what: QUESTION_HAS_CALL,
        why: BY_RESULT,
        revisions: &[R5],
        client_alone: false,
        step: "roots",
        lines: &["client | roots/list"],
        instead: &["client | roots/list for roots"],
    },
    Difference {
        what: QUESTION_HAS_CALL,
        why: BY_RESULT,
        revisions: &[R5],
        client_alone: false,
        step: "two at a time",
        lines: &["client | roots/list"],
        instead: &["client | roots/list for roots"],
    },
    Difference {
        what: QUESTION_HAS_CALL,
        why: BY_RESULT,
        revisions: &[R5],
        client_alone: false,
        step: "refuse to answer",
        lines: &["client | roots/list"],
        instead: &["client | roots/list for roots"],
    },
    Difference {
        what: "a call whose question was refused ends as unanswered",
        why: "the call is not repeated, so it gets no answer; in a session it does (STL-28, T-99)",
        revisions: &[R5],
        client_alone: false,
        step: "refuse to answer",
        lines: &["client | roots: refused no answer to `where`: rather not (-1) (-32603)"],
        instead: &["client | roots: unanswered rather not (-1)"],
    },
    Difference {
        what: QUESTION_HAS_CALL,
        why: BY_RESULT,
        revisions: &[R5],
        client_alone: false,
        step: "leave instead",
        lines: &["client | roots/list"],
        instead: &["client | roots/list for roots"],
    },
    Difference {
        what: "an open question ends with its call, before it",
        why: "the client cancels it; in a session the server does, after the call (CAN-20, CAN-11)",
        revisions: &[R5],
        client_alone: false,
        step: "leave instead",
        lines: &[
            "client | left: Ok(())",
            "client | roots: Cancelled",
            r#"client | a question was taken back: Some("its request is over")"#,
        ],
        instead: &[
            "client | left: Ok(())",
            "client | a question was taken back: None",
            "client | roots: Cancelled",
        ],
    },
    Difference {
        what: "the code for a missing capability",
        why: "-32021 came with 2026-07-28 (CAP-15)",
        revisions: &[R5],
        client_alone: false,
        step: "undeclared",
        lines: &[
            r#"client | sample: refused the client `demo` did not declare the capabilities {"sampling":{}}, which the request needs: use a client that declares them (-32603) {"requiredCapabilities":{"sampling":{}}}"#,
        ],
        instead: &[
            r#"client | sample: refused the client `demo` did not declare the capabilities {"sampling":{}}, which the request needs: use a client that declares them (-32021) {"requiredCapabilities":{"sampling":{}}}"#,
        ],
    },
    Difference {
        what: ONLY_IF_LISTENED_TO,
        why: UNASKED,
        revisions: &[R5],
        client_alone: false,
        step: "prompts change",
        lines: &["client | notifications/prompts/list_changed"],
        instead: &[],
    },
    Difference {
        what: ONLY_IF_LISTENED_TO,
        why: UNASKED,
        revisions: &[R5],
        client_alone: false,
        step: "tools change unheard",
        lines: &["client | notifications/tools/list_changed"],
        instead: &[],
    },
    Difference {
        what: "no log message arrives unless requested",
        why: "each request names its level; a session gets all until one is set (LOG-02, LOG-05)",
        revisions: &[R5],
        client_alone: false,
        step: "log before a level",
        lines: &[
            r#"client | notifications/message Known(Info) "about info""#,
            r#"client | notifications/message Known(Warning) "about warning""#,
            r#"client | notifications/message Known(Error) "about error""#,
        ],
        instead: &[],
    },
    Difference {
        what: "a log message comes with the call that it belongs to",
        why: "it belongs to the only request that asked for messages (LOG-05, T-92)",
        revisions: &[R5],
        client_alone: false,
        step: "log",
        lines: &[
            r#"client | notifications/message Known(Warning) "about warning""#,
            r#"client | notifications/message Known(Error) "about error""#,
        ],
        instead: &[
            r#"client | notifications/message for chatter Known(Warning) "about warning""#,
            r#"client | notifications/message for chatter Known(Error) "about error""#,
        ],
    },
    Difference {
        what: "a log message without a request is not sent",
        why: "there is no session to receive it (LOG-06)",
        revisions: &[R5],
        client_alone: false,
        step: "log for nothing",
        lines: &[r#"client | notifications/message Known(Error) "about nothing""#],
        instead: &[],
    },
    Difference {
        what: "the code for an unknown resource",
        why: "-32002 became -32602 with 2026-07-28 (STL-46)",
        revisions: &[R5],
        client_alone: false,
        step: "unknown resource",
        lines: &["client | resources/read: refused no such resource (-32002)"],
        instead: &["client | resources/read: refused no such resource (-32602)"],
    },
    Difference {
        what: "an undeclared completion is requested and refused",
        why: "the first revision has the method and no capability for it (CAP-19)",
        revisions: &[R1],
        client_alone: false,
        step: "undeclared method",
        lines: &["client | completion/complete: Undeclared"],
        instead: &[
            "client | completion/complete: refused method not found: completion/complete (-32601)",
        ],
    },
    Difference {
        what: "a server cannot call the client",
        why: SESSIONS_ONLY,
        revisions: &[R5],
        client_alone: false,
        step: "reach",
        lines: &["client | roots/list", r#"client | reach: Some("roots/list"), is error false"#],
        instead: &[r#"client | reach: Some("no"), is error false"#],
    },
    Difference {
        what: "a server cannot call the client",
        why: SESSIONS_ONLY,
        revisions: &[R5],
        client_alone: false,
        step: "reach",
        lines: &[r#"server | roots/list: roots [{"uri":"file:///home"}]"#],
        instead: &["server | calling roots/list: NotReady"],
    },
    Difference {
        what: "a server cannot ping the client",
        why: SESSIONS_ONLY,
        revisions: &[R5],
        client_alone: false,
        step: "knock",
        lines: &[r#"client | knock: Some("ping"), is error false"#],
        instead: &[r#"client | knock: Some("no"), is error false"#],
    },
    Difference {
        what: "a server cannot ping the client",
        why: SESSIONS_ONLY,
        revisions: &[R5],
        client_alone: false,
        step: "knock",
        lines: &["server | ping: ok"],
        instead: &["server | calling ping: NotReady"],
    },
    Difference {
        what: "there is no ping",
        why: "2026-07-28 dropped the method (TMO-09)",
        revisions: &[R5],
        client_alone: false,
        step: "ping",
        lines: &["client | ping: ok"],
        instead: &["client | ping: Unsupported"],
    },
];

/// The reference is the log in 2025-11-25.
pub(crate) const SERVER_CLOSES: &[Difference] = &[
    Difference {
        what: "a server learns of a client with its first request",
        why: "there is no handshake (STL-01)",
        revisions: &[R5],
        client_alone: false,
        step: "connect",
        lines: &["server | ready: demo 1.0.0"],
        instead: &[],
    },
    Difference {
        what: "a subscription gets a result",
        why: "it is a request, and is answered when the server ends (STL-36)",
        revisions: &[R5],
        client_alone: false,
        step: "stop",
        lines: &["client | changes: Lost"],
        instead: &["client | changes: ok"],
    },
];
