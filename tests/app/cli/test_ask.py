import subprocess
import sys
from pathlib import Path

from advchat_storage import Store


async def test_a_reader_that_goes_away_stops_the_run_and_what_came_stays(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    command = [sys.executable, "-m", "advchat", "--db", str(path), "ask", "--model", "tour", "hello"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline() == b"**Scripted guide, not an AI**\n"
        program.stdout.close()
        assert program.wait(30) == 1
        told = program.stderr.read()
        assert b"Traceback" not in told
        assert b"advchat:" not in told

    async with Store(path) as store:
        conversation = (await store.conversations())[0]
        turn = (await store.turns(conversation.conversation_id, "main", 0, 1))[0]
    assert turn.status == "stopped"
    assert "Scripted guide" in str(turn.items[1]["content"])
