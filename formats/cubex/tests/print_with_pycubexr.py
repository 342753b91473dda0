"""Prints everything pycubexr sees in a report, for comparison with what was written."""

import struct
import sys
import warnings

from pycubexr import CubexParser

warnings.simplefilter("error")


def text(value):
    return value if isinstance(value, int) else struct.pack(">d", value).hex()


def metrics(parser, children, parent):
    for metric in children:
        print("metric", metric.id, parent, metric.metric_type, metric.name, metric.data_type, metric.units,
              metric.display_name, metric.url, metric.description, sep="|")
        metrics(parser, metric.childs, metric.id)


def system(node, parent):
    # Not the class: pycubexr 2.1 looks for it in the wrong place.
    print("node", node.id, parent, node.name, sep="|")
    for group in node._location_group_children:
        print("group", group.id, node.id, group.type, group.rank, group.name, sep="|")
        for location in group._locations:
            print("location", location.id, group.id, location.type, location.rank, location.name, sep="|")
    for child in node._system_tree_node_children:
        system(child, node.id)


with CubexParser(sys.argv[1]) as parser:
    metrics(parser, parser.get_metrics(), "-")

    pending = [(cnode, "-") for cnode in parser.get_root_cnodes()]
    while pending:
        cnode, parent = pending.pop()
        region = parser.get_region(cnode)
        print("cnode", cnode.id, parent, region.id, region.name, region.mod, region.begin, region.end,
              region.paradigm, region.role, sep="|")
        pending.extend((child, cnode.id) for child in reversed(cnode.get_children()))

    system(parser._anchor_result.system_tree_nodes[0], "-")

    for metric in sorted(parser.all_metrics(), key=lambda metric: metric.id):
        if f"{metric.id}.index" not in parser._tar_file_members():
            continue
        values = parser.get_metric_values(metric, allow_full_uint64_values=True)
        for cnode in sorted(parser.all_cnodes(), key=lambda cnode: cnode.id):
            if cnode.id in values.cnode_indices:
                row = values.cnode_values(cnode)
                row = row if hasattr(row, "tolist") else row.astype(float)  # minima and maxima are wrapped
                print("row", metric.id, cnode.id, *map(text, row.tolist()), sep="|")
