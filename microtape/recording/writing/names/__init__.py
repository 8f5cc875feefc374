"""What things of the program are called, and where they are.

variable_names      tensors by the variables that hold them
text_names          tensors that no variable holds any more, by the text that computed them
module_names        parameters and buffers by their paths
constant_arguments  constants as short texts
node_text           nodes, operations and hooks
scopes              parts of the program
sources             lines
"""
