//! Files that are read.

use super::{read, rules, schema, when};
use crate::{Claims, EventKind, Gain, Matching, Place, Source, read as read_files};

const EXCERPT: &str = include_str!("excerpt.toml");
const LIBRARY: &str = include_str!("library.toml");

#[test]
fn the_rules_of_the_specification_are_read() {
    let files = [Source::new("excerpt.toml", EXCERPT)];
    let rules = read_files(&files, &schema()).unwrap_or_else(|problems| panic!("{}", problems[0]));
    let ids: Vec<&str> = rules.rules().iter().map(|rule| rule.id()).collect();
    let expected = [
        "halo/no-overlap",
        "ourio/one-writer",
        "p2p/late-isend",
        "p2p/late-send",
        "size/small-messages",
        "sync/barrier",
        "work/one-rank",
        "work/static",
    ];
    assert_eq!(ids, expected);
    let late = &rules.rules()[3];
    assert_eq!((late.gain(), late.claims()), (Some(Gain::Edges), Claims::Waits));
    assert_eq!(late.change(), Some(Place::Key(1)));
    let scenario = late.scenario().unwrap();
    assert_eq!((scenario.word.as_str(), scenario.place), ("early-send", Some(Place::Key(1))));
    assert!(rules.rules()[0].over().event.is_some());
    assert_eq!(rules.tables().len(), 5);
}

#[test]
fn the_file_of_the_specification_is_read_whatever_the_order_of_files() {
    let dynamic = when("count() > 0").replace("a/b", "work/dynamic");
    let files = [Source::new("a.toml", LIBRARY), Source::new("b.toml", &*dynamic)];
    let rules = read_files(&files, &schema()).unwrap_or_else(|problems| panic!("{}", problems[0]));
    assert_eq!(rules.rules()[0].library(), Some("mylib 2.1"));
    assert_eq!(rules.rules()[0].refines(), ["work/dynamic"]);
    assert!(rules.rules()[0].needs_cause() && !rules.rules()[1].needs_cause());
    let halo = &rules.events()[0];
    assert!(halo.kind().begins("halo_start_2") && halo.kind().ends("halo_wait"));
    assert!(matches!(halo.kind(), EventKind::Pairs { matching: Matching::Fifo, .. }));
    assert!(matches!(rules.events()[1].kind(), EventKind::Visits { .. }));
    let turned = [files[1].clone(), files[0].clone()];
    assert_eq!(read_files(&turned, &schema()).unwrap(), rules);
}

#[test]
fn an_empty_file_with_a_format_has_no_rules() {
    assert!(rules("format = 1").rules().is_empty());
}

#[test]
fn a_set_switches_a_rule_off() {
    assert!(rules(&format!("{}\n[set.\"a/b\"]\noff = true", when("count() > 0"))).rules().is_empty());
}

#[test]
fn a_set_replaces_what_it_names() {
    let base = when("count() > 5").replace("title", "change = 'path'\ntitle");
    let set = "[set.\"a/b\"]\nprotects = ['*/x']\nfinds.when = 'count() > 7'\nfinds.title = 'u'";
    let expected =
        base.replace("> 5", "> 7").replace("\"t\"", "\"u\"").replace("by =", "protects = ['*/x']\nby =");
    assert_eq!(rules(&format!("{base}{set}")), rules(&expected));
    assert_eq!(rules(&expected).rules()[0].protects(), Some(&["*/x".to_owned()][..]));
}

#[test]
fn a_set_replaces_the_constant_that_a_name_is_compared_with() {
    let base = |limit: &str| {
        when(&format!("share >= {limit} and count() >= 1"))
            .replace("[rule.finds]", "[rule.let]\nshare = 'sum(wait) / run.all'\n[rule.finds]")
    };
    let set = "[set.\"a/b\"]\nwhen.share = '2 %'";
    assert_eq!(rules(&format!("{}{set}", base("1 %"))), rules(&base("2 %")));
}

#[test]
fn definitions_may_use_each_other_in_any_order() {
    let base = when("big and count() > 1");
    let text = format!("{base}[define]\nbig = 'total > 5 ms'\ntotal = 'sum(wait)'");
    assert_eq!(rules(&text), rules(&when("sum(wait) > 5 ms and count() > 1")));
}

#[test]
fn definitions_of_one_file_are_unknown_in_another() {
    let define = Source::new("a.toml", "format = 1\n[define]\nbig = 'sum(wait) > 5 ms'");
    let rule = Source::new("b.toml", when("big"));
    let problems = read_files(&[define, rule], &schema()).unwrap_err();
    assert!(problems[0].to_string().starts_with("b.toml:7:9: unknown name \"big\""), "{}", problems[0]);
}

#[test]
fn numbers_need_no_quotes() {
    let text = when("count() > 0").replace("title", "confidence = 0.8\ntitle");
    assert!(read(&text).is_ok());
}

#[test]
fn names_that_sets_add_have_the_order_of_the_alphabet_whatever_the_order_of_files() {
    let base = Source::new("a.toml", when("count() > 0"));
    let set = |lines: &str| Source::new("b.toml", format!("format = 1\n[set.\"a/b\"]\n{lines}"));
    let (first, second) = (set("let.a = 'sum(wait)'"), set("let.b = 'a * 2'"));
    let one = read_files(&[base.clone(), first.clone(), second.clone()], &schema()).unwrap();
    assert_eq!(read_files(&[second, first, base], &schema()).unwrap(), one);
}

#[test]
fn a_colon_in_a_text_of_a_placeholder_is_no_format() {
    let text =
        when("count() > 0").replace("\"a\"", "\"{share(region == 'a:b')} {share(region == 'a:b'):%}\"");
    assert!(read(&text).is_ok());
}
