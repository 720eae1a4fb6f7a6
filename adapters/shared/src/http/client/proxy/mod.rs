//! [`Proxy`]: which requests go through an HTTP proxy, and the connections to it.

mod connect;
mod error;
mod no_proxy;
mod server;

use std::fmt;
use std::io;
use std::sync::Arc;

pub use error::ProxyError;
pub(crate) use server::ProxyServer;

use self::no_proxy::NoProxy;
use super::this_machine::is_this_machine;

/// The HTTP proxy that connections use, for [`Remote::proxy`](crate::http::Remote::proxy).
///
/// `https` connections go through a tunnel (`CONNECT`), so that the proxy sees the host only.
/// `http` requests are forwarded by the proxy, which can read them. Host names are resolved by the
/// proxy. The proxy's URL has the scheme `http`; its port is 80 if it names none, and its user name
/// and password are sent to the proxy only and never shown.
///
/// Hosts that are this machine are always connected to directly: `localhost`, its subdomains, and
/// loopback addresses.
///
/// If a proxy fails, or its URL cannot be used, connecting fails with a [`ProxyError`]; nothing is
/// then sent past the proxy. The response to `CONNECT` may have a head of 16 KiB, and opening a
/// tunnel counts as connecting, which may take 30 s.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::{Proxy, Remote};
///
/// # fn main() -> std::io::Result<()> {
/// let proxy = Proxy::all("http://user:password@proxy.example:3128")?
///     .no_proxy("intranet.example, 10.0.0.0/8");
/// let remote = Remote::new("http://mcp.example.com/mcp")?.proxy(proxy);
/// # drop(remote);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Eq, PartialEq)]
#[must_use]
pub struct Proxy(Arc<Rules>);

#[derive(Clone, Debug, Eq, PartialEq)]
struct Rules {
    http: Choice,
    https: Choice,
    no_proxy: NoProxy,
}

/// The proxy of a scheme. A proxy that cannot be used is reported when it would be.
type Choice = Result<Option<ProxyServer>, ProxyError>;

impl Proxy {
    /// Uses the proxies that the environment names, much as `curl` does. The environment is read
    /// once. Other than for `curl`, `HTTP_PROXY` counts, and a proxy without a port has port 80.
    ///
    /// | variable | value |
    /// |---|---|
    /// | `https_proxy`, `HTTPS_PROXY` | the proxy of `https` URLs |
    /// | `http_proxy`, `HTTP_PROXY` | the proxy of `http` URLs |
    /// | `all_proxy`, `ALL_PROXY` | the proxy of URLs for which there is no other |
    /// | `no_proxy`, `NO_PROXY` | the exceptions: see [`no_proxy`](Self::no_proxy) |
    ///
    /// The lower-case name comes first; an empty value counts as none. In a CGI program, which has
    /// the variable `REQUEST_METHOD`, the client of that program could set `HTTP_PROXY` with a
    /// header field `Proxy`; the variable is then ignored.
    pub fn from_env() -> Self {
        Self::from_lookup(|name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    /// Like [`from_env`](Self::from_env), with a function that returns the values of variables.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::http::Proxy;
    ///
    /// let settings = [("https_proxy", "http://proxy.example:3128")];
    /// let proxy = Proxy::from_lookup(|name| {
    ///     settings.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    /// });
    /// # drop(proxy);
    /// ```
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let find = |names: &[&'static str]| {
            names.iter().find_map(|name| {
                let value = lookup(name).filter(|value| !value.trim().is_empty())?;
                Some((*name, value))
            })
        };
        let is_cgi = lookup("REQUEST_METHOD").is_some();
        let http: &[_] = if is_cgi { &["http_proxy"] } else { &["http_proxy", "HTTP_PROXY"] };
        let choose = |names| {
            let found = find(names).or_else(|| find(&["all_proxy", "ALL_PROXY"]));
            found.map(|(name, url)| ProxyServer::parse(&url, Some(name))).transpose()
        };
        let no_proxy = find(&["no_proxy", "NO_PROXY"]).map(|(_, list)| NoProxy::parse(&list));
        Self(Arc::new(Rules {
            http: choose(http),
            https: choose(&["https_proxy", "HTTPS_PROXY"]),
            no_proxy: no_proxy.unwrap_or_default(),
        }))
    }

    /// Uses no proxy, whatever the environment says.
    pub fn none() -> Self {
        Self::of(None)
    }

    /// Uses the proxy at this URL, whatever the environment says.
    ///
    /// # Errors
    /// Fails with a [`ProxyError`] if the URL is invalid, or its scheme is not `http`.
    pub fn all(url: &str) -> io::Result<Self> {
        Ok(Self::of(Some(ProxyServer::parse(url, None)?)))
    }

    fn of(server: Option<ProxyServer>) -> Self {
        let (http, https) = (Ok(server.clone()), Ok(server));
        Self(Arc::new(Rules { http, https, no_proxy: NoProxy::default() }))
    }

    /// Sets the hosts that are connected to directly, separated by commas or white space.
    ///
    /// An entry is a domain, which includes its subdomains and may begin with `.` or `*.`; an IP
    /// address; a network such as `10.0.0.0/8`; or `*` for all hosts. Addresses and networks apply
    /// to URLs with an address only: names are not resolved. Ports cannot be given.
    pub fn no_proxy(mut self, list: &str) -> Self {
        Arc::make_mut(&mut self.0).no_proxy = NoProxy::parse(list);
        self
    }

    /// Returns the proxy for a host; `None` if it is connected to directly.
    pub(crate) fn server_for(
        &self,
        is_secure: bool,
        host: &str,
    ) -> Result<Option<&ProxyServer>, ProxyError> {
        if is_this_machine(host) || self.0.no_proxy.contains(host) {
            return Ok(None);
        }
        let choice = if is_secure { &self.0.https } else { &self.0.http };
        choice.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }
}

/// The proxies that the environment names ([`from_env`](Proxy::from_env)).
impl Default for Proxy {
    fn default() -> Self {
        Self::from_env()
    }
}

/// Shows no credentials.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("http", &self.0.http)
            .field("https", &self.0.https)
            .field("no_proxy", &self.0.no_proxy)
            .finish()
    }
}

#[cfg(test)]
mod tests;
