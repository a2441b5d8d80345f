"""Help, the command table, and every bad command line."""
import re
import unittest

from program import CommandTest, TOPOLOGIES, orch

BUILT = ["run", "plan", "report", "lab", "version"]
LATER = ["check", "compare", "trend", "ab", "init", "resume", "schema"]
HOME = TOPOLOGIES / "lab-home.yaml"


class Help(CommandTest):
    def test_alone_and_asked_for(self):
        texts = set()
        for arguments in ([], ["--help"], ["-h"], ["help"]):
            done = orch(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            texts.add(done.stdout)
        self.assertEqual(len(texts), 1)
        self.assert_fits(texts.pop())

    def test_lists_every_command_and_marks_later_ones(self):
        listed = dict(re.findall(r"^  (\w+) +(.*)$", orch().stdout, re.M))
        self.assertEqual(sorted(listed), sorted(BUILT + LATER))
        for name in LATER:
            self.assertIn("(not built yet)", listed[name])
        for name in ("plan", "report", "version"):
            self.assertNotIn("not built yet", listed[name])

    def test_of_every_command(self):
        for name in BUILT + LATER:
            for arguments in ([name, "--help"], [name, "-h"], ["help", name]):
                done = orch(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)
                self.assertTrue(done.stdout.startswith(f"usage: orch {name}"), done.stdout)
                self.assert_fits(done.stdout)

    def test_wins_over_a_bad_line_but_not_after_the_end_of_options(self):
        self.assertEqual(orch("plan", "--trials", "x", "--help").returncode, 0)
        self.assert_refused(["plan", "--", "--help"], "orch: --help: " + self.missing())

    def missing(self):
        text = orch("plan", "no-such-file").stderr
        return text.removeprefix("orch: no-such-file: ").splitlines()[0]

    def test_has_every_option_of_run(self):
        text = orch("run", "--help").stdout
        for option in ("trials N", "duration S", "test T", "engine E", "direction D",
                       "segment S", "until-decided", "baseline RUN|DIR", "expect K=V", "seed N",
                       "label TEXT", "output FILE", "format F", "quiet"):
            self.assertIn("--" + option, text)

    def test_version(self):
        for name in ("version", "--version"):
            done = orch(name)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"^orch \d+\.\d+\.\d+\n$")


class BadLines(CommandTest):
    def test_commands(self):
        self.assert_refused(["pln"], 'orch: no command "pln"; did you mean plan?')
        self.assert_refused(["reprot", "x"], 'orch: no command "reprot"; did you mean report?')
        self.assert_refused(["zzzz"], 'orch: no command "zzzz"; `orch --help` lists them')
        self.assert_refused([""], 'orch: no command ""; `orch --help` lists them')
        self.assert_refused(["help", "pln"], 'orch: no command "pln"; did you mean plan?')

    def test_commands_of_later(self):
        for name in LATER:
            for rest in ([], ["x", "--any", "thing"]):
                done = self.assert_refused([name, *rest], f"orch: {name}: not built yet")
                self.assertEqual(done.stderr.count("\n"), 1)

    def test_options(self):
        cases = [
            (["plan"], "which topology? Name its file"),
            (["plan", HOME, "b"], "one argument too many: b"),
            (["plan", "--trails", "3", HOME], "unknown option --trails; did you mean --trials?"),
            (["plan", "--zzz", HOME], "unknown option --zzz"),
            (["plan", "-z", HOME], "unknown option -z"),
            (["plan", HOME, "--seed"], "--seed needs a value (N)"),
            (["plan", HOME, "--all=yes"], "--all takes no value"),
            (["plan", HOME, "--se", "1"], "--se could be one of 2 options: write it out"),
            (["plan", HOME, "--trials", "0"],
             '--trials: "0" is not a whole number from 1 to 1000'),
            (["plan", HOME, "--trials", "ten"],
             '--trials: "ten" is not a whole number from 1 to 1000'),
            (["plan", HOME, "--seed", "-1"],
             '--seed: "-1" is not a whole number from 0 to 9007199254740991'),
            (["plan", HOME, "--duration", "3h"],
             '--duration: "3h" is not between 100ms and 1h'),
            (["plan", HOME, "--direction", "up"],
             '--direction: "up" is not forward, reverse, both or bidir'),
            (["plan", HOME, "--segment", ""], "--segment: must not be empty"),
            (["report"], "which run? Name its file"),
            (["report", "a", "b"], "one argument too many: b"),
            (["report", "--fromat", "json", "a"],
             "unknown option --fromat; did you mean --format?"),
            (["report", "a", "-o"], "--output needs a value (FILE)"),
            (["report", "a", "-o", ""], "--output: must not be empty"),
            (["version", "x"], "one argument too many: x"),
        ]
        for arguments, message in cases:
            done = self.assert_refused(arguments, f"orch: {arguments[0]}: {message}")
            self.assertIn(f"usage: orch {arguments[0]}", done.stderr)
            self.assertIn(f"`orch {arguments[0]} --help` says more.", done.stderr)
            self.assert_fits(done.stderr)

    def test_options_of_later(self):
        cases = [
            (["--segment", "wan", "--segment", "wlan"],
             "--segment: more than one segment: not built yet; leave it out to measure them all"),
        ]
        for options, message in cases:
            self.assert_refused(["plan", HOME, *options], f"orch: {message}")

    def test_run_refuses_before_it_reaches_a_host(self):
        cases = [
            (["--until-decided"], "--until-decided: not built yet"),
            (["--baseline", "old.json"], "--baseline: not built yet"),
            (["--expect", "link=wlan"], "--expect: not built yet"),
            (["--format", "csv"], "--format: csv: not built yet; use table or json"),
            (["--format", "tabel"], '--format: no format "tabel"; did you mean table?'),
            (["--expect", "wlan"], 'run: --expect: "wlan" is not KEY=VALUE '
                                   '(link=wlan, min.path=90Mbit)'),
            (["--output", ""], "run: --output: must not be empty"),
        ]
        for options, message in cases:
            self.assert_refused(["run", HOME, *options], f"orch: {message}")
        self.assert_refused(["run"], "orch: run: which topology? Name its file")

    def test_control_characters_do_not_reach_the_terminal(self):
        for word in ("\033[31mred", "a\rb", "a\u202eb", "a\u009bb"):
            for arguments in ([word], ["plan", word], ["plan", HOME, "--test", word],
                              ["plan", HOME, "--trials", word], ["plan", "--" + word]):
                done = orch(*arguments)
                self.assertEqual(done.returncode, 4)
                self.assertFalse(set(done.stderr) & set("\033\r\u202e\u009b"), done.stderr)


if __name__ == "__main__":
    unittest.main()
