"""Prints what a WebAssembly module with names consists of: `sizes.py MODULE [LINES]`.

Build the module with `--config 'profile.wasm-size.strip=false'`.
"""

import re
import sys
from collections import Counter


def number(data, at):
    """Reads an unsigned LEB128 number; returns it and the position after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def sections(data):
    at = 8
    while at < len(data):
        kind = data[at]
        size, at = number(data, at + 1)
        yield kind, data[at : at + size]
        at += size


def imported_functions(body):
    count, at = number(body, 0)
    functions = 0
    for _ in range(count):
        for _ in range(2):
            length, at = number(body, at)
            at += length
        kind = body[at]
        at += 1
        if kind == 0:
            functions += 1
            _, at = number(body, at)
        elif kind == 3:
            at += 2
        else:
            at += kind == 1
            flags = body[at]
            _, at = number(body, at + 1)
            if flags & 1:
                _, at = number(body, at)
    return functions


def readable(name):
    """Demangles a legacy Rust symbol, without its hash; of others, returns a path at most."""
    if name.startswith("_R"):
        parts = re.findall(r"(?<=[a-zA-Z0-9_])\d+([a-z_][a-z_0-9]*)", name)
        return "::".join(parts) or name
    if not name.startswith("_ZN"):
        return name
    parts, rest = [], name[3:]
    while match := re.match(r"\d+", rest):
        length, rest = int(match.group(0)), rest[match.end() :]
        parts.append(rest[:length])
        rest = rest[length:]
    path = "::".join(parts[:-1])
    for code, char in [("LT", "<"), ("GT", ">"), ("u20", " "), ("RF", "&"), ("C", ","), ("u7b", "{")]:
        path = path.replace(f"${code}$", char)
    return re.sub(r"\$\w+\$", "", path).replace("..", "::")


def main():
    data = open(sys.argv[1], "rb").read()
    lines = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    kinds, names, bodies, imports = Counter(), {}, [], 0
    for kind, body in sections(data):
        kinds[kind] += len(body)
        if kind == 2:
            imports = imported_functions(body)
        elif kind == 10:
            count, at = number(body, 0)
            for _ in range(count):
                size, at = number(body, at)
                bodies.append(size)
                at += size
        elif kind == 0:
            length, at = number(body, 0)
            if body[at : at + length] != b"name":
                continue
            at += length
            while at < len(body):
                part = body[at]
                size, at = number(body, at + 1)
                end = at + size
                if part == 1:
                    count, at = number(body, at)
                    for _ in range(count):
                        index, at = number(body, at)
                        length, at = number(body, at)
                        names[index] = body[at : at + length].decode()
                        at += length
                at = end
    print(f"all {len(data)}, code {kinds[10]}, data {kinds[11]}, names and other {kinds[0]}")
    crates, functions = Counter(), []
    for index, size in enumerate(bodies):
        name = names.get(index + imports, "?")
        name = readable(name)
        functions.append((size, name))
        crate = re.search(r"mcp_proto::\w+|[a-z_0-9]+", name.lstrip("_<&"))
        crates[crate.group(0) if crate else name] += size
    for crate, size in crates.most_common(lines):
        print(f"{size:8} {crate}")
    print()
    for size, name in sorted(functions, reverse=True)[:lines]:
        print(f"{size:8} {name[:140]}")


main()
