"""state.py <file.safetensors> <name>…: prints a line for each, its name and its elements to six digits."""
import json
import struct
import sys

CODES = {"F32": "f", "F64": "d", "I64": "q"}
with open(sys.argv[1], "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    data = file.read()
for name in sys.argv[2:]:
    begin, end = header[name]["data_offsets"]
    code = CODES[header[name]["dtype"]]
    values = struct.unpack(f"<{(end - begin) // struct.calcsize(code)}{code}", data[begin:end])
    print(name, *(f"{value:.6g}" for value in values))
