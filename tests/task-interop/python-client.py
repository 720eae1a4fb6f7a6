"""Tasks of revision 2025-11-25: the client of version 1 of the official Python SDK against a server of ours.

Usage: python-client.py stdio|http -- SERVER [ARG…]        (over HTTP, SERVER prints `listening on URL`)
"""

import asyncio
import contextlib
import sys
import warnings
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "interop"))
from harness import Listening, Suite, brief, equal, require, until  # noqa: E402

warnings.simplefilter("ignore", DeprecationWarning)  # version 1 has the last of these tasks

from mcp import ClientSession, McpError, StdioServerParameters, types  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
RELATED = "io.modelcontextprotocol/related-task"
TIME_MAX = timedelta(seconds=20)


class User:
    """Answers questions and takes notes."""

    def __init__(self):
        self.action = "accept"
        self.asked = []
        self.heard = []

    async def answer(self, _context, params):
        self.asked.append(params)
        if self.action != "accept":
            return types.ElicitResult(action=self.action)
        fields = params.requestedSchema.get("properties", {})
        content = {name: True if field.get("type") == "boolean" else "Ada" for name, field in fields.items()}
        return types.ElicitResult(action="accept", content=content)

    async def hear(self, message):
        if isinstance(message, types.ServerNotification) and isinstance(message.root, types.TaskStatusNotification):
            self.heard.append(message.root.params)
        if isinstance(message, Exception):
            raise message


@contextlib.asynccontextmanager
async def connected(kind, command, url, user):
    if kind == "http":
        transport = streamable_http_client(url)
    else:
        transport = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
    async with transport as (read, write, *_):
        session = ClientSession(read, write, TIME_MAX, elicitation_callback=user.answer, message_handler=user.hear)
        async with session:
            await session.initialize()
            yield session


async def refused(awaitable, code, what):
    try:
        value = await awaitable
    except McpError as error:
        equal(error.error.code, code, f"{what}: code of {error}")
        return error
    require(False, f"{what} was answered: {brief(value)}")


def text_of(result):
    return result.content[0].text if result.content else None


async def checks(suite, session, user, another):
    tasks = session.experimental

    async def created(name, arguments=None, ttl=60000):
        return (await tasks.call_tool_as_task(name, arguments or {}, ttl=ttl)).task

    def result(task):
        return tasks.get_task_result(task.taskId, types.CallToolResult)

    def heard(task):
        return [params for params in user.heard if params.taskId == task.taskId]

    async def declared():
        found = session.get_server_capabilities().tasks
        require(found and found.list and found.cancel and found.requests.tools.call, f"capabilities.tasks: {found}")
        listed = {tool.name: tool.execution for tool in (await session.list_tools()).tools}
        equal([listed[name].taskSupport for name in ("slow_compute", "failing_job")], ["optional", "required"], "support")

    async def create_poll_result():
        task = await created("slow_compute", {"seconds": 1, "label": "pi"})
        equal((task.status, task.ttl, task.pollInterval), ("working", 60000, 100), "created")
        statuses = [status.status async for status in tasks.poll_task(task.taskId)]
        equal((statuses[0], statuses[-1]), ("working", "completed"), "statuses")
        require(len(statuses) < 15, f"{len(statuses)} polls in a second: the poll interval is not kept")
        ended = await result(task)
        equal(text_of(ended), "computed pi", "result")
        equal(ended.meta[RELATED], {"taskId": task.taskId}, "related task")
        return f"{len(statuses)} polls"

    async def result_waits():
        equal(text_of(await result(await created("slow_compute", {"seconds": 1, "label": "e"}))), "computed e", "result")

    async def asks():
        user.asked.clear()
        task = await created("confirm_delete", {"filename": "a.txt"})
        equal(text_of(await result(task)), "deleted", "result")
        related = [params.meta.model_dump().get(RELATED) for params in user.asked]
        equal(related, [{"taskId": task.taskId}], "related tasks of the questions")
        await until(lambda: heard(task) and heard(task)[-1].status == "completed")
        require("input_required" in [params.status for params in heard(task)], f"statuses: {heard(task)}")

    async def asks_twice():
        user.asked.clear()
        equal(text_of(await result(await created("multi_input"))), "2 answers", "result")
        equal(len(user.asked), 2, "questions")

    async def declined():
        user.action = "decline"
        try:
            ended = await result(await created("confirm_delete", {"filename": "b.txt"}))
        finally:
            user.action = "accept"
        require(ended.isError or text_of(ended) == "kept", brief(ended))

    async def messages():
        task = await created("sleep", {"ms": 300, "steps": 3})
        await result(task)
        require("step 1" in [params.statusMessage for params in heard(task)], f"messages: {heard(task)}")

    async def tool_fails():
        task = await created("failing_job")
        statuses = [status.status async for status in tasks.poll_task(task.taskId)]
        equal(statuses[-1], "failed", "status")
        ended = await result(task)
        equal((ended.isError, text_of(ended)), (True, "the job failed"), "result")

    async def request_fails():
        task = await created("protocol_error_job")
        error = await refused(result(task), INTERNAL_ERROR, "tasks/result")
        require("the job is broken" in str(error), str(error))
        equal((await tasks.get_task(task.taskId)).status, "failed", "status")

    async def cancelled():
        task = await created("slow_compute", {"seconds": 60})
        equal((await tasks.cancel_task(task.taskId)).status, "cancelled", "the response")
        equal((await tasks.get_task(task.taskId)).status, "cancelled", "status")
        await refused(tasks.cancel_task(task.taskId), INVALID_PARAMS, "a second tasks/cancel")

    async def lists():
        ids = [(await created("slow_compute", {"seconds": 0})).taskId for _ in range(30)]
        found, cursor, pages = [], None, 0
        while pages == 0 or cursor:
            page = await tasks.list_tasks(cursor)
            found += [task.taskId for task in page.tasks]
            cursor, pages = page.nextCursor, pages + 1
            require(pages < 20, "the list has no end")
        equal([task for task in ids if task not in found], [], "tasks that are not listed")
        return f"{len(found)} tasks, {pages} pages"

    async def forgotten():
        task = await created("slow_compute", {"seconds": 0}, ttl=2000)
        equal((task.ttl, text_of(await result(task))), (2000, "computed "), "in time")
        while True:
            try:
                await tasks.get_task(task.taskId)
            except McpError as error:
                return equal(error.error.code, INVALID_PARAMS, "code")
            await asyncio.sleep(0.1)

    async def unknown():
        nothing = types.Task.model_construct(taskId="no-such-task")
        await refused(tasks.get_task(nothing.taskId), INVALID_PARAMS, "tasks/get")
        await refused(result(nothing), INVALID_PARAMS, "tasks/result")
        await refused(tasks.cancel_task(nothing.taskId), INVALID_PARAMS, "tasks/cancel")
        await refused(tasks.list_tasks("no-such-cursor"), INVALID_PARAMS, "tasks/list")

    async def support():
        await refused(session.call_tool("failing_job", {}), METHOD_NOT_FOUND, "a plain call of a tool that requires a task")
        await refused(created("echo", {"text": "x"}), METHOD_NOT_FOUND, "a task of a tool that forbids it")
        plain = await session.call_tool("slow_compute", {"seconds": 0, "label": "plain"})
        equal(text_of(plain), "computed plain", "a plain call of a tool that supports tasks")

    async def foreign():
        task = await created("slow_compute", {"seconds": 0})
        async with another() as other:
            await refused(other.experimental.get_task(task.taskId), INVALID_PARAMS, "tasks/get")
            equal((await other.experimental.list_tasks()).tasks, [], "tasks of the other session")

    await suite.check("the server declares tasks, and its tools say how they support them", declared)
    await suite.check("create, poll, result", create_poll_result)
    await suite.check("tasks/result waits for the end", result_waits)
    await suite.check("status messages of a task", messages)
    await suite.check("a task asks its user; status notifications", asks)
    await suite.check("a task asks two things together", asks_twice)
    await suite.check("the user declines", declined)
    await suite.check("a task whose tool fails has failed, with its result", tool_fails)
    await suite.check("a task whose request fails has that error", request_fails)
    await suite.check("a task is cancelled", cancelled)
    await suite.check("tasks/list", lists)
    await suite.check("a task is forgotten after its time", forgotten)
    await suite.check("an unknown id or cursor is refused", unknown)
    await suite.check("taskSupport is enforced", support)
    if another:
        await suite.check("tasks of another session are unknown", foreign)


async def main(kind, command):
    suite = Suite(f"Python SDK 1 client, tasks over {kind}, against {' '.join(command)}")
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(Listening(command)).url if kind == "http" else None
        user = User()
        another = (lambda: connected(kind, command, url, User())) if kind == "http" else None
        async with connected(kind, command, url, user) as session:
            await checks(suite, session, user, another)
    suite.finish()


if len(sys.argv) < 4 or sys.argv[1] not in ("stdio", "http") or sys.argv[2] != "--":
    sys.exit("usage: python-client.py stdio|http -- SERVER [ARG…]")
asyncio.run(main(sys.argv[1], sys.argv[3:]))
