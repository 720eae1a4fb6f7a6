//! An allocator that counts the allocations and held bytes of one thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static IS_COUNTING: Cell<bool> = const { Cell::new(false) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting within [`counted`] sections.
#[derive(Debug)]
pub struct Counting;

fn count(bytes: isize) {
    if IS_COUNTING.get() {
        LIVE.set(LIVE.get() + bytes);
        PEAK.set(PEAK.get().max(LIVE.get()));
        ALLOCATIONS.set(ALLOCATIONS.get() + usize::from(bytes > 0));
    }
}

fn size(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

// SAFETY: every call is forwarded to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size(layout.size()));
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-size(layout.size()));
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(size(new_size) - size(layout.size()));
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}

/// Runs `work`, and counts its allocations and frees.
pub fn counted<T>(work: impl FnOnce() -> T) -> T {
    IS_COUNTING.set(true);
    let done = work();
    IS_COUNTING.set(false);
    done
}

/// Resets all counts.
pub fn restart() {
    LIVE.set(0);
    PEAK.set(0);
    ALLOCATIONS.set(0);
}

/// Returns the most bytes held at a time in [`counted`] sections since [`restart`].
#[must_use]
pub fn peak() -> usize {
    usize::try_from(PEAK.get()).unwrap_or_default()
}

/// Returns the bytes held now.
#[must_use]
pub fn live() -> usize {
    usize::try_from(LIVE.get()).unwrap_or_default()
}

/// Returns the number of allocations and reallocations in [`counted`] sections since [`restart`].
#[must_use]
pub fn allocations() -> usize {
    ALLOCATIONS.get()
}
