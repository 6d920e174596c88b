"""trace.py <file> <rank> <name> <count>: expects a Chrome trace with that many calls of that name and nothing else."""

import json
import sys

path, rank, name, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
trace = json.load(open(path))
spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
assert [span["name"] for span in spans] == [name] * count, spans
assert all(span["pid"] == rank and span["cat"] == "compute" and span["dur"] > 0 for span in spans), spans
ends = [0] + [span["ts"] + span["dur"] for span in spans]
assert all(span["ts"] >= end for span, end in zip(spans, ends)), spans
other = trace["otherData"]
assert other["rank"] == rank and other["calls"] == count and other["exposedSeconds"] == 0, other
assert abs(other["computeSeconds"] - sum(span["dur"] for span in spans) / 1e6) < 1e-6, other
