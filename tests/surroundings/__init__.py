"""Each command in each of the surroundings that programs meet: a full disk, no home, a terminal that is gone."""
