"""The client of either version of the official Python SDK lists a server whose schemas are awkward: nothing is missing.

Usage: py_list.py SERVER [ARG…]
"""

import asyncio
import importlib.metadata
import sys

from harness import Suite, equal
from raw_list import require_all, raw_tools

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

VERSION = importlib.metadata.version("mcp")


async def main(command):
    suite = Suite(f"Python SDK {VERSION} client lists the tools of {' '.join(command)}")
    tools = raw_tools(command)

    async def listed():
        server = StdioServerParameters(command=command[0], args=command[1:])
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            result = await session.list_tools()
            for tool in result.tools:
                schema = getattr(tool, "input_schema", None) or tool.inputSchema
                equal(schema, tools[tool.name]["inputSchema"], f"{tool.name}: inputSchema")
            # Checks structured content by the output schema.
            result_of_call = await session.call_tool("awkward_optional", {})
            content = result_of_call.model_dump(by_alias=True)["structuredContent"]
            equal(content, {"value": None}, "a result with `null`")
            return require_all([tool.name for tool in result.tools], tools)

    await suite.check("all tools are listed and unchanged", listed, 30)
    suite.finish()


if len(sys.argv) < 2:
    sys.exit("usage: py_list.py SERVER [ARG…]")
asyncio.run(main(sys.argv[1:]))
