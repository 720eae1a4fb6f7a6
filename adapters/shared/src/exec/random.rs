//! Random ids.

/// Returns an id of 128 random bits, in hexadecimal digits.
///
/// # Errors
/// Fails if the system has no source of randomness.
pub(crate) fn random_id() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
