//! What an application hears of exchanges, beyond what its session tells it; knows no scheme of
//! authentication.

use alloc::string::String;
use alloc::vec::Vec;

use crate::client;
use crate::connection::CallId;
use crate::http::Fields;
use crate::http::header;

/// What a client's application hears over HTTP.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The server wants to know who asks, or to be asked by somebody else. What was asked has
    /// failed, and everything goes on. (AUT-11)
    Challenged {
        /// The call that was refused; `None` when it was another message.
        call: Option<CallId>,
        /// 401 or 403.
        status: u16,
        /// What `WWW-Authenticate` offers, in its order. What cannot be read is left out.
        challenges: Vec<Challenge>,
    },
    /// The session tells of something.
    Session(client::Event),
}

/// One way to authenticate that a server offers: a [`header::Challenge`] that stands for itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Challenge {
    /// The scheme, in the case it came in.
    pub scheme: String,
    /// What some schemes have in place of parameters.
    pub token: Option<String>,
    /// Names, in the case they came in and each once, and values, without quotes.
    pub params: Vec<(String, String)>,
}

impl Challenge {
    /// The value of a parameter, whatever the case of its name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| &**value)
    }
}

impl From<header::Challenge<'_>> for Challenge {
    fn from(challenge: header::Challenge<'_>) -> Self {
        let params =
            challenge.params.into_iter().map(|(name, value)| (name.into(), value.into_owned()));
        Self {
            scheme: challenge.scheme.into(),
            token: challenge.token.map(Into::into),
            params: params.collect(),
        }
    }
}

/// The most `WWW-Authenticate` of a head that are read, and the most bytes of each.
const VALUES_MAX: usize = 8;
const VALUE_BYTES_MAX: usize = 8 * 1024;

/// What a head challenges to.
pub(super) fn challenges(fields: &dyn Fields) -> Vec<Challenge> {
    (0..VALUES_MAX)
        .map_while(|nth| fields.value("www-authenticate", nth))
        .filter(|value| value.len() <= VALUE_BYTES_MAX)
        .filter_map(|value| header::challenges(value).ok())
        .flatten()
        .map(Challenge::from)
        .collect()
}
