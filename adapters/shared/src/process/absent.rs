//! Replaces processes where a system has none: no value of [`Child`] exists.

use std::convert::Infallible;
use std::future::Future;
use std::process::ExitStatus;
use std::time::Duration;

/// A child process, of which there is none.
#[derive(Debug)]
pub(crate) struct Child(Infallible);

impl Child {
    pub(crate) const fn program(&self) -> &str {
        match self.0 {}
    }

    pub(crate) const fn status(&self) -> Option<ExitStatus> {
        match self.0 {}
    }

    pub(crate) const fn stderr(&self) -> Vec<String> {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "the signature of a system with processes")]
    pub(crate) async fn exited(&self) {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "the signature of a system with processes")]
    pub(crate) async fn stderr_ended(&self) {
        match self.0 {}
    }

    pub(crate) const fn stop_stderr(&self) {
        match self.0 {}
    }

    pub(crate) const fn terminate(&self) {
        match self.0 {}
    }

    pub(crate) const fn kill(&self) {
        match self.0 {}
    }
}

/// The program that uses a server, which cannot be watched.
#[derive(Debug, Default)]
pub(crate) struct Host(());

impl Host {
    pub(crate) async fn gone<S: Future>(&self, _: impl Future, _: impl Fn(Duration) -> S) {
        std::future::pending::<()>().await;
    }
}
