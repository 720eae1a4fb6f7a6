//! Golden transcripts of connecting clients and servers of one or both eras: every cell of the
//! compatibility matrix.
//!
//! They are blessed like the [transcripts](../transcripts.rs) of one machine.
//! They are blessed like the [transcripts](../transcripts.rs) of one machine.

use std::path::Path;

use mcp_harness::assert_meeting;

/// Defines one test per file.
macro_rules! meetings {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts/meetings");
                assert_meeting(&directory.join(concat!(stringify!($name), ".txt")));
            }
        )*
    };
}

meetings! {
    dual_meets_dual
    dual_meets_legacy
    dual_meets_modern
    legacy_meets_dual
    legacy_meets_legacy
    legacy_meets_modern
    modern_meets_dual
    modern_meets_legacy
    modern_meets_modern
}
