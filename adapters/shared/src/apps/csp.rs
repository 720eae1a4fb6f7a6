//! [`AppCsp`]: the origins that an app uses, and the policy that allows no others.

use mcp_proto::Raw;
use serde_json::{Value, json};

/// The number of origins of a kind that are read.
const ORIGINS_MAX: usize = 64;

/// The origins that an app may use. By default, there are none.
///
/// An origin is a scheme (`https`, `http`, `wss` or `ws`), a host, and perhaps a port:
/// `https://api.example.com`, `http://localhost:8080`. A host can begin with `*.`.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::apps::AppCsp;
///
/// assert!(AppCsp::default().to_header().contains("connect-src 'none'"));
/// let csp = AppCsp { connect: vec!["https://api.example.com".into()], ..AppCsp::default() };
/// assert!(csp.to_header().contains("connect-src https://api.example.com;"));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AppCsp {
    /// Origins of network requests (`connect-src`).
    pub connect: Vec<String>,
    /// Origins of images, scripts, style sheets, fonts and media.
    pub resources: Vec<String>,
    /// Origins of nested frames (`frame-src`).
    pub frames: Vec<String>,
    /// Origins of the base URI of the document (`base-uri`).
    pub base_uris: Vec<String>,
}

impl AppCsp {
    /// Reads the member `csp` of `_meta.ui`.
    ///
    /// Values that are not origins are left out, as are those after the 64th of a kind: they could
    /// loosen the policy.
    pub(super) fn read(csp: &Raw) -> Self {
        let origins = |name| {
            let list = csp.member(name).filter(|list| list.as_bytes().starts_with(b"["));
            let list: Vec<Raw> = list.iter().flat_map(Raw::elements).take(ORIGINS_MAX).collect();
            let texts = list.iter().filter_map(Raw::to_text);
            texts.filter(|text| is_origin(text)).map(String::from).collect()
        };
        Self {
            connect: origins("connectDomains"),
            resources: origins("resourceDomains"),
            frames: origins("frameDomains"),
            base_uris: origins("baseUriDomains"),
        }
    }

    pub(super) fn to_value(&self) -> Value {
        json!({
            "connectDomains": self.connect,
            "resourceDomains": self.resources,
            "frameDomains": self.frames,
            "baseUriDomains": self.base_uris,
        })
    }

    /// Returns an entry that is not an origin, if there is one.
    pub(super) fn invalid(&self) -> Option<&str> {
        let all = [&self.connect, &self.resources, &self.frames, &self.base_uris];
        all.into_iter().flatten().map(String::as_str).find(|text| !is_origin(text))
    }

    /// Returns the value of the header `Content-Security-Policy`.
    ///
    /// Everything else is blocked. Entries that are not origins are left out.
    #[must_use]
    pub fn to_header(&self) -> String {
        let resources = sources("", &self.resources);
        [
            "default-src 'none'".to_owned(),
            format!("script-src 'self' 'unsafe-inline'{resources}"),
            format!("style-src 'self' 'unsafe-inline'{resources}"),
            format!("img-src 'self' data:{resources}"),
            format!("font-src 'self'{resources}"),
            format!("media-src 'self' data:{resources}"),
            format!("connect-src{}", sources(" 'none'", &self.connect)),
            format!("frame-src{}", sources(" 'none'", &self.frames)),
            "object-src 'none'".to_owned(),
            // `default-src` does not apply to forms, which could send data anywhere.
            "form-action 'none'".to_owned(),
            format!("base-uri{}", sources(" 'self'", &self.base_uris)),
        ]
        .join("; ")
    }
}

fn sources(default: &str, origins: &[String]) -> String {
    let valid = origins.iter().filter(|origin| is_origin(origin));
    let listed: String = valid.flat_map(|origin| [" ", origin]).collect();
    if listed.is_empty() { default.to_owned() } else { listed }
}

/// Returns whether `text` is an origin, which cannot end a directive or be a keyword.
fn is_origin(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let (host, port) = rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port)));
    let host = host.strip_prefix("*.").unwrap_or(host);
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
    };
    matches!(scheme, "https" | "http" | "wss" | "ws")
        && host.split('.').all(is_label)
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_origins_get_into_a_policy() {
        for text in ["https://a.example", "wss://*.a.example:8443", "http://localhost:3000"] {
            assert!(is_origin(text), "{text}");
        }
        let refused = [
            "*",
            "https:",
            "https://",
            "https://*",
            "data:",
            "'unsafe-eval'",
            "a.example",
            "https://a.example; script-src *",
            "https://a.example 'unsafe-eval'",
            "https://a/b",
            "https://a..b",
            "https://a:",
            "https://a:70000",
            "javascript://a",
            "https://*.*.a",
        ];
        let csp = AppCsp { resources: refused.map(String::from).into(), ..AppCsp::default() };
        assert_eq!(csp.to_header(), AppCsp::default().to_header());
        assert!(csp.invalid().is_some());
        let read = AppCsp::read(&Raw::from(csp.to_value()));
        assert_eq!(read, AppCsp::default());
    }

    #[test]
    fn the_default_is_restrictive() {
        let expected = "default-src 'none'; script-src 'self' 'unsafe-inline'; \
            style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; \
            media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; \
            form-action 'none'; base-uri 'self'";
        assert_eq!(AppCsp::default().to_header(), expected);
    }
}
