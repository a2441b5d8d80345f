"""Files stay under 600 lines and functions under 60; no folder or file is named after nothing."""

import ast
import os
import sys

FILE_LINES = 600
FUNCTION_LINES = 60
FOLDERS = ("agent", "orchestrator", "reports", "tests", "scripts")
# Names that say nothing of what is inside, and so collect everything.
EMPTY_NAMES = ("util", "utils", "common", "misc", "helpers")


def c_functions(lines):
    """(line, length) of every block that opens and closes at the first column and is a function:
    in this style only those have their brace on a line of its own."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.rstrip() == "{":
            start = number
        elif line.startswith("}") and start:
            yield start, number - start - 1
            start = None


def python_functions(lines):
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno


FUNCTIONS = {".c": c_functions, ".h": c_functions, ".py": python_functions}


def problems_of(path):
    stem, extension = os.path.splitext(os.path.basename(path))
    if stem in EMPTY_NAMES:
        yield f"{path}: '{stem}' does not say what is inside"
    if extension not in FUNCTIONS:
        return
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if len(lines) >= FILE_LINES:
        yield f"{path}: {len(lines)} lines, must be under {FILE_LINES}"
    for line, length in FUNCTIONS[extension](lines):
        if length >= FUNCTION_LINES:
            yield f"{path}:{line}: a function of {length} lines, must be under {FUNCTION_LINES}"


def main():
    paths = [
        os.path.join(folder, name)
        for top in FOLDERS
        for folder, _, names in os.walk(top)
        for name in names
        if "__pycache__" not in folder
    ]
    problems = [problem for path in sorted(paths) for problem in problems_of(path)]
    print("\n".join(problems))
    print(f"{len(paths)} files, {len(problems)} problems")
    return 1 if problems or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
