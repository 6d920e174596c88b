"""The programs whose speed gpu-check measures: dl modules by name, and what the plan says of each kernel."""


def tensor(element, *shape):
    return f"tensor<{'x'.join(map(str, [*shape, element]))}>"


def function(name, arguments, result, body):
    listed = ", ".join(f"%{key}: {kind}" for key, kind in arguments.items())
    return f"  func.func @{name}({listed}) -> {result} attributes {{dl.entry}} {{\n    {body}\n    return %r : {result}\n  }}\n"


def memory_bound(element, rows, columns):
    """Kernels that move bytes: one entry each."""
    whole, row, column = tensor(element, rows, columns), tensor(element, columns), tensor(element, rows)
    entries = {
        "add": ({"x": whole, "y": whole}, whole, f"%r = dl.add %x, %y : {whole}"),
        "gelu": ({"x": whole}, whole, f"%r = dl.gelu %x : {whole}"),
        "softmax": ({"x": whole}, whole, f"%r = dl.softmax %x axis 1 : {whole}"),
        "layer_norm": ({"x": whole, "w": row, "b": row}, whole,
                       f"%r = dl.layer_norm %x weight %w bias %b axis 1 eps 1.0e-5 : ({whole}, {row}, {row}) -> {whole}"),
        "transpose": ({"x": whole}, tensor(element, columns, rows),
                      f"%r = dl.transpose %x permutation [1, 0] : ({whole}) -> {tensor(element, columns, rows)}"),
        "row_sum": ({"x": whole}, column, f"%r = dl.reduce_sum %x over [1] : ({whole}) -> {column}"),
        "column_sum": ({"x": whole}, row, f"%r = dl.reduce_sum %x over [0] : ({whole}) -> {row}"),
    }
    return "module {\n" + "".join(function(name, *parts) for name, parts in entries.items()) + "}\n", list(entries)


def matmul(element, rows, columns, terms):
    left, right, result = tensor(element, rows, terms), tensor(element, terms, columns), tensor(element, rows, columns)
    body = f"%r = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : ({left}, {right}) -> {result}"
    return "module {\n" + function("matmul", {"x": left, "w": right}, result, body) + "}\n", 2.0 * rows * columns * terms


def conv(element, batch, channels, side):
    """3 x 3, as many channels out as in."""
    image, weight = tensor(element, batch, channels, side, side), tensor(element, channels, channels, 3, 3)
    body = f"%r = dl.conv %x, %w strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : ({image}, {weight}) -> {image}"
    return "module {\n" + function("conv", {"x": image, "w": weight}, image, body) + "}\n", 2.0 * batch * side * side * channels * channels * 9


def programs(fake):
    """(name, text, options of dlc compile, lines of the plan) for each program."""
    sides = [(64, 64)] if fake else [(16384, 1024), (32768, 2048)]  # of f32: 64 and 256 MiB
    for element in ["f32", "bf16"]:
        for rows, columns in sides:
            text, entries = memory_bound(element, rows, columns)
            size = f"{element}_{rows}x{columns}"
            yield f"memory_{size}", text, [], [{"name": f"{entry} {size}", "entry": entry} for entry in entries]
    products = [(32, 32, 32)] if fake else [(256, 256, 256), (1024, 1024, 1024), (4096, 4096, 4096), (2048, 96, 128), (8192, 512, 2048)]
    convs = [(2, 4, 8)] if fake else [(64, 64, 32), (128, 16, 32), (32, 256, 14)]
    for kind in ["f32", "tf32", "bf16"]:
        element, options = ("bf16", []) if kind == "bf16" else ("f32", ["--allow=tf32"] if kind == "tf32" else [])
        for way in ["generated", "library"]:
            for sizes in products:
                text, flops = matmul(element, *sizes)
                name = f"matmul_{kind}_{'x'.join(map(str, sizes))}"
                yield f"{name}.{way}", text, [*options, f"--matmul={way}"], [
                    {"name": f"{name} {way}", "entry": "matmul", "op": "MatMul", "type": kind, "flops": flops, "way": way}]
            for sizes in convs:
                text, flops = conv(element, *sizes)
                name = f"conv_{kind}_{'x'.join(map(str, sizes))}"
                yield f"{name}.{way}", text, [*options, f"--conv={way}"], [
                    {"name": f"{name} {way}", "entry": "conv", "op": "Conv", "type": kind, "flops": flops, "way": way}]

