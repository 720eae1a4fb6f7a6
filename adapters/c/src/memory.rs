//! The memory of the caller: the only unsafe code. Nothing is kept beyond a call, and no memory
//! changes its owner.
#![allow(unsafe_code, reason = "the border to C")]

use std::ffi::{CStr, c_char};

use crate::status::{Failure, Status};

/// Reads `length` bytes. Null is an empty text if the length is 0.
///
/// # Errors
/// Fails if the pointer is null and the length is not 0, or if no object can have this length.
///
/// # Safety
/// `length` bytes from `bytes` on can be read and do not change while the result exists.
pub(crate) unsafe fn read<'a>(bytes: *const u8, length: usize) -> Result<&'a [u8], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    if bytes.is_null() {
        return Err(null("the bytes"));
    }
    if isize::try_from(length).is_err() {
        let why = format!("no memory has {length} bytes: is the length negative?");
        return Err(Failure::new(Status::Misuse, why));
    }
    // SAFETY: not null, no longer than an object can be, and readable by the contract.
    Ok(unsafe { std::slice::from_raw_parts(bytes, length) })
}

/// Reads a text of `length` bytes.
///
/// # Errors
/// As [`read`], and fails if the text is not UTF-8.
///
/// # Safety
/// As [`read`].
pub(crate) unsafe fn read_text<'a>(text: *const u8, length: usize) -> Result<&'a str, Failure> {
    // SAFETY: the contract of this function.
    let bytes = unsafe { read(text, length) }?;
    std::str::from_utf8(bytes)
        .map_err(|error| Failure::new(Status::InvalidJson, format!("the text is {error}")))
}

/// Reads a text that ends with a zero byte.
///
/// # Errors
/// Fails if the pointer is null, or if the text is not UTF-8.
///
/// # Safety
/// If it is not null, `text` ends with a zero byte and does not change while the result exists.
pub(crate) unsafe fn read_c_text<'a>(text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null("the text"));
    }
    // SAFETY: not null, and ends with a zero byte by the contract.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|error| Failure::new(Status::InvalidJson, format!("the text is {error}")))
}

/// Writes a value where `to` points.
///
/// # Errors
/// Fails if the pointer is null.
///
/// # Safety
/// If it is not null, `to` is aligned and can be written.
pub(crate) unsafe fn set<T: Copy>(to: *mut T, value: T, name: &str) -> Result<(), Failure> {
    if to.is_null() {
        return Err(null(name));
    }
    // SAFETY: not null, and valid for writes by the contract.
    unsafe { to.write(value) };
    Ok(())
}

/// The buffer of a caller, and where its length goes.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    pub(crate) bytes: *mut u8,
    pub(crate) capacity: usize,
    pub(crate) length: *mut usize,
}

impl Buffer {
    /// Copies all of `bytes`.
    ///
    /// # Errors
    /// Fails with [`Status::TooSmall`] if they do not fit; the length is then what they need.
    /// Fails if a pointer is null.
    ///
    /// # Safety
    /// `capacity` bytes from `self.bytes` on can be written, and `self.length` as in [`set`].
    pub(crate) unsafe fn write(self, bytes: &[u8]) -> Result<(), Failure> {
        // SAFETY: the contract of this function.
        unsafe { set(self.length, bytes.len(), "the length") }?;
        if bytes.len() > self.capacity {
            return Err(Failure { status: Status::TooSmall, ..crate::status::NONE });
        }
        // SAFETY: they fit.
        unsafe { self.copy(bytes) }
    }

    /// Copies as many of `bytes` as fit, and sets the length to their number.
    ///
    /// # Errors
    /// Fails if a pointer is null.
    ///
    /// # Safety
    /// As [`write`](Self::write).
    pub(crate) unsafe fn write_part(self, bytes: &[u8]) -> Result<(), Failure> {
        let part = bytes.get(..self.capacity).unwrap_or(bytes);
        // SAFETY: the contract of this function.
        unsafe { set(self.length, part.len(), "the length") }?;
        // SAFETY: the part fits.
        unsafe { self.copy(part) }
    }

    /// # Safety
    /// As [`write`](Self::write), and `bytes` is no longer than the capacity.
    unsafe fn copy(self, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        if self.bytes.is_null() {
            return Err(null("the buffer"));
        }
        // SAFETY: not null, writable for that many bytes, and separate from memory of this library.
        unsafe { self.bytes.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }
}

fn null(name: &str) -> Failure {
    Failure::new(Status::Null, format!("the pointer to {name} is null"))
}
