//! Draws the commands of a node's application, and records them in the model.

use mcp_harness::{Role, Seed};
use mcp_proto::{CallOptions, CommandOutcome, Misuse, OwnedCommand, Side};

use crate::application as app;
use crate::case::Feature;
use crate::model::OpenCall;
use crate::node::{Done, Node};
use crate::observed::Observe;
use crate::party::Shared;
use crate::plan::Action;

impl<R: Role<Event: Observe>> Node<R> {
    /// Runs one action; returns false if it does not apply or is refused.
    pub(crate) fn apply(&mut self, shared: &mut Shared, action: Action, random: &mut Seed) -> bool {
        let open: Vec<u64> = self.requests.keys().copied().collect();
        let request = open.get(random.below(open.len())).copied();
        let of_server = matches!(action, Action::Ask | Action::Change | Action::Log);
        let of_client = matches!(action, Action::Listen | Action::SetLevel);
        if (of_server && R::SIDE == Side::Client) || (of_client && R::SIDE == Side::Server) {
            return false;
        }
        let done = match (action, request) {
            (Action::Again, _) => return self.answer_again(shared, random),
            (Action::Answer, Some(request)) if !self.is_neglected(shared, request) => {
                self.answer(shared, request, random)
            }
            (Action::Ask, Some(request)) => self.ask(shared, request, random),
            (Action::Call, _) => self.call(shared, random),
            (Action::Cancel, _) => self.cancel(shared, random),
            (Action::Change, _) => self.perform(shared, app::changed(random)),
            (Action::Close, _) => self.perform(shared, OwnedCommand::Close),
            (Action::Fail, Some(request)) => self.refuse(shared, request),
            (Action::Flood, Some(request)) => {
                let mut done = self.progress(shared, request, random);
                for _ in 1..20 {
                    done = self.progress(shared, request, random);
                }
                done
            }
            (Action::Listen, _) => self.listen(shared, random),
            (Action::Log, request) => self.perform(shared, app::log(request, random)),
            (Action::Notify, _) => self.perform(shared, app::notify(R::SIDE, random)),
            (Action::Progress, Some(request)) => self.progress(shared, request, random),
            (Action::SetLevel, _) => {
                let options = CallOptions::default();
                let command = OwnedCommand::SetLogLevel {
                    level: app::level(random),
                    options: options.clone(),
                };
                self.called(shared, command, 0, &options)
            }
            _ => Err(Misuse::Stale),
        };
        done.is_ok()
    }

    pub(crate) fn answer(&mut self, shared: &mut Shared, request: u64, random: &mut Seed) -> Done {
        let Some(open) = self.requests.get(&request).cloned() else { return Err(Misuse::Stale) };
        let result = app::result(&open.method, open.tag, &shared.plan, random);
        let done = self.perform(
            shared,
            OwnedCommand::Respond { incoming: request.into(), result: Some(result) },
        );
        match done {
            Ok(CommandOutcome::Done) => {
                shared.model.settle(open.tag, crate::model::Matter::answer);
                self.end_request(request);
            }
            Err(Misuse::Stale | Misuse::Closed) => {}
            other => {
                self.machine.breach(format!("request#{request} is open and an answer is {other:?}"))
            }
        }
        done
    }

    /// A request that was answered cannot be answered again.
    fn answer_again(&mut self, shared: &mut Shared, random: &mut Seed) -> bool {
        let Some(request) = self.over.get(random.below(self.over.len())).copied() else {
            return false;
        };
        let result = app::result("x/known", 0, &shared.plan, random);
        let command = if random.below(2) == 0 {
            OwnedCommand::Respond { incoming: request.into(), result: Some(result) }
        } else {
            app::refusal(request)
        };
        match self.perform(shared, command) {
            Err(_) => {}
            other => {
                self.machine.breach(format!("request#{request} is over and an answer is {other:?}"))
            }
        }
        true
    }

    pub(crate) fn refuse(&mut self, shared: &mut Shared, request: u64) -> Done {
        let Some(open) = self.requests.get(&request).cloned() else { return Err(Misuse::Stale) };
        if let Some(call) = open.call.and_then(|call| self.calls.get_mut(&call)) {
            call.is_unanswered = true;
        }
        let done = self.perform(shared, app::refusal(request));
        match done {
            Ok(CommandOutcome::Done) => {
                shared.model.settle(open.tag, crate::model::Matter::refuse);
                self.end_request(request);
            }
            Err(Misuse::Stale | Misuse::Closed) => {}
            other => {
                self.machine.breach(format!("request#{request} is open and a refusal is {other:?}"))
            }
        }
        done
    }

    fn ask(&mut self, shared: &mut Shared, request: u64, random: &mut Seed) -> Done {
        let command = app::ask(request, random);
        let tag = self.requests.get(&request).map_or(0, |open| open.tag);
        let done = self.perform(shared, command.clone());
        match done {
            Ok(CommandOutcome::Done) => {
                self.asks += 1;
                shared.model.settle(tag, crate::model::Matter::ask);
                self.end_request(request);
            }
            Err(Misuse::Undeclared) => {
                let OwnedCommand::RequestInput { questions, .. } = command else { return done };
                if self.perform(
                    shared,
                    OwnedCommand::RefuseUndeclared { incoming: request.into(), questions },
                ) == Ok(CommandOutcome::Done)
                {
                    shared.model.settle(tag, crate::model::Matter::refuse);
                    self.end_request(request);
                }
            }
            _ => {}
        }
        done
    }

    fn progress(&mut self, shared: &mut Shared, request: u64, random: &mut Seed) -> Done {
        let Some(open) = self.requests.get(&request) else { return Err(Misuse::Stale) };
        let (tag, last) = (open.tag, open.progress);
        let command = app::progress(request, last, random);
        let OwnedCommand::Progress { progress, .. } = &command else { return Err(Misuse::Stale) };
        let value = progress.progress;
        shared.model.settle(tag, |matter| matter.tell(value));
        let done = self.perform(shared, command);
        if done == Ok(CommandOutcome::Done)
            && let Some(open) = self.requests.get_mut(&request)
        {
            open.progress = open.progress.max(value);
            shared.model.settle(tag, |matter| matter.advance(value));
        }
        done
    }

    fn cancel(&mut self, shared: &mut Shared, random: &mut Seed) -> Done {
        let calls: Vec<u64> = self.calls.keys().copied().collect();
        let Some(call) = calls.get(random.below(calls.len())).copied() else {
            return Err(Misuse::Stale);
        };
        self.cancel_call(shared, call)
    }

    pub(crate) fn cancel_call(&mut self, shared: &mut Shared, call: u64) -> Done {
        let done = self
            .perform(shared, OwnedCommand::Cancel { call: call.into(), reason: "no more".into() });
        if done == Ok(CommandOutcome::Done)
            && let Some(open) = self.calls.get_mut(&call)
        {
            open.is_cancelled = true;
        }
        done
    }

    fn listen(&mut self, shared: &mut Shared, random: &mut Seed) -> Done {
        let command = app::listen(random);
        self.listens += 1;
        self.called(shared, command, 0, &CallOptions::default())
    }

    fn call(&mut self, shared: &mut Shared, random: &mut Seed) -> Done {
        let page = self.pages.pop();
        // A server that does not know its client yet must not ping: the client may be modern.
        let may_call = shared.plan.has(Feature::ServerCalls) && self.machine.peer().is_some();
        if R::SIDE == Side::Server && !may_call {
            return Err(Misuse::Stale);
        }
        let method = page.as_deref().unwrap_or_else(|| app::method(R::SIDE, random));
        // Only untagged requests repeat exactly, which is what a cache is for.
        let untagged = if self.machine.limits().cache_bytes_max == 0 { 1 } else { 3 };
        let tag = match random.below(5) {
            choice if choice < untagged => 0,
            _ if app::is_tagged(method) => shared.model.open(method),
            _ => 0,
        };
        let params = app::params(method, tag, page.as_ref().map(|_| "more"));
        let mut options = app::options(&shared.plan, random);
        if R::SIDE == Side::Server && random.below(3) == 0 {
            let parent = self.requests.keys().next();
            options.parent = parent.map(|parent| (*parent).into());
        }
        let command = OwnedCommand::Call {
            method: method.into(),
            params: Some(params),
            options: options.clone(),
        };
        self.called(shared, command, tag, &options)
    }

    pub(crate) fn called(
        &mut self,
        shared: &mut Shared,
        command: OwnedCommand,
        tag: u64,
        options: &CallOptions,
    ) -> Done {
        let filter = if let OwnedCommand::Subscribe { filter, .. } = &command {
            Some(filter.clone())
        } else {
            None
        };
        let params =
            if let OwnedCommand::Call { params, .. } = &command { params.clone() } else { None };
        let done = self.perform(shared, command);
        if let Ok(CommandOutcome::Call(call)) = done {
            let limits = self.machine.limits();
            let least =
                options.timeout.unwrap_or_else(|| limits.call_timeout.min(limits.human_timeout));
            let open = OpenCall {
                tag,
                started: shared.now,
                least,
                is_cancelled: false,
                is_listening: filter.is_some(),
                resources: filter.map_or(0, |filter| filter.uris.len()),
                wants_progress: options.progress,
                is_early: self.machine.peer().is_none(),
                bytes: params.map_or(0, |params| params.as_bytes().len()),
                progress: None,
                is_unanswered: false,
                questions: 0,
            };
            self.calls.insert(call.into(), open);
        }
        done
    }
}
