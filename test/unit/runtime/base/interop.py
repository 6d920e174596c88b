"""interop.py safetensors|npy <folder>: checks our files, writes the same values with the Python package; 77 without it."""
import pathlib
import sys

command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
try:
    import numpy as np
    if command == "safetensors":
        from safetensors import safe_open
        from safetensors.numpy import save_file
except ImportError:
    sys.exit(77)

expected = {
    "layer.weight": np.array([[1.5, -2.25, 3e-40], [0.1, 1e30, -0.0]], np.float32),
    "labels": np.array([1 << 62, -1], np.int64),
    "mask": np.array([True, False, True]),
    "scale": np.array(0.1, np.float64),
    "bytes": np.array([[-128], [127]], np.int8),
    "integers": np.array([[-5, 6]], np.int32),
}


def check(name, found):
    value = expected[name]
    assert found.dtype == value.dtype and found.shape == value.shape, (name, found.dtype, found.shape)
    assert found.tobytes() == value.tobytes(), (name, found)


if command == "npy":
    for name, value in expected.items():
        check(name, np.load(folder / f"ours.{name}.npy"))
        np.save(folder / f"theirs.{name}.npy", value)
else:
    with safe_open(folder / "ours.safetensors", "np") as file:
        assert sorted(file.keys()) == sorted(expected), file.keys()
        assert file.metadata() == {"made by": 'dlc "é"'}, file.metadata()
        for name in expected:
            check(name, file.get_tensor(name))
    save_file(expected, folder / "theirs.safetensors", {"made by": "python"})
