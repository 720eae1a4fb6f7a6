"""Hosts' own conversions of a list of tools into the declarations of a model's API, without a model: no tool is dropped.

Usage: hosts.py HOST SERVER [ARG…]        (HOST: google, langchain, openai or pydantic-ai)
"""

import asyncio
import contextlib
import importlib.metadata
import sys

from harness import Suite, require
from raw_list import require_all, raw_tools


@contextlib.asynccontextmanager
async def session(command):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(server) as streams, ClientSession(*streams) as opened:
        await opened.initialize()
        yield opened


async def google(command):
    from google.genai import _mcp_utils

    async with session(command) as opened:
        tools = (await opened.list_tools()).tools
    for convert in (_mcp_utils.mcp_to_gemini_tool, _mcp_utils.agent_platform_to_gemini_tool):
        yield convert.__name__, {
            declaration.name: (declaration.parameters_json_schema or declaration.parameters.model_dump(exclude_none=True))
            for tool in tools
            for declaration in convert(tool).function_declarations
        }


async def langchain(command):
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langchain_mcp_adapters.tools import load_mcp_tools

    async with session(command) as opened:
        tools = await load_mcp_tools(opened)
    for strict in (False, True):
        declared = (convert_to_openai_tool(tool, strict=strict)["function"] for tool in tools)
        yield f"strict: {strict}", {it["name"]: it["parameters"] for it in declared}


async def openai(command):
    from agents import Agent, RunContextWrapper
    from agents.mcp import MCPServerStdio, MCPUtil

    async with MCPServerStdio({"command": command[0], "args": command[1:]}) as server:
        for strict in (False, True):
            context, agent = RunContextWrapper(None), Agent(name="host")
            tools = await MCPUtil.get_all_function_tools([server], strict, context, agent)
            yield f"strict: {strict}", {tool.name: tool.params_json_schema for tool in tools}


async def pydantic_ai(command):
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
    from pydantic_ai.tools import RunContext
    from pydantic_ai.usage import RunUsage

    async with MCPToolset(StdioTransport(command[0], command[1:])) as toolset:
        context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
        tools = await toolset.get_tools(context)
    for transformer in (GoogleJsonSchemaTransformer, OpenAIJsonSchemaTransformer):
        yield transformer.__name__, {
            name: transformer(tool.tool_def.parameters_json_schema).walk() for name, tool in tools.items()
        }


HOSTS = {
    "google": (google, "google-genai"),
    "langchain": (langchain, "langchain-mcp-adapters"),
    "openai": (openai, "openai-agents"),
    "pydantic-ai": (pydantic_ai, "pydantic-ai-slim"),
}


async def main(name, command):
    convert, package = HOSTS[name]
    suite = Suite(f"{package} {importlib.metadata.version(package)} converts the tools of {' '.join(command)}")
    tools = raw_tools(command)

    async def converted():
        count = 0
        async for how, declared in convert(command):
            count += 1
            require_all(list(declared), tools)
            for name, schema in declared.items():
                missing = set(tools[name]["inputSchema"]["properties"]) - set(schema.get("properties") or {})
                require(not missing, f"{how}: {name} lost {missing}: {schema}")
        require(count > 0, "nothing was converted")
        return f"{len(tools)} tools, {count} times"

    await suite.check("every tool is converted", converted, 60)
    suite.finish()


if len(sys.argv) < 3 or sys.argv[1] not in HOSTS:
    sys.exit("usage: hosts.py google|langchain|openai|pydantic-ai SERVER [ARG…]")
asyncio.run(main(sys.argv[1], sys.argv[2:]))
