import microtape as mt

mt.manual_seed(4)
forger, judge = mt.nn.Linear(2, 3), mt.nn.Linear(3, 1)
compare = mt.nn.functional.binary_cross_entropy_with_logits


def helpers():
    forging = mt.optim.Adam(forger.parameters(), lr=0.01)
    judging = mt.optim.Adam(judge.parameters(), lr=0.01)
    return forging, judging


forging, judging = helpers()
for evening in range(6):
    stamps = mt.rand(10, 3) + 1
    forged = forger(mt.randn(10, 2))
    forging.zero_grad()
    loss = compare(judge(forged), mt.ones(10, 1))
    loss.backward()
    forging.step()

    judging.zero_grad()
    doubt = compare(judge(stamps), mt.ones(10, 1)) + compare(judge(forged.detach()), mt.zeros(10, 1))
    doubt.backward()
    judging.step()  # after the judge has seen both
    print(evening, loss.item(), doubt.item())
