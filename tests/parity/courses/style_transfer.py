"""Neural style transfer: content and style losses of a fixed network, and their gradient in the image."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
cnn = nn.Sequential(
    nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, 2),
    nn.Conv2d(6, 8, 3, padding=1), nn.ReLU(),
)  # fmt: skip
cnn.requires_grad_(False).eval()
content_img, style_img = torch.rand(1, 3, 8, 8), torch.rand(1, 3, 8, 8).mul(2).round() / 2


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    G = torch.mm(features, features.t())
    return G.div(a * b * c * d)


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super().__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        self.loss = F.mse_loss(gram_matrix(input), self.target)
        return input


model, content_losses, style_losses, i = nn.Sequential(), [], [], 0
for layer in cnn.children():
    if isinstance(layer, nn.Conv2d):
        i += 1
        name = f"conv_{i}"
    elif isinstance(layer, nn.ReLU):
        name = f"relu_{i}"
        layer = nn.ReLU(inplace=False)
    else:
        name = f"pool_{i}"
    model.add_module(name, layer)
    if name == "conv_2":
        content_loss = ContentLoss(model(content_img))
        model.add_module("content_loss", content_loss)
        content_losses.append(content_loss)
    if isinstance(layer, nn.Conv2d):
        style_loss = StyleLoss(model(style_img))
        model.add_module(f"style_loss_{i}", style_loss)
        style_losses.append(style_loss)
print([name for name, _ in model.named_children()])

input_img = content_img.clone()
input_img.requires_grad_(True)
optimizer = torch.optim.Adam([input_img], lr=0.05)
for step in range(12):
    with torch.no_grad():
        input_img.clamp_(0, 1)
    optimizer.zero_grad()
    model(input_img)
    style_score = sum(sl.loss for sl in style_losses) * 1e5
    content_score = sum(cl.loss for cl in content_losses)
    loss = style_score + content_score
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(f"step {step}: Style Loss : {style_score.item():4f} Content Loss: {content_score.item():4f}")
print(input_img.grad.abs().sum(dim=(0, 2, 3)))
print("no gradient in the network:", all(p.grad is None for p in model.parameters()))
