"""Checks JUnit XML by a schema: the first argument is the schema, all others are documents."""
import sys

import xmlschema

schema = xmlschema.XMLSchema(sys.argv[1])
for document in sys.argv[2:]:
    schema.validate(document)
