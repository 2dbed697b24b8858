"""The cost that a scenario may have, and what to say when it costs more."""

# A figure that was reached may grow by so much before it is too much: callgrind alone is good to one in a hundred.
ALLOWANCE = 1.05
# A group that grew by less of the whole explains nothing.
SHARE = 0.003


def bound(figure, reached):
    """The bound for a figure: rounded up, so that a few allocations have room too."""
    allowed = reached * ALLOWANCE
    # Fractions are of what happens once for many.
    return round(allowed + 0.05, 1) if allowed < 1_000 else int(allowed) + 1


def accepted(counts):
    """The record of a scenario that is measured now."""
    return {
        "bounds": {name: bound(name, value) for name, value in counts.figures.items()},
        "reached": {name: round(value, 1) for name, value in counts.figures.items()},
        "groups": {
            name: round(cost) for name, cost in sorted(counts.groups.items(), key=lambda each: -each[1]) if cost >= 1},
    }


def exceeded(counts, record):
    """The figures that are above their bounds: (figure, reached, bound)."""
    return [
        (name, counts.figures[name], allowed) for name, allowed in record["bounds"].items()
        if counts.figures.get(name, 0) > allowed]


def is_loose(counts, record):
    """Whether a bound is so far away that it no longer guards anything."""
    return any(
        bound(name, counts.figures.get(name, 0)) * ALLOWANCE < allowed for name, allowed in record["bounds"].items())


def grown(counts, record, limit=6):
    """The groups that cost more instructions than when the bounds were accepted, most first."""
    before = record.get("groups", {})
    differences = {name: cost - before.get(name, 0) for name, cost in counts.groups.items()}
    found = sorted(differences.items(), key=lambda each: -each[1])
    least = SHARE * sum(counts.groups.values())
    return [(name, before.get(name, 0), counts.groups[name]) for name, more in found if more > least][:limit]


def costly(counts, group, limit=5):
    """The functions of a group that cost most by themselves: (instructions, function)."""
    found = sorted(((cost, name) for name, (cost, of) in counts.functions.items() if of == group), reverse=True)
    return found[:limit]
