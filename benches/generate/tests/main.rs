//! Integration tests. One binary, so that they link once.
