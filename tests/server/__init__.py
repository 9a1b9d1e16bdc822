"""A loopback server that speaks the OpenAI wire format, scripted per test.

```python
async def test_chat(model_server: ModelServer) -> None:
    model_server.script(say("Hello"), say(Call("get_weather", {"city": "Oslo"})), quota())
    ...                                       # a client with base_url=model_server.base_url
    assert model_server.requests[0].lines == ["user: Hi"]
    assert model_server.billed.output == 1
```

Slow streams wait at gates: ``say("par", Wait(event), "tial")``; ``Hold()`` keeps the socket silent until the
client leaves (``seen.gone``). As a process of its own: ``python -m tests.server --port 0 --script FILE``.
"""

from tests.server.script import (
    AUTO,
    Answer,
    Call,
    Cut,
    Drop,
    Fail,
    Hold,
    HttpReply,
    Part,
    Raw,
    Reasoning,
    Refusal,
    Reply,
    Text,
    Usage,
    Wait,
    error,
    html,
    quota,
    rate_limited,
    say,
)
from tests.server.seen import Seen, Served
from tests.server.server import ModelServer

__all__ = [
    "AUTO",
    "Answer",
    "Call",
    "Cut",
    "Drop",
    "Fail",
    "Hold",
    "HttpReply",
    "ModelServer",
    "Part",
    "Raw",
    "Reasoning",
    "Refusal",
    "Reply",
    "Seen",
    "Served",
    "Text",
    "Usage",
    "Wait",
    "error",
    "html",
    "quota",
    "rate_limited",
    "say",
]
