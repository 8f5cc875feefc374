import microtape as mt

# A mistake that everybody makes once: overwriting a number that backward
# still needs.
#
# The derivative of eˣ is eˣ, so `exp` saves its result. The next line
# overwrites that result. Backward compares versions, fails, and names the
# line that saved the tensor and the line that overwrote it.
#
# Look at: the step where the pass stops, and the version of `y` then and
# now. The way out: `y = y + 1`, which makes a new tensor instead of
# changing the old one.

x = mt.tensor([0.0, 1.0, 2.0], requires_grad=True)

y = x.exp()
y += 1
total = (y * y).sum()

total.backward()
