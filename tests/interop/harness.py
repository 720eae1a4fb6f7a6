"""Runs named checks one after another, each bounded in time, and prints TAP-like lines, as harness.mjs does."""

import asyncio
import re
import subprocess
import sys
import time
import traceback

WIDTH = 300


class Failure(Exception):
    pass


def require(condition, why):
    if not condition:
        raise Failure(why)


def equal(actual, expected, what):
    require(actual == expected, f"{what}: expected {expected!r}, got {brief(actual)}")


def brief(value):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}… ({len(text)} characters)"


class Suite:
    def __init__(self, title):
        self.count = self.failed = 0
        print(f"# {title}", flush=True)

    async def check(self, name, body, seconds=10):
        """Awaits `body()` for at most `seconds`; returns whether it passed."""
        self.count += 1
        number = self.count
        start = time.monotonic()
        try:
            remark = await asyncio.wait_for(body(), seconds)
        except Exception as error:
            self.failed += 1
            print(f"not ok {number} - {name}")
            if isinstance(error, Failure):
                why = [str(error)]
            elif isinstance(error, TimeoutError):
                why = [f"nothing after {seconds} s"]
            else:
                why = traceback.format_exception(error)[-4:]
            for line in "\n".join(why).splitlines():
                print(f"#   {brief(line)}", flush=True)
            return False
        took = round((time.monotonic() - start) * 1000)
        print(f"ok {number} - {name} ({f'{remark}, ' if remark else ''}{took} ms)", flush=True)
        return True

    def finish(self):
        print(f"1..{self.count}\n# {self.count - self.failed} passed, {self.failed} failed", flush=True)
        sys.exit(0 if self.count and not self.failed else 1)


class Listening:
    """A server that prints `listening on URL`; ends with the `with` block."""

    def __init__(self, command):
        self.command = command

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        if not found:
            self.process.kill()
            raise Failure(f"the server did not say where it listens: {line!r}")
        self.url = found.group()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


async def until(condition):
    """Waits until `condition()` is true and returns it; each check has its own time limit."""
    while not (value := condition()):
        await asyncio.sleep(0.01)
    return value
