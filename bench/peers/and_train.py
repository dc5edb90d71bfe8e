"""The published sparse-AND recipe as a researcher writes it in PyTorch, for
`wattle bench train --peer 'python3 bench/peers/and_train.py 300 100 20'`: one pre-LN block of width 64
with 16 heads, read at [CLS] only, dropout 0.1 on embeddings, attention and block outputs, full-batch
Adam. Prints the time of a step, three unmeasured ones aside.
usage: and_train.py LENGTH SAMPLES STEPS    (needs PyTorch)"""
import sys
import time

import torch
from torch import nn
from torch.nn import functional

LENGTH, SAMPLES, STEPS = (int(word) for word in sys.argv[1:4])
DIM, HEADS, DROP = 64, 16, 0.1


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.symbol = nn.Embedding(3, DIM)
        self.position = nn.Parameter(torch.empty(LENGTH + 1, DIM))
        self.first, self.second, self.last = (nn.LayerNorm(DIM) for _ in range(3))
        self.query, self.key, self.value, self.out = (nn.Linear(DIM, DIM) for _ in range(4))
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)
        self.head = nn.Linear(DIM, 2, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens):
        def drop(values):
            return functional.dropout(values, DROP, self.training)

        def split(values):
            return values.view(len(tokens), -1, HEADS, DIM // HEADS).transpose(1, 2)

        x = drop(self.symbol(tokens) + self.position)
        h = self.first(x)
        q, k, v = split(self.query(h[:, -1:])), split(self.key(h)), split(self.value(h))
        weights = drop(torch.softmax(q @ k.transpose(2, 3) / (DIM // HEADS) ** 0.5, dim=-1))
        read = (weights @ v).transpose(1, 2).reshape(len(tokens), DIM)
        c = x[:, -1] + drop(self.out(read))
        c = c + drop(self.down(functional.gelu(self.up(self.second(c)))))
        return self.head(self.last(c))


torch.manual_seed(0)
bits = (torch.rand(SAMPLES, LENGTH) < 0.5 ** (1 / 3)).long()
tokens = torch.cat([bits, torch.full((SAMPLES, 1), 2)], dim=1)
labels = bits[:, :3].prod(dim=1)
model = Block()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
for step in range(STEPS + 3):
    if step == 3:
        start = time.perf_counter()
    loss = functional.cross_entropy(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
milliseconds = 1e3 * (time.perf_counter() - start) / STEPS
print(f"PyTorch {torch.__version__}, T = {LENGTH}, m = {SAMPLES}, {torch.get_num_threads()} threads: "
      f"{milliseconds:.2f} ms/step, loss {loss.item():.4f}")
