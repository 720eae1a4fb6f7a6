//! Shows the URL of an authorization request to the user.

mod system;

use std::fmt;
use std::io;
use std::sync::Arc;

use mcp_proto::Secret;
use mcp_proto::auth::{AuthLimits, Scheme, Uri};

type OpenUrl = dyn Fn(&Secret) -> io::Result<()> + Send + Sync;

/// How the URL of an authorization request reaches the user's browser.
///
/// Only `https` URLs, and `http` URLs of this machine for development, are opened. The URL
/// contains a secret that belongs to the flow: show it to the user, and keep it out of logs.
///
/// By default, the URL is opened in the system's browser. The application receives the URL in
/// either case.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::auth::Browser;
///
/// // An editor that opens URLs by its own means:
/// # fn open_externally(url: &str) -> std::io::Result<()> { Ok(()) }
/// let browser = Browser::custom(|url| open_externally(url.expose()));
/// # drop(browser);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Browser(Option<Arc<OpenUrl>>);

impl Browser {
    /// Opens no browser, such as on a remote host or in a container.
    ///
    /// The user opens the URL on another machine and passes back the address to which that browser
    /// was redirected.
    pub const fn none() -> Self {
        Self(None)
    }

    /// Opens the system's browser as its own process, without a shell.
    ///
    /// Inside the Windows Subsystem for Linux, where programs reach the browser of Windows only
    /// through PowerShell, this needs a browser on Linux.
    pub fn system() -> Self {
        Self(Some(Arc::new(|url| system::open(url.expose()))))
    }

    /// Opens URLs with a function. It runs on a separate thread and may block.
    ///
    /// `open` must not pass the URL through a shell.
    pub fn custom(open: impl Fn(&Secret) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(open)))
    }

    /// Opens `url`; returns false if there is no browser. May block for a few seconds.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if the URL is neither `https` nor of this
    /// machine, and with another error if it cannot be opened. The error contains nothing of the
    /// URL.
    // AUT-53: a server's metadata names the URL, which could be `javascript:` or `file:`.
    pub fn open(&self, url: &Secret) -> io::Result<bool> {
        check(url)?;
        match &self.0 {
            None => Ok(false),
            Some(open) => open(url).map(|()| true),
        }
    }
}

fn check(url: &Secret) -> io::Result<()> {
    let refused = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why);
    let limits = AuthLimits::default();
    let limits = AuthLimits { uri_bytes_max: limits.authorization_uri_bytes_max, ..limits };
    let url = Uri::parse(url.expose(), &limits)
        .map_err(|why| refused(&format!("invalid URL of an authorization request: {why}")))?;
    if url.scheme() == Scheme::Https || url.is_loopback() {
        return Ok(());
    }
    Err(refused("the URL of an authorization request must be `https`, or of this machine"))
}

impl Default for Browser {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Browser").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    // AUT-53
    #[test]
    fn only_checked_urls_are_opened() {
        let opened = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&opened);
        let browser = Browser::custom(move |url| {
            log.lock().unwrap().push(url.expose().to_owned());
            Ok(())
        });
        let good = [
            "https://as.example/authorize?state=hunter2",
            "http://127.0.0.1:9000/authorize",
            "http://localhost/a",
            "http://[::1]:80",
        ];
        for url in good {
            assert!(browser.open(&url.into()).unwrap(), "{url}");
            assert!(!Browser::none().open(&url.into()).unwrap());
        }
        for url in [
            "http://as.example/?hunter2",
            "javascript:alert('hunter2')",
            "file:///etc/hunter2",
            "data:text/html,hunter2",
            "ms-msdt:hunter2",
            "--hunter2",
            "/etc/hunter2",
            "https://hunter2@as.example/",
            "https://as.example/hunter2 x",
            "https://as.example/hunter2\"&calc.exe",
            "https://as.example/hunter2`id`",
            "https://as.example/hunter2\u{7}",
            "https://as.example/\\hunter2",
            "",
        ] {
            for browser in [&browser, &Browser::none()] {
                let error = browser.open(&url.into()).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{url}");
                assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
            }
        }
        assert_eq!(*opened.lock().unwrap(), good);
    }

    #[test]
    fn the_failure_of_a_browser_is_passed_on() {
        let browser = Browser::custom(|_| Err(io::ErrorKind::NotFound.into()));
        let error = browser.open(&"https://as.example".into()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(format!("{browser:?}"), "Browser(true)");
    }
}
