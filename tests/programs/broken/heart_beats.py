import microtape as mt
from microtape import nn

mt.manual_seed(8)
beats = mt.randn(16, 30, 3)  # patients, times, leads
is_ill = (beats[:, :, 0].mean(dim=1) > 0).float()
model = nn.Sequential(nn.Conv1d(3, 4, 5), nn.ReLU(), nn.Flatten(), nn.Linear(104, 1))
optimizer = mt.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    leads = (beats * mt.ones(3, requires_grad=True)).reshape(beats.size(0), beats.size(2), beats.size(1))
    loss = nn.functional.binary_cross_entropy_with_logits(model(leads).squeeze(1), is_ill)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
