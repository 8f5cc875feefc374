import microtape as mt

# An LSTM reads a text letter by letter and guesses the next letter.
#
# Look at: the gradient of the memory, which goes from step to step through
# products with the forget gate alone, while that of the hidden state goes
# through a matrix product each time.

nn = mt.nn

TEXT = "hello world "
letters = sorted(set(TEXT))
numbers = mt.tensor([letters.index(one) for one in TEXT])


class NextLetter(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embedding = nn.Embedding(len(letters), size)
        self.lstm = nn.LSTM(size, size, batch_first=True)
        self.head = nn.Linear(size, len(letters))

    def forward(self, x, state=None):
        outputs, state = self.lstm(self.embedding(x), state)
        return self.head(outputs), state


mt.manual_seed(2)
model = NextLetter(6)
inputs, targets = numbers[:-1].unsqueeze(0), numbers[1:].unsqueeze(0)
loss_function = nn.CrossEntropyLoss()
optimizer = mt.optim.Adam(model.parameters(), lr=0.05)

for epoch in range(30):
    scores, state = model(inputs)
    loss = loss_function(scores.transpose(1, 2), targets)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if epoch % 10 == 0:
        print(f"{epoch} {loss.item():.3f}")

model.eval()
with mt.no_grad():
    letter, state, word = numbers[:1], None, ""
    for _ in range(5):
        scores, state = model(letter.unsqueeze(0), state)
        letter = scores[0, -1].argmax().unsqueeze(0)
        word += letters[letter.item()]
print(word)
