//! Seals the state that a client keeps between rounds of input requests.

use std::sync::OnceLock;

use mcp_proto::seal::{Binding, KEY_BYTES_MIN, Seal};
use mcp_proto::{ErrorObject, Principal, Request};

/// How long a user may take to answer one round of input requests, in seconds.
const STATE_SECONDS: u64 = 60 * 60;

/// How request states are authenticated.
// STL-23, STL-24: protects the state from changes by the client.
#[derive(Clone, Debug, Default)]
pub(crate) enum StateSealing {
    /// A random key that all servers of this process share.
    #[default]
    OfProcess,
    /// The seal of the application.
    With(Seal),
    /// Nothing.
    Plain,
}

/// Returns the seal of this process, or `None` if the system has no randomness.
fn of_process() -> Option<&'static Seal> {
    static SEAL: OnceLock<Seal> = OnceLock::new();
    if let Some(seal) = SEAL.get() {
        return Some(seal);
    }
    let mut key = [0; KEY_BYTES_MIN];
    getrandom::fill(&mut key).ok()?;
    let seal = Seal::new(&key).ok()?;
    Some(SEAL.get_or_init(|| seal))
}

impl StateSealing {
    fn get(&self) -> Result<Option<&Seal>, ErrorObject> {
        match self {
            Self::OfProcess => of_process()
                .map(Some)
                .ok_or_else(|| ErrorObject::internal("no source of randomness is available")),
            Self::With(seal) => Ok(Some(seal)),
            Self::Plain => Ok(None),
        }
    }

    /// Seals `text`. It opens for an equal request of the principal only, and for
    /// [`STATE_SECONDS`].
    pub(crate) fn seal(
        &self,
        text: String,
        request: &Request,
        principal: Option<&Principal>,
        now: u64,
    ) -> Result<String, ErrorObject> {
        let Some(seal) = self.get()? else { return Ok(text) };
        let bound = Binding { principal, request };
        let sealed = seal.seal(&text, &bound, now.saturating_add(STATE_SECONDS));
        sealed.map_err(|error| ErrorObject::internal(error.to_string()))
    }

    /// Opens a sealed text.
    pub(crate) fn open(
        &self,
        sealed: &str,
        request: &Request,
        principal: Option<&Principal>,
        now: u64,
    ) -> Result<String, ErrorObject> {
        let Some(seal) = self.get()? else { return Ok(sealed.to_owned()) };
        let bound = Binding { principal, request };
        Ok(seal.open(sealed, &bound, now)?)
    }
}
