"""The tools of a server as it sends them, without an SDK."""

import json
import subprocess

from harness import require


def raw_tools(command):
    """Returns all tools of the server that `command` starts, by name."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        for line in server.stdout:
            message = json.loads(line)
            if message.get("id") == 2:
                break
        server.stdin.close()
    result = message["result"]
    require("nextCursor" not in result, "one page holds all tools: many hosts ignore the cursor")
    return {tool["name"]: tool for tool in result["tools"]}


def require_all(names, tools):
    """Fails if `names` lacks a name of `tools`, or has another one."""
    require(sorted(names) == sorted(tools), f"differing: {sorted(set(names) ^ set(tools))}")
    require(len(names) >= 40, f"only {len(names)} tools")
    return f"{len(names)} tools"
