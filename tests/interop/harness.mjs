// Runs named checks one after another, each bounded in time, and prints TAP-like lines. Of MCP it uses
// only "one JSON value per line".

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Resolves the packages from a cache directory outside the sources. */
export const require = createRequire(join(process.env.INTEROP_MODULES ?? process.cwd(), 'package.json'));

const TAIL = 20;
const WIDTH = 400;
const TIMEOUTS_MAX = 3;

export class Failure extends Error {}
class TimedOut extends Failure {}

export function assert(condition, why) {
  if (!condition) throw new Failure(why);
}

export function assertEqual(actual, expected, what) {
  const [a, e] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== e) throw new Failure(`${what}: expected ${e}, got ${brief(a)}`);
}

export function brief(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? String(value);
  return text.length > WIDTH ? `${text.slice(0, WIDTH)}… (${text.length} characters)` : text;
}

/** The transcript, in order: `>` to the peer, `<` from it, `!` its stderr, `#` our own marks. */
export class Transcript {
  #start = performance.now();
  entries = [];

  add(direction, text, message) {
    const ms = Math.round(performance.now() - this.#start);
    this.entries.push({ ms, direction, text, message });
  }

  /** Every message of one direction from position `from` on. */
  messages(direction, from = 0) {
    return this.entries.slice(from).filter(e => e.direction === direction && e.message !== undefined).map(e => e.message);
  }

  get length() {
    return this.entries.length;
  }

  tail() {
    return this.entries.slice(-TAIL).map(e => `#   ${String(e.ms).padStart(6)} ms ${e.direction} ${brief(e.text)}`);
  }
}

export class Suite {
  #count = 0;
  #failed = 0;
  #timedOut = 0;
  #bailed = false;

  constructor(title) {
    this.transcript = new Transcript();
    console.log(`# ${title}`);
  }

  note(text) {
    console.log(`# ${text}`);
  }

  /** Runs `body` for at most `seconds`; returns whether it passed. */
  async check(name, body, seconds = 10) {
    if (this.#bailed) return false;
    this.#count += 1;
    this.transcript.add('#', name);
    const start = performance.now();
    let timer;
    const limit = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new TimedOut(`nothing after ${seconds} s`)), seconds * 1000);
    });
    try {
      const remark = await Promise.race([body(), limit]);
      const ms = Math.round(performance.now() - start);
      console.log(`ok ${this.#count} - ${name} (${remark === undefined ? '' : `${remark}, `}${ms} ms)`);
      return true;
    } catch (error) {
      this.#failed += 1;
      console.log(`not ok ${this.#count} - ${name}`);
      const text = error instanceof Failure ? error.message : error?.stack ?? String(error);
      for (const line of text.split('\n').slice(0, 6)) console.log(`#   ${brief(line)}`);
      console.log(`#   the last lines of the transcript (> sent, < received, ! stderr):`);
      for (const line of this.transcript.tail()) console.log(line);
      if (error instanceof TimedOut && ++this.#timedOut === TIMEOUTS_MAX) this.bail(`${TIMEOUTS_MAX} checks had no end`);
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Everything after this would only repeat the same failure. */
  bail(why) {
    if (this.#bailed) return;
    this.#bailed = true;
    console.log(`Bail out! ${why}`);
  }

  finish() {
    console.log(`1..${this.#count}`);
    console.log(`# ${this.#count - this.#failed} passed, ${this.#failed} failed`);
    // `exit` rather than `exitCode`: a check that timed out may have left something open.
    process.exit(this.#failed === 0 && this.#count > 0 && !this.#bailed ? 0 : 1);
  }
}

const last = new Set();
process.on('exit', () => {
  for (const act of last) act();
});

/** Runs `act` when this process ends, so that no child outlives it; returns a function that cancels this. */
export function atExit(act) {
  last.add(act);
  return () => last.delete(act);
}

/** A child process with line-based IO. Every line of its stdout must be JSON; the first other line fails all waits. */
export class Peer {
  #waiting = new Set();
  #broken;

  constructor(transcript, [command, ...args], options = {}) {
    this.transcript = transcript;
    this.from = transcript.length;
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
    const release = atExit(() => this.kill());
    this.child.stdin.on('error', () => {}); // it may have exited: see `exited`
    this.exited = new Promise((resolve, reject) => {
      this.child.on('error', error => {
        this.#fail(error);
        reject(error);
      });
      this.child.on('exit', (code, signal) => {
        release();
        transcript.add('#', `exit code ${code}, signal ${signal}`);
        resolve({ code, signal, at: performance.now() });
      });
    });
    this.exited.catch(() => {});
    // `close` comes after the last byte of output.
    this.closed = new Promise(resolve => this.child.on('close', resolve));
    this.closed.then(() => this.#fail(new Failure('the server closed its output')));
    lines(this.child.stdout, line => this.#line(line));
    lines(this.child.stderr, line => transcript.add('!', line));
  }

  #line(line) {
    try {
      this.transcript.add('<', line, JSON.parse(line));
    } catch {
      this.transcript.add('<', line);
      return this.#fail(new Failure(`a line on stdout is not JSON: ${brief(line)}`));
    }
    for (const wait of [...this.#waiting]) wait.look();
  }

  #fail(error) {
    this.#broken ??= error;
    for (const wait of [...this.#waiting]) wait.look();
  }

  /** Writes text unchanged. */
  write(text) {
    this.transcript.add('>', text.replaceAll('\n', '⏎').replaceAll('\r', '␍'));
    this.child.stdin.write(text);
  }

  send(message) {
    const text = JSON.stringify(message);
    this.transcript.add('>', text, message);
    this.child.stdin.write(`${text}\n`);
  }

  /** The first message from position `from` of the transcript on that satisfies `wanted`, past or future. */
  until(wanted, from = this.from) {
    return new Promise((resolve, reject) => {
      const wait = {
        look: () => {
          const hit = this.transcript.messages('<', from).find(wanted);
          if (hit === undefined && !this.#broken) return;
          this.#waiting.delete(wait);
          if (hit === undefined) reject(this.#broken);
          else resolve(hit);
        },
      };
      this.#waiting.add(wait);
      wait.look();
    });
  }

  async request(id, method, params) {
    const from = this.transcript.length;
    this.send({ jsonrpc: '2.0', id, method, params });
    return this.until(m => m.id === id && m.method === undefined, from);
  }

  /** Runs `act`, then waits for the exit; returns code, signal and duration. */
  async end(act) {
    const start = performance.now();
    act(this.child);
    const { code, signal, at } = await this.exited;
    return { code, signal, ms: Math.round(at - start) };
  }

  kill() {
    this.child.kill('SIGKILL');
  }
}

/** Calls `each` with every line of a stream, split at LF only. */
export function lines(stream, each) {
  let rest = Buffer.alloc(0);
  stream.on('data', chunk => {
    rest = Buffer.concat([rest, chunk]);
    for (let at; (at = rest.indexOf(10)) !== -1; rest = rest.subarray(at + 1)) each(rest.toString('utf8', 0, at));
  });
  stream.on('end', () => {
    if (rest.length > 0) each(rest.toString('utf8'));
  });
}
