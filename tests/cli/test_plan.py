"""orch plan: what it prints of the shipped topologies, and what it refuses."""
import pathlib
import re
import tempfile
import unittest

from program import CommandTest, TOPOLOGIES, orch

HOME = TOPOLOGIES / "lab-home.yaml"
SERIES = {f"{segment} {direction}" for segment in ("wan", "wlan", "path")
          for direction in ("forward", "reverse")}
MINIMAL = """orch: 1
name: small
hosts:
  pc1: {local: true}
  router: {ssh: root@192.0.2.1}
links:
  - {name: wan, a: "pc1:eth0@192.0.2.7", b: "router:eth0"}
"""


def rounds_of(text):
    """{round: [series in order]}"""
    found, number = {}, None
    for line in text.partition("\nrounds ")[2].splitlines()[1:]:
        begin = re.match(r" *(\d+)  (.*)", line)
        if begin and not line.endswith("--all prints them"):
            number = int(begin[1])
            found[number] = begin[2]
        elif number and not line.endswith("--all prints them"):
            found[number] += " " + line.strip()
    return {number: series.split(", ") for number, series in found.items()}


class Shipped(CommandTest):
    def test_every_topology(self):
        files = sorted(TOPOLOGIES.glob("*.yaml"))
        self.assertGreaterEqual(len(files), 5)
        for file in files:
            done = orch("plan", file, "--seed", 1)
            self.assertEqual((done.returncode, done.stderr), (0, ""), file)
            self.assert_fits(done.stdout)
            self.assertTrue(done.stdout.startswith(file.stem + ": "), done.stdout)

    def test_home(self):
        done = orch("plan", HOME, "--seed", 3, "--trials", 4, "--duration", "2s")
        for line in ("lab-home: 3 segments, 6 trials a round, 4 rounds, seed 3",
                     "24 trials take 48 s, and a moment to start",
                     "wan      link        pc1:eth0      router:eth0  forward, reverse",
                     "wlan     link        router:wlan0  pc2:wlan0    forward, reverse",
                     "path     whole path  pc1:eth0      pc2:wlan0    forward, reverse"):
            self.assertIn(line + "\n", done.stdout)

    def test_lines_break_between_trials(self):
        text = orch("plan", TOPOLOGIES / "lab-chain.yaml", "--trials", 3, "--all").stdout
        lines = text.partition("\nrounds ")[2].splitlines()[1:]
        self.assertGreater(len(lines), 3)
        for line in lines:
            self.assertRegex(line, r"^ *(\d+ +)?(\S+ (forward|reverse)(, |,$|$))+$")

    def test_addresses_of_a_lab_are_known(self):
        self.assertNotIn("asked from", orch("plan", HOME).stdout)

    def test_chain_has_prefixes(self):
        text = orch("plan", TOPOLOGIES / "lab-chain.yaml", "--seed", 1).stdout
        self.assertRegex(text, r"(?m)^path:\S+ +part of path ")
        self.assertRegex(text, r"(?m)^path +whole path ")


class Rounds(CommandTest):
    def test_every_round_has_every_series_once(self):
        rounds = rounds_of(orch("plan", HOME, "--seed", 5, "--trials", 10, "--all").stdout)
        self.assertEqual(sorted(rounds), list(range(1, 11)))
        for series in rounds.values():
            self.assertEqual(len(series), len(SERIES))
            self.assertEqual(set(series), SERIES)
        self.assertGreater(len({tuple(series) for series in rounds.values()}), 1)

    def test_order_is_the_seeds(self):
        first, again, other = (
            rounds_of(orch("plan", HOME, "--seed", seed, "--all").stdout) for seed in (5, 5, 6))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_printed_seed_gives_the_same_again(self):
        text = orch("plan", HOME, "--all").stdout
        seed = re.search(r"--seed (\d+)", text)[1]
        self.assertEqual(orch("plan", HOME, "--all", "--seed", seed).stdout, text)

    def test_first_rounds_alone(self):
        text = orch("plan", HOME, "--seed", 5, "--trials", 10).stdout
        self.assertEqual(sorted(rounds_of(text)), [1, 2, 3])
        self.assertTrue(text.endswith("\n      7 more: --all prints them\n"), text)
        text = orch("plan", HOME, "--seed", 5, "--trials", 3).stdout
        self.assertEqual(sorted(rounds_of(text)), [1, 2, 3])
        self.assertNotIn("--all", text)


class Selection(CommandTest):
    def test_segment_and_direction(self):
        text = orch("plan", HOME, "--segment", "wan", "--direction", "reverse", "--trials", 2,
                    "--seed", 1).stdout
        self.assertEqual(rounds_of(text), {1: ["wan reverse"], 2: ["wan reverse"]})

    def test_what_does_not_exist(self):
        for option in ("--segment", "--test"):
            done = orch("plan", HOME, option, "wann")
            self.assertEqual((done.returncode, done.stdout), (4, ""))
            self.assertIn("wann", done.stderr)


class Files(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="test-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, text):
        path = self.folder / "t.yaml"
        path.write_text(text)
        return path

    def test_addresses_given_and_asked_for(self):
        text = orch("plan", self.write(MINIMAL)).stdout
        self.assertRegex(text, r"(?m)^wan +pc1:eth0 +192\.0\.2\.7$")
        self.assertRegex(text, r"(?m)^ +router:eth0 +asked from router$")
        self.assertRegex(text, r"(?m)^pc1 +local$")
        self.assertRegex(text, r"(?m)^router +ssh root@192\.0\.2\.1$")

    def test_mistakes_name_their_place(self):
        path = self.write(MINIMAL.replace("name: small", "nam: small"))
        done = orch("plan", path)
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertTrue(done.stderr.startswith(f"orch: {path}:2:1: "), done.stderr)
        self.assertIn('"name"', done.stderr)

    def test_no_topologies(self):
        for path in (self.folder / "missing.yaml", self.folder, self.write(""),
                     self.write("\0\1\2")):
            done = orch("plan", path)
            self.assertEqual((done.returncode, done.stdout), (4, ""))
            self.assertTrue(done.stderr.startswith(f"orch: {path}"), done.stderr)

    def test_full_output(self):
        with open("/dev/full", "w") as full:
            done = orch("plan", HOME, stdout=full)
        self.assertEqual(done.returncode, 4)
        self.assertIn("cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main()
