"""Which failed tests are tried once more, alone, so that a gate tells faults from chance.

Of up to four failed tests each runs again in a process of its own when all others have ended. Never again run those of
which chance is no excuse: what hung or crashed, a trap or a finding of a sanitizer, what `Tests/tiers.tsv` says, what
looks at a whole test after it, and tests that were changed lately, so that a new test is not born flaky.
"""

from __future__ import annotations

import datetime
import pathlib
import re
import subprocess

from switchboard_tests.runs.cases import Case, Outcome
from switchboard_tests.runs.tiers import ROOT, Tiers

LIMIT = 4
# In the text of a failure: of Swift, of the sanitizers, of the tests' servers.
FATAL = re.compile(r"Fatal error|Sanitizer|the server died|SIG(ILL|TRAP|SEGV|ABRT|BUS)|signal (4|5|6|7|11)\b")
# Commits on tests whose files count as changed lately. One that changed more files than this, such as a rename, says
# nothing of any of them.
RECENT_COMMITS = 20
SWEEP = 40

FLAKY = ROOT / "Tests" / "flaky.tsv"
FLAKY_DAYS = 14


class FlakyError(Exception):
    """A line of the file of known flakes, and what is wrong with it."""


def recent_files(folder: pathlib.Path = ROOT) -> set[str]:
    """Files of the last commits that changed tests; none without a repository."""
    log = subprocess.run(
        ["git", "log", f"-{RECENT_COMMITS}", "--name-only", "--format=%x00", "--", "Tests"],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    commits = [commit.split() for commit in log.stdout.split("\0")]
    return {file for files in commits if len(files) <= SWEEP for file in files}


def flaky(file: pathlib.Path = FLAKY) -> dict[str, datetime.date]:
    """Known flaky tests, and the last day of each. A line has the test, the cause, and two days, separated by tabs."""
    found = {}
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        location = f"{file.name}:{number}"
        columns = line.split("\t")
        if len(columns) != 4 or not all(columns):
            raise FlakyError(f"{location}: expected four columns: test, cause, since, until.")
        try:
            since, until = (datetime.date.fromisoformat(one) for one in columns[2:])
        except ValueError as error:
            raise FlakyError(f"{location}: since and until: days like 2026-01-31 are expected.") from error
        if not datetime.timedelta(0) <= until - since <= datetime.timedelta(days=FLAKY_DAYS):
            raise FlakyError(f"{location}: until: at most {FLAKY_DAYS} days after since are allowed.")
        found[columns[0]] = until
    return found


def expired(known: dict[str, datetime.date], today: datetime.date) -> list[str]:
    """Of the known flaky tests those that should be mended by now: they are red."""
    return sorted(test for test, until in known.items() if until < today)


def why_never(case: Case, tiers: Tiers, recent: set[str], known: dict[str, datetime.date]) -> str | None:
    """Why a failed test is not tried once more, if it is not."""
    if case.outcome is not Outcome.FAILED:
        return f"it {case.outcome.value}"
    if found := FATAL.search(case.text):
        return f"its failure says “{found[0]}”"
    if case.in_teardown:
        return "what looks at the whole test failed"
    entry = tiers.of_function(case.id) if case.is_swift else tiers.of_item(case.id)
    if not entry.may_rerun:
        return entry.reason
    if case.file in recent and case.id not in known:
        return f"its file is among those of the last {RECENT_COMMITS} commits on tests"
    return None
