//! Draws the applications' commands in a step.

use std::time::Duration;

use mcp_harness::Seed;
use mcp_proto::http::SessionTable;
use mcp_proto::{
    CallOptions, ErrorObject, IncomingId, MessageEndpoint as _, OwnedCommand, Raw, Side,
};

use super::client::Client;
use super::conn::{ConnId, Stage};
use super::model::Shared;
use super::net::Net;
use super::outcome::OpenCall;
use super::plan::Action;
use super::server::Server;
use crate::application as app;
use crate::case::Feature;
use crate::model::REFUSAL;

impl Client {
    /// Runs the client application's part of a step; returns false if it does not apply or is
    /// refused.
    pub(super) fn act(&mut self, shared: &mut Shared, action: Action, random: &mut Seed) -> bool {
        let now = shared.now;
        let incoming = self.requests.keys().nth(random.below(self.requests.len())).copied();
        let done = match (action, incoming) {
            (Action::Answer, Some(incoming)) => self.answer(shared, incoming),
            (Action::Fail, Some(incoming)) => {
                if let Some(Some(call)) = self.requests.get(&incoming).map(|(call, _)| *call)
                    && let Some(open) = self.calls.get_mut(&call)
                {
                    open.is_unanswered = true;
                }
                let done = self
                    .http
                    .respond_error(now, incoming, &ErrorObject::new(REFUSAL, "no"))
                    .is_ok();
                if done {
                    self.requests.remove(&incoming);
                }
                done
            }
            (Action::Call, _) => self.call(shared, random),
            (Action::Cancel, _) => {
                let call = self.calls.keys().nth(random.below(self.calls.len())).copied();
                let done = call.is_some_and(|call| self.http.cancel(now, call, "no more").is_ok());
                if done && let Some(open) = call.and_then(|call| self.calls.get_mut(&call)) {
                    open.is_cancelled = true;
                }
                done
            }
            (Action::Close, _) => {
                self.http.close(now);
                true
            }
            (Action::EarlyTick, _) => {
                self.http.handle_timeout(now);
                true
            }
            (Action::Listen, _) => {
                let OwnedCommand::Subscribe { filter, options } = app::listen(random) else {
                    return false;
                };
                let done = self.http.subscribe(now, &filter, options);
                if let Ok(call) = done {
                    let open = OpenCall { is_listening: true, ..OpenCall::new(0, now) };
                    self.calls.insert(call, open);
                }
                done.is_ok()
            }
            (Action::Notify, _) => {
                self.http.notify_raw(now, "notifications/roots/list_changed", None).is_ok()
            }
            (Action::SetLevel, _) => {
                let options = CallOptions::default();
                let done = self.http.set_log_level(now, app::level(random), options);
                if let Ok(call) = done {
                    self.calls.insert(call, OpenCall::new(0, now));
                }
                done.is_ok()
            }
            (Action::Wake, _) => {
                self.is_busy = random.below(2) == 0 && shared.plan.has(Feature::BusyApplications);
                self.was_busy |= self.is_busy;
                self.look(shared)
            }
            _ => false,
        };
        shared.tell(|| format!("client {}: {action:?}: {done}", self.index));
        done
    }

    pub(super) fn answer(&mut self, shared: &Shared, incoming: IncomingId) -> bool {
        let Some((_, method)) = self.requests.get(&incoming) else { return false };
        let result = match &**method {
            "roots/list" => r#"{"roots":[]}"#,
            "sampling/createMessage" => {
                r#"{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}"#
            }
            _ => r#"{"action":"accept","content":{}}"#,
        };
        let Ok(result) = Raw::from_text(result) else { return false };
        let done = self.http.respond(shared.now, incoming, &result).is_ok();
        if done {
            self.requests.remove(&incoming);
        }
        done
    }

    fn call(&mut self, shared: &mut Shared, random: &mut Seed) -> bool {
        let method = app::method(Side::Client, random);
        let tag = if app::is_tagged(method) { shared.model.open(self.index, method) } else { 0 };
        let timeout = random.below(6000) as u64;
        let is_short = shared.plan.has(Feature::ShortTimeouts) && random.below(2) == 0;
        let options = CallOptions {
            progress: random.below(3) != 0,
            timeout: is_short.then(|| Duration::from_millis(timeout)),
            ..CallOptions::default()
        };
        let params = app::params(method, tag, None);
        let limits = self.http.limits();
        let least =
            options.timeout.unwrap_or_else(|| limits.call_timeout.min(limits.human_timeout));
        let wants_progress = options.progress;
        let done = self.http.call_raw(shared.now, method, Some(&params), options);
        shared.tell(|| format!("client {}: calls {method} {tag}: {done:?}", self.index));
        if let Ok(call) = done {
            let open = OpenCall { least, wants_progress, ..OpenCall::new(tag, shared.now) };
            self.calls.insert(call, open);
        }
        done.is_ok()
    }
}

impl Server {
    /// Runs the server applications' part of a step; returns false if it does not apply or is
    /// refused.
    pub(super) fn act(
        &mut self,
        shared: &mut Shared,
        net: &mut Net,
        action: Action,
        random: &mut Seed,
    ) -> bool {
        let open: Vec<(u64, IncomingId, u64)> = self
            .hosts
            .iter()
            .flat_map(|(key, host)| {
                host.requests.iter().map(|(incoming, open)| (*key, *incoming, open.tag))
            })
            .collect();
        let chosen = open.get(random.below(open.len())).copied();
        let keys: Vec<u64> = self.hosts.keys().copied().collect();
        let any = keys.get(random.below(keys.len())).copied();
        match action {
            Action::Change => return self.change(shared, random),
            Action::Restart => return self.restart(shared, net),
            Action::EndSession => {
                let alone =
                    self.hosts.iter().filter(|(_, host)| host.is_alone() && host.is_listening);
                let keys: Vec<u64> =
                    self.table.iter().chain(alone.map(|(key, _)| key)).copied().collect();
                let Some(key) = keys.get(random.below(keys.len())).copied() else { return false };
                let name = self.hosts.get(&key).and_then(|host| host.key.clone());
                name.and_then(|name| self.table.discard(&name));
                self.end(shared, key);
                return true;
            }
            Action::Again | Action::Log | Action::ServerCall | Action::EarlyTick => {
                let of_request = chosen.filter(|_| random.below(3) != 0);
                let Some(key) = of_request.map(|(key, ..)| key).or(any) else { return false };
                let incoming = of_request.map(|(_, incoming, _)| incoming);
                let Some(host) = self.hosts.get_mut(&key) else { return false };
                return match action {
                    Action::Again => host.answer_again(shared, random),
                    Action::Log => host.log(shared, incoming, random),
                    Action::EarlyTick => {
                        host.session.handle_timeout(shared.now);
                        true
                    }
                    _ => host.call(shared, incoming, random),
                };
            }
            _ => {}
        }
        let Some((key, incoming, tag)) = chosen else { return false };
        let Some(host) = self.hosts.get_mut(&key) else { return false };
        match action {
            Action::Answer if !is_neglected(shared, tag) => host.answer(shared, incoming),
            Action::Ask => host.ask(shared, incoming, random),
            Action::Fail => host.refuse(shared, incoming),
            Action::HangUp => host.hang_up(shared, incoming),
            Action::Progress => host.progress(shared, incoming, random),
            _ => false,
        }
    }

    fn change(&mut self, shared: &mut Shared, random: &mut Seed) -> bool {
        let changed = app::changed(random);
        shared.tell(|| format!("server: {changed:#}"));
        let mut moved = false;
        for host in self.hosts.values_mut().filter(|host| host.is_listening) {
            moved |= host.apply(shared, &changed).is_ok();
        }
        moved
    }

    /// Restarts the server process.
    fn restart(&mut self, shared: &mut Shared, net: &mut Net) -> bool {
        shared.tell(|| "server: restarts".into());
        for client in 0..shared.plan.clients {
            shared.model.orphan(client);
        }
        let ids: Vec<ConnId> = net.conns.keys().copied().collect();
        for id in ids {
            let Some(conn) = net.conns.get_mut(&id).filter(|conn| conn.stage != Stage::Coming)
            else {
                continue;
            };
            let tag = conn.tag;
            shared.model.with(tag, |matter| matter.is_troubled = true);
            if conn.stage != Stage::Done {
                conn.stage = Stage::Done;
                net.cut(shared.now, &shared.plan, &mut shared.coverage, id);
            }
        }
        self.hosts.clear();
        self.table = SessionTable::new(shared.plan.sessions_max, shared.plan.idle_max);
        true
    }

    /// Does everything clients wait for; returns false if there was nothing.
    pub(super) fn catch_up(&mut self, shared: &mut Shared) -> bool {
        let mut moved = false;
        for host in self.hosts.values_mut() {
            let open: Vec<(IncomingId, u64)> =
                host.requests.iter().map(|(incoming, open)| (*incoming, open.tag)).collect();
            for (incoming, tag) in open {
                if !is_neglected(shared, tag) {
                    moved |= host.answer(shared, incoming);
                }
            }
        }
        moved
    }
}

fn is_neglected(shared: &Shared, tag: u64) -> bool {
    shared.plan.has(Feature::NeverAnswers) && tag != 0 && tag.is_multiple_of(4)
}
