"""orch report: recorded runs, finished, cut short, foreign or hostile."""
import copy
import json
import pathlib
import re
import tempfile
import unittest

from program import CommandTest, PUBLISHED, orch, orch_on_terminal

# The values that the published numbers give (computed apart from this program).
PUBLISHED_ROWS = {
    "wired": ("10", "94.4", "0.1", "94.4..94.5", "94.3", "94.5"),
    "wireless": ("10", "20.4", "12.6", "18.6..22.3", "18.2", "25.9"),
    "path": ("10", "21.9", "11.7", "20.0..23.7", "17.8", "25.6"),
}


def published():
    return json.loads(PUBLISHED.read_text())


def cells(text, segment):
    """Title -> cell of the row of a segment."""
    lines = text.splitlines()
    titles = re.split(r"  +", next(line for line in lines if line.startswith("segment ")))
    row = next(line for line in lines if re.match(rf" {segment}( \*)? ", line))
    return dict(zip(titles, re.split(r"  +", row.strip())))


class ReportTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="test-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, content, name="run.json"):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def report(self, content, *options, **changes):
        done = orch("report", self.write(content), *options, **changes)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout


class Published(ReportTest):
    def test_numbers(self):
        text = orch("report", PUBLISHED).stdout
        self.assert_fits(text)
        for segment, expected in PUBLISHED_ROWS.items():
            row = cells(text, segment)
            found = tuple(row[title] for title in ("n", "mean", "CV %", "95 % CI", "min", "max"))
            self.assertEqual(found, expected)
        self.assertIn("published-home-router, not interleaved\n", text)

    def test_verdict(self):
        text = orch("report", PUBLISHED).stdout
        self.assertIn("\nforward: wireless limits the path: 20.4 Mbit/s, statistical, "
                      "confidence 99.5 %.\n", text)
        self.assertIn("pc1 -- wired 94.4 -> router == wireless 20.4 => pc2\n", text)
        self.assertIn("  Open: the path end to end (21.9 Mbit/s) may still differ from it.\n", text)

    def test_sample_in_the_repository_is_what_is_printed(self):
        self.assertEqual(orch("report", PUBLISHED).stdout,
                         PUBLISHED.with_suffix(".txt").read_text())

    def test_drift_is_noted(self):
        text = orch("report", PUBLISHED).stdout
        self.assertIn("  path forward: drift", text)
        self.assertNotIn("wireless forward: drift", text)


class Formats(ReportTest):
    def test_json_is_the_run_again(self):
        done = orch("report", PUBLISHED, "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        data = json.loads(done.stdout)
        self.assertEqual(len(data["trials"]), 30)
        self.assertEqual([row["segment"] for row in data["summary"]],
                         ["wired", "wireless", "path"])
        self.assertAlmostEqual(data["summary"][1]["mean"], 20.43e6, delta=1)
        self.assertEqual(data["verdicts"][0]["kind"], "link")
        self.assertEqual(data["verdicts"][0]["segment"], "wireless")
        self.assertEqual(self.report(data), orch("report", PUBLISHED).stdout)
        self.assertEqual(self.report(data, "--format", "json"), done.stdout)

    def test_later_and_unknown_formats(self):
        for name in ("markdown", "csv", "html", "junit", "openmetrics"):
            self.assert_refused(["report", PUBLISHED, "--format", name],
                                f"orch: --format: {name}: not built yet; use table or json")
        self.assert_refused(["report", PUBLISHED, "--format", "jsn"],
                            'orch: --format: no format "jsn"; did you mean json?')
        self.assert_refused(["report", PUBLISHED, "--format", "zzz"],
                            'orch: --format: no format "zzz"; use table or json')

    def test_into_a_file(self):
        for name in ("table", "json"):
            path = self.folder / ("report." + name)
            done = orch("report", PUBLISHED, "--format", name, "-o", path)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertEqual(path.read_text(), orch("report", PUBLISHED, "--format", name).stdout)

    def test_never_over_the_run(self):
        path = self.write(published())
        before = path.read_text()
        (self.folder / "alias").symlink_to(path)
        for name in (path, self.folder / "alias"):
            self.assert_refused(["report", path, "-o", name],
                                f"orch: {name}: is the run itself; write the report to another "
                                "file")
        self.assertEqual(path.read_text(), before)

    def test_where_nothing_can_be_written(self):
        path = self.folder / "no" / "such" / "folder"
        self.assert_refused(["report", PUBLISHED, "-o", path],
                            f"orch: {path}: cannot be written: No such file or directory")
        with open("/dev/full", "w") as full:
            done = orch("report", PUBLISHED, stdout=full)
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr,
                         "orch: output: cannot be written: No space left on device\n")


class Unfinished(ReportTest):
    def part(self, trials=30, tail=""):
        run = published()
        lines = run.pop("trials")[:trials]
        return "\n".join(map(json.dumps, [run, *lines])) + "\n" + tail

    def test_part_file_reads_like_a_finished_one(self):
        path = self.write(self.part(), "run.json.part")
        done = orch("report", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, orch("report", PUBLISHED).stdout)

    def test_line_that_was_being_written(self):
        text = orch("report", self.write(self.part(20, '{"segment":"wi'), "a.part")).stdout
        self.assertEqual(cells(text, "wireless")["n"], "10")

    def test_no_trial_yet(self):
        done = orch("report", self.write(self.part(0), "a.part"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("No trial was finished.", done.stdout)

    def test_part_is_named_when_the_file_is_not_there(self):
        part = self.write(self.part(5), "run.json.part")
        path = self.folder / "run.json"
        self.assert_refused(["report", path], f"orch: {path}: is not finished; what there is so "
                                              f"far: orch report {part}")

    def test_stopped_run_says_so(self):
        run = published()
        run["complete"] = False
        run["topology"]["trials"] = 9
        seen = {}
        for trial in run["trials"]:
            seen[trial["segment"]] = seen.get(trial["segment"], 0) + 1
            trial["round"] = seen[trial["segment"]]
        run["trials"] = [trial for trial in run["trials"] if trial["round"] <= 6]
        self.assertIn("not finished: in round 6 of 9", self.report(run))
        run["topology"]["trials"] = 6
        self.assertIn("not finished: in round 6 of 6", self.report(run))
        for known in (True, None):
            run["complete"] = known
            self.assertNotIn("not finished", self.report(run))


class Undecided(ReportTest):
    """The design's own inconclusive numbers, whole, too few, and all failed."""
    NUMBERS = {"wan": [52, 38, 61, 45, 57, 40, 49, 66, 43, 55],
               "wlan": [47, 60, 30, 51, 36, 44, 39, 41, 52, 38],
               "path": [44, 50, 38, 47, 41, 53, 36, 45, 49, 40]}

    def run_of(self, rounds, **extra):
        run = published()
        links = [{"name": "wan", "a": "pc1", "b": "router"},
                 {"name": "wlan", "a": "router", "b": "pc2"}]
        run["topology"]["links"] = links
        run["trials"] = [
            dict(round=i + 1, segment=name, test="tcp", engine="native", direction="forward",
                 throughput_bps=values[i] * 1000000, **extra)
            for i in range(rounds) for name, values in self.NUMBERS.items()]
        return run

    def rounds_to_settle(self, text):
        self.assert_fits(text)
        self.assertRegex(text, r"(?m)^forward: inconclusive: ")
        self.assertNotIn("*", text)
        return int(re.search(r"(?m)^  This should settle it: orch run TOPOLOGY --trials (\d+)$", text)[1])

    def test_too_noisy(self):
        text = self.report(self.run_of(10))
        self.assertIn("the slowest segment\n  seen is wlan (43.8 Mbit/s).\n", text)
        self.assertGreater(self.rounds_to_settle(text), 10)

    def test_too_few(self):
        self.assertEqual(self.rounds_to_settle(self.report(self.run_of(4))), 5)

    def test_all_failed(self):
        text = self.report(self.run_of(5, ok=False, error="router: lost: closed by the host"))
        self.assertEqual(cells(text, "wan"), {"segment": "wan", "from > to": "pc1 > router",
                                              "n": "0/5", "mean": "-"})
        self.assertIn("Failed trials: 15 of 15, not counted above:\n"
                      "  5 x wan forward: router: lost: closed by the host\n", text)
        self.assertIn("pc1 -- wan ? -> router -- wlan ? -> pc2\n", text)
        self.assertNotIn("Path proof", text)


class Broken(ReportTest):
    def test_files_that_are_no_runs(self):
        cut = json.dumps(published())[:1000]
        for content in ("", "{}", "[]", "null", "hello\n", '{"a": 1}', cut, "\0" * 10,
                        "[" * 10000):
            path = self.write(content)
            done = orch("report", path)
            self.assertEqual((done.returncode, done.stdout), (4, ""), content[:20])
            self.assertTrue(done.stderr.startswith(f"orch: {path}"), done.stderr)

    def test_a_foreign_file_is_called_that(self):
        self.assertIn("foreign", orch("report", self.write({"end": {"sum": 1}})).stderr)

    def test_missing_or_a_folder(self):
        for path in (self.folder / "missing.json", self.folder):
            done = orch("report", path)
            self.assertEqual((done.returncode, done.stdout), (4, ""))
            self.assertTrue(done.stderr.startswith(f"orch: {path}: "), done.stderr)

    def test_absurd_numbers_are_refused_by_name(self):
        for value in (-1, 1e300, "fast"):
            run = published()
            run["trials"][3]["throughput_bps"] = value
            done = orch("report", self.write(run))
            self.assertEqual((done.returncode, done.stdout), (4, ""), value)
            self.assertIn("throughput_bps", done.stderr)


class Terminal(ReportTest):
    def hostile(self):
        run = published()
        run["label"] = "a\033]0;title\007b\nc\u202ed\u009be"
        run["hosts"] = {"pc1": {"kernel": "\033[2J", "firmware": "\u05d0\u05d1 \u65e5\u672c"}}
        failed = copy.deepcopy(run["trials"][0])
        failed.update(ok=False, error="gone\r\033[31m" + "\u200b" * 3 + "x" * 100)
        run["trials"].append(failed)
        return run

    def test_hostile_words_are_escaped(self):
        text = self.report(self.hostile())
        self.assertFalse(set(text) & set("\033\007\r\u202e\u009b\u05d0\u200b"), text)
        self.assertIn("\\x1b]0;title\\x07", text)
        self.assertIn("\u65e5\u672c", text)
        self.assertRegex(text, r"Failed trials: 1 of 31")

    def test_plain_locale_gets_plain_text(self):
        text = self.report(self.hostile(), LC_ALL="C")
        self.assertTrue(text.isascii(), text)

    def test_colour_only_on_a_terminal_that_wants_it(self):
        plain = orch("report", PUBLISHED).stdout
        self.assertNotIn("\033", plain)
        coloured = orch_on_terminal("report", PUBLISHED)
        self.assertIn("\033[1;31m", coloured)
        self.assertEqual(re.sub(r"\033\[[0-9;]*m", "", coloured), plain)
        for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}):
            self.assertEqual(orch_on_terminal("report", PUBLISHED, **changes), plain)
        self.assertIn("\033", orch_on_terminal("report", PUBLISHED, NO_COLOR=""))


if __name__ == "__main__":
    unittest.main()
