import microtape as mt
from microtape import nn

PIECES, BEATS, NOTES = 6, 5, 12
mt.manual_seed(7)
notes, player, guess = nn.Embedding(NOTES, 8), nn.GRU(8, 16), nn.Linear(16, NOTES)
optimizer = mt.optim.Adam([*notes.parameters(), *player.parameters(), *guess.parameters()], lr=0.01)
for step in range(4):
    piece = mt.randint(0, NOTES, (PIECES, BEATS + 1))
    played = notes(piece[:, :-1]).view(BEATS, PIECES, 8)
    heard, _ = player(played)
    loss = nn.functional.cross_entropy(guess(heard).flatten(0, 1), piece[:, 1:].t().flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
