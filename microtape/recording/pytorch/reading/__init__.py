"""Values of tensors, read without disturbing the program.

values        copies and summaries of elements;  device: fetches those of a GPU together
  quick       copies of usual tensors
  later       large arrays, to be summarised later;  memory: of a tensor
  wrapped     tensors of function transforms
modes         what the program's own modes are not to see;  traced: whether it runs for its trace alone
settling      a recording when all values are there
inner_values  values inside of a call that follow from others
"""
