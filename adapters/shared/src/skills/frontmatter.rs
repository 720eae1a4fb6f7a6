//! Frontmatter: YAML at the beginning of a Markdown file, read as JSON within bounds.

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};
use serde_json::{Map, Number, Value};

/// The maximum length of a frontmatter in bytes.
const BYTES_MAX: usize = 64 * 1024;
/// The maximum nesting depth of its values.
const DEPTH_MAX: usize = 32;

/// Returns the frontmatter of a file.
///
/// # Errors
/// Returns what is wrong with it. Anchors and values without a form in JSON are refused.
pub(crate) fn parse(file: &[u8]) -> Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(file).map_err(|_| "the file is not UTF-8")?;
    let yaml =
        block(text).ok_or("the file does not begin with frontmatter between two lines `---`")?;
    if yaml.len() > BYTES_MAX {
        return Err(format!("the frontmatter exceeds {BYTES_MAX} bytes"));
    }
    let mut parser = Parser::new_from_str(yaml);
    loop {
        match next(&mut parser)? {
            Event::StreamStart | Event::DocumentStart(_) => {}
            Event::StreamEnd => return Err("the frontmatter is empty, not a mapping".to_owned()),
            first => match value(&mut parser, first, 0)? {
                Value::Object(fields) => return Ok(fields),
                _ => return Err("the frontmatter is not a mapping".to_owned()),
            },
        }
    }
}

/// Returns the lines between the first two lines that are `---`.
fn block(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return rest.get(..length);
        }
        length += line.len();
    }
    None
}

fn next<'a>(parser: &mut Parser<'a, StrInput<'a>>) -> Result<Event<'a>, String> {
    match parser.next() {
        Some(Ok((event, _))) => Ok(event),
        Some(Err(error)) => Err(format!("invalid frontmatter: {error}")),
        None => Err("the frontmatter is incomplete".to_owned()),
    }
}

fn value<'a>(
    parser: &mut Parser<'a, StrInput<'a>>,
    event: Event<'a>,
    depth: usize,
) -> Result<Value, String> {
    if depth > DEPTH_MAX {
        return Err(format!("the frontmatter is nested more than {DEPTH_MAX} levels deep"));
    }
    match event {
        Event::Scalar(text, ScalarStyle::Plain, 0, None) => plain(&text),
        Event::Scalar(text, _, 0, None) => Ok(Value::from(text)),
        Event::SequenceStart(0, None) => {
            let mut all = Vec::new();
            loop {
                match next(parser)? {
                    Event::SequenceEnd => return Ok(Value::Array(all)),
                    element => all.push(value(parser, element, depth + 1)?),
                }
            }
        }
        Event::MappingStart(0, None) => {
            let mut fields = Map::new();
            loop {
                let key = match next(parser)? {
                    Event::MappingEnd => return Ok(Value::Object(fields)),
                    Event::Scalar(key, _, 0, None) => key.into_owned(),
                    _ => return Err("a key of the frontmatter is not a plain string".to_owned()),
                };
                let event = next(parser)?;
                let field = value(parser, event, depth + 1)?;
                if fields.contains_key(&key) {
                    return Err(format!("the frontmatter repeats the key {key:?}"));
                }
                fields.insert(key, field);
            }
        }
        _ => Err("anchors, aliases and tags are not supported in frontmatter".to_owned()),
    }
}

/// Returns the value of a scalar without quotes, by the core schema of YAML 1.2.
fn plain(text: &str) -> Result<Value, String> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let based = |prefix, base| {
        let digits = text.strip_prefix(prefix).filter(|it| !it.starts_with(['-', '+']));
        digits.and_then(|digits| u64::from_str_radix(digits, base).ok())
    };
    let is_number = digits.starts_with(|it: char| it.is_ascii_digit() || it == '.')
        && digits.bytes().any(|it| it.is_ascii_digit())
        && digits.bytes().all(|it| it.is_ascii_digit() || b".eE+-".contains(&it));
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => {
            if let Some(number) = based("0x", 16).or_else(|| based("0o", 8)) {
                return Ok(Value::from(number));
            }
            if let (true, Ok(number)) = (is_number, text.parse::<i64>()) {
                return Ok(Value::from(number));
            }
            if let (true, Ok(number)) = (is_number, text.parse::<f64>()) {
                let number = Number::from_f64(number);
                return number.map(Value::Number).ok_or_else(|| no_json(text));
            }
            if matches!(&*digits.to_lowercase(), ".inf" | ".nan") {
                return Err(no_json(text));
            }
            Value::from(text)
        }
    })
}

fn no_json(text: &str) -> String {
    format!("the value {text:?} of the frontmatter has no form in JSON")
}

/// Returns whether two values are equal, whatever the form of their numbers.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => difference(one, other).is_none(),
        _ => one == other,
    }
}

/// Returns a field that differs.
pub(crate) fn difference<'a>(
    one: &'a Map<String, Value>,
    other: &'a Map<String, Value>,
) -> Option<&'a str> {
    let mut fields = one.keys().chain(other.keys());
    let is_different = |field: &&String| match (one.get(*field), other.get(*field)) {
        (Some(one), Some(other)) => !is_same(one, other),
        _ => true,
    };
    fields.find(is_different).map(|field| &**field)
}

#[cfg(test)]
mod tests;
