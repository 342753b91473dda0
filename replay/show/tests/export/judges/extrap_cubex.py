"""Reads reports with details by Extra-P: five copies of one, as runs of 1 to 16 ranks."""
import shutil
import sys
import tempfile
from pathlib import Path

from extrap.fileio.file_reader.cube_file_reader2 import CubeFileReader2

with tempfile.TemporaryDirectory() as directory:
    for ranks in [1, 2, 4, 8, 16]:
        run = Path(directory) / f"run.p{ranks}.r1"
        run.mkdir()
        shutil.copy(sys.argv[1], run / "profile.cubex")
    reader = CubeFileReader2()
    reader.scaling_type = "weak"
    experiment = reader.read_experiment(directory)
assert len(experiment.coordinates) == 5 and len(experiment.callpaths) == 4, experiment.callpaths
assert "time" in {metric.name for metric in experiment.metrics}, experiment.metrics
