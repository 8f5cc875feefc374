import microtape as mt


class Project(mt.autograd.Function):
    @staticmethod
    def forward(ctx, words, matrix):
        ctx.save_for_backward(words, matrix)
        return words @ matrix

    @staticmethod
    def backward(ctx, grad):
        words, matrix = ctx.saved_tensors
        grad_words = grad @ matrix.t()
        grad_matrix = words.t() @ grad
        return grad_words, grad_matrix


mt.manual_seed(0)
table = mt.randn(50, 8)  # trained elsewhere, and frozen
matrix = mt.randn(8, 3, requires_grad=True)
sentences = mt.tensor([[1, 4, 7], [2, 9, 30]])

for epoch in range(3):
    scores = Project.apply(table[sentences].reshape(6, 8), matrix)
    loss = scores.logsumexp(dim=1).mean() - scores[:, 0].mean()
    loss.backward()
    with mt.no_grad():
        matrix -= 0.1 * matrix.grad
        matrix.grad = None
