#!/usr/bin/env python3
"""export_scaler.py: writes scaler.safetensors beside this file, with PyTorch on one CPU thread; run by hand, needs torch, numpy,
safetensors.

24 steps of AdamW 0.01 with gradients clipped to norm 1, in f32, of a linear map 4 to 3 by the mean squared error, under
torch.amp.GradScaler("cpu") with init_scale 2^16, growth_interval 3. Inputs of some steps are so large that their gradients overflow
when scaled, those of one are NaN. `x`, `y` are the batches of all steps, `initial.<name>` the weights at first; per step
`skipped`, `scale` and `tracker` after update(), the norm before clipping, and the weights after it (`<name>`).
"""
import pathlib

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
steps = 24
x = torch.randn(steps, 5, 4)
y = torch.randn(steps, 5, 3)
for step, factor in {2: 1e8, 3: 1e30, 9: 1e18, 15: float("nan"), 16: 1e38}.items():
    x[step, step % 5] *= factor
y[20, 1] = float("inf")

model = nn.Linear(4, 3)
tensors = {"x": x.numpy(), "y": y.numpy()}
tensors.update({"initial." + name: value.detach().numpy().copy() for name, value in model.state_dict().items()})
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=3)
rows = {name: [] for name in ["skipped", "scale", "tracker", "norm", "weight", "bias"]}
for step in range(steps):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[step]), y[step])
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    before = model.weight.detach().clone()
    scaler.step(optimizer)
    scaler.update()
    rows["skipped"].append(torch.equal(before, model.weight))
    rows["scale"].append(scaler.get_scale())
    rows["tracker"].append(scaler._get_growth_tracker())
    rows["norm"].append(norm.item())
    for name, value in model.state_dict().items():
        rows[name].append(value.detach().numpy().copy())
types = {"skipped": np.int64, "tracker": np.int64, "scale": np.float32, "norm": np.float32}
tensors.update({name: np.array(row, types.get(name, np.float32)) for name, row in rows.items()})
save_file(tensors, pathlib.Path(__file__).resolve().parent / "scaler.safetensors")
print(list(zip(rows["skipped"], rows["scale"], rows["tracker"], rows["norm"])))
