//! Authentication of the state that clients keep between rounds, with the feature `seal`.

#[cfg(feature = "seal")]
pub(crate) use sealed::StateSealer;
#[cfg(not(feature = "seal"))]
pub(crate) use unsealed::StateSealer;

#[cfg(feature = "seal")]
mod sealed {
    use std::cell::OnceCell;
    use std::rc::Rc;

    use mcp_proto::seal::{Binding, KEY_BYTES_MIN, Seal};
    use mcp_proto::{ErrorObject, Principal, Request};

    use crate::platform::Platform;

    /// How long a user may take to answer one round of input requests, in seconds.
    const STATE_SECONDS: u64 = 60 * 60;

    /// Seals the states of one server: with the seal of the application, or a random key.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct StateSealer(Rc<OnceCell<Seal>>);

    impl StateSealer {
        pub(crate) fn with(seal: Seal) -> Self {
            Self(Rc::new(seal.into()))
        }

        fn get(&self, platform: &dyn Platform) -> Result<&Seal, ErrorObject> {
            if self.0.get().is_none() {
                let mut key = [0; KEY_BYTES_MIN];
                let no_key = || ErrorObject::internal("no source of randomness is available");
                platform.fill_random(&mut key).map_err(|_| no_key())?;
                let _first = self.0.set(Seal::new(&key).map_err(|_| no_key())?);
            }
            self.0.get().ok_or_else(|| ErrorObject::internal("no key for request states"))
        }

        pub(crate) fn seal(
            &self,
            platform: &dyn Platform,
            text: String,
            request: &Request,
            principal: Option<&Principal>,
        ) -> Result<String, ErrorObject> {
            let until = platform.unix_seconds().saturating_add(STATE_SECONDS);
            let sealed = self.get(platform)?.seal(&text, &Binding { principal, request }, until);
            sealed.map_err(|error| ErrorObject::internal(error.to_string()))
        }

        pub(crate) fn open(
            &self,
            platform: &dyn Platform,
            sealed: &str,
            request: &Request,
            principal: Option<&Principal>,
        ) -> Result<String, ErrorObject> {
            let seal = self.get(platform)?;
            Ok(seal.open(sealed, &Binding { principal, request }, platform.unix_seconds())?)
        }
    }
}

#[cfg(not(feature = "seal"))]
mod unsealed {
    use mcp_proto::{ErrorObject, Principal, Request};

    use crate::platform::Platform;

    /// Leaves states as they are.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct StateSealer {}

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "shared signatures")]
    impl StateSealer {
        pub(crate) fn seal(
            &self,
            _: &dyn Platform,
            text: String,
            _: &Request,
            _: Option<&Principal>,
        ) -> Result<String, ErrorObject> {
            Ok(text)
        }

        pub(crate) fn open(
            &self,
            _: &dyn Platform,
            text: &str,
            _: &Request,
            _: Option<&Principal>,
        ) -> Result<String, ErrorObject> {
            Ok(text.to_owned())
        }
    }
}
