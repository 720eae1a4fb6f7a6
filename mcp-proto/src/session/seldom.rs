//! What most connections never need: it takes a word until it is changed; knows nothing of what it is.

use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};

/// Something that is empty until it is changed, and in a box of its own from then on.
#[derive(Debug)]
pub(crate) struct Seldom<T>(Option<Box<T>>);

/// What there is of it while it is empty.
pub(crate) trait Empty: Default + 'static {
    /// As by default.
    const EMPTY: &'static Self;
}

impl<T> Default for Seldom<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Seldom<T> {
    /// What there is, if it was ever changed.
    #[cfg(feature = "http")]
    pub(crate) fn changed(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: Default> Seldom<T> {
    pub(crate) fn take(&mut self) -> T {
        self.0.take().map(|boxed| *boxed).unwrap_or_default()
    }
}

impl<T: Empty> Deref for Seldom<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::EMPTY)
    }
}

impl<T: Empty> DerefMut for Seldom<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Count {
        all: u64,
    }

    impl Empty for Count {
        const EMPTY: &'static Self = &Self { all: 0 };
    }

    #[test]
    fn it_is_empty_until_it_is_changed_and_after_it_was_taken() {
        let mut count = Seldom::<Count>::default();
        assert!(count.all == 0 && count.take() == Count { all: 0 });
        count.all += 1;
        assert_eq!((count.all, count.take()), (1, Count { all: 1 }));
        assert_eq!(*count, Count { all: 0 });
        assert_eq!(size_of::<Seldom<Count>>(), size_of::<usize>());
    }
}
