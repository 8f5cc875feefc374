"""Your `tanh` computes its value, but adds no row to the tape. Then backward cannot go through it."""


class Tape:
    def tanh(self, result, x):
        self.values[result] = np.tanh(self.values[x])
