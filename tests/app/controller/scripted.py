"""A runner that answers by script: for what the controller does around a run."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from advchat.events import TextDelta
from advchat.runner import Emit, ModelInfo, Record, RunRequest, RunResult
from advchat_storage import RequestRecord


class ScriptedRunner:
    """Answers each prompt with ``re: PROMPT``; a held prompt waits until it is let go or stopped."""

    def __init__(self) -> None:
        self.ready = True
        self.requests: list[RunRequest] = []
        self.held: dict[str, asyncio.Event] = {}
        self.failing: set[str] = set()
        self.fail_all = False
        self._stops: dict[str, asyncio.Event] = {}

    async def prepare(self, model: str | None = None) -> None:
        """Nothing to do."""

    def model_info(self, model: str | None = None) -> ModelInfo:
        name = model or "scripted"
        return ModelInfo(name, name, None, 1000, free=False, can_use_tools=True)

    def hold(self, prompt: str) -> None:
        self.held[prompt] = asyncio.Event()

    def let_go(self, prompt: str) -> None:
        self.held[prompt].set()

    def stop(self, run_id: str) -> None:
        if run_id in self._stops:
            self._stops[run_id].set()

    async def run(self, request: RunRequest, emit: Emit, record: Record) -> RunResult:
        self.requests.append(request)
        stop = self._stops[request.run_id] = asyncio.Event()
        emit(TextDelta(request.run_id, "re: "))
        if request.prompt in self.held:
            stopping, going = (
                asyncio.ensure_future(stop.wait()),
                asyncio.ensure_future(self.held[request.prompt].wait()),
            )
            await asyncio.wait({stopping, going}, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            going.cancel()
            if stop.is_set():
                await request.session.add_items([{"role": "assistant", "content": "re: "}])
                return RunResult("stopped", partial="re: ")
        if self.fail_all or request.prompt in self.failing:
            return RunResult("failed", error="It failed.")
        emit(TextDelta(request.run_id, request.prompt))
        now = datetime.now(UTC).isoformat()
        await record(
            RequestRecord(
                request_id=f"{request.run_id}-1",
                run_id=request.run_id,
                branch_id=request.session.bound_branch or "main",
                turn=request.turn,
                agent="scripted",
                model_asked=request.model,
                model=request.model or "scripted",
                provider=None,
                api=None,
                started_at=now,
                first_token_at=now,
                finished_at=now,
                status="completed",
                input_tokens=10,
                output_tokens=5,
                total_tokens=15,
            )
        )
        await request.session.add_items([{"role": "assistant", "content": f"re: {request.prompt}"}])
        return RunResult("completed")

    async def close(self) -> None:
        """Nothing to release."""
