//! A heap in a static array, for programs without threads and interrupt handlers.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;

/// Enough for a connection with `Limits::small()`.
const HEAP_BYTES: usize = 64 << 10;

/// The alignment of every block, and the size of the smallest.
const BLOCK_BYTES_MIN: usize = 16;

const CLASSES: usize = HEAP_BYTES.ilog2() as usize + 1;

#[global_allocator]
static HEAP: Heap = Heap(UnsafeCell::new(Blocks {
    bytes: [0; HEAP_BYTES],
    used: 0,
    free: [ptr::null_mut(); CLASSES],
}));

/// Rounds blocks up to powers of two, and reuses a freed block for blocks of its size.
///
/// Only this crate has `unsafe` code: an allocator and ports cannot be written without it.
struct Heap(UnsafeCell<Blocks>);

#[repr(C, align(16))]
struct Blocks {
    bytes: [u8; HEAP_BYTES],
    /// The number of bytes that were ever used.
    used: usize,
    /// The first free block of each size; each block begins with a pointer to the next.
    free: [*mut u8; CLASSES],
}

fn block_bytes(layout: Layout) -> usize {
    layout.size().max(BLOCK_BYTES_MIN).next_power_of_two()
}

// SAFETY: the programs have one thread and no interrupt handlers.
unsafe impl Sync for Heap {}

// SAFETY: a block is either unused, in one list, or handed out; blocks are aligned to 16 bytes, as
// their array is.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = block_bytes(layout);
        // SAFETY: no other reference exists, since allocating calls nothing.
        let blocks = unsafe { &mut *self.0.get() };
        let Some(free) = blocks.free.get_mut(size.ilog2() as usize) else { return ptr::null_mut() };
        if layout.align() > BLOCK_BYTES_MIN {
            return ptr::null_mut();
        }
        if !free.is_null() {
            let block = *free;
            // SAFETY: a free block begins with the pointer that `dealloc` wrote.
            *free = unsafe { block.cast::<*mut u8>().read() };
            return block;
        }
        let Some(unused) = blocks.bytes.get_mut(blocks.used..) else { return ptr::null_mut() };
        if unused.len() < size {
            return ptr::null_mut();
        }
        blocks.used += size;
        unused.as_mut_ptr()
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: no other reference exists, since freeing calls nothing.
        let blocks = unsafe { &mut *self.0.get() };
        if let Some(free) = blocks.free.get_mut(block_bytes(layout).ilog2() as usize) {
            // SAFETY: every block has room for a pointer, and is aligned for it.
            unsafe { block.cast::<*mut u8>().write(*free) };
            *free = block;
        }
    }
}
