"""print_report.py FILE.cubex: every value that is not zero, with metric, call path, location; numbers as they are stored."""
import sys
import warnings

from pycubexr import CubexParser
from pycubexr.utils.exceptions import MissingMetricError

warnings.filterwarnings('ignore')

with CubexParser(sys.argv[1]) as cube:
    locations = sorted(location.id for location in cube.get_locations())
    paths = {}

    def walk(cnode, prefix):
        paths[cnode.id] = prefix + cnode.region.name
        print('path', cnode.id, paths[cnode.id], sep='\t')
        for child in cnode.get_children():
            walk(child, paths[cnode.id] + '/')

    for root in cube.get_root_cnodes():
        walk(root, '')
    for metric in cube.all_metrics():
        print('metric', metric.name, metric.units, sep='\t')
        try:
            values = cube.get_metric_values(metric)
        except (MissingMetricError, AssertionError):  # no row at all
            continue
        for cnode in cube.all_cnodes():
            row = values.cnode_values(cnode, convert_to_exclusive=True)
            for location, value in zip(locations, row):
                if value != 0:
                    print('value', metric.name, cnode.id, location, float(value).hex(), sep='\t')
