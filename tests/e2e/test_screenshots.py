"""The script that takes the README's pictures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
SHOWN = {
    "main": "Gardens and water",
    "fork": "inherited from main above",
    "tree": "1 elsewhere",
    "usage": "All conversations",
    "light": "Serralves",
    "narrow": "Four days in",
    "compare": "Compare",
    "fan": "Convento do Carmo",
}


def test_every_picture_of_the_readme_is_taken(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    made = subprocess.run(
        [sys.executable, "-m", "screenshots.make", "--out", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    for name, text in SHOWN.items():
        assert f"screenshots/{name}.svg" in readme
        picture = ElementTree.parse(tmp_path / f"{name}.svg")
        words = "".join(picture.getroot().itertext()).replace("\xa0", " ")
        assert text in words, name
