"""The user's own agent, found and loaded.

Owns the reading of ``FILE.py:NAME`` and ``MODULE:NAME`` and the import of the user's code, whose failures it
tells with the user's own traceback. Imports the SDK: import it late, in a thread, since the user's code may
take its time.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from agents import Agent

from advchat.models.faults import RequestError

_NAMED = "--agent takes FILE.py:NAME or MODULE:NAME"


class AgentLoadError(RequestError):
    """The agent could not be loaded: one line, and the traceback where the user's own code has failed."""

    no_tokens = True

    def __init__(self, line: str, detail: str | None = None) -> None:
        self.detail = detail
        super().__init__(line)


def load_agent(spec: str) -> Agent[Any]:
    """Import the agent that ``spec`` names. Raises AgentLoadError."""
    place, separator, name = spec.rpartition(":")
    if not separator or not place or not name:
        raise AgentLoadError(f"{_NAMED}, not “{spec}”.")
    is_file = place.endswith(".py") or "/" in place or "\\" in place
    module = _from_file(Path(place).expanduser(), spec) if is_file else _from_module(place)
    found = getattr(module, name, None)
    if found is None:
        raise AgentLoadError(f"{place} has no “{name}”.{_hint(module, name)}")
    if not isinstance(found, Agent):
        raise AgentLoadError(
            f"{place}: “{name}” is a {type(found).__name__}, not an Agent.{_hint(module, name)}"
        )
    return found


def _from_file(path: Path, spec: str) -> ModuleType:
    if not path.is_file():
        raise AgentLoadError(f"{path} is no file that can be read. {_NAMED}; “{spec}” was given.")
    full = path.resolve()
    name = f"advchat_agent_{full.stem}"
    described = importlib.util.spec_from_file_location(name, full)
    if described is None or described.loader is None:
        raise AgentLoadError(f"{path} is no Python file.")
    module = importlib.util.module_from_spec(described)
    sys.modules[name] = module
    folder = str(full.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # As when the file is run: it may import its neighbours.
    try:
        described.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise _failed(str(path), error, str(full)) from error
    return module


def _from_module(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise AgentLoadError(f"There is no module “{name}” here. {_NAMED}.") from error
        raise _failed(name, error, None) from error
    except (Exception, SystemExit) as error:
        raise _failed(name, error, None) from error


def _failed(place: str, error: BaseException, file: str | None) -> AgentLoadError:
    """Tell of the failure with the frames of the user's code alone."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [index for index, frame in enumerate(frames) if not _is_machinery(frame.filename, file)]
    kept = frames[own[0] :] if own else frames[len(frames) :]
    told = traceback.TracebackException(type(error), error, None)
    told.stack = traceback.StackSummary.from_list(kept)
    line = f"{place} could not be loaded: {type(error).__name__}: {error}"
    return AgentLoadError(" ".join(line.split()), detail="".join(told.format()).rstrip())


def _is_machinery(filename: str, file: str | None) -> bool:
    if file is not None and filename == file:
        return False
    return filename.startswith("<frozen importlib") or filename in (__file__, importlib.__file__)


def _hint(module: ModuleType, name: str) -> str:
    names = [key for key, value in vars(module).items() if isinstance(value, Agent)]
    if not names:
        return " It holds no Agent."
    close = get_close_matches(name, names, n=1)
    return f" Did you mean {close[0]}?" if close else f" It holds: {', '.join(sorted(names))}."
