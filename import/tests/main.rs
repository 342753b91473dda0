//! Tests of `replay-import`.
