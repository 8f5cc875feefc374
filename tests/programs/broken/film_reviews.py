import microtape as mt
from microtape import nn

mt.manual_seed(3)
words = nn.Embedding(30, 8)
reader = nn.RNN(8, 12)
liked = nn.Linear(12, 1)
parameters = [*words.parameters(), *reader.parameters(), *liked.parameters()]
optimizer = mt.optim.Adam(parameters, lr=0.01)
for step in range(4):
    review = mt.randint(0, 30, (8, 6))
    is_good = (review[:, 0] > 15).float()
    read, last = reader(words(review))
    scores = liked(read.mean(dim=1)).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(scores, is_good)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
