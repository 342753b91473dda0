"""Reads lines with Extra-P and makes models of all call paths."""
import sys

from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file
from extrap.modelers.model_generator import ModelGenerator

experiment = read_jsonlines_file(sys.argv[1])
assert [it.name for it in experiment.parameters] == ["p"], experiment.parameters
assert len(experiment.coordinates) == 5 and len(experiment.callpaths) >= 4, experiment.callpaths
assert {"time", "visits", "waiting"} <= {metric.name for metric in experiment.metrics}
generator = ModelGenerator(experiment)
generator.model_all()
assert len(generator.models) >= 12
