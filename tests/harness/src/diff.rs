//! Compares two lists of lines.

use std::fmt::Write as _;

/// Returns what is missing in `actual` and what it has in addition, with the common lines around
/// it.
pub(crate) fn diff(expected: &[String], actual: &[String]) -> String {
    // Longest common subsequence, from the back.
    let width = actual.len() + 1;
    let mut longest = vec![0_usize; (expected.len() + 1) * width];
    let at = |row: usize, column: usize| row * width + column;
    for row in (0..expected.len()).rev() {
        for column in (0..actual.len()).rev() {
            longest[at(row, column)] = if expected[row] == actual[column] {
                longest[at(row + 1, column + 1)] + 1
            } else {
                longest[at(row + 1, column)].max(longest[at(row, column + 1)])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut out = String::new();
    while row < expected.len() || column < actual.len() {
        let both = row < expected.len() && column < actual.len();
        let (mark, line) = if both && expected[row] == actual[column] {
            column += 1;
            row += 1;
            (' ', &expected[row - 1])
        } else if column >= actual.len()
            || both && longest[at(row + 1, column)] >= longest[at(row, column + 1)]
        {
            row += 1;
            ('-', &expected[row - 1])
        } else {
            column += 1;
            ('+', &actual[column - 1])
        };
        let _infallible = writeln!(out, "{mark} {line}");
    }
    out
}
