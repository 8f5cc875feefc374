import microtape as mt

mt.manual_seed(0)
teacher, student = mt.nn.Linear(4, 3).requires_grad_(False), mt.nn.Linear(4, 3)
optimizer = mt.optim.SGD(student.parameters(), lr=0.1)
x = mt.randn(6, 4)
for epoch in range(3):
    wanted = teacher(x).softmax(dim=1)
    given = student(x).softmax(dim=1)
    loss = mt.nn.functional.kl_div(given, wanted, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
