"""How the other tools are driven. Only what the receiver counted is taken from them."""
import json
import re

from .processes import Failure
from .trial import run_client

MEBI = 2 ** 20


def block_of(trial):
    return f"{trial.settings.block_kb}K"


def read_json(text):
    """The first JSON value of a text; plain lines can follow it, and errors exit with 0."""
    start = text.find("{")
    if start < 0:
        raise Failure("iperf3 gave no JSON: " + text.strip()[:200])
    try:
        result, _ = json.JSONDecoder().raw_decode(text[start:])
    except ValueError:
        raise Failure("iperf3 gave broken JSON") from None
    if "error" in result:
        raise Failure("iperf3: " + result["error"])
    return result


def drive_iperf3(trial, flags, totals):
    port = trial.port()
    server = trial.start_receiver(["iperf3", "-s", "-1", "-p", str(port), "-B",
                                   trial.receiver.address, "--idle-timeout", "20"])
    output = run_client(trial, [
        "iperf3", "-c", trial.receiver.address, "-p", str(port), "-B", trial.sender.address, "-J",
        "-i", "1", "-t", str(trial.settings.seconds), "--connect-timeout", "2000", *flags],
        port=port, server=server)
    end = read_json(output)["end"]
    received = end.get(totals)
    if not received:
        raise Failure(f"iperf3's JSON has no {totals}")
    return end, {"bytes": int(received["bytes"]), "rate_bps": received["bits_per_second"],
                 "seconds": received["seconds"]}


def drive_iperf3_tcp(trial, *more):
    flags = ["-l", block_of(trial), "-C", trial.settings.congestion, *more]
    end, figures = drive_iperf3(trial, flags, "sum_received")
    return {**figures, "retransmits": end["sum_sent"].get("retransmits")}


def drive_iperf3_zero_copy(trial):
    return drive_iperf3_tcp(trial, "-Z")


def drive_iperf3_udp(trial):
    """Its totals mix the sender's rate with the receiver's loss: received = packets - lost."""
    size = trial.settings.size
    end, _ = drive_iperf3(trial, ["-u", "-b", "0", "-l", str(size), "--udp-counters-64bit"], "sum")
    total = end["sum"]
    received = (total["packets"] - total["lost_packets"]) * size
    return {"bytes": received, "rate_bps": received * 8 / total["seconds"],
            "seconds": total["seconds"], "lost": total["lost_packets"]}


def drive_iperf2(trial):
    port = trial.port()
    server = trial.start_receiver(["iperf", "-s", "-P", "1", "-p", str(port), "-B",
                                   trial.receiver.address, "-y", "C", "-i", "1"])
    said = run_client(trial, [
        "iperf", "-c", trial.receiver.address, "-p", str(port), "-B", trial.sender.address,
        "-t", str(trial.settings.seconds), "-i", "1", "-y", "C", "-l", block_of(trial),
        "-Z", trial.settings.congestion], port=port, server=server)
    if "failed" in said or "did not receive ack" in said:
        raise Failure("iperf: " + said.strip()[:200])
    # The client's exit means nothing: the server's last row is the whole time's.
    rows = [line.split(",") for line in server.finish(trial.deadline()).splitlines()]
    whole = [row for row in rows if len(row) >= 9 and row[6].startswith("0.0-")]
    if not whole:
        raise Failure("iperf's server told no figures")
    best = max(whole, key=lambda row: float(row[6].split("-")[1]))
    seconds = float(best[6].split("-")[1])
    return {"bytes": int(best[7]), "rate_bps": int(best[7]) * 8 / seconds, "seconds": seconds}


def drive_nuttcp(trial):
    port, data_port = trial.port(), trial.port()
    server = trial.start_receiver(["nuttcp", "-1", "--nofork", "-P", str(port)])
    output = run_client(trial, [
        "nuttcp", "-P", str(port), "-p", str(data_port), f"-T{trial.settings.seconds}", "-fparse",
        f"-l{block_of(trial).lower()}", trial.receiver.address], port=port, server=server)
    if "classic" in output:
        raise Failure("nuttcp fell back to its classic mode: no server")
    fields = dict(re.findall(r"(\w+)=([\d.]+)", output))
    if "rate_Mbps" not in fields:
        raise Failure("nuttcp: " + output.strip()[:200])
    return {"bytes": int(float(fields["megabytes"]) * MEBI),
            "rate_bps": float(fields["rate_Mbps"]) * 1e6, "seconds": float(fields["real_seconds"])}


NETPERF_SELECTORS = ("REMOTE_RECV_THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME,REMOTE_BYTES_RECVD,"
                     "LOCAL_TRANSPORT_RETRANS")


def drive_netperf(trial):
    port, congestion = trial.port(), trial.settings.congestion
    server = trial.start_receiver(["netserver", "-D", "-f", "-4", "-L", trial.receiver.address,
                                   "-p", str(port)])
    output = run_client(trial, [
        "netperf", "-H", f"{trial.receiver.address},4", "-p", str(port), "-t", "TCP_STREAM",
        "-l", str(trial.settings.seconds), "-P", "0", "--", "-L", f"{trial.sender.address},4",
        "-P", f"{trial.port()},{trial.port()}", "-m", block_of(trial), "-M", block_of(trial),
        "-K", f"{congestion},{congestion}", "-k", NETPERF_SELECTORS], port=port, server=server)
    fields = dict(re.findall(r"^(\w+)=(.*)$", output, re.M))
    try:
        # A blocked data port gives status 0 and a throughput of 0.
        return {"bytes": int(fields["REMOTE_BYTES_RECVD"]),
                "rate_bps": float(fields["REMOTE_RECV_THROUGHPUT"]) * 1e6,
                "seconds": float(fields["ELAPSED_TIME"]),
                "retransmits": int(fields["LOCAL_TRANSPORT_RETRANS"])}
    except (KeyError, ValueError):
        raise Failure("netperf: " + output.strip()[:200]) from None
