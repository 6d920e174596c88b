"""Files with an entry's arguments, for `dlc run`."""

import json
import random
import struct
import subprocess


def write_npy(path, descr, shape, data):
    header = str({"descr": descr, "fortran_order": False, "shape": tuple(shape)}).ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def write_inputs(dlc, program, path):
    """Random ones in a folder, and the options that give them."""
    manifest = json.loads(subprocess.check_output([dlc, "inspect", "--json", program]))
    inputs, numbers = [], random.Random(5)
    for i, argument in enumerate(manifest["entries"][0]["arguments"]):
        dtype, shape = argument["type"], argument["shape"]
        count = 1
        for extent in shape:
            count *= extent
        if dtype == "f32":
            data = struct.pack(f"<{count}f", *(numbers.gauss(0, 1) for _ in range(count)))
        else:
            data = struct.pack(f"<{count}q", *(numbers.randrange(10) for _ in range(count)))
        write_npy(f"{path}/{i}.npy", "<f4" if dtype == "f32" else "<i8", shape, data)
        inputs += ["--input", f"{path}/{i}.npy"]
    return inputs
