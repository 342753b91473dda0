"""Checks JSON files by schema: ours, speedscope's, Bencher's and github-action-benchmark's."""
import json
import os
import sys
from pathlib import Path

import jsonschema

export, speedscope, bmf, github = [json.loads(Path(path).read_text()) for path in sys.argv[1:]]
jsonschema.validate(export, json.loads(Path("docs/schemas/export.json").read_text()))

number = {"type": "number"}
measure = {"type": "object", "required": ["value"], "additionalProperties": False,
           "properties": {"value": number, "lower_value": number, "upper_value": number}}
jsonschema.validate(bmf, {"type": "object", "minProperties": 1, "additionalProperties": {
    "type": "object", "minProperties": 1, "additionalProperties": measure}})
text = {"type": "string", "minLength": 1}
jsonschema.validate(github, {"type": "array", "minItems": 1, "items": {
    "type": "object", "required": ["name", "unit", "value"], "additionalProperties": False,
    "properties": {"name": text, "unit": text, "value": number, "range": text, "extra": text}}})

judges = os.environ.get("REPLAY_EXPORT_JUDGES", "target/judges-exports")
found = list(Path(judges).glob("node/node_modules/speedscope/dist/release/file-format-schema.json"))
if found:
    jsonschema.validate(speedscope, json.loads(found[0].read_text()))
assert len(speedscope["profiles"]) == 5
for profile in speedscope["profiles"]:
    assert sum(profile["weights"]) == profile["endValue"] and len(profile["weights"]) == len(profile["samples"])
    assert all(frame < len(speedscope["shared"]["frames"]) for stack in profile["samples"] for frame in stack)
