"""What safetensors files hold, by the standard library alone."""
import dataclasses
import json
import struct

FORMATS = {"F32": "f", "F64": "d", "I64": "q"}


@dataclasses.dataclass(frozen=True)
class Tensor:
    dtype: str
    shape: tuple
    data: bytes

    def values(self):
        letter = FORMATS[self.dtype]
        return struct.unpack(f"<{len(self.data) // struct.calcsize(letter)}{letter}", self.data)


def read_state(path):
    """Tensors by name."""
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        data = file.read()
    return {name: Tensor(tensor["dtype"], tuple(tensor["shape"]), data[slice(*tensor["data_offsets"])])
            for name, tensor in header.items() if name != "__metadata__"}
