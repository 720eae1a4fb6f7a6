"""A stdio server on version 1 of the official Python SDK, with tasks of revision 2025-11-25.

Its tools are those of our fixture server.
"""

import warnings

warnings.simplefilter("ignore", DeprecationWarning)

import anyio  # noqa: E402
from mcp import types  # noqa: E402
from mcp.server.lowlevel import Server  # noqa: E402
from mcp.server.stdio import stdio_server  # noqa: E402

CONFIRM = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
FIELDS = {
    "slow_compute": {"seconds": {"type": "integer"}, "label": {"type": "string"}},
    "confirm_delete": {"filename": {"type": "string"}},
    "failing_job": {},
    "protocol_error_job": {},
}
REQUIRED = ("failing_job", "protocol_error_job")

server = Server("python-task-server")
server.experimental.enable_tasks()


def text(value, is_error=False):
    return types.CallToolResult(content=[types.TextContent(type="text", text=value)], isError=is_error)


@server.list_tools()
async def list_tools():
    return [
        types.Tool(
            name=name,
            inputSchema={"type": "object", "properties": fields},
            execution=types.ToolExecution(taskSupport="required" if name in REQUIRED else "optional"),
        )
        for name, fields in FIELDS.items()
    ]


async def compute(arguments):
    await anyio.sleep(arguments["seconds"])
    return text(f"computed {arguments['label']}")


@server.call_tool()
async def call_tool(name, arguments):
    tasks = server.request_context.experimental
    tasks.validate_task_mode("required" if name in REQUIRED else "optional")

    async def work(task):
        if name == "slow_compute":
            return await compute(arguments)
        if name == "confirm_delete":
            answer = await task.elicit(f"Delete {arguments['filename']}?", CONFIRM)
            return text("deleted" if answer.action == "accept" and answer.content["confirm"] else "kept")
        # This SDK fails a task by an exception, and keeps no result of it.
        raise RuntimeError("the job failed" if name == "failing_job" else "the job is broken")

    return await tasks.run_task(work) if tasks.is_task else await compute(arguments)


async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
