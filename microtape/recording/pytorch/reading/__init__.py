"""Values of tensors, read without disturbing the program.

values        copies and summaries of elements;  device: fetches those of a GPU together
inner_values  values inside of a call that follow from others
"""
