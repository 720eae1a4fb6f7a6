//! Reads stdin and writes stdout with the functions of the C library.

#[link(name = "c")]
unsafe extern "C" {
    #[link_name = "read"]
    fn read_from(file: i32, bytes: *mut u8, count: usize) -> isize;
    #[link_name = "write"]
    fn write_to(file: i32, bytes: *const u8, count: usize) -> isize;
}

/// Reads some bytes. Returns 0 at the end.
pub(crate) fn read(bytes: &mut [u8]) -> usize {
    // SAFETY: the memory is valid for writes of its length.
    let count = unsafe { read_from(0, bytes.as_mut_ptr(), bytes.len()) };
    usize::try_from(count).unwrap_or_default()
}

/// Writes all bytes, unless stdout is closed.
pub(crate) fn write(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the memory is valid for reads of its length.
        let count = unsafe { write_to(1, bytes.as_ptr(), bytes.len()) };
        match usize::try_from(count) {
            Ok(count) if count > 0 => bytes = bytes.get(count..).unwrap_or_default(),
            _ => return,
        }
    }
}

/// Referenced by `alloc` as compiled for this machine, which unwinds; on devices, nothing is. Never
/// called, because panics abort.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// Continues unwinding in a program that unwinds. Never called, because panics abort.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() {}
