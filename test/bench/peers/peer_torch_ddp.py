#!/usr/bin/env python3
"""peer_torch_ddp.py <seconds>: DistributedDataParallel over Gloo in this process's rank (RANK, WORLD_SIZE, MASTER_ADDR,
MASTER_PORT), one thread; MLP 784-512-512-10, 128 rows a rank, Adam. Rank 0 prints one JSON object as dlc-bench does."""
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from peer_torch import spread
from torch import nn


def main():
    seconds = float(sys.argv[1])
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x, y = torch.randn(128, 784), torch.randint(10, (128,))
    times, go = [], torch.ones(1)
    begin = time.perf_counter()
    while go.item():
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - start)
        if len(times) % 10 == 0:  # rank 0 says when to stop, outside the measured time
            go[0] = float(time.perf_counter() - begin < seconds)
            dist.broadcast(go, 0)
    if dist.get_rank() == 0:
        print(json.dumps({"name": f"PyTorch {torch.__version__} DDP, Gloo", "first": times[0], **spread(times[10:])}))
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # PyTorch 2.15 now and then ends with std::terminate when its threads are destroyed


if __name__ == "__main__":
    main()
