//! The block `explanations`: what every metric means, in the words of `explain`, with pictures.

use patterns::{Kind, PATTERNS, Pattern, Picture};
use serde_json::{Value, json};

use crate::commands::explain::{WAITING_MEANS, place, words};
use crate::values::WAITING;

/// Explanations of all metrics, in the order of the report.
pub(super) fn explanations() -> Value {
    let metrics = patterns::metrics();
    let mut all =
        vec![json!({"metric": WAITING, "title": "Waiting", "place": "Waiting", "meaning": WAITING_MEANS})];
    all.extend(metrics.iter().map(|metric| {
        let pattern = PATTERNS.iter().find(|pattern| pattern.metric.id == metric.id);
        let mut object = json!({
            "metric": metric.id,
            "title": pattern.map_or(metric.name, |pattern| pattern.title),
            "place": place(metric, &metrics),
            "meaning": metric.about,
        });
        if let Some(pattern) = pattern {
            add_pattern(pattern, &mut object);
        }
        object
    }));
    Value::Array(all)
}

fn add_pattern(pattern: &Pattern, object: &mut Value) {
    let explanation = pattern.explanation;
    object["meaning"] = words(explanation.meaning).into();
    object["large_when"] = explanation.large_when.map(words).into();
    object["what_to_do"] = words(explanation.what_to_do).into();
    object["is_waiting"] = pattern.is_waiting.into();
    object["picture"] = explanation.picture.map_or(Value::Null, picture);
}

fn picture(picture: Picture) -> Value {
    let kind = |kind: Kind| match kind {
        Kind::Work => "work",
        Kind::Call => "call",
        Kind::Wait => "wait",
        Kind::Completion => "completion",
    };
    let lanes = picture.lanes().into_iter().map(|lane| {
        let segments = lane.segments.iter().map(|it| json!([kind(it.kind), it.from, it.to, it.label]));
        json!({"name": lane.name, "segments": segments.collect::<Value>()})
    });
    let measured = picture.measured().map_or(Value::Null, |(from, to, label)| json!([from, to, label]));
    json!({"lanes": lanes.collect::<Value>(), "measured": measured, "text": picture.0})
}
