#!/usr/bin/env python3
"""export.py [<curve> ...]: writes the golden curves (all, or those named; `autocast` names autocast.safetensors) beside this
file, with PyTorch on one CPU thread; run by hand, needs torch, numpy, safetensors.

Each file holds the initial weights (initial.<name>), what makes the batches of the 50 steps, the loss of each step before
its update in f32 (loss_f32) and in f64 from the same weights and data widened (loss_f64), and the f32 weights after the
last step (final.<name>).

epochs.safetensors has the losses alone, <curve>.loss_f32 and <curve>.loss_f64, of 100 steps over small sets (the first samples of
the other curves, EPOCHS) in batches whose last is short, each epoch in the order that dlc's loader has for seed 3.

autocast.safetensors holds the losses of a curve from the weights and data of its own file, with the forward part in bf16
(<curve>.bf16) or fp16 (<curve>.fp16) under torch.autocast, fp16 with a GradScaler whose scale after each step is <curve>.fp16.scale.
`export.py autocast.<curve>` makes these of one curve alone; those of resnet20 take 7 minutes.

overflow in it is cnn_sgd's curve with OVERFLOW's batches times 1e6, which f16 cannot hold, and a scale that grows every 8 steps:
overflow.fp16, overflow.fp16.scale, and overflow.f32, the losses in f32 if the same steps are skipped. The scale stays so small that
no other step is: PyTorch adds biases in f16 and has their gradients overflow first, dlc adds them in f32.
"""
import gzip
import pathlib
import sys

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from torch import nn
from torch.nn import functional as F

folder = pathlib.Path(__file__).resolve().parent
steps = 50
EPOCHS = {"mlp": (110, 16), "cnn": (146, 32), "transformer": (43, 8)}  # samples, batch size
context, vocabulary = 32, 65  # of the transformer, in characters
gpt_context = 64
PRECISIONS = {"bf16": torch.bfloat16, "fp16": torch.float16}
OVERFLOW = {"steps": (5, 6, 23), "growth_interval": 8}
alphabet = "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 20)
        self.fc2 = nn.Linear(20, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class SimpleCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc = nn.Linear(64 * 2 * 2, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(torch.flatten(x, 1))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        y = self.norm1(x)
        x = x + self.attention(y, y, y, attn_mask=later, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(context, width)
        self.block = Block(width, heads)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        x = self.token(x) + self.position(torch.arange(x.shape[1]))
        return self.head(self.norm(self.block(x)))


class Gpt(nn.Module):
    """examples/gpt with the alphabet above."""

    def __init__(self, width=128, heads=4, layers=4):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(gpt_context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        x = self.token(x) + self.position(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class ResidualBlock(nn.Module):
    def __init__(self, fan_in, out):
        super().__init__()
        self.added, self.stride = out - fan_in, 1 if fan_in == out else 2
        self.conv1 = nn.Conv2d(fan_in, out, 3, stride=self.stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.stride == 2:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.added // 2, self.added // 2))
        return F.relu(y + x)


class ResNet20(nn.Module):
    """examples/resnet20 for images of one channel."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(16)
        widths = [16, 16, 16, 16, 32, 32, 32, 64, 64, 64]
        self.blocks = nn.ModuleList([ResidualBlock(widths[i], widths[i + 1]) for i in range(9)])
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x)))
        for block in self.blocks:
            x = block(x)
        return self.fc(x.mean((2, 3)))


def hashed(model):
    """Weights of large nets by a formula, so that no file has to hold them: element i of tensor t (both from 0, in the order
    of state_dict) with two or more dims is uniform in +-sqrt(k/elements of a row), k 6 for convolutions (He et al., 2015) and 1
    for others, by the upper 24 bits of splitmix64(t << 32 | i) (S. Vigna, 2015); norms start at 1, biases at 0."""
    for number, (name, value) in enumerate(model.state_dict().items()):
        if value.dim() >= 2:
            z = (np.arange(value.numel(), dtype=np.uint64) | np.uint64(number << 32)) + np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = (z ^ (z >> np.uint64(31))) >> np.uint64(40)
            bound = np.sqrt((6 if value.dim() == 4 else 1) / (value.numel() // value.shape[0]))
            uniform = (z.astype(np.float64) / 2**23 - 1) * bound
            value.copy_(torch.from_numpy(uniform.astype(np.float32).reshape(value.shape)))
        elif name.endswith("bias"):
            value.zero_()
    return model


def export_large(name, make_model, batches, loss_of, optimizer_of, inputs):
    """Without weights: those at first follow from a formula, of the last only running statistics are kept, in f32 and f64."""
    if wanted(name):
        export_statistics(name, make_model, batches, loss_of, optimizer_of, inputs)
    if wanted("autocast", f"autocast.{name}"):
        export_autocast(name, lambda: hashed(make_model()), batches, loss_of, optimizer_of)


def export_statistics(name, make_model, batches, loss_of, optimizer_of, inputs):
    single, double = hashed(make_model()), hashed(make_model()).double()
    tensors = {**inputs, "loss_f32": train(single, batches, loss_of, optimizer_of),
               "loss_f64": train(double, [(widened(x), widened(y)) for x, y in batches], loss_of, optimizer_of)}
    for model, precision in ((single, "f32"), (double, "f64")):
        for key, value in model.state_dict().items():
            if "running" in key:
                tensors[f"{precision}.{key}"] = value.numpy().copy()
    write(name, tensors)
    print(f"{name}: loss {tensors['loss_f64'][0]:.6f} to {tensors['loss_f64'][-1]:.6f}, f32 differs by at most "
          f"{np.abs(tensors['loss_f32'] - tensors['loss_f64']).max():.1e}")


def arrays(model, prefix):
    return {f"{prefix}.{name}": value.detach().numpy().copy() for name, value in model.state_dict().items()}


def train(model, batches, loss_of, optimizer_of, autocast=None, growth_interval=2000, skipped=()):
    """Losses of all steps, in the model's precision, or in mixed precision; then also the scale after each step of fp16.
    Without updates in the steps `skipped`."""
    optimizer = optimizer_of(model.parameters())
    scaler = torch.amp.GradScaler("cpu", growth_interval=growth_interval, enabled=autocast == torch.float16)
    losses, scales = [], []
    for step, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=autocast, enabled=autocast is not None):
            loss = loss_of(model(x), y)
        losses.append(loss.detach().numpy())
        if step not in skipped:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        scales.append(scaler.get_scale())
    return np.stack(losses) if autocast is None else (np.stack(losses), np.array(scales, np.float32))


def widened(value):
    return value.double() if value.is_floating_point() else value


def wanted(*names):
    return not sys.argv[1:] or any(name in sys.argv[1:] for name in names)


def write(name, tensors):
    path = folder / f"{name}.safetensors"
    save_file(tensors, path, {"torch": torch.__version__})
    path.chmod(0o644)


def curves(name, make_model, batches, loss_of, optimizer_of):
    """Losses and the weights before and after, from the same weights on every call."""
    torch.manual_seed(0)
    single = make_model()
    initial = arrays(single, "initial")
    double = make_model()
    double.load_state_dict(single.state_dict())
    double.double()
    loss_f32 = train(single, batches, loss_of, optimizer_of)
    loss_f64 = train(double, [(widened(x), widened(y)) for x, y in batches], loss_of, optimizer_of)
    assert loss_f32.dtype == np.float32 and loss_f64.dtype == np.float64
    print(f"{name}: loss {loss_f64[0]:.6f} to {loss_f64[-1]:.6f}, f32 differs by at most "
          f"{np.abs(loss_f32 - loss_f64).max():.1e}")
    return {"loss_f32": loss_f32, "loss_f64": loss_f64}, {**initial, **arrays(single, "final")}


def started(name, make_model):
    """A model with the first weights of a curve."""
    model = make_model()
    initial = {key.removeprefix("initial."): torch.from_numpy(value)
               for key, value in load_file(folder / f"{name}.safetensors").items() if key.startswith("initial.")}
    if initial:
        model.load_state_dict(initial)
    return model


def add_autocast(tensors):
    """To what autocast.safetensors has."""
    path = folder / "autocast.safetensors"
    write("autocast", {**(load_file(path) if path.exists() else {}), **tensors})


def export_autocast(name, make_model, batches, loss_of, optimizer_of):
    """The losses in mixed precision."""
    single = load_file(folder / f"{name}.safetensors")["loss_f32"]
    for precision, dtype in PRECISIONS.items():
        losses, scales = train(started(name, make_model), batches, loss_of, optimizer_of, dtype)
        assert losses.dtype == np.float32
        tensors = {f"{name}.{precision}": losses}
        if precision == "fp16":
            tensors[f"{name}.fp16.scale"] = scales
        add_autocast(tensors)
        print(f"{name} in {precision}: loss {losses[-1]:.6f}, differs from f32 by at most {np.abs(losses - single).max():.1e}, "
              f"scale {scales[-1]:g}", flush=True)


def export_overflow(make_model, batches, loss_of, optimizer_of):
    """cnn_sgd's curve with overflows."""
    batches = [(x * 1e6 if step in OVERFLOW["steps"] else x, y) for step, (x, y) in enumerate(batches)]
    losses, scales = train(started("cnn_sgd", make_model), batches, loss_of, optimizer_of, torch.float16,
                           OVERFLOW["growth_interval"])
    skipped = [step for step in range(steps) if scales[step] < (scales[step - 1] if step else 2**16)]
    single = train(started("cnn_sgd", make_model), batches, loss_of, optimizer_of, skipped=skipped)
    add_autocast({"overflow.fp16": losses, "overflow.fp16.scale": scales, "overflow.f32": single})
    finite = np.isfinite(losses)
    print(f"overflow: skips {skipped}, scale up to {scales.max():g}, not finite {np.flatnonzero(~finite)}, "
          f"differs from f32 by at most {np.abs(losses - single)[finite].max():.1e}")


def export(name, make_model, batches, loss_of, optimizer_of, inputs):
    if wanted(name):
        losses, weights = curves(name, make_model, batches, loss_of, optimizer_of)
        write(name, {**weights, **inputs, **losses})
    if wanted("autocast", f"autocast.{name}"):
        export_autocast(name, make_model, batches, loss_of, optimizer_of)


def philox(counter, key):
    """Philox 4x32-10."""
    low = 0xFFFFFFFF
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [second >> 32 ^ counter[1] ^ key[0], second & low, first >> 32 ^ counter[3] ^ key[1], first & low]
        key = [key[0] + 0x9E3779B9 & low, key[1] + 0xBB67AE85 & low]
    return counter


def shuffled(size, seed, epoch):
    """The loader's order: Fisher and Yates' from the end, drawing from Philox."""
    order = list(range(size))
    for i in range(size - 1, 0, -1):
        words = philox([i, 0, epoch, 1 << 31], [seed, 0])
        other = (words[0] << 32 | words[1]) * (i + 1) >> 64
        order[i], order[other] = order[other], order[i]
    return order


def epochs(name, x, y):
    """100 batches of the first samples."""
    samples, size = EPOCHS[name]
    batches = []
    for epoch in range(100):
        order = shuffled(samples, 3, epoch)
        batches += [(x[order[i:i + size]], y[order[i:i + size]]) for i in range(0, samples, size)]
    return batches[:100]


def read_digits():
    with gzip.open(folder / "../../examples/digits/data/digits.csv.gz", "rt") as file:
        rows = np.loadtxt(file, dtype=np.int64, delimiter=",")
    return rows[:, :64].reshape(-1, 1, 8, 8).astype(np.float32) / 16, rows[:, 64]


def digit_indices(samples, batch):
    """Sample numbers [steps, batch]: whole batches of one permutation of the training part after the other."""
    generator = np.random.default_rng(0)
    train_part = np.arange(samples)[np.arange(samples) % 5 != 4]
    batches = []
    while len(batches) < steps:
        order = generator.permutation(train_part)
        batches += [order[i:i + batch] for i in range(0, len(order) - batch + 1, batch)]
    return np.stack(batches[:steps])


def read_text(context, batch):
    """Character numbers of the text, and where the sequences [steps, batch] start; the target is the next character."""
    tokens = np.array([alphabet.index(character) for character in (folder / "text.txt").read_text()], dtype=np.int64)
    return tokens, np.random.default_rng(0).integers(0, len(tokens) - context, (steps, batch))


def nested():
    """Children of children, a child without parameters, a parameter of the module's own before its children's."""
    model = nn.Sequential(nn.Conv2d(2, 4, (3, 2)), nn.ReLU(),
                          nn.Sequential(nn.Flatten(), nn.Linear(8, 3, bias=False)), nn.Linear(3, 1))
    model.register_parameter("scale", nn.Parameter(torch.ones(3)))
    return model


def export_names(models):
    """A line for each entry of a state_dict, in order: model, name, type."""
    lines = [f"{label} {name} f32[{','.join(map(str, value.shape))}]\n"
             for label, model in models.items() for name, value in model.state_dict().items()]
    (folder / "state_dict.txt").write_text("".join(lines))


def main():
    export_names({"mlp": Mlp(), "cnn": SimpleCNN(), "nested": nested(), "transformer": Transformer()})
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    over_epochs = {}

    def both(name, curve, make_model, batches, samples, loss_of, optimizer_of, inputs):
        export(name, make_model, batches, loss_of, optimizer_of, inputs)
        if wanted("epochs"):
            losses, _ = curves(f"{curve} in epochs", make_model, epochs(curve, *samples), loss_of, optimizer_of)
            over_epochs.update({f"{curve}.{key}": value for key, value in losses.items()})

    generator = np.random.default_rng(0)
    inputs = generator.standard_normal((steps, 20, 10)).astype(np.float32)
    targets = generator.standard_normal((steps, 20, 10)).astype(np.float32)
    batches = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in zip(inputs, targets)]
    rows = [torch.from_numpy(values.reshape(-1, 10)) for values in (inputs, targets)]
    both("mlp", "mlp", Mlp, batches, rows, F.mse_loss, lambda parameters: torch.optim.SGD(parameters, lr=0.01),
         {"inputs": inputs, "targets": targets})

    images, labels = read_digits()
    indices = digit_indices(len(labels), 64)
    batches = [(torch.from_numpy(images[i]), torch.from_numpy(labels[i])) for i in indices]
    momentum = lambda parameters: torch.optim.SGD(parameters, lr=0.01, momentum=0.9)
    export("cnn_sgd", SimpleCNN, batches, F.cross_entropy, momentum, {"indices": indices})
    if wanted("autocast", "autocast.overflow"):
        export_overflow(SimpleCNN, batches, F.cross_entropy, momentum)
    both("cnn_adamw", "cnn", SimpleCNN, batches, (torch.from_numpy(images), torch.from_numpy(labels)), F.cross_entropy,
         lambda parameters: torch.optim.AdamW(parameters, lr=1e-3), {"indices": indices})

    tokens, starts = read_text(context, 8)
    sequences = torch.from_numpy(tokens[starts[:, :, None] + np.arange(context + 1)])
    rows = sequences.flatten(0, 1)
    both("transformer", "transformer", Transformer, [(rows[:, :-1], rows[:, 1:]) for rows in sequences], (rows[:, :-1], rows[:, 1:]),
         lambda logits, y: F.cross_entropy(logits.flatten(0, 1), y.flatten()),
         lambda parameters: torch.optim.AdamW(parameters, lr=1e-3), {"tokens": tokens, "starts": starts})
    if over_epochs:
        write("epochs", over_epochs)

    large = torch.from_numpy(images).repeat_interleave(4, 2).repeat_interleave(4, 3)
    indices = digit_indices(len(labels), 16)
    export_large("resnet20", ResNet20, [(large[i], torch.from_numpy(labels[i])) for i in indices], F.cross_entropy,
                 lambda parameters: torch.optim.SGD(parameters, lr=0.002, momentum=0.9, weight_decay=1e-4), {"indices": indices})

    tokens, starts = read_text(gpt_context, 4)
    sequences = torch.from_numpy(tokens[starts[:, :, None] + np.arange(gpt_context + 1)])
    export_large("gpt", Gpt, [(rows[:, :-1], rows[:, 1:]) for rows in sequences],
                 lambda logits, y: F.cross_entropy(logits.flatten(0, 1), y.flatten()),
                 lambda parameters: torch.optim.AdamW(parameters, lr=1e-3), {"tokens": tokens, "starts": starts})


if __name__ == "__main__":
    main()
