//! JSON in a page: nothing in it ends the element around it, or breaks a line of a script.

use serde_json::Value;

/// A value as JSON whose strings have no letters that mean something in HTML.
pub(super) fn json(value: &Value) -> String {
    let text = value.to_string();
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            // Within strings only, as JSON has them nowhere else.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_do_not_end_scripts() {
        let value = serde_json::json!({"a": "</script>\u{2028}&"});
        let text = json(&value);
        assert_eq!(text, "{\"a\":\"\\u003c/script\\u003e\\u2028\\u0026\"}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
