//! The actions of the applications, step by step.

use std::time::Duration;

use mcp_proto::schema::Level;
use mcp_proto::{CallOptions, Filter};

use super::application::{Manner, raw};
use super::wire::Wire;

/// One step: its name, the action of the client's application, and the pause after it.
pub(crate) struct Step(pub(crate) &'static str, fn(&mut Wire), Duration);

impl Step {
    pub(crate) fn run(&self, wire: &mut Wire) {
        wire.at_client.log.step = self.0;
        wire.at_server.log.step = self.0;
        (self.1)(wire);
        wire.wait(self.2);
    }
}

const IMMEDIATELY: Duration = Duration::ZERO;

/// Returns all steps up to the close of the client, using what both eras support.
pub(crate) const EVERYTHING: &[Step] = &[
    Step("connect", |_| {}, IMMEDIATELY),
    Step("list", |wire| call(wire, "tools/list", "{}"), IMMEDIATELY),
    Step("next page", |wire| call(wire, "tools/list", r#"{"cursor":"2"}"#), IMMEDIATELY),
    Step("call", |wire| tool(wire, "echo", r#"{"a":[1,{"b":"ü\n"}]}"#), IMMEDIATELY),
    Step(
        "progress",
        |wire| with(wire, "count", CallOptions { progress: true, ..CallOptions::default() }),
        IMMEDIATELY,
    ),
    Step("progress unasked", |wire| tool(wire, "count", "{}"), IMMEDIATELY),
    Step("cancel", cancel, IMMEDIATELY),
    Step("form", |wire| tool(wire, "form", "{}"), IMMEDIATELY),
    Step("roots", |wire| tool(wire, "roots", "{}"), IMMEDIATELY),
    Step("two at a time", two_at_a_time, IMMEDIATELY),
    Step("ask nothing", |wire| tool(wire, "nothing", "{}"), IMMEDIATELY),
    Step("refuse to answer", |wire| in_manner(wire, Manner::Refuse), IMMEDIATELY),
    Step("leave instead", |wire| in_manner(wire, Manner::Leave), IMMEDIATELY),
    Step("undeclared", |wire| tool(wire, "sample", "{}"), IMMEDIATELY),
    Step("listen", listen, IMMEDIATELY),
    Step("tools change", |wire| touch(wire, "tools"), IMMEDIATELY),
    Step("a resource changes", |wire| touch(wire, "file:///a"), IMMEDIATELY),
    Step("a part changes", |wire| touch(wire, "file:///a/b"), IMMEDIATELY),
    Step("another resource changes", |wire| touch(wire, "file:///ab"), IMMEDIATELY),
    Step("prompts change", |wire| touch(wire, "prompts"), IMMEDIATELY),
    Step("resources change", |wire| touch(wire, "resources"), IMMEDIATELY),
    Step("stop listening", stop_listening, IMMEDIATELY),
    Step("tools change unheard", |wire| touch(wire, "tools"), IMMEDIATELY),
    Step("a resource changes unheard", |wire| touch(wire, "file:///a"), IMMEDIATELY),
    Step("log before a level", |wire| tool(wire, "chatter", "{}"), IMMEDIATELY),
    Step("set a level", set_level, IMMEDIATELY),
    Step("log", |wire| tool(wire, "chatter", "{}"), IMMEDIATELY),
    Step("log for nothing", |wire| tool(wire, "mutter", "{}"), IMMEDIATELY),
    Step("error result", |wire| tool(wire, "fail", "{}"), IMMEDIATELY),
    Step("unknown tool", |wire| tool(wire, "juggle", "{}"), IMMEDIATELY),
    Step(
        "unknown resource",
        |wire| call(wire, "resources/read", r#"{"uri":"file:///none"}"#),
        IMMEDIATELY,
    ),
    Step("unknown method", |wire| call(wire, "com.example/juggle", "{}"), IMMEDIATELY),
    Step("undeclared method", |wire| call(wire, "completion/complete", "{}"), IMMEDIATELY),
    Step("time out", |wire| with(wire, "sleep", patient(5)), Duration::from_secs(10)),
    Step("late answer", late_answer, Duration::from_secs(10)),
    Step("answer in time", |wire| with(wire, "late", patient(9)), Duration::from_secs(10)),
    Step("reach", |wire| tool(wire, "reach", "{}"), IMMEDIATELY),
    Step("knock", |wire| tool(wire, "knock", "{}"), IMMEDIATELY),
    Step("ping", |wire| call(wire, "ping", "{}"), IMMEDIATELY),
    Step("close", close, Duration::from_secs(3600)),
];

/// Returns steps in which the server closes while a client is subscribed and waits.
pub(crate) const SERVER_CLOSES: &[Step] = &[
    Step("connect", |_| {}, IMMEDIATELY),
    Step("listen", listen, IMMEDIATELY),
    Step("wait", |wire| tool(wire, "sleep", "{}"), IMMEDIATELY),
    Step("stop", |wire| tool(wire, "stop", "{}"), Duration::from_secs(3600)),
];

fn begin(wire: &mut Wire, what: &'static str, method: &str, params: &str, options: CallOptions) {
    let call = wire.client.call_raw(wire.now, method, Some(&raw(params)), options);
    wire.at_client.began(what, call);
}

fn call(wire: &mut Wire, method: &'static str, params: &str) {
    begin(wire, method, method, params, CallOptions::default());
}

fn tool(wire: &mut Wire, name: &'static str, arguments: &str) {
    let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
    begin(wire, name, "tools/call", &params, CallOptions::default());
}

fn with(wire: &mut Wire, name: &'static str, options: CallOptions) {
    begin(wire, name, "tools/call", &format!(r#"{{"name":"{name}"}}"#), options);
}

fn patient(seconds: u64) -> CallOptions {
    CallOptions { timeout: Some(Duration::from_secs(seconds)), ..CallOptions::default() }
}

fn touch(wire: &mut Wire, what: &str) {
    tool(wire, "touch", &format!(r#"{{"what":"{what}"}}"#));
}

fn cancel(wire: &mut Wire) {
    tool(wire, "sleep", "{}");
    wire.settle();
    let call = wire.at_client.find("sleep").unwrap();
    wire.client.cancel(wire.now, call, "enough").unwrap();
}

fn in_manner(wire: &mut Wire, manner: Manner) {
    wire.at_client.manner = manner;
    tool(wire, "roots", "{}");
    wire.settle();
    wire.at_client.manner = Manner::Answer;
}

/// Runs two calls whose questions must not affect each other.
// STL-22: inputs belong to their request only.
fn two_at_a_time(wire: &mut Wire) {
    tool(wire, "sleep", "{}");
    tool(wire, "roots", "{}");
    wire.settle();
    let call = wire.at_client.find("sleep").unwrap();
    wire.client.cancel(wire.now, call, "").unwrap();
}

fn listen(wire: &mut Wire) {
    let filter = Filter::new().tools().resources().resource("file:///a");
    let call = wire.client.subscribe(wire.now, &filter, CallOptions::default());
    wire.at_client.began("changes", call);
}

fn stop_listening(wire: &mut Wire) {
    let call = wire.at_client.find("changes").unwrap();
    wire.client.cancel(wire.now, call, "enough").unwrap();
}

fn set_level(wire: &mut Wire) {
    let call = wire.client.set_log_level(wire.now, Level::Warning, CallOptions::default());
    wire.at_client.began("level", call);
}

/// The cancellation after the timeout travels so long that the response crosses it.
fn late_answer(wire: &mut Wire) {
    with(wire, "late", patient(5));
    wire.settle();
    wire.is_stalled = true;
    wire.wait(Duration::from_secs(9));
    wire.is_stalled = false;
}

fn close(wire: &mut Wire) {
    tool(wire, "sleep", "{}");
    wire.settle();
    wire.client.close(wire.now);
}
