//! The cache.
