"""The client of either version of the official Python SDK against a server of ours over Streamable HTTP.

Checks what becomes of a call that is cancelled in a session: its stream must end for good.

Usage: python-http.py SERVER [ARG…]        (prints `listening on URL`)
"""

import asyncio
import contextlib
import functools
import importlib.metadata
import logging
import sys

from harness import Listening, Suite, equal, require, until

from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

VERSION = importlib.metadata.version("mcp")
IS_FIRST = VERSION.startswith("1.")
if IS_FIRST:
    import httpx
else:
    import httpx2 as httpx

RESUMES_SECONDS = 5


class Recorded(httpx.AsyncHTTPTransport):
    """Records all requests; in `initialize`, names the revision `oldest` if there is one."""

    def __init__(self, oldest):
        super().__init__()
        self.oldest = oldest
        self.resumed = []

    async def handle_async_request(self, request):
        after = request.headers.get("last-event-id")
        body = b"" if request.method == "GET" else await request.aread()
        if self.oldest and b'"initialize"' in body:
            body = body.replace(b"2025-11-25", self.oldest.encode())
            headers = {name: value for name, value in request.headers.items() if name != "content-length"}
            request = httpx.Request(request.method, request.url, headers=headers, content=body, extensions=request.extensions)
        response = await super().handle_async_request(request)
        if after:
            self.resumed.append((after, response.status_code))
        return response


class Errors(logging.Handler):
    """Collects what the SDK logs as an error."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


@contextlib.asynccontextmanager
async def connected(url, revision):
    transport = Recorded(revision if revision != "2025-11-25" else None)
    client = httpx.AsyncClient(transport=transport, timeout=httpx.Timeout(30, read=300))
    async with client, streamable_http_client(url, http_client=client) as (read, write, *_):
        async with ClientSession(read, write) as session:
            opened = await session.initialize()
            negotiated = opened.protocolVersion if IS_FIRST else opened.protocol_version
            equal(negotiated, revision, "revision")
            yield session, transport


async def cancelled(session, steps):
    """Calls `sleep`, and cancels the call: after its first progress, or before its response begins."""
    progress = []

    async def hear(*values):
        progress.append(values)

    arguments = {"ms": 15000, "steps": steps}
    first = getattr(session, "_request_id", None)
    call = asyncio.create_task(session.call_tool("sleep", arguments, progress_callback=hear))
    if steps > 1:
        await until(lambda: progress)
    else:
        await asyncio.sleep(0.2)
    if IS_FIRST:
        # This version cancels nothing by itself.
        params = types.CancelledNotificationParams(requestId=first, reason="enough")
        notification = types.CancelledNotification(params=params)
        await session.send_notification(types.ClientNotification(notification))
        await asyncio.sleep(RESUMES_SECONDS)
        require(not call.done() or call.exception(), f"the cancelled call was answered: {call}")
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await call


async def alive(session):
    result = await session.call_tool("echo", {"text": "on"})
    equal(result.content[0].text, "on", "echo")


async def main(command):
    suite = Suite(f"Python SDK {VERSION} client over HTTP against {' '.join(command)}")
    errors = Errors()
    logging.getLogger("mcp").addHandler(errors)
    with Listening(command) as server:

        async def check(revision, steps):
            async with connected(server.url, revision) as (session, transport):
                await cancelled(session, steps)
                await alive(session)
                if not IS_FIRST:
                    await asyncio.sleep(RESUMES_SECONDS)
                # The SDK tries twice before it gives up; after a stream without a response, it tries again.
                require(len(transport.resumed) <= 2, f"resumed in {RESUMES_SECONDS} s: {transport.resumed}")
                return f"resumed: {transport.resumed}"

        def checks():
            for revision in ("2025-11-25", "2025-06-18"):
                for steps, when in ((15000, "after its response began"), (1, "before its response begins")):
                    name = f"{revision}: a call is cancelled {when}"
                    yield suite.check(name, functools.partial(check, revision, steps), 20)

        # They mostly wait.
        await asyncio.gather(*checks())

        async def quiet():
            equal(errors.lines, [], "what the SDK logs")

        await suite.check("the SDK logs neither warnings nor errors", quiet)
    suite.finish()


if len(sys.argv) < 2:
    sys.exit("usage: python-http.py SERVER [ARG…]")
asyncio.run(main(sys.argv[1:]))
