#!/usr/bin/env python3
"""torch_models.py <model> <device>: a training step of a net of gpu-check by PyTorch; prints one JSON object."""
import json
import sys
import time


def cnn(nn):
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 8 * 8, 10))


def resnet20(torch, nn):
    functional = nn.functional

    class Block(nn.Module):
        def __init__(self, fan_in, out):
            super().__init__()
            self.added, self.stride = out - fan_in, 1 if fan_in == out else 2
            self.conv1, self.bn1 = nn.Conv2d(fan_in, out, 3, stride=self.stride, padding=1, bias=False), nn.BatchNorm2d(out)
            self.conv2, self.bn2 = nn.Conv2d(out, out, 3, padding=1, bias=False), nn.BatchNorm2d(out)

        def forward(self, x):
            y = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
            if self.stride == 2:
                x = functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.added // 2, self.added // 2))
            return functional.relu(y + x)

    widths = [16] * 4 + [32] * 3 + [64] * 3
    blocks = [Block(fan_in, out) for fan_in, out in zip(widths, widths[1:])]
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), *blocks, nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(64, 10))


def gpt(torch, nn, vocabulary=96, context=128, width=128, heads=4, layers=4):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            n, t, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).reshape(n, t, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(n, t, width))
            return x + self.mlp(self.norm2(x))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
            self.blocks, self.norm = nn.Sequential(*[Block() for _ in range(layers)]), nn.LayerNorm(width)
            self.head = nn.Linear(width, vocabulary)

        def forward(self, x):
            x = self.token(x) + self.position(torch.arange(x.shape[1], device=x.device))
            return self.head(self.norm(self.blocks(x))).flatten(0, 1)

    return Gpt()


def main():
    name, device = sys.argv[1:3]
    try:
        import torch
        from torch import nn
    except ImportError:
        return {"message": "PyTorch cannot be imported"}
    if not torch.cuda.is_available():
        return {"message": "PyTorch finds no GPU"}
    kind, _, half = name.partition(".")
    if kind == "bench_gpt":
        model, x = gpt(torch, nn), torch.arange(16 * 128).reshape(16, 128) % 10
        y = x.flatten()
    else:
        batch = 64 if kind == "bench_cnn" else 128
        model, x = cnn(nn) if kind == "bench_cnn" else resnet20(torch, nn), torch.randn(batch, 3, 32, 32)
        y = torch.arange(batch) % 10
    model, x, y = model.to(device), x.to(device), y.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0 if kind == "bench_gpt" else 0.9)

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=bool(half)):
            loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

    def seconds(count):
        begin = time.perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / count

    seconds(10)
    count = max(1, int(0.3 / seconds(3)))
    return {"values": {"ms a step": min(seconds(count) for _ in range(3)) * 1e3, "version": torch.__version__}}


print(json.dumps(main()))
