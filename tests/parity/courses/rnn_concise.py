"""A forecast of a noisy wave with the recurrent layers of the library: RNN, GRU and LSTM in one class."""

import torch
import torch.nn as nn

torch.manual_seed(0)

time = torch.arange(0, 20, 0.2)
series = torch.sin(time) + 0.05 * torch.randn(len(time))
window = 10
X = series.unfold(0, window, 1)[:-1].unsqueeze(-1)
Y = series[window:].unsqueeze(-1)
print(X.size(), Y.size())


class Forecaster(nn.Module):
    def __init__(self, cell, hidden_size=12, num_layers=1):
        super().__init__()
        self.rnn = cell(input_size=1, hidden_size=hidden_size, num_layers=num_layers, batch_first=True)
        self.head = nn.Linear(hidden_size, 1)

    def forward(self, x, state=None):
        out, state = self.rnn(x, state)
        return self.head(out[:, -1, :]), state


for name, cell in [("RNN", nn.RNN), ("GRU", nn.GRU), ("LSTM", nn.LSTM)]:
    model = Forecaster(cell, num_layers=2 if name == "GRU" else 1)
    print(model)
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(12):
        model.train()
        optimizer.zero_grad()
        output, _ = model(X)
        loss = criterion(output, Y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        if (epoch + 1) % 4 == 0:
            print(f"{name} epoch {epoch + 1}: loss {loss.item():.5f}")

    model.eval()
    history = X[-1:].clone()
    with torch.inference_mode():
        for _ in range(5):
            following, _ = model(history)
            history = torch.cat([history[:, 1:], following.unsqueeze(1)], dim=1)
    print("forecast:", [round(v, 3) for v in history[0, -5:, 0].tolist()])

for name, parameter in model.named_parameters():
    print(f"{name:20s} {tuple(parameter.shape)}  norm {parameter.norm():.3f}")
