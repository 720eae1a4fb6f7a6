//! How a type is written down once and gets its reader, its writer and its builder: an object, a
//! set of words.
//!
//! An object is a struct whose fields say how they stand in JSON:
//!
//! - `required field: T = "key"`: the object is not one without it;
//! - `optional field: T = "key"`: an `Option<T>`. A value that is no `T` is kept among the unknown
//!   members, so it costs nothing but itself and is written out again;
//! - `strict field: T = "key"`: an `Option<T>` that must be a `T` where it is there and not `null`,
//!   because taking it for absent would lose something;
//! - `stamped field: T = "key"`: always written, the type's default when nothing else was said;
//! - `flag field: bool = "key"`: written when true. An explicit `false` is kept among the unknown
//!   members;
//! - `in A..=B` behind a field: revisions whose peers know it; to others it is not written;
//! - `checked path` behind the struct's name: a function of the object and a revision that fails
//!   where a peer of the revision could make nothing of it;
//! - `tagged "key" = "word"` behind the struct's name: a member that always is there and says what
//!   the object is.
//!
//! Every object has a `new` of what is required, a method that sets each optional field, and keeps
//! what it does not know in `extra`.

/// Declares an object type; see the file's head.
macro_rules! object {
    (
        $(#[$doc:meta])*
        pub struct $name:ident $(tagged $tag:literal = $word:literal)? $(checked $check:path)? {
            $(
                $(#[$field_doc:meta])*
                $mode:ident $field:ident : $type:ty = $key:literal $(in $range:expr)?
            ),* $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $(
                $(#[$field_doc])*
                pub $field: $crate::schema::macros::object!(@type $mode $type),
            )*
            /// Members that this type does not know, kept as they came.
            pub extra: $crate::schema::Members,
        }

        $crate::schema::macros::object!(@new $name; []; []; $($mode $field: $type,)*);

        impl $name {
            $($crate::schema::macros::object!(@setter $mode $(#[$field_doc])* $field $type);)*

            /// Writes the members into an object that is being written.
            #[allow(dead_code, unused_variables, reason = "not every object stands inside another")]
            pub(crate) fn write_members(
                &self,
                revision: $crate::revision::Revision,
                object: &mut $crate::json::Object<'_>,
            ) -> Result<(), $crate::error::Unencodable> {
                $($check(self, revision)?;)?
                $(object.str($tag, $word);)?
                $(
                    if $crate::schema::macros::object!(@known revision $($range)?) {
                        $crate::schema::macros::object!(@write $mode self.$field, revision, object, $key);
                    }
                )*
                self.extra.write(object, |key| match key {
                    $($tag => true,)?
                    $($key => $crate::schema::macros::object!(@is_set $mode self.$field),)*
                    _ => false,
                });
                Ok(())
            }
        }

        impl $crate::schema::Encode for $name {
            fn encode(
                &self,
                revision: $crate::revision::Revision,
                out: &mut alloc::vec::Vec<u8>,
            ) -> Result<(), $crate::error::Unencodable> {
                let mut object = $crate::json::Object::begin(out);
                self.write_members(revision, &mut object)?;
                object.end();
                Ok(())
            }
        }

        impl $crate::schema::Decode for $name {
            fn read(
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<Self, $crate::schema::DecodeError> {
                $(let mut $field: Option<$type> = None;)*
                let mut extra = $crate::schema::Members::new();
                $crate::schema::decode::read_object(reader, |key, reader| {
                    $(if key == $tag.as_bytes() {
                        if !reader.take_word($word) {
                            return Err($crate::schema::DecodeError::expected(
                                concat!("\"", $word, "\""), reader,
                            ).within($tag));
                        }
                        return Ok(());
                    })?
                    $(if key == $key.as_bytes() {
                        $crate::schema::macros::object!(@read $mode $type, reader, $field, extra, $key);
                        return Ok(());
                    })*
                    extra.keep(key, reader);
                    Ok(())
                })?;
                Ok(Self {
                    $($field: $crate::schema::macros::object!(@take $mode $field, $key),)*
                    extra,
                })
            }
        }
    };

    (@new $name:ident; []; [$($init:tt)*];) => {
        impl $name {
            /// One of which nothing is said.
            #[must_use]
            pub fn new() -> Self {
                Self { $($init)* extra: $crate::schema::Members::new() }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
    (@new $name:ident; [$($args:tt)+]; [$($init:tt)*];) => {
        impl $name {
            /// One of which no more is said than it needs.
            #[must_use]
            pub fn new($($args)+) -> Self {
                Self { $($init)* extra: $crate::schema::Members::new() }
            }
        }
    };
    (@new $name:ident; [$($args:tt)*]; [$($init:tt)*]; required $field:ident: $type:ty, $($rest:tt)*) => {
        $crate::schema::macros::object!(
            @new $name; [$($args)* $field: impl Into<$type>,]; [$($init)* $field: $field.into(),]; $($rest)*
        );
    };
    (@new $name:ident; [$($args:tt)*]; [$($init:tt)*]; optional $field:ident: $type:ty, $($rest:tt)*) => {
        $crate::schema::macros::object!(@new $name; [$($args)*]; [$($init)* $field: None,]; $($rest)*);
    };
    (@new $name:ident; [$($args:tt)*]; [$($init:tt)*]; strict $field:ident: $type:ty, $($rest:tt)*) => {
        $crate::schema::macros::object!(@new $name; [$($args)*]; [$($init)* $field: None,]; $($rest)*);
    };
    (@new $name:ident; [$($args:tt)*]; [$($init:tt)*]; flag $field:ident: $type:ty, $($rest:tt)*) => {
        $crate::schema::macros::object!(@new $name; [$($args)*]; [$($init)* $field: false,]; $($rest)*);
    };
    (@new $name:ident; [$($args:tt)*]; [$($init:tt)*]; stamped $field:ident: $type:ty, $($rest:tt)*) => {
        $crate::schema::macros::object!(@new $name; [$($args)*]; [$($init)* $field: Default::default(),]; $($rest)*);
    };

    (@type required $type:ty) => { $type };
    (@type stamped $type:ty) => { $type };
    (@type optional $type:ty) => { Option<$type> };
    (@type strict $type:ty) => { Option<$type> };
    (@type flag $type:ty) => { bool };

    (@known $revision:ident) => { true };
    (@known $revision:ident $range:expr) => { $revision.is_in(&$range) };

    (@write required $value:expr, $revision:ident, $object:ident, $key:literal) => {
        $crate::schema::Encode::encode(&$value, $revision, $object.plain_key($key))?;
    };
    (@write stamped $value:expr, $revision:ident, $object:ident, $key:literal) => {
        $crate::schema::Encode::encode(&$value, $revision, $object.plain_key($key))?;
    };
    (@write optional $value:expr, $revision:ident, $object:ident, $key:literal) => {
        if let Some(value) = &$value {
            if $crate::schema::Encode::is_for(value, $revision) {
                $crate::schema::Encode::encode(value, $revision, $object.plain_key($key))?;
            }
        }
    };
    (@write strict $($rest:tt)*) => { $crate::schema::macros::object!(@write optional $($rest)*) };
    (@write flag $value:expr, $revision:ident, $object:ident, $key:literal) => {
        if $value {
            $object.bool($key, true);
        }
    };

    (@is_set required $value:expr) => { true };
    (@is_set stamped $value:expr) => { true };
    (@is_set optional $value:expr) => { $value.is_some() };
    (@is_set strict $value:expr) => { $value.is_some() };
    (@is_set flag $value:expr) => { $value };

    (@read required $type:ty, $reader:ident, $field:ident, $extra:ident, $key:literal) => {
        $field = Some(<$type as $crate::schema::Decode>::read($reader).map_err(|error| error.within($key))?)
    };
    (@read stamped $type:ty, $reader:ident, $field:ident, $extra:ident, $key:literal) => {
        $field = $crate::schema::macros::read_lenient($reader, &mut $extra, $key)
    };
    (@read optional $type:ty, $reader:ident, $field:ident, $extra:ident, $key:literal) => {
        $field = $crate::schema::macros::read_lenient($reader, &mut $extra, $key)
    };
    (@read strict $type:ty, $reader:ident, $field:ident, $extra:ident, $key:literal) => {
        if $reader.kind() == Some($crate::json::Kind::Null) {
            $extra.keep($key.as_bytes(), $reader);
        } else {
            $crate::schema::macros::object!(@read required $type, $reader, $field, $extra, $key);
        }
    };
    (@read flag $type:ty, $reader:ident, $field:ident, $extra:ident, $key:literal) => {{
        $field = $crate::schema::macros::read_lenient($reader, &mut $extra, $key);
        if $field == Some(false) {
            $extra.push($crate::schema::Str::from_static($key), $crate::schema::macros::no());
        }
    }};

    (@take required $field:ident, $key:literal) => {
        $field.ok_or_else(|| $crate::schema::DecodeError::missing($key))?
    };
    (@take stamped $field:ident, $key:literal) => { $field.unwrap_or_default() };
    (@take optional $field:ident, $key:literal) => { $field };
    (@take strict $field:ident, $key:literal) => { $field };
    (@take flag $field:ident, $key:literal) => { $field.unwrap_or(false) };

    (@setter stamped $(#[$doc:meta])* $field:ident $type:ty) => {};
    (@setter required $(#[$doc:meta])* $field:ident $type:ty) => {};
    (@setter optional $(#[$doc:meta])* $field:ident $type:ty) => {
        $(#[$doc])*
        ///
        /// The same value, with this set.
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$type>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };
    (@setter strict $($rest:tt)*) => { $crate::schema::macros::object!(@setter optional $($rest)*); };
    (@setter flag $(#[$doc:meta])* $field:ident $type:ty) => {};
}

/// Declares a set of words that peers may add to: a word that is not in it is kept.
macro_rules! words {
    (
        $(#[$doc:meta])*
        pub enum $name:ident {
            $($(#[$word_doc:meta])* $variant:ident = $word:literal),* $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$word_doc])* $variant,)*
            /// A word that is not known here, as it came.
            Other(alloc::boxed::Box<str>),
        }

        impl $name {
            /// The word on the wire.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)*
                    other => Self::Other(other.into()),
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::schema::Encode for $name {
            fn encode(
                &self,
                _: $crate::revision::Revision,
                out: &mut alloc::vec::Vec<u8>,
            ) -> Result<(), $crate::error::Unencodable> {
                $crate::json::write_str(out, self.name());
                Ok(())
            }
        }

        impl $crate::schema::Decode for $name {
            fn read(
                reader: &mut $crate::json::Reader<'_>,
            ) -> Result<Self, $crate::schema::DecodeError> {
                match reader.text() {
                    Some(word) => Ok(Self::from(&*word)),
                    None => Err($crate::schema::DecodeError::expected("a string", reader)),
                }
            }
        }
    };
}

/// Declares the request or notification that a params type belongs to.
macro_rules! message {
    ($kind:ident $method:literal: $params:ty => $result:ty) => {
        impl $crate::schema::$kind for $params {
            const METHOD: &'static str = $method;
            type Result = $result;
        }
    };
    ($kind:ident $method:literal: $params:ty) => {
        impl $crate::schema::$kind for $params {
            const METHOD: &'static str = $method;
        }
    };
}

pub(crate) use message;
pub(crate) use object;
pub(crate) use words;

use super::decode::Decode;
use super::open::Members;
use crate::json::{Raw, Reader};

/// Reads an optional member; what is no `T` goes to `extra`.
pub(crate) fn read_lenient<T: Decode>(
    reader: &mut Reader<'_>,
    extra: &mut Members,
    key: &'static str,
) -> Option<T> {
    let before = reader.clone();
    match T::read(reader) {
        Ok(value) => Some(value),
        Err(_) => {
            *reader = before;
            extra.keep(key.as_bytes(), reader);
            None
        }
    }
}

/// `false`, where it was said and means nothing.
pub(crate) fn no() -> Raw {
    Raw::literal(b"false")
}
