"""Which tests the gate has: `Tests/tiers.tsv`.

The gate is what `Scripts/test` runs without arguments. Everything else belongs to `all`. A line has four columns,
separated by tabs:

    test    a file below Tests, one test of it (`file::test`, `file::test[parameters]`), a target of Swift tests, or a
            suite (`Target.Suite`)
    tier    gate or all
    rerun   once: a failure in the gate is tried once more, alone; never: it is not
    reason  why it is not in the gate, or why never

The longest name that fits a test decides. Every file and target has a line, so that a new one has to say where it
belongs.
"""

from __future__ import annotations

import dataclasses
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[4]
FILE = ROOT / "Tests" / "tiers.tsv"
# Folders of pytest's files.
PYTHON_FOLDERS = ("IntegrationTests", "WebTests", "EndToEndTests", "RunTests")


@dataclasses.dataclass(frozen=True)
class Entry:
    test: str
    is_presubmit: bool
    may_rerun: bool
    reason: str


class TiersError(Exception):
    """A line of the file, and what is wrong with it."""


class Tiers:
    def __init__(self, entries: list[Entry]) -> None:
        self.entries = {entry.test: entry for entry in entries}

    @classmethod
    def read(cls, file: pathlib.Path = FILE) -> Tiers:
        entries: dict[str, Entry] = {}
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            if not line or line.startswith("#"):
                continue
            location = f"{file.name}:{number}"
            columns = line.split("\t")
            if len(columns) == 3:
                columns.append("")
            if len(columns) != 4:
                raise TiersError(f"{location}: {len(columns)} columns. Four are expected: test, tier, rerun, reason.")
            test, tier, rerun, reason = columns
            if tier not in ("gate", "all"):
                raise TiersError(f"{location}: tier: {tier!r}. Allowed: gate, all.")
            if rerun not in ("once", "never"):
                raise TiersError(f"{location}: rerun: {rerun!r}. Allowed: once, never.")
            if not reason and (tier, rerun) != ("gate", "once"):
                raise TiersError(f"{location}: reason: a reason is expected of what is not in the gate or never rerun.")
            if test in entries:
                raise TiersError(f"{location}: test: {test} has a line already.")
            entries[test] = Entry(test, tier == "gate", rerun == "once", reason)
        return cls(list(entries.values()))

    def of_item(self, item: str) -> Entry:
        """Of an item of pytest: `Tests/Folder/test_file.py::test_name[parameter]`."""
        whole = item.removeprefix("Tests/")
        name = whole.partition("[")[0]
        return self._first(item, whole, name, name.partition("::")[0])

    def of_function(self, function: str) -> Entry:
        """Of a test function of Swift: `Module.Suite/function(_:)/File.swift:LINE:COLUMN`."""
        suite = function.partition("/")[0]
        target = suite.partition(".")[0]
        names = [suite]
        # Suites may be nested: the names are separated by slashes, and the function has parentheses.
        for part in function.split("/")[1:]:
            if "(" in part:
                break
            names.append(f"{names[-1]}/{part}")
        return self._first(function, *reversed(names), target)

    def _first(self, test: str, *names: str) -> Entry:
        for name in names:
            if name in self.entries:
                return self.entries[name]
        raise TiersError(f"{FILE.name}: {test} has no line. Add one for its file or target.")

    @property
    def swift_outside_presubmit(self) -> list[str]:
        """Targets and suites."""
        return [name for name, entry in self.entries.items() if not entry.is_presubmit and ".py" not in name]

    def problems(self, tests: pathlib.Path = ROOT / "Tests") -> list[str]:
        """Files and targets without a line, and lines without a file or target."""
        files = {f"{folder}/{path.name}" for folder in PYTHON_FOLDERS for path in (tests / folder).glob("test_*.py")}
        targets = {path.name for path in tests.glob("*Tests") if any(path.glob("*.swift"))}
        found = [f"{name} has no line" for name in sorted((files | targets) - self.entries.keys())]
        for name in self.entries:
            file, _, function = name.partition("::")
            if ".py" in file:
                if file not in files:
                    found.append(f"{name}: there is no such file")
                elif function and f"def {function.partition('[')[0]}(" not in (tests / file).read_text():
                    found.append(f"{name}: there is no such test")
            else:
                target, _, suite = name.partition(".")
                if target not in targets:
                    found.append(f"{name}: there is no such target")
                elif suite and not any(
                    f" {suite.split('/')[-1]} " in path.read_text().replace("{", " ").replace(":", " ")
                    for path in (tests / target).rglob("*.swift")
                ):
                    found.append(f"{name}: there is no such suite")
        return [f"{FILE.name}: {one}." for one in found]
