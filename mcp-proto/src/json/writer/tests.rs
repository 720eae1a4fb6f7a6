//! Written text compared with what `serde_json` parses.

use alloc::string::{String, ToString};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::json::testing;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn strings_survive_a_round_trip_on_one_line_frm_02(text in testing::string()) {
        let out = written(|out| write_str(out, &text));
        prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        prop_assert!(!out.bytes().any(|byte| byte < 0x20));
    }

    #[test]
    fn integers_are_written_in_decimal(unsigned in any::<u64>(), shift in 0_u32..64) {
        let unsigned = unsigned >> shift;
        prop_assert_eq!(written(|out| write_u64(out, unsigned)), unsigned.to_string());
        let signed = unsigned.cast_signed();
        for signed in [signed, signed.wrapping_neg()] {
            prop_assert_eq!(written(|out| write_i64(out, signed)), signed.to_string());
        }
    }
}

#[test]
fn boundary_integers_are_written_in_decimal() {
    for number in [0, 1, 9, 10, 99, 100, u64::from(u32::MAX), 1 << 53, u64::MAX - 1, u64::MAX] {
        assert_eq!(written(|out| write_u64(out, number)), number.to_string());
    }
    for number in [0, -1, -9, -10, i64::MIN, i64::MIN + 1, i64::MAX] {
        assert_eq!(written(|out| write_i64(out, number)), number.to_string());
    }
}

#[test]
fn every_control_character_is_escaped() {
    for character in ('\0'..='\u{1f}').chain(['"', '\\', '\u{7f}', '\u{2028}']) {
        let text = character.to_string();
        let out = written(|out| write_str(out, &text));
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
    }
}

#[test]
fn common_escapes_are_short() {
    for (text, spelled) in [
        ("\"", r#""\"""#),
        ("\\", r#""\\""#),
        ("\n", r#""\n""#),
        ("\r", r#""\r""#),
        ("\t", r#""\t""#),
        ("\0", r#""\u0000""#),
        ("\u{8}", r#""\u0008""#),
        ("\u{c}", r#""\u000c""#),
        ("\u{1f}", r#""\u001f""#),
        ("/\u{7f}\u{2028}", "\"/\u{7f}\u{2028}\""),
    ] {
        assert_eq!(written(|out| write_str(out, text)), spelled);
    }
}

#[test]
fn floats_are_written_as_integers_below_2_to_the_53() {
    for (number, spelled) in [
        (0.0, "0"),
        (-0.0, "0"),
        (3.0, "3"),
        (-3.5, "-3.5"),
        (9_007_199_254_740_991.0, "9007199254740991"),
        (-9_007_199_254_740_991.0, "-9007199254740991"),
        // Larger floats do not represent a single integer.
        (9_007_199_254_740_992.0, "9007199254740992.0"),
        (-9_007_199_254_740_992.0, "-9007199254740992.0"),
        (1e300, "1e+300"),
        (1e16, "1e+16"),
        (0.0001, "0.0001"),
        (0.00001, "0.00001"),
        (0.000_001, "1e-6"),
        (f64::INFINITY, "null"),
        (f64::NAN, "null"),
    ] {
        assert_eq!(written(|out| write_f64(out, number)), spelled);
    }
}

#[test]
fn members_and_elements_are_separated_by_commas() {
    let out = written(|out| {
        let mut object = Object::begin(out);
        object.str("k\"ey", "\n");
        object.opt_str("none", None);
        object.opt_str("some", Some(""));
        object.i64("i", -7);
        object.bool("yes", true);
        object.bool("no", false);
        object.raw("raw", b"[null]");
        object.escaped_key(br"\u0061").extend_from_slice(b"1");
        Object::begin(object.key("empty")).end();
        let mut array = Array::begin(object.key("list"));
        write_u64(array.next(), 1);
        Array::begin(array.next()).end();
        array.end();
        object.end();
    });
    let wanted = json!({
        "k\"ey": "\n", "some": "", "i": -7, "yes": true, "no": false, "raw": [null], "a": 1,
        "empty": {}, "list": [1, []]
    });
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), wanted);
}

#[test]
fn a_long_text_reserves_little_more_than_its_length() {
    let text = "a".repeat(4 * LONG);
    let mut out = Vec::new();
    write_str(&mut out, &text);
    assert_eq!(out.len(), text.len() + 2);
    let room = out.capacity();
    assert!((out.len()..=text.len() + LONG).contains(&room), "{room}");
    out.extend_from_slice(&[b'}'; 64]);
    assert_eq!(out.capacity(), room, "the rest of the message fits");
}
