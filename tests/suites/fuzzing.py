"""Every fuzz target runs for a while and must reach most lines of the parser it is for."""

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import job
from builds import SANITIZERS

RUN_SECONDS = 30
LINES_WANTED = 80.0  # per cent

# target -> the sources that are its parser: what turns bytes into checked data
TARGETS = {
    "wire": ["agent/wire/wire.c"],
    "topology": [
        f"orchestrator/core/topology/{name}.c"
        for name in (
            "expect",
            "fields",
            "hosts",
            "links",
            "load",
            "node",
            "paths",
            "place",
            "reader",
            "suggest",
            "tests",
            "units",
        )
    ],
    "run": [f"orchestrator/core/run/{name}.c"
            for name in ("document", "json", "parse", "view", "view_latency")],
}


def fuzz(name, folder):
    """Runs one target; returns None or what went wrong."""
    found = f"{folder}/corpus"
    os.makedirs(found)
    argv = [f"build-fuzz/tests/fuzz/fuzz_{name}", f"-max_total_time={RUN_SECONDS}", "-seed=1"]
    argv += ["-timeout=10", "-rss_limit_mb=1024", f"-artifact_prefix={folder}/", "-print_final_stats=1"]
    argv += [found, f"tests/fuzz/corpus/{name}"]
    env = {**SANITIZERS, "LLVM_PROFILE_FILE": f"{folder}/profile.raw"}
    deadline = RUN_SECONDS + 60  # the corpus is read first, and a slow input is let finish
    status = job.run(argv, f"{folder}/log", deadline, env)
    return None if status == 0 else job.explain(argv, f"{folder}/log", status, deadline)


def lines_reached(name, folder):
    """(lines reached, lines) of the target's parser."""
    program = f"build-fuzz/tests/fuzz/fuzz_{name}"
    profile = f"{folder}/profile"
    subprocess.run(
        ["llvm-profdata-14", "merge", "-sparse", f"{folder}/profile.raw", "-o", profile], check=True
    )
    report = subprocess.run(
        ["llvm-cov-14", "export", "-summary-only", program, f"-instr-profile={profile}"],
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    reached = count = 0
    for file in json.loads(report)["data"][0]["files"]:
        path = os.path.relpath(os.path.join("build-fuzz", file["filename"]))
        if path in TARGETS[name]:
            reached += file["summary"]["lines"]["covered"]
            count += file["summary"]["lines"]["count"]
    return reached, count


def check_target(name):
    """Two cases: no input breaks it, and it reaches the lines."""
    outcome = job.Outcome()
    folder = f"build-fuzz/meson-logs/fuzz-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    problem = fuzz(name, folder)
    outcome.check(problem is None, f"{name}: {problem}")
    try:
        reached, count = lines_reached(name, folder)
    except (OSError, subprocess.CalledProcessError) as error:
        outcome.check(False, f"{name}: its coverage could not be read: {error}")
        return outcome
    share = 100.0 * reached / count if count else 0.0
    text = f"{name}: {reached} of its parser's {count} lines reached ({share:.1f} %)"
    print("    " + text, flush=True)
    outcome.check(share >= LINES_WANTED, f"{text}, wanted are {LINES_WANTED} %")
    return outcome


def check_fuzz(_seconds):
    """All at once: the time a target runs is wall time."""
    outcome = job.Outcome()
    with ThreadPoolExecutor(len(TARGETS)) as pool:
        for one in pool.map(check_target, TARGETS):
            outcome.add(one)
    return outcome
