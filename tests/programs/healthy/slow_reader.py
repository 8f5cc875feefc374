import microtape as mt
from microtape import nn

mt.manual_seed(0)
reader, marks = nn.Linear(5, 6), nn.Linear(6, 2)
slow, quick = mt.optim.SGD(reader.parameters(), lr=0.01), mt.optim.SGD(marks.parameters(), lr=0.1)

for number in range(1, 9):
    page, mark = mt.randn(8, 5), mt.randint(0, 2, (8,))
    loss = nn.functional.cross_entropy(marks(reader(page).relu()), mark)
    loss.backward()
    quick.step()
    quick.zero_grad()
    if number % 4 == 0:  # the reader learns from four pages at once
        slow.step()
        slow.zero_grad()
