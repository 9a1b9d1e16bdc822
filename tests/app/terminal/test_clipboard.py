"""Copying and editing outside the app."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from advchat.terminal import clipboard, editor


def script(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment without a desktop, whose only programs are those a test puts into the folder."""
    for name in ("WAYLAND_DISPLAY", "DISPLAY", "TMUX", "WSL_DISTRO_NAME", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="these have a clipboard program of their own")
async def test_case_76_without_a_desktop_the_copy_is_told_as_what_it_is(bare: Path) -> None:
    assert "does not tell whether it took them" in await clipboard.copy("abc")
    told = await clipboard.copy("语" * 100_000)
    path = Path(told.rpartition(" ")[2])
    assert path.read_text(encoding="utf-8") == "语" * 100_000
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="these have a clipboard program of their own")
async def test_a_desktops_program_gets_the_exact_text(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = bare / "kept"
    script(bare, "wl-copy", f"import sys; open({str(kept)!r}, 'wb').write(sys.stdin.buffer.read())")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert await clipboard.copy("a\nb\tü") == "Copied 5 characters."
    assert kept.read_text(encoding="utf-8") == "a\nb\tü"
    script(bare, "wl-copy", "import sys; sys.exit(1)")
    assert "does not tell" in await clipboard.copy("x")


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for an editor is a Unix script")
def test_the_editor_gets_the_text_and_gives_it_back(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "import sys; p = sys.argv[-1]; t = open(p).read(); open(p, 'w').write(t.upper() + '\\n')"
    monkeypatch.setenv("EDITOR", f"{script(bare, 'ed it', body)!s}".replace(" ", "\\ "))
    assert editor.edit("a\nb") == "A\nB"
    assert not list(bare.glob("advchat-*"))


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for an editor is a Unix script")
def test_an_editor_that_fails_is_told(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", str(script(bare, "ed", "import sys; sys.exit(3)")))
    with pytest.raises(editor.EditorError, match="ended with 3; the text is as it was"):
        editor.edit("a")
    monkeypatch.setenv("EDITOR", "no-such-editor")
    with pytest.raises(editor.EditorError, match="could not be run"):
        editor.edit("a")
