//! Score-P in programs: how it is found, and switched on and off (site 4.3).

use std::ffi::CStr;

/// The function that is in each instrumented program.
pub const INITIALIZE: &CStr = c"SCOREP_InitMeasurement";

/// A variable of the environment that switches a part of Score-P on or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Switch {
    /// Its name.
    pub name: &'static str,
    /// What it is without a value.
    pub default: bool,
}

/// Whether a profile is made.
pub const PROFILING: Switch = Switch { name: "SCOREP_ENABLE_PROFILING", default: true };

/// Whether a trace is made.
pub const TRACING: Switch = Switch { name: "SCOREP_ENABLE_TRACING", default: false };

/// Whether a value of a variable means yes: any number but 0, or a word for it.
pub fn is_true(value: &str) -> bool {
    match value.parse::<u64>() {
        Ok(number) => number != 0,
        Err(_) => ["true", "yes", "on"].contains(&&*value.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_mean_yes() {
        assert_eq!(["1", "5", "true", "Yes", "ON"].map(is_true), [true; 5]);
        assert_eq!(["0", "false", "no", "x", ""].map(is_true), [false; 5]);
    }
}
