def weighted_pairs(exercise):
    """weighted: two products of neighbours at [1, 2, 3], weights 10 and 1"""
    return exercise.weighted(_pairs, [1.0, 2.0, 3.0], [10.0, 1.0])


def weighted_total(exercise):
    """weighted: running totals at [5, 2, 4], weights 1, 10 and 100"""
    return exercise.weighted(lambda x: x.cumsum(0), [5.0, 2.0, 4.0], [1.0, 10.0, 100.0])


def one_result_counts(exercise):
    """weighted: products of neighbours at [1, 2, 3], weights 0 and 1"""
    return exercise.weighted(_pairs, [1.0, 2.0, 3.0], [0.0, 1.0])


def calls(exercise):
    """How often weighted calls f"""
    called = []

    def f(x):
        called.append(x)
        return x * x

    exercise.weighted(f, [1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    return len(called)


def table_of_pairs(exercise):
    """jacobian: two products of neighbours at [1, 2, 3]"""
    return exercise.jacobian(_pairs, [1.0, 2.0, 3.0])


def table_of_totals(exercise):
    """jacobian: running totals at [5, 2, 4]"""
    return exercise.jacobian(lambda x: x.cumsum(0), [5.0, 2.0, 4.0])


def more_results_than_inputs(exercise):
    """jacobian: four results of two inputs, at [3, 5]"""
    return exercise.jacobian(lambda x: x[[0, 0, 1, 1]] * x[[0, 1, 0, 1]], [3.0, 5.0])


def _pairs(x):
    return x[1:] * x[:-1]
