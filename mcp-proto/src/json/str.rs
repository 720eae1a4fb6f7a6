//! [`Str`]: immutable text that may share the bytes of the message it was read from.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::raw::shared_part;

/// Immutable text that is either owned or shares the bytes of the JSON it was decoded from.
///
/// `Str` dereferences to `str` and converts from the types that `String` converts from.
///
/// Text that shares bytes keeps the decoded JSON in memory. This JSON is at most 16 KiB or about
/// eight times as long as the text, whichever is more; text from longer JSON is copied instead. If
/// the decoded JSON is itself a part of a larger [`Raw`](crate::Raw), the whole `Raw` stays in
/// memory. To keep only the text, convert it to a `String`.
///
/// Unless the text is owned, each access as `&str` validates it as UTF-8, in time linear in its
/// length. If the text is large, access it once and keep the `&str`. [`as_bytes`](Self::as_bytes)
/// and [`len`](Self::len) do not validate.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::{Decode, Str, Text};
///
/// let raw = Raw::from_text(r#"{"type":"text","text":"12 degrees"}"#).unwrap();
/// let text = Text::decode(&raw).unwrap().text;
/// assert_eq!(text, "12 degrees");
/// assert_eq!(text.split_once(' '), Some(("12", "degrees")));
/// assert_eq!(Str::from("owned").len(), 5);
/// ```
#[derive(Clone)]
pub struct Str(Repr);

#[derive(Clone)]
enum Repr {
    Owned(String),
    /// Always UTF-8.
    // Not `bytestring::ByteString`: without unsafe code it validates each text during decoding,
    // whether or not the text is read, which costs 10 % of "decode image 10 MB, typed" and 3 % to
    // 4 % of "decode list, typed" and "decode result, typed". Its `slice_ref` skips validation but
    // requires the whole message to be a `ByteString` (not measured). Validation on access costs
    // 75 to 130 instructions up to 100 bytes, and half an instruction per byte beyond that.
    Shared(Bytes),
}

impl Str {
    /// Creates text from a string literal, without allocating.
    #[must_use]
    pub const fn from_static(text: &'static str) -> Self {
        Self(Repr::Shared(Bytes::from_static(text.as_bytes())))
    }

    /// Returns the text.
    ///
    /// Unless the text is owned, each call validates it as UTF-8, in time linear in its length.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Owned(text) => text,
            Repr::Shared(bytes) => core::str::from_utf8(bytes).unwrap_or_default(),
        }
    }

    /// Returns the UTF-8 bytes of the text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Owned(text) => text.as_bytes(),
            Repr::Shared(bytes) => bytes,
        }
    }

    /// Returns the length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Returns whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Creates text that shares `part`, a slice of `source` between two quotation marks. The slice
    /// is UTF-8 because a quotation mark is never part of another character.
    #[inline]
    pub(super) fn part_of(source: &Bytes, part: &[u8]) -> Self {
        debug_assert!(core::str::from_utf8(part).is_ok(), "the part is not UTF-8");
        Self(Repr::Shared(shared_part(source, part)))
    }
}

impl Default for Str {
    fn default() -> Self {
        Self::from_static("")
    }
}

impl Deref for Str {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Str {
    fn as_ref(&self) -> &str {
        self
    }
}

impl AsRef<[u8]> for Str {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Borrow<str> for Str {
    fn borrow(&self) -> &str {
        self
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

macro_rules! from_text {
    ($($from:ty),*) => {$(
        impl From<$from> for Str {
            fn from(text: $from) -> Self {
                Self(Repr::Owned(text.into()))
            }
        }
    )*};
}

from_text!(&str, &String, Box<str>, Cow<'_, str>, String, char);

impl From<Str> for String {
    fn from(text: Str) -> Self {
        match text.0 {
            Repr::Owned(text) => text,
            Repr::Shared(_) => text.as_str().into(),
        }
    }
}

impl Eq for Str {}

impl PartialEq for Str {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

macro_rules! equal_to {
    ($($other:ty),*) => {$(
        impl PartialEq<$other> for Str {
            fn eq(&self, other: &$other) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }

        impl PartialEq<Str> for $other {
            fn eq(&self, other: &Str) -> bool {
                self.as_bytes() == other.as_bytes()
            }
        }
    )*};
}

equal_to!(str, &str, String);

impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares bytes, as `str` does.
impl Ord for Str {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

/// Hashes like `str`, as [`Borrow<str>`] requires.
impl Hash for Str {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Serialize for Str {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Str {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::json::{JsonReader, Raw};

    #[test]
    fn owned_and_shared_text_are_equal() {
        let source = Bytes::from("grün und blau".to_string());
        let (shared, owned) = (Str::part_of(&source, &source[..5]), Str::from("grün"));
        assert_eq!(shared, owned);
        assert_eq!(shared.cmp(&owned), Ordering::Equal);
        let string = "grün".to_string();
        assert!(shared == "grün" && "grün" == owned && shared == string && *"grün" == shared);
        assert!(shared < Str::from('h') && Str::default().is_empty() && shared.len() == 5);
        assert_eq!(
            (format!("{shared} {owned:?}"), String::from(shared)),
            ("grün \"grün\"".into(), "grün".into())
        );
    }

    /// Returns the bytes that `it` passes to its hasher.
    fn hashed(it: &(impl Hash + ?Sized)) -> Vec<u8> {
        struct Recorder(Vec<u8>);
        impl Hasher for Recorder {
            fn finish(&self) -> u64 {
                0
            }

            fn write(&mut self, bytes: &[u8]) {
                self.0.extend_from_slice(bytes);
            }
        }
        let mut recorder = Recorder(Vec::new());
        it.hash(&mut recorder);
        recorder.0
    }

    #[test]
    fn text_compares_and_hashes_like_str() {
        let source = Bytes::from("abc".to_string());
        let shared = Str::part_of(&source, &source);
        for text in [shared, Str::from("abc")] {
            let (as_ref, borrowed): (&str, &str) = (text.as_ref(), text.borrow());
            assert_eq!((as_ref, borrowed, &*text), ("abc", "abc", "abc"));
            assert_eq!(hashed(&text), hashed("abc"));
            assert_ne!(hashed(&text), hashed("ab"));
            for (other, order) in
                [("ab", Ordering::Greater), ("abc", Ordering::Equal), ("b", Ordering::Less)]
            {
                let other = Str::from(other);
                assert_eq!(
                    (text == other, text.cmp(&other)),
                    (order == Ordering::Equal, order),
                    "{other}"
                );
            }
        }
    }

    #[test]
    fn shared_text_is_not_copied() {
        let source = Bytes::from("abc".to_string());
        let shared = Str::part_of(&source, &source[1..]);
        assert_eq!(shared.as_bytes().as_ptr(), source[1..].as_ptr());
    }

    fn is_part_of(text: &Str, raw: &Raw) -> bool {
        raw.as_bytes().as_ptr_range().contains(&text.as_bytes().as_ptr())
    }

    fn read(raw: &Raw) -> Vec<Str> {
        let (mut all, mut reader) = (Vec::new(), JsonReader::new(raw));
        let walked =
            reader.elements(|_, reader| reader.shared_text().map(|text| all.push(text)).ok_or(()));
        assert_eq!(walked, Some(Ok(())));
        all
    }

    #[test]
    fn text_without_escapes_is_shared() {
        let raw = Raw::from_text(r#"["x","a longer one, to be found at another place","\u0078"]"#)
            .unwrap();
        let all = read(&raw);
        assert_eq!(all, ["x", "a longer one, to be found at another place", "x"]);
        assert_eq!(
            all.iter().map(|text| is_part_of(text, &raw)).collect::<Vec<_>>(),
            [true, true, false]
        );
    }

    #[test]
    fn a_small_part_of_a_large_message_is_copied() {
        let raw = Raw::new(&["x".repeat(100), "y".repeat(20_000)]).unwrap();
        let all = read(&raw);
        assert_eq!(
            all.iter().map(|text| is_part_of(text, &raw)).collect::<Vec<_>>(),
            [false, true]
        );
    }

    proptest! {
        #[test]
        fn text_survives_a_round_trip(texts in proptest::collection::vec("(?s).{0,40}", 0..8)) {
            prop_assert_eq!(read(&Raw::new(&texts).unwrap()), texts);
        }
    }

    #[test]
    fn text_serializes_as_a_string() {
        let text: Str = serde_json::from_str(r#""a\nb""#).unwrap();
        assert_eq!(text, "a\nb");
        assert_eq!(serde_json::to_string(&text).unwrap(), r#""a\nb""#);
    }
}
