//! [`AppSettings`]: how an app is shown, as `_meta.ui` of its resource.

use mcp_proto::Raw;
use mcp_proto::schema::Meta;
use serde_json::{Map, Value};

use super::csp::AppCsp;

pub(super) const MEDIA_TYPE: &str = "text/html;profile=mcp-app";

/// The key of `_meta` for everything about user interfaces.
const KEY: &str = "ui";

/// A capability of the browser that an app asks for. The host may refuse it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AppPermission {
    /// The camera.
    Camera,
    /// The microphone.
    Microphone,
    /// The location of the device.
    Geolocation,
    /// Writing to the clipboard.
    ClipboardWrite,
}

impl AppPermission {
    const ALL: [Self; 4] =
        [Self::Camera, Self::Microphone, Self::Geolocation, Self::ClipboardWrite];

    const fn name(self) -> &'static str {
        match self {
            Self::Camera => "camera",
            Self::Microphone => "microphone",
            Self::Geolocation => "geolocation",
            Self::ClipboardWrite => "clipboardWrite",
        }
    }

    /// Returns the name of the feature in the attribute `allow` of a frame.
    #[must_use]
    pub const fn feature(self) -> &'static str {
        match self {
            Self::ClipboardWrite => "clipboard-write",
            other => other.name(),
        }
    }
}

/// How an app is shown: `_meta.ui` of its resource.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::apps::{AppPermission, AppSettings};
///
/// let settings = AppSettings {
///     permissions: vec![AppPermission::Camera],
///     prefers_border: Some(true),
///     ..AppSettings::default()
/// };
/// assert_eq!(settings.permissions[0].feature(), "camera");
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AppSettings {
    /// The origins that the app uses.
    pub csp: AppCsp,
    /// What the app asks the browser for.
    pub permissions: Vec<AppPermission>,
    /// The origin on which the app is shown, in the form that the host defines.
    pub domain: Option<String>,
    /// Whether the host draws a border and a background; `None` leaves that to the host.
    pub prefers_border: Option<bool>,
}

impl AppSettings {
    /// Reads `_meta.ui`, first of the contents of a resource and then of its entry in a list.
    ///
    /// Missing and malformed members have their defaults, which are the most restrictive ones.
    #[must_use]
    pub fn read(contents: Option<&Meta>, listed: Option<&Meta>) -> Self {
        let Some(ui) = read_ui(contents).or_else(|| read_ui(listed)) else {
            return Self::default();
        };
        let permissions = ui.member("permissions").filter(Raw::is_object);
        let is_asked = |it: &AppPermission| {
            permissions
                .as_ref()
                .and_then(|all| all.member(it.name()))
                .is_some_and(|it| it.is_object())
        };
        Self {
            csp: ui
                .member("csp")
                .filter(Raw::is_object)
                .map_or_else(AppCsp::default, |csp| AppCsp::read(&csp)),
            permissions: AppPermission::ALL.into_iter().filter(is_asked).collect(),
            domain: ui.member("domain").and_then(|domain| domain.to_text().map(String::from)),
            prefers_border: ui.member("prefersBorder").and_then(|border| border.parse().ok()),
        }
    }

    /// Adds `ui` to `_meta`.
    pub(super) fn write(&self, meta: &mut Option<Meta>) {
        let mut ui = Map::new();
        if self.csp != AppCsp::default() {
            ui.insert("csp".to_owned(), self.csp.to_value());
        }
        if !self.permissions.is_empty() {
            let asked = self.permissions.iter();
            let asked = asked.map(|it| (it.name().to_owned(), Value::Object(Map::new())));
            ui.insert("permissions".to_owned(), Value::Object(asked.collect()));
        }
        if let Some(domain) = &self.domain {
            ui.insert("domain".to_owned(), Value::from(&**domain));
        }
        if let Some(border) = self.prefers_border {
            ui.insert("prefersBorder".to_owned(), Value::from(border));
        }
        if !ui.is_empty() {
            write_ui(meta, Value::Object(ui));
        }
    }
}

pub(super) fn read_ui(meta: Option<&Meta>) -> Option<Raw> {
    meta?.member(KEY).filter(Raw::is_object)
}

pub(super) fn write_ui(meta: &mut Option<Meta>, ui: Value) {
    meta.get_or_insert_default().set_member(KEY, ui);
}
