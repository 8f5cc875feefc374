"""The built-in operations: each one's value and its derivative stand together in one stateless class.

broadcast    undoing broadcasting
arithmetic   + - * / ** negation
elementwise  exp, log, tanh, relu, ...
reduction    sum, mean, max, ...
shape        views: reshape, transpose, expand, ...; cat, stack
index        x[...]
parts        unbind, split, chunk
product      @, matrix products
loss         softmax, cross-entropy
"""
