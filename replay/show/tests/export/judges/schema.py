"""Checks JSON files by a schema that has to name all their keys: the first argument is the schema."""
import json
import sys
from pathlib import Path

import jsonschema


def strict(schema):
    """The schema, by which objects have no keys but those that it names."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: strict(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


schema = json.loads(Path(sys.argv[1]).read_text())
jsonschema.Draft202012Validator.check_schema(schema)
for path in sys.argv[2:]:
    document = json.loads(Path(path).read_text())
    for rules in [schema, strict(schema)]:
        best = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(rules).iter_errors(document))
        assert best is None, f"{path}: {best.json_path}: {best.message}"
