// Child processes that end with this one, and deadlines.
import { spawn } from "node:child_process";

const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

/** Starts a child, which is killed when this process ends. */
export const start = (command, options = {}) => {
  const child = spawn(command[0], command.slice(1), options);
  children.add(child);
  child.on("exit", () => children.delete(child));
  return child;
};

/** Fails if `promise` takes longer than `seconds`. */
export const within = (seconds, what, promise) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${seconds} s`)), seconds * 1e3);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/** Resolves with the exit code of a child. */
export const exit = (child) =>
  child.exitCode !== null
    ? Promise.resolve(child.exitCode)
    : new Promise((resolve, reject) => child.on("close", resolve).on("error", reject));

/** Resolves with the first match of `pattern` in the output of a stream. */
export const matched = (stream, pattern) =>
  new Promise((resolve, reject) => {
    let text = "";
    stream.on("data", (chunk) => {
      text += chunk;
      const match = text.match(pattern);
      if (match) resolve(match);
    });
    stream.on("end", () => reject(new Error(`no ${pattern} in ${text}`)));
  });

/** Runs a child to its end and returns its output. */
export const output = async (command, input = "") => {
  const child = start(command, { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk) => (text += chunk));
  child.stdin.end(input);
  const code = await within(180, command.join(" "), exit(child));
  return { code, text };
};
