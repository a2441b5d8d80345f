"""The same rows as a table of 80 columns and as JSON."""
from . import results
from .results import efficiency, good, median_of, own_cpu, rate

PLACEMENTS = {"unpinned": "unpinned", "one": "both ends on one CPU", "two": "on two CPUs"}
ROLES = {"path": "through the router", "to": "ends on the router", "from": "starts on the router",
         "local": "one stream"}
HEADER = (f"  {'tool':<10} {'Gbit/s':>7} {'lowest':>7} {'highest':>7} {'of fwd':>6} {'CPU-s':>6} "
          f"{'Gbit/CPU-s':>10} {'retrans':>7} {'reorder':>7}")


def number(value, width, digits):
    return f"{'-':>{width}}" if value is None else f"{value:>{width}.{digits}f}"


def counter(name):
    def figure(trial):
        return trial["counters"].get(name)
    return figure


def reordering(trial):
    """Signs of segments out of order: holes that closed, and segments sent for nothing."""
    seen = [trial["counters"].get(name) for name in ("TCPSACKReorder", "TCPDSACKRecv")]
    return None if None in seen else sum(seen)


def row_lines(row, forwarded):
    """A row's line, and lines for what went wrong or keeps it from the comparison."""
    lines = []
    rates = [rate(trial) / 1e9 for trial in good(row)]
    if rates:
        middle = median_of(row, rate)
        share = middle / forwarded if forwarded else None
        lines.append(
            f"  {row.tool:<10} {number(middle / 1e9, 7, 2)} {number(min(rates), 7, 2)} "
            f"{number(max(rates), 7, 2)} {number(share, 6, 2)} "
            f"{number(median_of(row, own_cpu), 6, 2)} "
            f"{number(median_of(row, efficiency) / 1e9, 10, 2)} "
            f"{number(median_of(row, counter('RetransSegs')), 7, 0)} "
            f"{number(median_of(row, reordering), 7, 0)}")
    if row.note:
        lines.append(f"  {'' if rates else row.tool:<10} {row.note}"[:80])
    failed = [trial["error"] for trial in row.trials if not trial["ok"]]
    if failed:
        first = " ".join(failed[0].split())
        lines.append(f"  {'' if rates else row.tool:<10} {len(failed)} of {len(row.trials)} "
                     f"failed: {first}"[:80])
    return lines


def bar_line(verdict):
    name = verdict["what"]
    if verdict["beside"] and verdict["beside"] not in name:
        name += f" ({verdict['beside']})"
    word = "not measured" if verdict["ratio"] is None else \
        "holds" if verdict["holds"] else "misses"
    return (f"    native: {name:<40} {number(verdict['ratio'], 6, 2)}  "
            f"bar {verdict['least']:.2f}  {word}")


def print_table(rows, titles, settings, rounds, nice):
    print(f"Receiver's rate, median of {rounds} interleaved rounds of {settings.seconds} s; TCP: "
          f"{settings.congestion}.\nCPU-s: of the whole machine, without foreign processes; "
          f"priority: nice {nice}.")
    for key, group in results.groups_of(rows):
        place, role, test, placement = key
        forwarded = results.forwarded_rate(rows, place, test, placement)
        size = f" {settings.size}-byte datagrams" if test == "udp" else ""
        print(f"\n{titles[place]}, {test}{size}, {ROLES[role]}, {PLACEMENTS[placement]}")
        print(HEADER)
        for row in group:
            for line in row_lines(row, forwarded if role != "path" else None):
                print(line)
        for verdict in results.verdicts_of(key, group, forwarded):
            print(bar_line(verdict))


def foreign_share(rows):
    """How much of the machine foreign processes took during the good trials: 0 to 1."""
    trials = [trial for row in rows for trial in good(row)]
    busy = sum(trial["cpu_seconds"] for trial in trials)
    return sum(trial["other_cpu_seconds"] for trial in trials) / busy if busy else 0.0


def to_json(rows, settings, rounds, nice):
    """All there is to know of the bench, with every trial."""
    groups = []
    for key, group in results.groups_of(rows):
        place, role, test, placement = key
        forwarded = results.forwarded_rate(rows, place, test, placement)
        groups.append({
            "place": place, "role": role, "test": test, "placement": placement,
            "forwarded_bps": forwarded,
            "rows": [{"tool": row.tool, "comparable": row.comparable, "note": row.note,
                      "rate_bps": median_of(row, rate), "cpu_seconds": median_of(row, own_cpu),
                      "bits_per_cpu_second": median_of(row, efficiency), "trials": row.trials}
                     for row in group],
            "bars": results.verdicts_of(key, group, forwarded)})
    return {"format": "orch-engine-bench", "version": 1, "seconds": settings.seconds,
            "rounds": rounds, "congestion": settings.congestion, "datagram_bytes": settings.size,
            "nice": nice, "foreign_share": foreign_share(rows), "groups": groups}
