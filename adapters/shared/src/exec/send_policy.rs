//! Whether handlers may be moved between threads: they must, except where there is only one thread.

#[cfg(not(all(target_family = "wasm", not(target_feature = "atomics"))))]
mod policy {
    use std::future::Future;

    /// A type that is `Send`, except where there is only one thread: there it is any type.
    #[expect(unnameable_types, reason = "a bound that differs between platforms")]
    pub trait MaybeSend: Send {}

    impl<T: Send + ?Sized> MaybeSend for T {}

    /// A type that is `Sync`, except where there is only one thread: there it is any type.
    #[expect(unnameable_types, reason = "a bound that differs between platforms")]
    pub trait MaybeSync: Sync {}

    impl<T: Sync + ?Sized> MaybeSync for T {}

    /// A value of the application.
    pub(crate) struct Confined<T>(T);

    impl<T> Confined<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(value)
        }
    }

    impl<T> std::ops::Deref for Confined<T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.0
        }
    }

    /// Returns a future of the application as one that is `Send`.
    pub(crate) fn confine<F: Future + Send>(
        future: F,
    ) -> impl Future<Output = F::Output> + Send + use<F> {
        future
    }
}

/// One thread runs everything, so what stays on it can count as `Send`.
#[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
mod policy {
    use std::future::{Future, poll_fn};

    use send_wrapper::SendWrapper;

    #[expect(unnameable_types, reason = "a bound that differs between platforms")]
    pub trait MaybeSend {}

    impl<T: ?Sized> MaybeSend for T {}

    #[expect(unnameable_types, reason = "a bound that differs between platforms")]
    pub trait MaybeSync {}

    impl<T: ?Sized> MaybeSync for T {}

    pub(crate) type Confined<T> = SendWrapper<T>;

    pub(crate) fn confine<F: Future>(future: F) -> impl Future<Output = F::Output> + Send + use<F> {
        let mut future = SendWrapper::new(Box::pin(future));
        poll_fn(move |context| future.as_mut().poll(context))
    }
}

pub(crate) use policy::{Confined, MaybeSend, MaybeSync, confine};
