import microtape as mt
from microtape import nn

mt.manual_seed(3)
hours, marks = mt.randn(40, 3), mt.randn(40, 1)
marks = 0.5 * marks + hours[:, :1] - hours[:, 1:2]
new_hours = mt.randn(20, 3)
new_marks = new_hours[:, :1] - new_hours[:, 1:2]

model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = mt.optim.Adam(model.parameters(), lr=0.02)
best_error, best_state = float("inf"), None
for epoch in range(12):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(hours), marks)
    loss.backward()
    optimizer.step()
    with mt.no_grad():
        error = nn.functional.mse_loss(model(new_hours), new_marks).item()
    if error < best_error:
        best_error, best_state = error, model.state_dict()
model.load_state_dict(best_state)
with mt.no_grad():
    print(f"best {best_error:.4f}, restored {nn.functional.mse_loss(model(new_hours), new_marks).item():.4f}")
