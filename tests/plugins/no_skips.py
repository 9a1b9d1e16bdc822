"""Turns a skipped test into a failed one: where everything is installed, a skip hides a hole.

Loaded with ``-p tests.plugins.no_skips`` by ``.ci/run``.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

import pytest

_Report = TypeVar("_Report", pytest.TestReport, pytest.CollectReport)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that skips itself; one that is expected to fail stays as it is."""
    report = yield
    return report if hasattr(report, "wasxfail") else _failed(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a module that skips itself while it is collected."""
    return _failed((yield))


def _failed(report: _Report) -> _Report:
    if report.outcome == "skipped":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"no test may be skipped here; {reason}"
    return report
