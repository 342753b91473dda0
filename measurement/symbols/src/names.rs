//! Demangling of symbol names.

use cpp_demangle::{DemangleOptions, Symbol};

/// Returns the name as it is in the source: Rust, C++, and modules of Fortran; others are unchanged.
pub(crate) fn demangled(name: &str) -> String {
    rust(name).or_else(|| cpp(name)).or_else(|| fortran(name)).unwrap_or_else(|| name.to_string())
}

fn rust(name: &str) -> Option<String> {
    // The legacy form of Rust is also C++ unless it ends in a hash.
    let body = name.split('.').next().unwrap_or(name);
    let hash = body.strip_suffix('E').and_then(|body| body.get(body.len().checked_sub(17)?..));
    let is_hash =
        |hash: &str| hash.starts_with('h') && hash[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_older = name.starts_with("_ZN") && hash.is_some_and(is_hash);
    if !is_older && !name.starts_with("_R") {
        return None;
    }
    Some(format!("{:#}", rustc_demangle::try_demangle(name).ok()?))
}

fn cpp(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol = Symbol::new(name).ok()?;
    symbol.demangle_with_options(&DemangleOptions::new().no_return_type()).ok()
}

/// Demangles `__module_MOD_procedure` of gfortran.
fn fortran(name: &str) -> Option<String> {
    let (module, procedure) = name.strip_prefix("__")?.split_once("_MOD_")?;
    (!module.is_empty() && !procedure.is_empty()).then(|| format!("{module}::{procedure}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_form() {
        for (linker, people) in [
            ("main", "main"),
            ("__halo_MOD_exchange", "halo::exchange"),
            ("__MOD_", "__MOD_"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_ZN3foo3barEi", "foo::bar(int)"),
            ("_Z3sumIdET_PKS0_i", "sum<double>(double const*, int)"),
            ("_Znonsense", "_Znonsense"),
            ("_ZN", "_ZN"),
            ("", ""),
            ("MAIN__", "MAIN__"),
        ] {
            assert_eq!(demangled(linker), people);
        }
    }
}
