//! Other tools that measure the program, too, and what there is to say about them: the times of each contain the other (site 4.3).

use std::ffi::CStr;

use recording::scorep::{INITIALIZE, PROFILING, Switch, TRACING, is_true};

/// Other tools, by a symbol of each. Darshan is loaded at many sites anyway, and is said nothing about.
const TOOLS: [(&CStr, &str); 4] =
    [(c"Extrae_init", "Extrae"), (c"mpiPi", "mpiP"), (c"ipm_init", "IPM"), (c"Tau_init", "TAU")];

/// Says once which others there are; one process does so.
pub(crate) fn tell() {
    // SAFETY: names end with a NUL, and the symbol is only compared with null.
    let has = |name: &CStr| unsafe { !libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).is_null() };
    for line in lines(has, |name| std::env::var(name).ok()) {
        crate::say(&line);
    }
}

fn lines(has: impl Fn(&CStr) -> bool, variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let is = |Switch { name, default }| variable(name).map_or(default, |value| is_true(value.trim()));
    let of_scorep = has(INITIALIZE).then(|| match is(PROFILING) || is(TRACING) {
        true => "this program is instrumented with Score-P, which is switched on: both record; times contain both",
        false => {
            "this program is instrumented with Score-P, which is switched off here; to use it instead, run without replay-record \
             and with SCOREP_ENABLE_TRACING=true"
        }
    });
    let others: Vec<&str> = TOOLS.iter().filter(|(symbol, _)| has(symbol)).map(|(_, name)| *name).collect();
    let of_others = (!others.is_empty()).then(|| {
        let measure = if others.len() == 1 { "measures" } else { "measure" };
        format!("{} {measure} this program, too; times contain both", others.join(" and "))
    });
    of_scorep.map(str::to_owned).into_iter().chain(of_others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(symbols: &[&CStr], variables: &[(&str, &str)]) -> Vec<String> {
        let get =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        lines(|symbol| symbols.contains(&symbol), get)
    }

    #[test]
    fn scorep_is_switched_off_or_records_too() {
        let off = [("SCOREP_ENABLE_PROFILING", "false"), ("SCOREP_ENABLE_TRACING", "false")];
        assert!(said(&[INITIALIZE], &off)[0].contains("switched off here; to use it instead"));
        // As Score-P takes them: it makes a profile unless it is told not to.
        let on = [&[][..], &[("SCOREP_ENABLE_PROFILING", "0"), ("SCOREP_ENABLE_TRACING", "Yes")], &off[1..]];
        for variables in on {
            let said = said(&[INITIALIZE], variables);
            assert!(said.len() == 1 && said[0].contains("both record; times contain both"), "{variables:?}");
        }
    }

    #[test]
    fn others_are_named_in_one_line() {
        assert_eq!(said(&[], &[]), [""; 0]);
        assert_eq!(said(&[c"darshan_core_initialize"], &[]), [""; 0]);
        assert_eq!(said(&[c"mpiPi"], &[]), ["mpiP measures this program, too; times contain both"]);
        let two = said(&[c"Tau_init", c"ipm_init"], &[]);
        assert_eq!(two, ["IPM and TAU measure this program, too; times contain both"]);
    }
}
