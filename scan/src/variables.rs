//! Environment variables: those of this process, and with what a configuration changes.

use std::collections::BTreeMap;

use recording::scorep;

/// Variables by their names.
pub(crate) type Variables = BTreeMap<String, String>;

/// Returns the variables of this process. Those that are no text are none of ours.
pub(crate) fn of_this_process() -> Variables {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Returns a variable that is set to something.
pub(crate) fn get<'v>(variables: &'v Variables, name: &str) -> Option<&'v str> {
    variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
}

/// Whether a variable means yes, as in Score-P and scan; `None` if it is not set.
pub(crate) fn is_true(variables: &Variables, name: &str) -> Option<bool> {
    get(variables, name).map(scorep::is_true)
}

/// Returns the number that begins a variable, 0 if none does.
pub(crate) fn number(variables: &Variables, name: &str) -> u64 {
    get(variables, name).and_then(|value| value.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
pub(crate) fn of(pairs: &[(&str, &str)]) -> Variables {
    pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_mean_yes() {
        let is = |value: &str| is_true(&of(&[("A", value)]), "A");
        assert_eq!(["1", "5", "true", "Yes", "ON"].map(is), [Some(true); 5]);
        assert_eq!(["0", "false", "no", "x"].map(is), [Some(false); 4]);
        assert_eq!((is(""), is_true(&of(&[]), "A")), (None, None));
        assert_eq!((number(&of(&[("A", "7")]), "A"), number(&of(&[("A", "true")]), "A")), (7, 0));
    }
}
