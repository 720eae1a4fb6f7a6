"""The HTTP+SSE client of the official Python SDK against a server of ours.

Usage: python py_sse_client.py SERVER [ARG…]
SERVER prints `listening on URL` once it does; HTTP+SSE is at the path /sse.
"""

import subprocess
import sys
from urllib.parse import urljoin

import anyio
import httpx
from mcp import ClientSession, McpError, types
from mcp.client.sse import sse_client

CHECK_SECONDS = 20

passed = failed = 0


async def check(name, body):
    """Runs a check with a time limit."""
    global passed, failed
    try:
        with anyio.fail_after(CHECK_SECONDS):
            await body()
        passed += 1
        print(f"ok {passed + failed} - {name}")
    except Exception as error:  # noqa: BLE001: any failure is reported
        failed += 1
        print(f"not ok {passed + failed} - {name}: {error!r}")


def same(found, wanted):
    assert found == wanted, f"{found!r} instead of {wanted!r}"


def text_of(result):
    assert not result.isError, result
    return result.content[0].text


async def fill(_context, _params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def checks(url):
    logs = []

    async def log(params):
        logs.append(params)

    ended = None
    async with sse_client(url, on_session_created=lambda id: globals().update(session_id=id)) as streams:
        async with ClientSession(*streams, elicitation_callback=fill, logging_callback=log) as session:

            async def initialize():
                result = await session.initialize()
                same(result.serverInfo.name, "mcp-fixture-server")

            async def lists():
                names = [tool.name for tool in (await session.list_tools()).tools]
                same([name for name in ["echo", "sleep", "ask", "flood"] if name not in names], [])

            async def echo():
                for text in ["Zürich 🦉", "x" * (1 << 20)]:
                    same(text_of(await session.call_tool("echo", {"text": text})), text)

            async def progress():
                found = []

                async def on_progress(now, _total, _message):
                    found.append(now)

                arguments = {"ms": 200, "steps": 4}
                result = await session.call_tool("sleep", arguments, progress_callback=on_progress)
                same(text_of(result), "slept 200 ms")
                assert len(found) >= 3 and found == sorted(set(found)), found

            async def ask():
                same(text_of(await session.call_tool("ask", {})), "hello Ada")

            async def flood():
                await session.set_logging_level("info")
                await session.call_tool("flood", {"n": 50})
                while len(logs) < 50:
                    await anyio.sleep(0.01)

            async def concurrent_calls():
                async def call(text):
                    same(text_of(await session.call_tool("echo", {"text": text})), text)

                async with anyio.create_task_group() as calls:
                    for number in range(32):
                        calls.start_soon(call, f"call {number}")

            async def refused():
                try:
                    await session.call_tool("no such tool", {})
                except McpError as error:
                    same(error.error.code, -32602)
                else:
                    raise AssertionError("not refused")

            for name, body in [
                ("initialize", initialize),
                ("tools/list", lists),
                ("echo: what is no ASCII, and what is long", echo),
                ("sleep: progress comes while it sleeps", progress),
                ("ask: the user is asked", ask),
                ("flood: log messages arrive", flood),
                ("32 concurrent calls", concurrent_calls),
                ("a tool that does not exist is refused", refused),
            ]:
                await check(name, body)

    async def ends():
        messages = urljoin(url, f"/messages?session_id={globals()['session_id']}")
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        async with httpx.AsyncClient() as client:
            # The server notices the end of the stream by itself.
            while (await client.post(messages, json=ping)).status_code != 404:
                await anyio.sleep(0.01)

    await check("the session ends with its stream", ends)


def main(command):
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        url = urljoin(line.split()[-1], "/sse")
        print(f"# Python SDK client over HTTP+SSE against {url}")
        anyio.run(checks, url)
    finally:
        server.terminate()
        code = server.wait(10)
    print(f"# {passed} passed, {failed} failed")
    return 0 if code == 0 and failed == 0 and passed > 0 else 1


sys.exit(main(sys.argv[1:]))
