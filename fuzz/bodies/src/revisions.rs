//! One script of two applications, in every revision.

use std::time::Duration;

use arbitrary::{Arbitrary, Unstructured};
use mcp_harness::{Pair, Role};
use mcp_proto::{
    CallError, CallId, CallOptions, Capability, ErrorObject, IncomingId, Misuse, NeededInput,
    Progress, Raw, Revision, client, server,
};

/// A command of an application. Handles are identified by position, since their values differ
/// between revisions.
///
/// Documented differences between revisions are left out: messages of progress, forms,
/// subscriptions, log levels, pings, and translated codes
/// (`tests/harness/tests/suite/revisions/differences.rs`).
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Op {
    Call { with_progress: bool },
    Cancel(u8),
    Respond(u8, u8),
    Fail(u8, u8),
    Progress(u8, u8),
    Ask(u8, bool),
    Answer(u8),
    Decline(u8),
    Wait(u8),
    CloseClient,
    CloseServer,
}

/// Both applications see equal events of one script in every revision, except for documented
/// differences.
pub fn revisions(data: &[u8]) {
    let mut data = Unstructured::new(data);
    let mut script: Vec<Op> = Vec::new();
    while script.len() < 40 && !data.is_empty() {
        let Ok(op) = data.arbitrary() else { break };
        script.push(op);
    }
    let reference = run(&script, Revision::V2025_11_25);
    for revision in
        [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2026_07_28]
    {
        let seen = run(&script, revision);
        if let Some(at) =
            (0..seen.len().max(reference.len())).find(|at| seen.get(*at) != reference.get(*at))
        {
            let before = &reference[..at.min(reference.len())];
            panic!(
                "in {revision}: {:?}\nin 2025-11-25: {:?}\nafter {before:#?}\nof {script:?}",
                seen.get(at),
                reference.get(at)
            );
        }
    }
}

struct Run {
    pair: Pair,
    calls: Vec<CallId>,
    asked: Vec<IncomingId>,
    requests: Vec<IncomingId>,
    /// The requests whose questions were sent.
    waiting: Vec<IncomingId>,
    seen: Vec<String>,
    is_closing: bool,
}

fn run(script: &[Op], revision: Revision) -> Vec<String> {
    let client = client::Config::new("c", "1").revisions(&[revision]).capability(Capability::Roots);
    let server = server::Config::new("s", "1").revisions(&[revision]).capability(Capability::Tools);
    let mut run = Run {
        pair: Pair::ready(client, server),
        calls: Vec::new(),
        asked: Vec::new(),
        requests: Vec::new(),
        waiting: Vec::new(),
        seen: Vec::new(),
        is_closing: false,
    };
    for op in script {
        // In a session questions are requests, whose responses need no result: what can be sent
        // after one side closes differs.
        if run.is_closing {
            break;
        }
        let done = run.perform(*op);
        run.seen.push(format!("{op:?}: {done:?}"));
        run.pair.drive();
        run.look();
    }
    if !run.asked.is_empty() {
        let now = run.pair.now;
        run.pair.client.close(now);
    }
    run.pair.drive_until_quiet();
    run.look();
    run.seen
}

impl Run {
    fn perform(&mut self, op: Op) -> Result<(), Misuse> {
        let now = self.pair.now;
        let pair = &mut *self.pair;
        let (client, server) = (&mut pair.client, &mut pair.server);
        match op {
            Op::Call { with_progress } => {
                let options = CallOptions { progress: with_progress, ..CallOptions::default() };
                let call =
                    client.call_raw(now, "tools/call", Some(&raw(r#"{"name":"a"}"#)), options)?;
                self.calls.push(call);
                Ok(())
            }
            Op::Cancel(call) => client.cancel(now, latest(&self.calls, call)?, "no more"),
            Op::Respond(request, text) => {
                let text = [r#"{"content":[]}"#, r#"{"content":[],"isError":true}"#]
                    [usize::from(text) % 2];
                server.respond(now, latest(&self.requests, request)?, &raw(text))
            }
            Op::Fail(request, code) => {
                let error = ErrorObject::new(i64::from(code), "no");
                server.respond_error(now, latest(&self.requests, request)?, &error)
            }
            // In a session a request that is delivered again is unchanged, and its progress has to
            // continue to increase.
            Op::Progress(..) if !self.asked.is_empty() => Ok(()),
            Op::Progress(request, how_far) => server.progress(
                now,
                latest(&self.requests, request)?,
                &Progress::new(f64::from(how_far)),
            ),
            Op::Ask(request, twice) => {
                let questions = [("a", NeededInput::Roots), ("b", NeededInput::Roots)];
                let questions = if twice { &questions[..] } else { &questions[..1] };
                let request = latest(&self.requests, request)?;
                server.request_input(now, request, questions, Some("state"))?;
                self.waiting.push(request);
                Ok(())
            }
            Op::Answer(asked) => {
                client.respond(now, latest(&self.asked, asked)?, &raw(r#"{"roots":[]}"#))
            }
            Op::Decline(asked) => {
                client.respond_error(now, latest(&self.asked, asked)?, &ErrorObject::internal("no"))
            }
            // A session cannot tell which call a question belongs to, so the timeouts of all of
            // them are suspended.
            Op::Wait(_) if !self.asked.is_empty() => Ok(()),
            Op::Wait(time) => {
                self.pair.wait(Duration::from_millis(1 << (time % 16)));
                Ok(())
            }
            Op::CloseClient => {
                self.is_closing = true;
                client.close(now);
                Ok(())
            }
            Op::CloseServer => {
                self.is_closing = true;
                server.close(now);
                Ok(())
            }
        }
    }

    /// Records the events of both sides, with positions in place of handles.
    fn look(&mut self) {
        let start = self.seen.len();
        for event in std::mem::take(&mut self.pair.client_events) {
            let line = match event {
                client::Event::Completed { call, outcome } => {
                    format!("{} ends: {}", place(&self.calls, call), end(&outcome))
                }
                client::Event::Progress { call, progress } => {
                    format!("{} at {}", place(&self.calls, call), progress.progress)
                }
                client::Event::Request { incoming, request, .. } => {
                    self.asked.push(incoming);
                    format!("asked {}", request.method)
                }
                client::Event::RequestCancelled { incoming, .. } => {
                    format!("question {} is withdrawn", place(&self.asked, incoming))
                }
                other => format!("{other:?}"),
            };
            self.seen.push(format!("client: {line}"));
        }
        for event in std::mem::take(&mut self.pair.server_events) {
            let line = match event {
                server::Event::Request { incoming, request, context } => {
                    self.requests.push(incoming);
                    let answers = context
                        .input_responses
                        .map(|it| it.iter().map(|(key, _)| key.to_owned()).collect());
                    let answers: Vec<String> = answers.unwrap_or_default();
                    format!("asked {} with {answers:?} {:?}", request.method, context.state)
                }
                // In a session also one whose questions were sent.
                server::Event::RequestCancelled { incoming, .. }
                    if self.waiting.contains(&incoming) =>
                {
                    continue;
                }
                server::Event::RequestCancelled { incoming, .. } => {
                    format!("request {} is withdrawn", place(&self.requests, incoming))
                }
                other => format!("{other:?}"),
            };
            self.seen.push(format!("server: {line}"));
        }
        // The effects of an action reach the client first here and the server first there: they are
        // compared by action.
        self.seen.get_mut(start..).unwrap_or_default().sort_unstable();
    }
}

fn end(outcome: &Result<Raw, CallError>) -> String {
    match outcome {
        Ok(result) => format!("is error {:?}", result.member("isError").map(|it| it.to_string())),
        Err(CallError::InputRefused(_)) => "unanswered".into(),
        // A session's server answers with its own message.
        Err(CallError::Refused(error)) if error.message.starts_with("no answer to") => {
            "unanswered".into()
        }
        Err(error) => format!("{error:?}"),
    }
}

fn latest<T: Copy>(handles: &[T], back: u8) -> Result<T, Misuse> {
    let index = handles.len().checked_sub(usize::from(back % 4) + 1);
    index.and_then(|index| handles.get(index)).copied().ok_or(Misuse::Stale)
}

fn place<T: PartialEq>(handles: &[T], handle: T) -> String {
    handles
        .iter()
        .position(|known| *known == handle)
        .map_or_else(|| "?".into(), |place| format!("#{place}"))
}

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap_or_else(|_| panic!("not JSON: {text}"))
}
