import microtape as mt

mt.manual_seed(0)
forger, judge = mt.nn.Linear(3, 2), mt.nn.Sequential(mt.nn.Linear(2, 4), mt.nn.Tanh(), mt.nn.Linear(4, 1))
forger_steps = mt.optim.Adam(judge.parameters(), lr=0.001)
judge_steps = mt.optim.Adam(judge.parameters(), lr=0.001)
for _ in range(6):
    for _ in range(2):
        judge_steps.zero_grad()
        judge(3 + mt.randn(16, 2)).mean().neg().backward()
        judge(forger(mt.randn(16, 3))).mean().backward()
        judge_steps.step()
    forger_steps.zero_grad()
    judge(forger(mt.randn(16, 3))).mean().neg().backward()
    forger_steps.step()
