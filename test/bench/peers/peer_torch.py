#!/usr/bin/env python3
"""peer_torch.py <workload> <threads> <seconds>: PyTorch eager; prints one JSON object as dlc-bench does."""
import json
import sys
import time

import torch
from torch import nn


def simple_cnn():
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 8 * 8, 10)).to(memory_format=torch.channels_last)


def cnn():
    model = simple_cnn()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x = torch.randn(64, 3, 32, 32).to(memory_format=torch.channels_last)
    return model, optimizer, nn.functional.cross_entropy, x, torch.randint(10, (64,))


def small_net():
    model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 10))
    return model, torch.optim.SGD(model.parameters(), lr=0.01), nn.functional.mse_loss, torch.randn(20, 10), torch.randn(20, 10)


def spread(times):
    """Median and the tenth and ninetieth percentile, in seconds."""
    times = sorted(times)
    return {key: times[int(share * (len(times) - 1))] for key, share in (("median", 0.5), ("low", 0.1), ("high", 0.9))}


def main():
    workload, threads, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    torch.set_num_threads(threads)
    model, optimizer, loss_of, x, y = {"cnn": cnn, "small_net": small_net}[workload]()
    times = []
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds or len(times) < 12:
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - start)
    print(json.dumps({"name": f"PyTorch {torch.__version__} eager", "first": times[0], **spread(times[10:])}))


if __name__ == "__main__":
    main()
