//! Installed files: where `make install` puts what, that others find it, and that `make uninstall` removes it; recipes for packages.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use crate::documentation::{links, normal};
use crate::support::{fresh, project};
use skip::{Need, skip};

/// Stands for each program: writes its manual page, or records nothing and runs the program.
const PROGRAM: &str = r#"#!/bin/sh
case $1 in
    -o) mkdir "$2" && shift 2 && exec "$@" ;;
    *manual) mkdir -p "$2/man/man1" && echo >"$2/man/man1/${0##*/}.1" ;;
esac
"#;

/// A directory of cargo in which everything seems to be built, and another one to install to.
struct Installation {
    directory: tempfile::TempDir,
}

impl Installation {
    fn new() -> Installation {
        let directory = fresh();
        let release = directory.path().join("target/release");
        fs::create_dir_all(&release).unwrap();
        for name in ["replay-analyze", "replay-import", "replay-record", "replay-scan", "replay-show"] {
            fs::write(release.join(name), PROGRAM).unwrap();
            fs::set_permissions(release.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in ["libreplay_recorder.so", "libreplay_io.so", "THIRD-PARTY"] {
            fs::write(release.join(name), "").unwrap();
        }
        // No source is newer, even if somebody writes one just now.
        let stamp = fs::File::create(release.join("built")).unwrap();
        stamp.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
        Installation { directory }
    }

    fn prefix(&self) -> PathBuf {
        self.directory.path().join("prefix")
    }

    /// Runs a script of `tools/` for the prefix.
    fn run(&self, script: &str, variables: &[(&str, &str)]) -> Output {
        let mut command = self.command(script);
        command.arg(self.prefix()).envs(variables.iter().copied()).output().unwrap()
    }

    /// Prepares to run a script of `tools/`, in the directory around the prefix.
    fn command(&self, script: &str) -> Command {
        let mut command = Command::new(project("tools").join(script));
        command.current_dir(&self.directory).env_remove("DESTDIR").env_remove("LIBDIR");
        command.env("CARGO_TARGET_DIR", self.directory.path().join("target")).env("MAKE", "false");
        command
    }

    fn install(&self, variables: &[(&str, &str)]) {
        let output = self.run("install.sh", variables);
        assert!(output.status.success(), "{output:?}");
    }
}

/// All files below a directory, by their paths in it.
fn files(directory: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path()),
                false => {
                    let path = entry.path();
                    found.insert(path.strip_prefix(directory).unwrap().to_str().unwrap().to_string());
                }
            }
        }
    }
    found
}

#[test]
fn files_are_where_systems_look_for_them_and_can_be_read() {
    let installation = Installation::new();
    installation.install(&[("LIBDIR", "lib64")]);
    let prefix = installation.prefix();
    let files = files(&prefix);
    for file in [
        "bin/replay-analyze",
        "bin/replay-import",
        "bin/replay-record",
        "bin/replay-scan",
        "bin/replay-show",
        "include/replay/replay-scorep-user.h",
        "include/replay/replay.f90",
        "include/replay/replay.h",
        "include/replay/replay.py",
        "libexec/replay/scalasca",
        "libexec/replay/scan",
        "libexec/replay/scout.replay",
        "libexec/replay/skin",
        "libexec/replay/square",
        "lib64/cmake/Replay/ReplayConfig.cmake",
        "lib64/cmake/Replay/ReplayConfigVersion.cmake",
        "lib64/pkgconfig/replay.pc",
        "lib64/replay/libreplay_io.so",
        "lib64/replay/libreplay_recorder.so",
        "share/doc/replay/CHANGELOG.md",
        "share/doc/replay/LICENSE-APACHE",
        "share/doc/replay/LICENSE-MIT",
        "share/doc/replay/README.md",
        "share/doc/replay/THIRD-PARTY",
        "share/doc/replay/benches/records/2026-11-22-targets.md",
        "share/doc/replay/docs/metrics.md",
        "share/doc/replay/replay/advice/rules/examples/work.toml",
        "share/doc/replay/replay/advice/rules/work.toml",
        "share/man/man1/replay-analyze.1",
        "share/man/man1/replay-import.1",
        "share/man/man1/replay-record.1",
        "share/man/man1/replay-scan.1",
        "share/man/man1/replay-show.1",
        "share/man/man5/replay-filter.5",
        "share/man/man7/replay.7",
        "share/replay/archives/imbalance_chain.4/traces.def",
        "share/replay/archives/imbalance_chain.4/traces.otf2",
        "share/replay/archives/imbalance_chain.4/traces/3.evt",
        "share/replay/archives/io.4/traces.otf2",
        "share/replay/archives/nxn.4/traces.otf2",
        "share/replay/installed-files",
        "share/replay/jobscripts/slurm-analyze.sh",
        "share/replay/modules/replay-compat.lua",
        "share/replay/modules/replay-compat.tcl",
        "share/replay/modules/replay.lua",
        "share/replay/modules/replay.tcl",
        "share/replay/replay.conf",
        "share/replay/schemas/replay-show.json",
    ] {
        assert!(files.contains(file), "no {file} in {files:?}");
    }
    for file in &files {
        let path = prefix.join(file);
        assert!(path.metadata().unwrap().permissions().mode() & 0o444 == 0o444, "{file}");
        let text = fs::read_to_string(path).unwrap_or_default();
        for name in ["PREFIX", "LIBDIR", "VERSION"] {
            assert!(!text.contains(&format!("@{name}@")), "{file}: {name} is not filled in");
        }
    }
}

#[test]
fn documents_refer_to_what_is_installed_with_them() {
    let installation = Installation::new();
    installation.install(&[]);
    let documents = installation.prefix().join("share/doc/replay");
    let mut pages = files(&documents);
    // In a folder that is a link.
    pages.insert("jobscripts/README.md".into());
    let mut count = 0;
    for page in pages.iter().filter(|page| page.ends_with(".md")) {
        for link in links(&fs::read_to_string(documents.join(page)).unwrap()) {
            let path = link.split('#').next().unwrap();
            let target = normal(&Path::new(page).parent().unwrap().join(path));
            assert!(path.is_empty() || documents.join(target).exists(), "{page}: {link}");
            count += 1;
        }
    }
    assert!(count > 500, "{count} links");
}

#[test]
fn directory_is_one_that_programs_can_be_in_and_relative_to_who_says_it() {
    let installation = Installation::new();
    let relative = installation.command("install.sh").arg("./a/../b").output().unwrap();
    assert!(relative.status.success(), "{relative:?}");
    let directory = installation.directory.path().canonicalize().unwrap();
    assert!(directory.join("b/bin/replay-show").exists() && !directory.join("a").exists());
    let package = fs::read_to_string(directory.join("b/lib/pkgconfig/replay.pc")).unwrap();
    assert!(package.contains(&format!("{}\n", directory.join("b").display())), "{package}");
    let removed = installation.command("uninstall.sh").arg("b").output().unwrap();
    assert!(removed.status.success() && !directory.join("b").exists(), "{removed:?}");
    for (script, argument, said) in [
        ("install.sh", "a b", "must not contain spaces or colons"),
        ("install.sh", "a:b", "must not contain spaces or colons"),
        ("install.sh", "--help", "usage: tools/install.sh PREFIX"),
        ("install.sh", "", "usage: tools/install.sh PREFIX"),
        ("uninstall.sh", "-p", "usage: tools/uninstall.sh PREFIX"),
        ("uninstall.sh", "", "usage: tools/uninstall.sh PREFIX"),
    ] {
        let words = Some(argument).filter(|argument| !argument.is_empty());
        let refused = installation.command(script).args(words).output().unwrap();
        let error = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && error.contains(said), "{script} {argument}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(fs::read_dir(&directory).unwrap().all(|entry| entry.unwrap().file_name() == "target"));
    }
}

/// What `make dist-binary` packs, with the programs that stand for others, older than all else.
fn package_of_programs(installation: &Installation) -> PathBuf {
    let package = installation.directory.path().join("package");
    let programs = package.join("programs");
    fs::create_dir_all(&programs).unwrap();
    let contents = fs::read_to_string(project("packaging/binary/contents")).unwrap();
    let mut copy = Command::new("cp");
    copy.args(["-r", "--parents", "-t"]).arg(&package).args(contents.lines()).current_dir(project(""));
    assert!(copy.status().unwrap().success());
    fs::copy(project("packaging/binary/Makefile"), package.join("Makefile")).unwrap();
    fs::write(package.join("VERSION"), "version=1.2.3\ncommit=abc\ntime=1\n").unwrap();
    for entry in fs::read_dir(installation.directory.path().join("target/release")).unwrap() {
        let path = entry.unwrap().path();
        let program = programs.join(path.file_name().unwrap());
        fs::copy(path, &program).unwrap();
        fs::File::open(program).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    package
}

#[test]
fn package_of_programs_installs_what_the_sources_do_and_builds_nothing() {
    let installation = Installation::new();
    installation.install(&[]);
    let package = package_of_programs(&installation);
    let prefix = installation.directory.path().join("of_package");
    let make = |target: &str| {
        let mut make = Command::new("make");
        make.arg(target).arg(format!("PREFIX={}", prefix.display())).current_dir(&package);
        for variable in ["DESTDIR", "LIBDIR", "CARGO_TARGET_DIR", "MAKEFLAGS", "MAKELEVEL"] {
            make.env_remove(variable);
        }
        make.output()
    };
    let Ok(installed) = make("install") else {
        return skip(Need::Compiler, "there is no make");
    };
    assert!(installed.status.success(), "{installed:?}");
    // Web pages, lists of crates and a library are in the sources if somebody has made them.
    let is_always = |file: &String| !["/html/", "/sbom/", ".a"].iter().any(|part| file.contains(part));
    let of_sources: BTreeSet<String> = files(&installation.prefix()).into_iter().filter(is_always).collect();
    let of_package: BTreeSet<String> = files(&prefix).into_iter().filter(is_always).collect();
    assert_eq!(of_package, of_sources);
    let described = fs::read_to_string(prefix.join("lib/pkgconfig/replay.pc")).unwrap();
    assert!(described.contains("Version: 1.2.3\n"), "{described}");
    let removed = make("uninstall").unwrap();
    assert!(removed.status.success() && !prefix.exists(), "{removed:?}");
}

#[test]
fn later_version_leaves_nothing_of_an_earlier_one_and_uninstalling_nothing_but_files_of_others() {
    let installation = Installation::new();
    let prefix = installation.prefix();
    installation.install(&[("LIBDIR", "lib64")]);
    installation.install(&[]);
    assert!(!prefix.join("lib64").exists() && prefix.join("lib/replay").exists());
    fs::write(prefix.join("bin/other"), "").unwrap();
    let removed = installation.run("uninstall.sh", &[]);
    assert!(removed.status.success(), "{removed:?}");
    assert_eq!(files(&prefix), BTreeSet::from(["bin/other".into()]));
    assert_eq!(fs::read_dir(&prefix).unwrap().count(), 1, "directories are left");
    fs::remove_dir_all(&prefix).unwrap();
    installation.install(&[]);
    assert!(installation.run("uninstall.sh", &[]).status.success());
    assert!(!prefix.exists(), "it was made for the files, and is left");
    let again = installation.run("uninstall.sh", &[]);
    assert!(!again.status.success());
    assert!(
        String::from_utf8_lossy(&again.stderr).contains("make install has put nothing there"),
        "{again:?}"
    );
}

#[test]
fn packages_have_a_list_of_their_own_and_names_without_the_directory_that_they_are_made_in() {
    let installation = Installation::new();
    let stage = installation.directory.path().join("stage");
    installation.install(&[("DESTDIR", stage.to_str().unwrap())]);
    let prefix = installation.prefix();
    assert!(!prefix.exists());
    let below = stage.join(prefix.strip_prefix("/").unwrap());
    assert!(!below.join("share/replay/installed-files").exists());
    for file in
        ["lib/pkgconfig/replay.pc", "lib/cmake/Replay/ReplayConfig.cmake", "share/replay/modules/replay.lua"]
    {
        let text = fs::read_to_string(below.join(file)).unwrap();
        assert!(
            text.contains(prefix.to_str().unwrap()) && !text.contains(stage.to_str().unwrap()),
            "{file}: {text}"
        );
    }
}

#[test]
fn header_is_found_by_pkg_config() {
    let installation = Installation::new();
    installation.install(&[]);
    let ask = |argument: &str| {
        let places = installation.prefix().join("lib/pkgconfig");
        Command::new("pkg-config").args([argument, "replay"]).env("PKG_CONFIG_PATH", places).output()
    };
    let Ok(valid) = ask("--validate") else {
        return skip(Need::Compiler, "there is no pkg-config (Debian: pkg-config)");
    };
    assert!(valid.status.success(), "{valid:?}");
    let flags = String::from_utf8(ask("--cflags").unwrap().stdout).unwrap();
    assert_eq!(flags.trim(), format!("-I{}", installation.prefix().join("include/replay").display()));
    let version = String::from_utf8(ask("--modversion").unwrap().stdout).unwrap();
    assert_eq!(version.trim(), env!("CARGO_PKG_VERSION"));
}

/// A program that loads modules: its name, its path, and the end of the names of its modules.
struct Modules {
    name: &'static str,
    command: PathBuf,
    ending: &'static str,
}

/// Those that are here, where Debian has them; `LMOD_CMD` is set where Lmod is in use.
fn module_commands() -> Vec<Modules> {
    let lmod = std::env::var_os("LMOD_CMD").unwrap_or_else(|| "/usr/share/lmod/lmod/libexec/lmod".into());
    let all = [
        Modules { name: "Lmod (Debian: lmod)", command: lmod.into(), ending: "" },
        Modules {
            name: "Environment Modules (Debian: environment-modules)",
            command: "/usr/bin/modulecmd".into(),
            ending: ".tcl",
        },
    ];
    let is_here = |modules: &Modules| modules.command.exists();
    for missing in all.iter().filter(|modules| !is_here(modules)) {
        skip(Need::System, format!("module files without {}", missing.name));
    }
    all.into_iter().filter(is_here).collect()
}

#[test]
fn modules_put_programs_and_pages_on_the_paths_and_those_of_scalasca_exclude_it() {
    let installation = Installation::new();
    installation.install(&[]);
    let prefix = installation.prefix();
    // Scalasca's own module, as far as it matters.
    let others = installation.directory.path().join("others");
    fs::create_dir(&others).unwrap();
    fs::write(others.join("scalasca.lua"), "setenv(\"OTHER\", \"1\")\n").unwrap();
    fs::write(others.join("scalasca"), "#%Module\nsetenv OTHER 1\n").unwrap();
    let at = |place: &str| prefix.join(place).display().to_string();
    for Modules { name, command, ending } in module_commands() {
        // Loads modules one after the other, and prints what a shell has then.
        let shell = |modules: &[&str], prints: &str| {
            let load = |module: &&str| format!("eval \"$('{}' bash load {module})\"\n", command.display());
            let script = modules.iter().map(load).collect::<String>() + prints;
            let places = format!("{}:{}", at("share/replay/modules"), others.display());
            let mut bash = Command::new("bash");
            bash.args(["-c", &script]).env_clear().env("PATH", "/usr/bin:/bin").env("MODULEPATH", places);
            let output = bash.env("HOME", installation.directory.path()).output().unwrap();
            String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let prints = "command -v replay-show; echo $REPLAY_ROOT; man -w replay; echo $PKG_CONFIG_PATH; echo $PYTHONPATH";
        let expected =
            ["bin/replay-show", "", "share/man/man7/replay.7", "lib/pkgconfig", "include/replay"].map(at);
        let expected = expected.map(|path| path.trim_end_matches('/').to_owned());
        assert_eq!(shell(&[&format!("replay{ending}")], prints), expected, "{name}");
        let compat = format!("replay-compat{ending}");
        let prints = "command -v scan; command -v replay-scan; echo .$OTHER";
        let expected = [at("libexec/replay/scan"), at("bin/replay-scan"), ".".into()];
        assert_eq!(shell(&[&compat], prints), expected, "{name}");
        assert_eq!(shell(&["scalasca", &compat], prints), [".1"], "{name}: both are loaded");
    }
}

#[test]
fn program_is_built_and_its_test_recorded_by_cmake() {
    const LISTS: &str = "cmake_minimum_required(VERSION 3.10)
project(example C)
find_package(Replay 0.1 REQUIRED)
add_executable(example example.c)
target_link_libraries(example Replay::api)
enable_testing()
replay_record_test(NAME plain COMMAND example first)
replay_record_test(NAME launched COMMAND env VARIABLE=1 $<TARGET_FILE:example> second)
";
    const SOURCE: &str = "#include <replay.h>
int main(int count, char **words) { REPLAY_REGION_BEGIN(\"all\"); REPLAY_REGION_END(\"all\"); return count != 2; }
";
    let installation = Installation::new();
    installation.install(&[]);
    let example = installation.directory.path().join("example");
    fs::create_dir(&example).unwrap();
    fs::write(example.join("CMakeLists.txt"), LISTS).unwrap();
    fs::write(example.join("example.c"), SOURCE).unwrap();
    let run = |words: &[&str]| {
        Command::new(words[0])
            .args(&words[1..])
            .current_dir(&example)
            .env("CMAKE_PREFIX_PATH", installation.prefix())
            .output()
    };
    let Ok(configured) = run(&["cmake", "-S", ".", "-B", "."]) else {
        return skip(Need::Compiler, "there is no CMake (Debian: cmake)");
    };
    assert!(configured.status.success(), "{configured:?}");
    // Twice: an experiment that is there is no obstacle.
    for words in [&["cmake", "--build", "."][..], &["ctest"], &["ctest"]] {
        let done = run(words).unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
    }
    assert!(example.join("plain.replay").is_dir() && example.join("launched.replay").is_dir());
}

#[test]
fn manual_pages_of_files_are_well_formed() {
    for page in ["replay.7", "replay-filter.5"] {
        let page = project("manual/pages").join(page);
        let checked = Command::new("man").args(["-l", "--warnings"]).arg(&page).output();
        let Ok(checked) = checked else { return skip(Need::System, "there is no man (Debian: man-db)") };
        assert!(checked.stderr.is_empty(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}

/// What the recipes say that the sources say, too.
#[test]
fn recipes_are_of_this_version_and_compiler() {
    let version = env!("CARGO_PKG_VERSION");
    let rust = env!("CARGO_PKG_RUST_VERSION");
    let easyconfig = format!("easybuild/Replay-{version}-GCCcore-14.3.0.eb");
    let said = [
        ("replay.spec", format!("Version:        {version}\n")),
        ("spack/package.py", format!("version(\"{version}\", ")),
        ("spack/package.py", format!("replay-{version}.tar.xz")),
        ("spack/package.py", format!("\"rust@{rust}:\"")),
        (&easyconfig, format!("version = '{version}'\n")),
        (&easyconfig, format!("('Rust', '{rust}.0')")),
    ];
    for (recipe, words) in said {
        let path = project("packaging").join(recipe);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(text.contains(&words), "{}: no {words}", path.display());
    }
    let compile = "import sys\nfor path in sys.argv[1:]: compile(open(path).read(), path, 'exec')";
    let recipes = ["spack/package.py", &easyconfig].map(|recipe| project("packaging").join(recipe));
    let Ok(compiled) = Command::new("python3").args(["-c", compile]).args(recipes).output() else {
        return skip(Need::Python, "there is no python3");
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}
