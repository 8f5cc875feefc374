import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16)
        self.reader = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.liked = nn.Linear(8, 1)

    def forward(self, review):
        read = self.reader(self.words(review))
        return self.liked(read[:, 0]).squeeze(1)


torch.manual_seed(3)
critic = Critic()
optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
for step in range(4):
    review = torch.randint(0, 30, (8, 6))
    is_good = (review[:, 0] > 15).float()
    loss = nn.functional.binary_cross_entropy_with_logits(critic(review), is_good)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
