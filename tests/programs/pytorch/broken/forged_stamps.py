import torch

torch.manual_seed(4)
forger, judge = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
compare = torch.nn.functional.binary_cross_entropy_with_logits


def helpers():
    forging = torch.optim.Adam(forger.parameters(), lr=0.01)
    judging = torch.optim.Adam(judge.parameters(), lr=0.01)
    return forging, judging


forging, judging = helpers()
for evening in range(6):
    stamps = torch.rand(10, 3) + 1
    forged = forger(torch.randn(10, 2))
    forging.zero_grad()
    loss = compare(judge(forged), torch.ones(10, 1))
    loss.backward()
    forging.step()

    judging.zero_grad()
    doubt = compare(judge(stamps), torch.ones(10, 1)) + compare(judge(forged.detach()), torch.zeros(10, 1))
    doubt.backward()
    forging.step()  # after the judge has seen both
    print(evening, loss.item(), doubt.item())
