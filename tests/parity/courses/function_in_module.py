"""Custom Functions wrapped in modules: a linear layer, and an activation whose backward is its own."""

import torch
import torch.nn as nn
from torch.autograd import Function, gradcheck


class LinearFunction(Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


class SwishFunction(Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.beta = beta
        ctx.save_for_backward(x)
        return x * torch.sigmoid(beta * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(ctx.beta * x)
        return grad_output * (s + ctx.beta * x * s * (1 - s)), None


class Linear(nn.Module):
    def __init__(self, input_features, output_features, bias=True):
        super().__init__()
        self.input_features, self.output_features = input_features, output_features
        self.weight = nn.Parameter(torch.empty(output_features, input_features))
        if bias:
            self.bias = nn.Parameter(torch.empty(output_features))
        else:
            self.register_parameter("bias", None)
        nn.init.uniform_(self.weight, -0.5, 0.5)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -0.5, 0.5)

    def forward(self, input):
        return LinearFunction.apply(input, self.weight, self.bias)

    def extra_repr(self):
        sizes = f"input_features={self.input_features}, output_features={self.output_features}"
        return f"{sizes}, bias={self.bias is not None}"


class Swish(nn.Module):
    def forward(self, x):
        return SwishFunction.apply(x, 1.5)


torch.manual_seed(0)
double = (
    torch.randn(3, 4, dtype=torch.double, requires_grad=True),
    torch.randn(2, 4, dtype=torch.double, requires_grad=True),
)
print(gradcheck(LinearFunction.apply, double, eps=1e-6, atol=1e-4))
print(gradcheck(lambda x: SwishFunction.apply(x, 1.5), double[:1]))

model = nn.Sequential(Linear(4, 8), Swish(), Linear(8, 1, bias=False))
print(model)
x = torch.randn(20, 4)
y = x.prod(dim=1, keepdim=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for t in range(20):
    loss = torch.nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if t % 5 == 0:
        print(t, f"{loss.item():.6f}", loss.grad_fn.next_functions[0][0].name().split("Backward")[0])
