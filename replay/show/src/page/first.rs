//! First screen of the page as HTML and SVG: complete without scripts and styles, with the words of the terminal's.

use cubex::LocationId;
use details::advice::AdviceFile;
use details::advice_words;

use super::html::Html;
use super::{colours, end, svg};
use crate::commands::time::waiting_over_time;
use crate::error::{Result, or_obstacle};
use crate::opened::Opened;
use crate::output::numbers;
use crate::overview::{Overview, advice, words};
use crate::values::{Values, WAITING};
use crate::{paths, places};

/// Cells of the picture over time.
const OVER_TIME: usize = 120;

/// Ranks that are named.
const RANKS: usize = 5;

/// The first screen. What is damaged is left out, and said.
///
/// # Errors
/// If values cannot be read.
pub(super) fn first(
    opened: &Opened,
    values: &Values<'_>,
    overview: &Overview,
    title: &str,
    remarks: &mut Vec<String>,
) -> Result<Html> {
    let mut html = Html::default();
    // With scripts, it is a part of the main one.
    html.open("div", &[("id", "first"), ("role", "main")]);
    html.element("h1", &[], title);
    html.element("p", &[("class", "run")], &words::title(overview));
    html.open("div", &[("class", "headline")]);
    for sentence in &overview.headline {
        html.element("p", &[], sentence);
    }
    html.close("div");
    match &overview.advice {
        Some(advice) => add_advice(values, advice, &mut html),
        None => add_actions(values, overview, &mut html),
    }
    add_classes(overview, &mut html);
    match waiting_over_time(opened, OVER_TIME) {
        Ok(None) => {}
        Ok(Some(shares)) => {
            html.open("section", &[("id", "first-time")]);
            html.element("h2", &[], words::OVER_TIME);
            let end = end(opened);
            svg::over_time(&shares, end, &mut html);
            html.close("section");
        }
        Err(error) => remarks.push(format!("{}: {error}; shown without", opened.path.display())),
    }
    add_ranks(values, &mut html)?;
    add_trust(opened, overview, &mut html);
    html.close("div");
    Ok(html)
}

/// What the analysis advises, or that it looked for advice and there is none.
fn add_advice(values: &Values<'_>, file: &AdviceFile, html: &mut Html) {
    let (shown, _) = advice::first(file);
    html.open("section", &[("id", "first-actions")]);
    html.element("h2", &[], words::DO_FIRST);
    for caveat in advice_words::caveats(&file.run) {
        html.element("p", &[], &caveat);
    }
    if shown.is_empty() {
        for line in advice_words::nothing(file, words::ALL) {
            html.element("p", &[], &line);
        }
        html.close("section");
        return;
    }
    html.open("ol", &[]);
    for it in shown {
        html.open("li", &[("data-advice", &it.rule)]);
        html.open("p", &[]).inline("strong", &it.title);
        html.text(&format!(": {}", words::gain(file, it))).close("p");
        html.open("p", &[("class", "evidence")]);
        let place = advice_words::place(&it.place);
        match advice::cnode(values.cube(), &it.place) {
            // Scripts go to the view that it says.
            Some(cnode) => {
                let target = format!("#v=calls&m=time&p={:08x}", paths::hash(values.cube(), cnode));
                html.open("a", &[("href", &target)]).text(&place).raw("</a>");
            }
            None => {
                html.text(&place);
            }
        }
        html.close("p");
        html.element("p", &[("class", "advice")], &it.text);
        if let Some(scenario) = &it.scenario {
            html.open("p", &[("class", "advice")]).inline("code", &advice_words::check(scenario)).close("p");
        }
        html.close("li");
    }
    html.close("ol");
    if let Some(further) = words::further(file) {
        html.element("p", &[("class", "limit")], &further);
    }
    html.close("section");
}

fn add_actions(values: &Values<'_>, overview: &Overview, html: &mut Html) {
    let Some(costs) = overview.costs.as_ref().filter(|_| !overview.actions.is_empty()) else { return };
    html.open("section", &[("id", "first-actions")]);
    html.element("h2", &[], words::DO_FIRST).open("ol", &[]);
    for action in &overview.actions {
        let (cnode, metric) = (action.cnode.0.to_string(), action.pattern.unwrap_or_default());
        html.open("li", &[("data-action", &action.id), ("data-cnode", &cnode), ("data-metric", metric)]);
        html.open("p", &[]).inline("strong", &action.text);
        html.text(&format!(": {}", words::consequence(costs, action))).close("p");
        html.element("p", &[("class", "evidence")], &words::evidence(values, action));
        if let Some(advice) = words::advice(action) {
            html.element("p", &[("class", "advice")], &advice);
        }
        html.close("li");
    }
    html.close("ol").close("section");
}

fn add_classes(overview: &Overview, html: &mut Html) {
    let classes = words::named_classes(overview);
    if classes.is_empty() {
        return;
    }
    html.open("section", &[("id", "first-classes")]);
    html.element("h2", &[], words::where_time_went(overview));
    svg::bar(&classes, html);
    html.open("table", &[("class", "numbers")]).open("thead", &[]).open("tr", &[]);
    html.element("td", &[], "");
    for title in ["kind of time", "share", "time"] {
        html.element("th", &[("scope", "col")], title);
    }
    html.close("tr").close("thead").open("tbody", &[]);
    let decimals = numbers::decimals(classes.iter().map(|class| class.seconds).fold(0.0, f64::max));
    for class in &classes {
        html.open("tr", &[("data-class", &class.name)]).open("td", &[]);
        svg::swatch(colours::of(class), html);
        html.close("td");
        html.element("th", &[("scope", "row")], &class.title);
        html.element("td", &[], &numbers::share(class.share));
        html.element("td", &[], &numbers::seconds_with(class.seconds, decimals)).close("tr");
    }
    html.close("tbody").close("table").close("section");
}

/// The ranks that wait most; those of which nothing was recorded are unknown, and not among them.
fn add_ranks(values: &Values<'_>, html: &mut Html) -> Result<()> {
    let Some(waiting) = values.find(WAITING) else { return Ok(()) };
    let Ok(row) = or_obstacle(values.by_location(&waiting, &|_| true))? else { return Ok(()) };
    let is_known = places::recorded(values)?;
    let mut order: Vec<usize> = (0..row.len()).filter(|&at| is_known[at] && row[at] > 0.0).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
    if order.is_empty() {
        return Ok(());
    }
    let sizes = places::sizes(values.cube());
    let decimals = numbers::decimals(row[order[0]]);
    html.open("section", &[("id", "first-ranks")]);
    html.element("h2", &[], words::WAIT_MOST);
    html.open("table", &[("class", "numbers")]).open("tbody", &[]);
    for &at in order.iter().take(RANKS) {
        let number = at.to_string();
        html.open("tr", &[("data-location", &number)]);
        html.element("th", &[("scope", "row")], &places::name(values.cube(), &sizes, LocationId(at)));
        html.element("td", &[], &numbers::seconds_with(row[at], decimals)).close("tr");
    }
    html.close("tbody").close("table");
    let unknown = is_known.iter().filter(|known| !**known).count();
    if unknown > 0 {
        html.element("p", &[("class", "limit")], &words::unknown(unknown, row.len()));
    }
    html.close("section");
    Ok(())
}

fn add_trust(opened: &Opened, overview: &Overview, html: &mut Html) {
    let lines = words::trust(opened, overview);
    if lines.is_empty() {
        return;
    }
    html.open("section", &[("id", "first-trust")]);
    html.element("h2", &[], words::TRUST).open("ul", &[]);
    for line in lines {
        html.element("li", &[], &line);
    }
    html.close("ul").close("section");
}
