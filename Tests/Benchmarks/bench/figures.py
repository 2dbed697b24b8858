"""The figures of all rounds: medians, quartiles, and ratios of what was measured in the same round."""

import statistics


def quartiles(values):
    """The lower quartile, the median and the upper quartile; interpolated, so that two values have all three."""
    ordered = sorted(values)

    def at(share):
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    return at(0.25), at(0.5), at(0.75)


def summary(rounds):
    """Of each figure the quartiles over the rounds that have it; a round that failed is None."""
    figures = {}
    for key in dict.fromkeys(key for each in rounds if each for key in each):
        low, median, high = quartiles([each[key] for each in rounds if each and key in each])
        figures[key] = {"median": median, "low": low, "high": high}
    return figures


def spread(rounds, keys):
    """How many times the lower quartile the upper one is, of whichever of the figures it is most; 1 of none."""
    found = [quartiles(values) for key in keys
             if (values := [each[key] for each in rounds if each and each.get(key)])]
    return max((high / low for low, _, high in found), default=1)


def paired(ours, theirs, figure):
    """The ratios of a figure, ours to theirs, of the rounds in which both have it."""
    ratios = []
    for one, other in zip(ours, theirs):
        if one and other and figure in one and other.get(figure):
            ratios.append(one[figure] / other[figure])
    return ratios


def better(peers, figure, is_least):
    """Of several peers the one to be measured by: with the best median, whatever single rounds say.

    `is_least`: whether ours has to be the greater, so that the best of them is the greatest.
    """
    medians = {
        name: statistics.median(values)
        for name, rounds in peers.items()
        if (values := [each[figure] for each in rounds if each and figure in each])}
    if not medians:
        return None
    return (max if is_least else min)(medians, key=medians.get)


def percentile(values, share):
    """The value that so large a share is not above; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0
