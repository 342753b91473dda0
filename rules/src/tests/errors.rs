//! Each message once, with its line and column (advice 8.6).

use super::{filter, read, rule, schema, when};
use crate::{Source, read as read_files};

/// The message of the only problem, after the file's name.
#[track_caller]
fn problem(text: &str) -> String {
    let problems = read(text).expect_err("something wrong");
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 1, "{}", all.join("\n"));
    let line = all[0].lines().next().unwrap_or_default();
    line.strip_prefix("a.toml:").expect("the file's name").to_owned()
}

/// Problems of `where` are in line 5, from column 10 on.
#[track_caller]
fn check_filter(expression: &str, expected: &str) {
    assert_eq!(problem(&filter(expression)), format!("5:{expected}"));
}

/// Problems of `when` are in line 7, from column 9 on.
#[track_caller]
fn check_when(expression: &str, expected: &str) {
    assert_eq!(problem(&when(expression)), format!("7:{expected}"));
}

#[test]
fn a_problem_has_the_line_and_a_caret() {
    let problems = read(&when("max(wait) > 4 KiB")).unwrap_err();
    let expected =
        "a.toml:7:9: time compared with bytes: \"max(wait) > 4 KiB\"\nwhen = 'max(wait) > 4 KiB'\n        ^";
    assert_eq!(problems[0].to_string(), expected);
}

#[test]
fn all_problems_of_all_files_are_listed_by_place() {
    let wrong = filter("wat > 1 s and bytes > 1 s").replace("count() > 0", "cuont() > 0");
    let files = [Source::new("b.toml", &*wrong), Source::new("a.toml", "format = 1\nformat = 2\nrules = 3")];
    let problems = read_files(&files, &schema()).unwrap_err();
    let all: Vec<String> = problems.iter().map(|problem| problem.to_string().replace('\n', " ")).collect();
    let begins = ["b.toml:5:10: unknown name", "b.toml:5:24: bytes compared", "b.toml:7:9: unknown function"];
    let begins = begins.into_iter().chain(["a.toml:2:1: duplicate key", "a.toml:3:1: unknown key"]);
    assert_eq!(all.len(), 5, "{all:#?}");
    for (problem, begin) in all.iter().zip(begins) {
        assert!(problem.starts_with(begin), "{problem}");
    }
}

#[test]
fn files_that_are_no_toml_are_refused() {
    assert_eq!(problem("format = 1\nx"), "2:2: key with no value, expected `=`");
    assert_eq!(problem("format = 1\n[define"), "2:8: unclosed table, expected `]`");
}

#[test]
fn formats_are_checked() {
    assert_eq!(problem(""), "1:1: no \"format\", expected format = 1");
    assert_eq!(problem("format = 2"), "1:10: format 2, expected 1: the file is for another version");
    assert_eq!(problem("format = '1'"), "1:10: \"format\" is of type string, expected a whole number");
}

#[test]
fn keys_are_checked() {
    let all = "format, library, define, event, rule, set, example";
    assert_eq!(problem("format = 1\nx = 1"), format!("2:1: unknown key \"x\", expected {all}"));
    assert_eq!(problem("format = 1\nrulez = 1"), "2:1: unknown key \"rulez\", did you mean \"rule\"?");
    assert_eq!(problem("format = 1\nrule = 1"), "2:8: \"rule\" is of type integer, expected [[rule]]");
    assert_eq!(problem("format = 1\nrule = [1]"), "2:9: \"rule\" is of type integer, expected [[rule]]");
    assert_eq!(problem("format = 1\nset = 1"), "2:7: \"set\" is of type integer, expected a table");
    assert_eq!(problem("format = 1\nset.x = 1"), "2:9: \"x\" is of type integer, expected a table");
    assert_eq!(problem("format = 1\nlibrary = 1"), "2:11: \"library\" is of type integer, expected a string");
    assert_eq!(
        problem("format = 1\ndefine.x = true"),
        "2:12: \"x\" is of type boolean, expected an expression in quotes"
    );
}

#[test]
fn rules_without_what_they_need_are_refused() {
    assert_eq!(problem(&filter("wait > 0 s").replace("id = \"a/b\"", "")), "2:1: rule without \"id\"");
    assert_eq!(
        problem(&filter("wait > 0 s").replace("over = \"collective\"", "")),
        "3:7: rule without \"over\""
    );
    assert_eq!(
        problem("format = 1\n[[rule]]\nid = \"a/b\"\nover = \"collective\"\nfinds = 1"),
        "5:9: \"finds\" is of type integer, expected a table"
    );
    for key in ["when", "severity", "title", "advice"] {
        let text = filter("wait > 0 s").replace(&format!("\n{key} = "), "\n# ");
        assert_eq!(problem(&text), format!("3:7: [rule.finds] without \"{key}\""));
    }
}

#[test]
fn a_rule_without_finds_says_so_once() {
    let problems = read("format = 1\n[[rule]]\nid = \"a/b\"\nover = \"collective\"\n").unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].message, "rule without [rule.finds]");
}

#[test]
fn ids_are_checked() {
    let id = |id: &str| when("count() > 0").replace("a/b", id);
    assert_eq!(problem(&id("ab")), "3:7: id \"ab\", expected PREFIX/NAME of letters, digits, - and _");
    let twice = when("count() > 0") + &when("count() > 0").replace("format = 1", "");
    assert_eq!(problem(&twice), "13:7: rule \"a/b\" is there twice");
}

#[test]
fn tables_are_checked() {
    let over = |over: &str| when("count() > 0").replace("\"collective\"", &format!("\"{over}\""));
    assert_eq!(problem(&over("colective")), "4:9: unknown table \"colective\", did you mean \"collective\"?");
    let all = "collective, culprit, message, pair, place, visit";
    assert_eq!(problem(&over("row")), format!("4:9: unknown table \"row\", expected {all}"));
    assert_eq!(problem(&over("place:x")), "4:9: table \"place\" is not one of an event");
    assert_eq!(problem(&over("pair")), "4:9: expected \"pair:EVENT\"");
    assert_eq!(problem(&over("pair:x")), "4:9: unknown event \"x\"");
    let event = "[[event]]\nid = 'halo'\nregion = 'x'\n";
    assert_eq!(
        problem(&(over("pair:halo") + event)),
        "4:9: event \"halo\" is visits of regions, expected one with \"begin\" and \"end\""
    );
    let event = "[[event]]\nid = 'halo'\nbegin = 'x'\nend = 'y'\n";
    assert_eq!(
        problem(&(over("pair:hallo") + event)),
        "4:9: unknown event \"hallo\", did you mean \"halo\"?"
    );
    assert_eq!(
        problem(&(over("visit:halo") + event)),
        "4:9: event \"halo\" is a pair, expected one with \"region\""
    );
}

#[test]
fn events_are_checked() {
    let event = |lines: &str| problem(&format!("format = 1\n[[event]]\n{lines}\n"));
    assert_eq!(event("region = 'x'"), "2:1: event without \"id\"");
    assert_eq!(event("id = 'a b'\nregion = 'x'"), "3:7: id \"a b\", expected a name");
    let neither = "2:1: event with neither \"region\" alone nor both \"begin\" and \"end\"";
    assert_eq!(event("id = 'a'"), neither);
    assert_eq!(event("id = 'a'\nbegin = 'x'"), neither);
    assert_eq!(
        event("id = 'a'\nregion = 'b'\nmatch = 'fifo'"),
        "5:10: \"match\" is of use with \"begin\" and \"end\" only"
    );
    assert_eq!(
        event("id = 'a'\nbegin = 'b'\nend = 'c'\nmatch = 'fiffo'"),
        "6:10: match \"fiffo\", expected fifo, lifo, parameter:NAME, did you mean \"fifo\"?"
    );
    let twice = "id = 'a'\nregion = 'b'\n[[event]]\nid = 'a'\nregion = 'b'";
    assert_eq!(event(twice), "6:7: event \"a\" is there twice");
    let long = format!("id = 'a'\nregion = '{}'", "x".repeat(257));
    assert_eq!(event(&long), "4:11: pattern of more than 256 bytes");
}

#[test]
fn groups_are_checked() {
    let by =
        |by: &str| problem(&rule(&format!("by = [{by}]"), "when = 'count() > 0'\nseverity = 'sum(wait)'"));
    assert_eq!(by("'pth'"), "5:8: unknown column \"pth\", did you mean \"path\"?");
    assert_eq!(by("'path', 'path'"), "5:16: column \"path\" is there twice");
    let all = "rank, path, operation, text, bool, count or bytes";
    assert_eq!(by("'wait'"), format!("5:8: groups by time, expected a column of {all}"));
    assert_eq!(by("1"), "5:6: \"by\" is of type array, expected strings");
    assert_eq!(by(&"'path',".repeat(9)), "5:64: \"by\" has 9 values, at most 8 are read");
    let culprit =
        rule("by = ['path']", "when = 'cost > 1 s'\nseverity = 'cost'").replace("collective", "culprit");
    assert_eq!(problem(&culprit), "5:8: a row of table \"culprit\" is a group already, expected no `by`");
}

#[test]
fn names_are_checked() {
    check_filter("wiat > 1 s", "10: unknown name \"wiat\", did you mean \"wait\"?");
    check_filter("quux > 1 s", "10: unknown name \"quux\"");
    check_filter("operation == Barier", "23: unknown name \"Barier\", did you mean \"Barrier\"?");
    check_filter("operation == \"Barier\"", "23: unknown operation \"Barier\", did you mean \"Barrier\"?");
    check_filter("operation in [Barier]", "24: unknown operation \"Barier\", did you mean \"Barrier\"?");
    check_filter("inside(x)", "17: unknown event \"x\"");
    check_filter("undr(\"x\")", "10: unknown function \"undr\", did you mean \"under\"?");
    check_when("run.al > 1 s", "9: unknown name \"run.al\", did you mean \"run.all\"?");
}

#[test]
fn operands_are_checked() {
    check_filter("wait + bytes > 1", "10: time added to bytes: \"wait + bytes\"");
    check_filter("wait - bytes > 1", "10: time less bytes: \"wait - bytes\"");
    check_filter("wait * wait > 1", "10: time times time: \"wait * wait\"");
    check_filter("1 / wait > 1", "10: count divided by time: \"1 / wait\"");
    check_filter("bytes / wait > 1", "10: rate compared with count: \"bytes / wait > 1\"");
    check_filter("-rank > 1", "10: no minus of a rank: \"-rank\"");
    check_filter("wait", "10: \"where\" is time, expected bool: \"wait\"");
    check_filter("not wait", "14: \"not\" needs bool, found time: \"wait\"");
    check_filter("wait > 1 s and 1", "25: \"and\" needs bool, found count: \"1\"");
    check_filter("1 or wait > 1 s", "10: \"or\" needs bool, found count: \"1\"");
    check_filter("if wait then 1 else 2", "13: \"if\" needs bool, found time: \"wait\"");
    check_filter(
        "(if wait > 1 s then 1 else 2 s) > 1",
        "11: count and time from one if: \"if wait > 1 s then 1 else 2 s\"",
    );
    check_filter("path < path", "10: a path is neither less nor more than another: \"path < path\"");
    check_filter("path < \"x\"", "10: a path is neither less nor more than a name: \"path < \"x\"\"");
    check_filter("wait == \"x\"", "18: time compared with a text: \"\"x\"\"");
    check_filter("wait in [1 s, 2]", "24: time compared with count: \"2\"");
    check_filter("wait in [x]", "19: time compared with a name: \"x\"");
    check_filter("(wait > 1 s) in [1]", "10: a bool is in no list: \"(wait > 1 s) in [1]\"");
    check_filter(
        "\"x\" or wait > 1 s",
        "10: a text is of use only beside a name or as an argument: \"\"x\"\"",
    );
    check_filter("rank == 1.5", "10: rank compared with number: \"rank == 1.5\"");
    check_filter("wait >", "16: unexpected end of the expression, expected a value");
}

#[test]
fn names_of_different_things_are_not_compared() {
    let mut schema = schema();
    schema.tables[0].columns[6].domain = 1;
    let text = filter("previous_region == next_region");
    let problems = read_files(&[Source::new("a.toml", text)], &schema).unwrap_err();
    assert_eq!(problems[0].message, "names of different things compared: \"previous_region == next_region\"");
}

#[test]
fn arguments_are_checked() {
    check_filter("abs() > 1", "10: 0 arguments, expected abs(number): \"abs()\"");
    check_filter("abs(rank) > 1", "10: abs needs a number, found rank: \"abs(rank)\"");
    check_filter("min(wait) > 1 s", "10: 1 arguments, expected min(number, number): \"min(wait)\"");
    check_filter("max(wait, 1) > 1 s", "10: time compared with count: \"max(wait, 1)\"");
    check_filter("min(path, path) == path", "10: min needs numbers, found path: \"min(path, path)\"");
    check_filter(
        "clamp(wait, 1 s) > 1 s",
        "10: 2 arguments, expected clamp(number, least, most): \"clamp(wait, 1 s)\"",
    );
    check_filter("same(rank, path)", "10: rank compared with path: \"same(rank, path)\"");
    check_filter(
        "matches(rank, \"x\")",
        "10: matches needs a path, an operation or a text, found rank: \"matches(rank, \"x\")\"",
    );
    check_filter("matches(path, region)", "24: expected a pattern in quotes: \"region\"");
    check_filter("under()", "10: expected a pattern in quotes: \"under()\"");
    let long = format!("under(\"{}\")", "x".repeat(257));
    assert!(problem(&filter(&long)).starts_with("5:16: pattern of more than 256 bytes"));
    check_filter("inside(\"x\")", "10: expected inside(event): \"inside(\"x\")\"");
    check_filter("sum(wait) > 1 s", "10: a function of groups, expected one of rows: \"sum(wait)\"");
    check_when("under(\"x\")", "9: a function of rows, expected one of groups: \"under(\"x\")\"");
    check_when("sum(path) > 1", "9: sum needs time, bytes, count or number, found path: \"sum(path)\"");
    check_when(
        "mean(rank) > 1",
        "9: mean needs time, bytes, count, number or rate, found rank: \"mean(rank)\"",
    );
    check_when("max(path) == path", "9: max needs a number or a rank, found path: \"max(path)\"");
    check_when("share(wait) > 1", "9: share needs a condition, found time: \"share(wait)\"");
    check_when(
        "distinct(wait) > 1",
        "9: distinct needs rank, path, operation, text, count or bytes, found time: \"distinct(wait)\"",
    );
    check_when(
        "most(bytes, wait) > 1 B",
        "9: most needs rank, path, operation or text, found bytes: \"most(bytes, wait)\"",
    );
    check_when("most(rank, path) == 1", "9: most needs a weight, found path: \"most(rank, path)\"");
    check_when("quantile(wait, 2) > 1 s", "24: expected a number from 0 to 1: \"2\"");
    check_when("count(wait) > 1", "9: 1 arguments, expected count(): \"count(wait)\"");
    check_when(
        "wait > 1 s",
        "9: column \"wait\" differs from row to row: expected sum(wait), mean(wait) and the like, or \"wait\" in `by`",
    );
}

#[test]
fn columns_that_functions_need_are_checked() {
    let place = |text: String| text.replace("\"collective\"", "\"place\"").replace("sum(wait)", "sum(time)");
    assert_eq!(
        problem(&place(filter("next_to(\"x\")"))),
        "5:10: rows of this table have no neighbours: \"next_to(\"x\")\""
    );
    let mut schema = schema();
    schema.tables[0].columns.retain(|column| column.name != "path" && column.name != "rank");
    let messages = |text: String| {
        let problems = read_files(&[Source::new("a.toml", text)], &schema).unwrap_err();
        problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
    };
    assert_eq!(messages(filter("under(\"x\")")), ["rows of this table have no call path: \"under(\"x\")\""]);
    let series = filter("wait > 1 s").replace("count() > 0", "series(wait > 1 s) > 1");
    assert_eq!(messages(series), ["rows of this table have no rank: \"series(wait > 1 s)\""]);
    let protects = rule("protects = []", "when = 'count() > 0'\nseverity = 'sum(wait)'");
    assert_eq!(messages(protects), ["\"protects\" needs rows with a call path"]);
}

#[test]
fn pairs_are_no_events_to_be_inside_of() {
    let text = filter("inside(halo)") + "[[event]]\nid = 'halo'\nbegin = 'x'\nend = 'y'";
    assert_eq!(problem(&text), "5:17: inside needs an event with `region`, \"halo\" is a pair");
}

#[test]
fn definitions_are_checked() {
    let define = |lines: &str| when("a") + &format!("[define]\n{lines}");
    assert_eq!(problem(&define("a = 'b'\nb = 'a'")), "13:6: definition \"a\" uses itself");
    assert_eq!(
        problem(&define("a = 'wait > 4 B'")),
        "12:6: column \"wait\" differs from row to row: expected sum(wait), mean(wait) and the like, or \"wait\" in `by`"
    );
    assert_eq!(
        problem(&define("a = 'count() > 0'\n'a b' = '1'")),
        "13:2: \"a b\" is no name for an expression"
    );
    assert_eq!(
        problem(&define("a = 'count() > 0'\nb = '1 +'")),
        "13:9: unexpected end of the expression, expected a value"
    );
    let chain: String = (0..40).map(|at| format!("d{at} = 'd{}'\n", at + 1)).collect();
    assert_eq!(problem(&define(&format!("a = 'd0'\n{chain}"))), "43:8: definitions nested more than 32 deep");
}

#[test]
fn values_of_let_are_checked() {
    let lets = |lines: &str| {
        problem(&rule(&format!("[rule.let]\n{lines}"), "when = 'count() > 0'\nseverity = 'sum(wait)'"))
    };
    assert_eq!(lets("wait = 'sum(wait)'"), "6:1: \"wait\" is a column already");
    assert_eq!(lets("a.b = 'sum(wait)'"), "6:1: \"a\" is of type table, expected an expression in quotes");
    assert_eq!(lets("\"a-b\" = 'sum(wait)'"), "6:2: \"a-b\" is no name for an expression");
    assert_eq!(lets("a = 'b'\nb = 'sum(wait)'"), "6:6: unknown name \"b\"");
    let many: String = (0..65).map(|at| format!("a{at} = '1'\n")).collect();
    assert_eq!(lets(&many), "70:1: 65 names, at most 64 are read");
}

#[test]
fn what_is_found_is_checked() {
    let with = |line: &str| {
        problem(&rule("by = ['path']", &format!("when = 'count() > 0'\nseverity = 'sum(wait)'\n{line}")))
    };
    assert_eq!(
        with("x = 1"),
        "9:1: unknown key \"x\", expected when, severity, most, scenario, bound_if, confidence, claims, change, title, advice, shows"
    );
    assert_eq!(
        with("most = 'edgse'"),
        "9:9: unknown gain \"edgse\", expected edges, work, phase, order, calls or an expression, did you mean \"edges\"?"
    );
    assert_eq!(with("most = 'count()'"), "9:9: \"most\" is count, expected time: \"count()\"");
    assert_eq!(with("confidence = '1 s'"), "9:15: \"confidence\" is time, expected number: \"1 s\"");
    assert_eq!(with("claims = 'all'"), "9:11: claims \"all\", expected waits, costs, calls, none");
    assert_eq!(with("change = 'x'"), "9:11: \"x\" is no call path, expected path or cause");
    assert_eq!(with("scenario = 'spread=rank'"), "9:20: \"rank\" is no call path, expected path or cause");
    assert_eq!(with("scenario = '=x'"), "9:13: scenario \"=x\", expected NAME=PLACE");
    assert_eq!(with("shows = ['wiat']"), "9:11: unknown name \"wiat\", did you mean \"wait\"?");
    check_when("count()", "9: \"when\" is count, expected bool: \"count()\"");
    let severity = rule("", "when = 'count() > 0'\nseverity = 'count()'");
    assert_eq!(problem(&severity), "8:13: \"severity\" is count, expected time: \"count()\"");
}

#[test]
fn texts_are_checked() {
    let advice = |text: &str| problem(&when("count() > 0").replace("\"a\"\n", &format!("\"{text}\"\n")));
    assert_eq!(advice("{wiat}"), "10:12: unknown name \"wiat\", did you mean \"wait\"?");
    assert_eq!(advice("a {"), "10:13: placeholder without \"}\", expected {name}, or {{ for a brace");
    assert_eq!(advice("a }"), "10:13: \"}\" without a placeholder, expected }} for a brace");
    assert_eq!(advice("{}"), "10:12: unexpected end of the expression, expected a value");
    assert_eq!(advice("{sum(wait):KiB}"), "10:22: format \"KiB\" for time, expected s, ms, us");
    assert_eq!(advice("{count:s}"), "10:18: format \"s\" for count, expected % or a number of digits");
    assert_eq!(advice("{path:s}"), "10:17: format \"s\" for path, expected none");
    assert_eq!(advice(&"{count}".repeat(65)), "10:459: text with more than 64 placeholders");
    let two = when("mean(wait) > 1 s and mean(bytes) > 1 B").replace("\"a\"", "\"{mean}\"");
    assert_eq!(problem(&two), "10:12: \"mean\" without parentheses, but the rule uses 2 of it, expected one");
}

#[test]
fn what_rules_refine_is_checked() {
    let refines =
        |what: &str| rule(&format!("refines = ['{what}']"), "when = 'count() > 0'\nseverity = 'sum(wait)'");
    assert_eq!(problem(&refines("a/c")), "5:13: unknown rule \"a/c\", did you mean \"a/b\"?");
    assert_eq!(problem(&refines("a/b")), "3:7: rules refine each other: a/b > a/b");
    let other = refines("a/b").replace("\"a/b\"", "\"a/a\"").replace("format = 1", "");
    assert_eq!(problem(&(refines("a/a") + &other)), "13:7: rules refine each other: a/a > a/b > a/a");
}

#[test]
fn sets_are_checked() {
    let set = |lines: &str| problem(&(when("count() > 0") + lines));
    assert_eq!(set("[set.'a/c']\noff = true"), "11:7: unknown rule \"a/c\", did you mean \"a/b\"?");
    assert_eq!(set("[set.'a/b']\noff = 1"), "12:7: \"off\" is of type integer, expected true or false");
    assert_eq!(
        set("[set.'a/b']\nid = 1"),
        "12:1: unknown key \"id\", expected off, where, protects, let, finds, when"
    );
}

#[test]
fn numbers_that_sets_put_into_conditions_are_checked() {
    let base = rule(
        "by = ['path']\n[rule.let]\nshare = 'sum(wait) / run.all'\nlast = 'most(last_rank, wait)'",
        "when = 'share >= 1 % and count() > 0 and last != 0 and run.T > 1 s and run.T < 9 s'\nseverity = '1 s'",
    );
    let set = |line: &str| problem(&(base.clone() + "[set.'a/b']\n" + line));
    let times = |count: usize| format!("with a number {count} times, expected once");
    let named = |name: &str| format!("`when` of \"a/b\" compares \"{name}\"");
    assert_eq!(
        set("when.shore = '2 %'"),
        format!("15:6: {} {}, did you mean \"share\"?", named("shore"), times(0))
    );
    assert_eq!(set("when.count = '2'"), format!("15:6: {} {}, as share, last is", named("count"), times(0)));
    let run = format!("15:7: {} {}, as share, last is", named("run.T"), times(2));
    assert_eq!(set("when.'run.T' = '2 s'"), run);
    assert_eq!(set("when.share = '2 ms'"), "15:15: \"when.share\" is time, expected number: \"2 ms\"");
    assert_eq!(set("when.last = 0.5"), "15:13: \"when.last\" is number, expected count: \"0.5\"");
    assert_eq!(set("when.share = 'x'"), "15:15: expected a number, found \"x\"");
    assert_eq!(
        set("when.share = '2 per cent'"),
        "15:17: unknown unit \"per\", expected s, ms, us, ns, B, KiB, MiB, GiB, TiB or %"
    );
    assert!(read(&(base.clone() + "[set.'a/b']\nwhen.share = 2\nwhen.last = 3")).is_ok());
    let none = when("count() > 0") + "[set.'a/b']\nwhen.share = '2 %'";
    assert_eq!(problem(&none), format!("12:6: {} {}", named("share"), times(0)));
}

#[test]
fn what_two_files_set_is_an_error_at_the_second_place() {
    let twice = |first: &str, second: &str| {
        let set = |name: &str, line: &str| Source::new(name, format!("format = 1\n[set.'a/b']\n{line}"));
        let files = [Source::new("a.toml", when("count() > 0")), set("b.toml", first), set("c.toml", second)];
        let problems = read_files(&files, &schema()).unwrap_err();
        assert_eq!(problems.len(), 1);
        problems[0].to_string().lines().next().unwrap_or_default().to_owned()
    };
    let message =
        |place: &str, key: &str| format!("c.toml:{place}: {key} of \"a/b\" is set twice, first in b.toml");
    assert_eq!(twice("where = 'wait > 1 s'", "where = 'wait > 2 s'"), message("3:10", "where"));
    assert_eq!(twice("off = true", "off = true"), message("2:7", "off"));
    assert_eq!(twice("protects = ['x']", "protects = ['y']"), message("3:14", "protects"));
    assert_eq!(twice("let.x = '1'", "let.x = '2'"), message("3:5", "let.x"));
    assert_eq!(twice("finds.title = 'x'", "finds.title = 'y'"), message("3:16", "finds.title"));
    assert_eq!(twice("finds.shows = ['1']", "finds.shows = ['2']"), message("3:17", "finds.shows"));
}

#[test]
fn sizes_are_limited() {
    assert_eq!(problem(&"#".repeat((1 << 20) + 1)), "1:1: file of 1048577 bytes, expected at most 1048576");
    let signs =
        "1:1: file with 65537 lines, =, commas, dots, brackets and backslashes, expected at most 65536";
    assert_eq!(problem(&"\n".repeat(65_537)), signs);
    let many: String = (0..257)
        .map(|at| when("count() > 0").replace("a/b", &format!("a/r{at}")).replace("format = 1\n", ""))
        .collect();
    assert_eq!(problem(&format!("format = 1\n{many}")), "2306:1: 257 of [[rule]], at most 256 are read");
    let events: String = (0..33).map(|at| format!("[[event]]\nid = 'e{at}'\nregion = 'x'\n")).collect();
    assert_eq!(problem(&format!("format = 1\n{events}")), "98:1: 33 of [[event]], at most 32 are read");
    let (half, rest) = events.split_at(events.find("[[event]]\nid = 'e20'").unwrap());
    let both = |half: &str, rest: &str| {
        let file = |name: &str, text: &str| Source::new(name, format!("format = 1\n{text}"));
        let problems = read_files(&[file("a", half), file("b", rest)], &schema()).unwrap_err();
        assert_eq!(problems.len(), 1, "{}", problems[1]);
        problems[0].to_string().lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(both(half, rest), "b:39:7: more than 32 events in all files");
    let (half, rest) = many.split_at(many.find("[[rule]]\nid = \"a/r200\"").unwrap());
    assert_eq!(both(half, rest), "b:507:7: more than 256 rules in all files");
    let long = vec!["wait > 1 s"; 40].join(" or ");
    let message = "3:7: `where` takes 79 steps for each row, expected at most 64";
    assert_eq!(problem(&filter(&long)), message);
    let sums: Vec<String> = (1..=33).map(|at| format!("sum(wait * {at})")).collect();
    let message = "3:7: 33 values of each group, expected at most 32";
    assert_eq!(problem(&when(&format!("{} > 1 s", sums.join(" + ")))), message);
    let define = |name: &str, of: &str| format!("{name} = '{}'\n", vec![of; 100].join(" + "));
    let text = when("b > 1") + "[define]\n" + &define("a", "count()") + &define("b", "a");
    assert!(problem(&text).contains("expressions of a rule with more than 1024 parts"));
}
