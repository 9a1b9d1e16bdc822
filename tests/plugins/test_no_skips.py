"""The plugin that lets no test be skipped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SKIPS = {
    "call": "import pytest\ndef test_it():\n    pytest.skip('no tmux')\n",
    "mark": "import pytest\n@pytest.mark.skip(reason='no tmux')\ndef test_it():\n    pass\n",
    "fixture": (
        "import pytest\n@pytest.fixture\ndef it():\n    pytest.skip('no tmux')\ndef test_it(it):\n    pass\n"
    ),
    "module": "import pytest\npytest.skip('no tmux', allow_module_level=True)\n",
}


def run(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_inner.py").write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("source", SKIPS.values(), ids=SKIPS)
def test_a_skip_fails_and_tells_its_reason(tmp_path: Path, source: str) -> None:
    result = run(tmp_path, source, "-p", "tests.plugins.no_skips")
    assert result.returncode != 0, result.stdout
    assert "no test may be skipped here; " in result.stdout
    assert "no tmux" in result.stdout


def test_it_reaches_the_workers_of_xdist(tmp_path: Path) -> None:
    result = run(tmp_path, SKIPS["call"], "-p", "tests.plugins.no_skips", "-n", "1")
    assert result.returncode == 1, result.stdout
    assert "1 failed" in result.stdout


def test_expected_failures_and_passes_stay(tmp_path: Path) -> None:
    source = "import pytest\n@pytest.mark.xfail\ndef test_x():\n    assert 0\ndef test_y():\n    pass\n"
    result = run(tmp_path, source, "-p", "tests.plugins.no_skips")
    assert result.returncode == 0, result.stdout
    assert "1 passed, 1 xfailed" in result.stdout
