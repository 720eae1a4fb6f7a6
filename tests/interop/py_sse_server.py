"""A server on the official Python SDK over HTTP+SSE, on a free port, and a command that checks it.

Usage: python py_sse_server.py CMD ARG…
The command gets the server's URL as its last argument; its exit code is ours.
"""

import socket
import subprocess
import sys
import threading

import uvicorn
from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel

server = FastMCP("python-sse", log_level="WARNING")


class Name(BaseModel):
    name: str


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
async def count(to: int, context: Context) -> str:
    for number in range(1, to + 1):
        await context.report_progress(number, to)
        await context.info(f"at {number}")
    return f"counted to {to}"


@server.tool()
async def ask(context: Context) -> str:
    answer = await context.elicit("Your name?", Name)
    return f"hello {answer.data.name}" if answer.action == "accept" else answer.action


def main(command: list[str]) -> int:
    if not command:
        print("usage: python py_sse_server.py CMD ARG…", file=sys.stderr)
        return 2
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    config = uvicorn.Config(server.sse_app(), log_level="warning")
    run = uvicorn.Server(config).run
    threading.Thread(target=run, kwargs={"sockets": [listener]}, daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/sse"
    return subprocess.run([*command, url], check=False).returncode


sys.exit(main(sys.argv[1:]))
