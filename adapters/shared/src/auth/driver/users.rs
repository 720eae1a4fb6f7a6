//! Questions to the user and the application: logins, clients and identities.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use mcp_proto::Secret;
use mcp_proto::auth::{AuthEvent, AuthInput, RedirectPage, Scopes};

use super::AuthDriver;
use crate::auth::login::{Login, LoginAnswer};
use crate::exec::callbacks::Callbacks;

/// The lanes of functions that ask people, and of opening a browser.
const PEOPLE_LANE: usize = 2;
const BROWSER_LANE: usize = 3;

/// The lane of reports to the application.
const REPORT_LANE: usize = 4;

impl AuthDriver {
    /// Shows the URL of an authorization request to the user.
    pub(super) fn show(
        self: &Arc<Self>,
        callbacks: &Callbacks,
        url: Secret,
        issuer: Box<str>,
        scopes: Scopes,
    ) {
        let number = self.change(|state, _| state.next_question());
        let browser = self.auth.browser.clone();
        let has_page = self.auth.on_login.is_some();
        let (driver, address) = (Arc::clone(self), url.clone());
        let open = move || {
            let opened = catch_unwind(AssertUnwindSafe(|| browser.open(&address)));
            if !matches!(opened, Ok(Ok(true))) && !has_page {
                driver.answer(number, AuthInput::Unable);
            }
        };
        self.browsers.run(callbacks, BROWSER_LANE, Box::new(open));
        if let Some(on_login) = self.auth.on_login.clone() {
            let answer = Arc::new(RunningLogin { driver: Arc::downgrade(self), number });
            let login = Login { url, issuer, scopes, answer };
            self.people.run(callbacks, PEOPLE_LANE, Box::new(move || on_login(login)));
        }
    }

    /// Asks the application for what an event demands.
    pub(super) fn ask(self: &Arc<Self>, callbacks: &Callbacks, number: u64, event: &AuthEvent) {
        let driver = Arc::clone(self);
        match event {
            AuthEvent::NeedsClient { issuer } => {
                let Some(enter) = self.auth.enter_client.clone() else {
                    return self.answer(number, AuthInput::Unable);
                };
                let issuer = issuer.clone();
                let ask = move || {
                    let entered = catch_unwind(AssertUnwindSafe(|| enter(&issuer)));
                    let input = match entered {
                        Ok(Some((id, secret))) => AuthInput::Client { id, secret },
                        Ok(None) | Err(_) => AuthInput::Cancel,
                    };
                    driver.answer(number, input);
                };
                self.people.run(callbacks, PEOPLE_LANE, Box::new(ask));
            }
            AuthEvent::NeedsIdentity => {
                let Some(identity) = self.auth.extensions.identity() else {
                    return self.answer(number, AuthInput::Unable);
                };
                let ask = move || {
                    let token = catch_unwind(AssertUnwindSafe(|| identity())).ok().flatten();
                    driver.answer(number, token.map_or(AuthInput::Unable, AuthInput::Identity));
                };
                self.people.run(callbacks, PEOPLE_LANE, Box::new(ask));
            }
            _ => {}
        }
    }

    /// Reports the waiting events to the application, on one thread at a time.
    pub(super) fn report(self: &Arc<Self>, callbacks: &Callbacks) {
        let Some(on_event) = self.auth.on_event.clone() else {
            return self.lock().drop_reports();
        };
        let driver = Arc::clone(self);
        callbacks.run(REPORT_LANE, move || {
            while let Some(event) = driver.next_report() {
                let _panicked = catch_unwind(AssertUnwindSafe(|| on_event(&event)));
            }
        });
    }

    fn next_report(&self) -> Option<AuthEvent> {
        self.lock().next_report()
    }

    /// Answers a login or question unless it is over.
    fn answer(&self, number: u64, input: AuthInput) {
        self.change(|state, time| state.answer(number, input, time));
    }
}

/// A login, as the application answers it.
struct RunningLogin {
    driver: Weak<AuthDriver>,
    number: u64,
}

impl LoginAnswer for RunningLogin {
    fn on_redirect(&self, query: &str) -> RedirectPage {
        let Some(driver) = self.driver.upgrade() else { return RedirectPage::NotFound };
        driver.change(|state, time| state.machine.handle_redirect(time, query))
    }

    fn on_cancel(&self) {
        if let Some(driver) = self.driver.upgrade() {
            driver.answer(self.number, AuthInput::Cancel);
        }
    }
}
