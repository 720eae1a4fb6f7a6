//! Macros that implement [`Value`](super::value::Value) from a list of fields or of variants.
//!
//! The lists are used as patterns, so that a field or a variant that is missing does not compile.
//! A field is `name`, which is also its key; `name @ 0` names a field of a tuple; `name: "key"`
//! sets another key.

/// Returns the key of a field.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// A struct: an object with a member for each field.
///
/// `A as B: get, base, make` is an object of all fields of `B`, to which `get` converts. Those that
/// are left out are as in `base`, and `make` converts them back.
macro_rules! object {
    ($type:ident { $($field:ident),+ }) => {
        impl Value for $type {
            fn write(&self, out: &mut Vec<u8>) {
                let Self { $($field),+ } = self;
                let mut object = Object::begin(out);
                $(write_member(&mut object, stringify!($field), $field);)+
                object.end();
            }

            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                $(let mut $field = None;)+
                read_members(reader, &[$(stringify!($field)),+], &mut |key, reader| {
                    $(if key == stringify!($field) {
                        $field = Some(Value::read(reader)?);
                    })+
                    Ok(())
                })?;
                Ok(Self { $($field: take($field, stringify!($field))?),+ })
            }
        }
    };
    (
        $type:ident as $inner:ident: $get:path, $base:expr, $make:path;
        { $($field:ident $(: $key:literal)?),+ $(,)? } $(without { $($other:ident),* })?
    ) => {
        impl Value for $type {
            fn write(&self, out: &mut Vec<u8>) {
                let $inner { $($field,)+ $($($other: _),*)? } = $get(self);
                let mut object = Object::begin(out);
                $(Value::write($field, object.plain_key(key!($field $($key)?)));)+
                object.end();
            }

            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                let mut inner: $inner = $base;
                read_members(reader, &[$(key!($field $($key)?)),+], &mut |key, reader| {
                    $(if key == key!($field $($key)?) {
                        inner.$field = Value::read(reader)?;
                    })+
                    Ok(())
                })?;
                $make(inner)
            }
        }
    };
}

/// An enum: an object with a tag, the name of the variant, and a member for each of its fields.
macro_rules! variants {
    ($type:ident $tag:literal {
        $($name:literal $($number:literal)? $variant:ident {
            $($field:ident $(@ $index:tt)?),*
        })+
    }) => {
        impl Tagged for $type {
            const NAMES: &'static [&'static str] = &[$($name),+];
        }

        impl Value for $type {
            fn write(&self, out: &mut Vec<u8>) {
                let mut object = Object::begin(out);
                match self {
                    $(Self::$variant { $($($index:)? $field),* } => {
                        object.str($tag, $name);
                        $(object.i64("number", $number);)?
                        $(write_member(&mut object, stringify!($field), $field);)*
                        $(let _: u16 = $number; object.str("message", &self.to_string());)?
                    })+
                }
                object.end();
            }

            #[allow(unused_variables, reason = "some variants have no fields")]
            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                match read_tag(reader, $tag, Self::NAMES)? {
                    $($name => {
                        $(let mut $field = None;)*
                        let keys = [
                            $tag, $({ let _: u16 = $number; "number" }, "message",)?
                            $(stringify!($field)),*
                        ];
                        read_members(reader, &keys, &mut |key, reader| {
                            $(if key == stringify!($field) {
                                $field = Some(Value::read(reader)?);
                                return Ok(());
                            })*
                            reader.skip();
                            Ok(())
                        })?;
                        $(let $field = take($field, stringify!($field))?;)*
                        Ok(Self::$variant { $($($index:)? $field),* })
                    })+
                    // The names are those of the variants.
                    other => Err(DecodeError::missing(other)),
                }
            }
        }
    };
}

/// An enum whose variants have numbers. Its text also has the number and a message, which are
/// ignored when it is read.
macro_rules! numbered {
    ($type:ident { $($name:literal $number:literal $variant:ident $fields:tt)+ }) => {
        variants! { $type "name" { $($name $number $variant $fields)+ } }

        impl Numbered for $type {
            const ALL: &'static [(u16, &'static str)] = &[$(($number, $name)),+];

            fn number(&self) -> u16 {
                match self {
                    $(Self::$variant { .. } => $number,)+
                }
            }
        }
    };
}

/// An enum without fields: a string.
macro_rules! words {
    ($type:ident { $($name:literal $variant:ident),+ }) => {
        impl Value for $type {
            fn write(&self, out: &mut Vec<u8>) {
                write_str(out, match self {
                    $(Self::$variant => $name,)+
                });
            }

            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                $(if reader.take_word($name) {
                    return Ok(Self::$variant);
                })+
                let expected = format!("one of {}", [$($name),+].join(", "));
                Err(DecodeError::expected(expected, reader))
            }
        }
    };
}

pub(super) use {key, numbered, object, variants, words};
