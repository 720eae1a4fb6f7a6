//! Macros that define a schema type with its decoder, encoder and builder.
//!
//! An object is a struct whose fields state their JSON form:
//!
//! - `required field: T = "key"`: decoding fails without it;
//! - `defaulted field: T = "key" or function`: required by the specification, but decoded as the
//!   result of the function if it is absent or `null`, as some peers send it;
//! - `optional field: T = "key"`: an `Option<T>`. A value that is not a `T` is kept among the
//!   unknown members and written back;
//! - `strict field: T = "key"`: an `Option<T>` that must be a `T` unless absent or `null`, because
//!   treating a malformed value as absent would lose information;
//! - `stamped field: T = "key"`: always written, with the type's default if unset;
//! - `flag field: bool = "key"`: written only when true. An explicit `false` is kept among the
//!   unknown members;
//! - `in A..=B` after a field: the revisions that define it; it is not written for others;
//! - `checked path` after the struct's name: a function of the object and a revision that fails if
//!   the object is invalid in that revision, when it is encoded;
//! - `, accepted path` after that: a function of a decoded object that fails if it must be refused;
//! - `adapted method` before that: a method that takes a revision and returns the object to write
//!   instead, if the revision needs another one;
//! - `tagged "key" = "value"` after the struct's name: a constant member that identifies the type.
//!
//! Every object has a `new` that takes the required fields and a setter for each optional field,
//! and keeps unknown members in `extra`.

/// Declares an object type; see the module documentation.
macro_rules! object {
    (
        $(#[$doc:meta])*
        pub struct $name:ident $(tagged $tag:literal = $word:literal)? $(adapted $adapt:ident)?
            $(checked $check:path)? $(, accepted $accept:path)?
        {
            $(
                $(#[$field_doc:meta])*
                $mode:ident $field:ident : $type:ty = $key:literal $(or $default:ident)?
                    $(in $range:expr)?
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
            /// Members of the object that no other field holds, verbatim.
            ///
            /// These are unknown members, and optional members whose values are malformed.
            pub extra: $crate::schema::ExtraMembers,
        }

        $crate::schema::macros::object!(@new $name; []; []; $($mode $field: $type,)*);
        $crate::schema::serde_impls::serde_impls!($name);

        impl $name {
            $($crate::schema::macros::object!(@setter $mode $(#[$field_doc])* $field $type);)*

            /// Writes the members into an already started object.
            #[allow(dead_code, unused_variables, reason = "only some objects are nested in others")]
            pub(crate) fn write_members(
                &self,
                revision: $crate::revision::Revision,
                object: &mut $crate::json::Object<'_>,
            ) -> Result<(), $crate::error::Unencodable> {
                $($check(self, revision)?;)?
                $(if let Some(adapted) = self.$adapt(revision) {
                    return adapted.write_members(revision, object);
                })?
                $(object.str($tag, $word);)?
                $(
                    if $crate::schema::macros::object!(@known revision $($range)?) {
                        $crate::schema::macros::object!(
                            @write $mode self.$field, revision, object, $key
                        );
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
                reader: &mut $crate::json::JsonReader<'_>,
            ) -> Result<Self, $crate::schema::DecodeError> {
                $(let mut $field: Option<$type> = None;)*
                let mut extra = $crate::schema::ExtraMembers::new();
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
                        $crate::schema::macros::object!(
                            @read $mode $type, reader, $field, extra, $key
                        );
                        return Ok(());
                    })*
                    extra.keep(key, reader);
                    Ok(())
                })?;
                let object = Self {
                    $(
                        $field: $crate::schema::macros::object!(
                            @take $mode $field, $key $(, $default)?
                        ),
                    )*
                    extra,
                };
                $($accept(&object)?;)?
                Ok(object)
            }
        }
    };

    (@new $name:ident; []; [$($init:tt)*];) => {
        impl $name {
            /// Creates a value in which every field has its default value.
            #[must_use]
            pub fn new() -> Self {
                Self { $($init)* extra: $crate::schema::ExtraMembers::new() }
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
            /// Creates a value from the required fields. Other fields have their default values.
            #[must_use]
            pub fn new($($args)+) -> Self {
                Self { $($init)* extra: $crate::schema::ExtraMembers::new() }
            }
        }
    };
    (
        @new $name:ident; [$($args:tt)*]; [$($init:tt)*];
        required $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::schema::macros::object!(
            @new $name;
            [$($args)* $field: impl Into<$type>,];
            [$($init)* $field: $field.into(),];
            $($rest)*
        );
    };
    (
        @new $name:ident; [$($args:tt)*]; [$($init:tt)*];
        defaulted $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::schema::macros::object!(
            @new $name; [$($args)*]; [$($init)*]; required $field: $type, $($rest)*
        );
    };
    (
        @new $name:ident; [$($args:tt)*]; [$($init:tt)*];
        optional $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::schema::macros::object!(
            @new $name; [$($args)*]; [$($init)* $field: None,]; $($rest)*
        );
    };
    (
        @new $name:ident; [$($args:tt)*]; [$($init:tt)*];
        strict $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::schema::macros::object!(
            @new $name; [$($args)*]; [$($init)* $field: None,]; $($rest)*
        );
    };
    (
        @new $name:ident; [$($args:tt)*]; [$($init:tt)*];
        flag $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::schema::macros::object!(
            @new $name; [$($args)*]; [$($init)* $field: false,]; $($rest)*
        );
    };
    (
        @new $name:ident; [$($args:tt)*]; [$($init:tt)*];
        stamped $field:ident: $type:ty, $($rest:tt)*
    ) => {
        $crate::schema::macros::object!(
            @new $name; [$($args)*]; [$($init)* $field: Default::default(),]; $($rest)*
        );
    };

    (@type required $type:ty) => { $type };
    (@type defaulted $type:ty) => { $type };
    (@type stamped $type:ty) => { $type };
    (@type optional $type:ty) => { Option<$type> };
    (@type strict $type:ty) => { Option<$type> };
    (@type flag $type:ty) => { bool };

    (@known $revision:ident) => { true };
    (@known $revision:ident $range:expr) => { $revision.is_in(&$range) };

    (@write required $value:expr, $revision:ident, $object:ident, $key:literal) => {
        $crate::schema::Encode::encode(&$value, $revision, $object.plain_key($key))?;
    };
    (@write defaulted $($rest:tt)*) => {
        $crate::schema::macros::object!(@write required $($rest)*)
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
    (@is_set defaulted $value:expr) => { true };
    (@is_set stamped $value:expr) => { true };
    (@is_set optional $value:expr) => { $value.is_some() };
    (@is_set strict $value:expr) => { $value.is_some() };
    (@is_set flag $value:expr) => { $value };

    (@read required $type:ty, $reader:ident, $field:ident, $extra:ident, $key:literal) => {
        $field = Some($crate::schema::macros::read_member($reader, $key)?)
    };
    (@read defaulted $type:ty, $reader:ident, $field:ident, $extra:ident, $key:literal) => {
        if $reader.kind() == Some($crate::json::Kind::Null) {
            $reader.skip();
        } else {
            $crate::schema::macros::object!(@read required $type, $reader, $field, $extra, $key);
        }
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
            let name = $crate::schema::Str::from_static($key);
            $extra.push(name, $crate::schema::macros::explicit_false());
        }
    }};

    (@take required $field:ident, $key:literal) => {
        $field.ok_or_else(|| $crate::schema::DecodeError::missing($key))?
    };
    (@take defaulted $field:ident, $key:literal, $default:ident) => {
        $field.unwrap_or_else($default)
    };
    (@take stamped $field:ident, $key:literal) => { $field.unwrap_or_default() };
    (@take optional $field:ident, $key:literal) => { $field };
    (@take strict $field:ident, $key:literal) => { $field };
    (@take flag $field:ident, $key:literal) => { $field.unwrap_or(false) };

    (@setter stamped $(#[$doc:meta])* $field:ident $type:ty) => {};
    (@setter required $(#[$doc:meta])* $field:ident $type:ty) => {};
    (@setter defaulted $(#[$doc:meta])* $field:ident $type:ty) => {};
    (@setter optional $(#[$doc:meta])* $field:ident $type:ty) => {
        $(#[$doc])*
        ///
        /// Sets the field with this name and returns the updated value.
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$type>) -> Self {
            self.$field = Some($field.into());
            self
        }
    };
    (@setter strict $($rest:tt)*) => {
        $crate::schema::macros::object!(@setter optional $($rest)*);
    };
    (@setter flag $(#[$doc:meta])* $field:ident $type:ty) => {};
}

/// Declares an open string enum: an unknown value is kept in `Other`.
macro_rules! string_enum {
    (
        $(#[$doc:meta])*
        pub enum $name:ident {
            $($(#[$value_doc:meta])* $variant:ident = $word:literal),* $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$value_doc])* $variant,)*
            /// An unknown value, verbatim.
            Other(alloc::boxed::Box<str>),
        }

        $crate::schema::serde_impls::serde_impls!($name);

        impl $name {
            /// Returns the string that represents this value in JSON.
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
                reader: &mut $crate::json::JsonReader<'_>,
            ) -> Result<Self, $crate::schema::DecodeError> {
                match reader.text() {
                    Some(word) => Ok(Self::from(&*word)),
                    None => Err($crate::schema::DecodeError::expected("a string", reader)),
                }
            }
        }
    };
}

/// Ties a params type to its request or notification.
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
pub(crate) use string_enum;

use super::decode::{Decode, DecodeError};
use super::members::ExtraMembers;
use crate::json::{JsonReader, Raw};

/// Reads a member whose value must be a `T`.
pub(crate) fn read_member<T: Decode>(
    reader: &mut JsonReader<'_>,
    key: &'static str,
) -> Result<T, DecodeError> {
    T::read(reader).map_err(|error| error.within(key))
}

/// Reads an optional member. A value that is not a `T` is kept in `extra`.
pub(crate) fn read_lenient<T: Decode>(
    reader: &mut JsonReader<'_>,
    extra: &mut ExtraMembers,
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

/// Returns an explicit `false`, to keep among the unknown members.
pub(crate) fn explicit_false() -> Raw {
    Raw::literal(b"false")
}
