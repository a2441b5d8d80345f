"""From trials to rows, and from rows to the ratios that the design sets a bar for."""
import collections
import statistics

# One line of a table: a tool in one case and placement of one place. Rates in bit/s.
Row = collections.namedtuple("Row", "place role test placement tool trials note comparable")

# what: the words printed. value: a function of the rows of one (place, role, test, placement) and
# of the place's forwarded rate, which gives (ratio, beside what) or None.
Bar = collections.namedtuple("Bar", "place role test what least value")


def good(row):
    return [trial for trial in row.trials if trial["ok"]]


def median_of(row, figure):
    """The median of figure(trial) over the good trials that have it, or None."""
    values = [figure(trial) for trial in good(row)]
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def rate(trial):
    return trial["rate_bps"]


def own_cpu(trial):
    """CPU-seconds of the machine without what foreign processes took meanwhile."""
    return max(trial["cpu_seconds"] - trial["other_cpu_seconds"], 0.01)


def efficiency(trial):
    """Bits that arrived for each CPU-second."""
    return trial["bytes"] * 8 / own_cpu(trial)


def native_of(rows):
    return next((row for row in rows if row.tool == "native" and good(row)), None)


def best_peer(rows, figure, prefix=""):
    """The comparable peer (of that name) with the highest median, or None."""
    peers = [row for row in rows if row.tool != "native" and row.comparable and good(row) and
             row.tool.startswith(prefix)]
    return max(peers, key=lambda row: median_of(row, figure), default=None)


def ratio_to_peer(figure, prefix=""):
    def value(rows, forwarded):
        native, peer = native_of(rows), best_peer(rows, figure, prefix)
        if not native or not peer:
            return None
        return median_of(native, figure) / median_of(peer, figure), peer.tool
    return value


def share_of_forwarded(rows, forwarded):
    native = native_of(rows)
    return (median_of(native, rate) / forwarded, "forwarded") if native and forwarded else None


BARS = (
    Bar("routed", "path", "tcp", "rate / best peer", .9, ratio_to_peer(rate)),
    Bar("routed", "path", "tcp", "per CPU-second / iperf3", 1.5,
        ratio_to_peer(efficiency, "iperf3")),
    Bar("loopback", "local", "tcp", "rate / best peer", 1.3, ratio_to_peer(rate)),
    Bar("loopback", "local", "udp", "rate / iperf3", 3.0, ratio_to_peer(rate, "iperf3")),
    Bar("router", "to", "tcp", "share of the forwarded rate", .85, share_of_forwarded),
    Bar("router", "from", "tcp", "share of the forwarded rate", .68, share_of_forwarded),
)


def groups_of(rows):
    """[(key, rows)] with key = (place, role, test, placement), in the order of the rows."""
    groups = {}
    for row in rows:
        groups.setdefault((row.place, row.role, row.test, row.placement), []).append(row)
    return list(groups.items())


def forwarded_rate(rows, place, test, placement):
    """What the place's router forwards: the highest median of its path case, or None."""
    medians = [median_of(row, rate) for row in rows
               if (row.place, row.role, row.test, row.placement) == (place, "path", test, placement)
               and row.comparable and good(row)]
    return max(medians, default=None)


def verdicts_of(key, group, forwarded):
    """The bars of a group: [{what, ratio, beside, least, holds}]; ratio None = not measured."""
    found = []
    for bar in BARS:
        if (bar.place, bar.role, bar.test) != key[:3]:
            continue
        ratio, beside = bar.value(group, forwarded) or (None, None)
        found.append({"what": bar.what, "ratio": ratio, "beside": beside, "least": bar.least,
                      "holds": ratio is not None and ratio >= bar.least})
    return found
