//! The minimal work per message: finding its end, checking it, copying it.

use std::hint::black_box;

use serde::de::IgnoredAny;

use crate::corpus::{self, MIXED_MESSAGES};
use crate::{By, Case, Work};

pub(crate) fn cases() -> Vec<Case> {
    let floor = |name, count, prepare| Case::new(name, By::Floor, count, prepare);
    vec![
        floor("line scan (memchr), mixed", MIXED_MESSAGES, || over(corpus::mixed().all, scan)),
        floor("UTF-8 check, mixed", MIXED_MESSAGES, || over(corpus::mixed().all, utf8)),
        floor("memcpy, mixed", MIXED_MESSAGES, || over(corpus::mixed().all, copy)),
        floor("decode mixed", MIXED_MESSAGES, || over(corpus::mixed().all, ignore)),
        floor("decode ping", 1000, || over(corpus::lines(1, 1000, corpus::ping), ignore)),
        floor("decode call", 1000, || over(corpus::lines(1, 1000, corpus::call), ignore)),
        floor("decode result", 1000, || over(corpus::lines(1, 1000, corpus::result), ignore)),
        floor("decode list", 100, || over(corpus::lines(1, 100, corpus::list), ignore)),
        floor("decode text 1 MB", 1, || over(corpus::lines(1, 1, corpus::text), ignore)),
        floor("decode image 10 MB", 1, || over(corpus::lines(1, 1, corpus::image), ignore)),
        floor("round trip", 100, round_trips),
    ]
}

fn over(bytes: Vec<u8>, work: fn(&[u8])) -> Work {
    Box::new(move || work(black_box(&bytes)))
}

fn scan(bytes: &[u8]) {
    memchr::memchr_iter(b'\n', bytes).for_each(|end| {
        black_box(end);
    });
}

fn each_line(bytes: &[u8], mut work: impl FnMut(&[u8])) {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        work(&bytes[start..end]);
        start = end + 1;
    }
}

fn utf8(bytes: &[u8]) {
    each_line(bytes, |line| assert!(std::str::from_utf8(line).is_ok()));
}

fn copy(bytes: &[u8]) {
    let mut to = Vec::with_capacity(bytes.len());
    each_line(bytes, |line| to.extend_from_slice(line));
    black_box(to);
}

fn ignore(bytes: &[u8]) {
    each_line(bytes, |line| {
        assert!(serde_json::from_slice::<IgnoredAny>(line).is_ok());
    });
}

/// Checks and copies both messages of a call once.
fn round_trips() -> Work {
    let lines = [corpus::lines(1, 1, corpus::call), corpus::lines(1, 1, corpus::result)];
    let mut to = Vec::with_capacity(1024);
    Box::new(move || {
        for _ in 0..100 {
            for line in &lines {
                to.clear();
                to.extend_from_slice(line);
                ignore(black_box(&to));
            }
        }
    })
}
