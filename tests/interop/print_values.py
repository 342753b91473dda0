"""print_values.py FILE.cubex: every exclusive value that is not zero, but for minima and maxima, with metric, call path and location, in decimals."""
import sys
import warnings

from pycubexr import CubexParser
from pycubexr.utils.exceptions import MissingMetricError

warnings.filterwarnings('ignore')

with CubexParser(sys.argv[1]) as cube:
    locations = sorted(location.id for location in cube.get_locations())
    for metric in cube.all_metrics():
        if metric.data_type in ("MINDOUBLE", "MAXDOUBLE"):  # no numbers in pycubexr
            continue
        try:
            values = cube.get_metric_values(metric)
        except (MissingMetricError, AssertionError):  # no row at all
            continue
        for cnode in cube.all_cnodes():
            row = values.cnode_values(cnode, convert_to_exclusive=True)
            for location, value in zip(locations, row):
                if value != 0:
                    print(metric.name, cnode.id, location, repr(float(value)), sep='\t')
