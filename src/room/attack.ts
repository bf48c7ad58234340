/**
 * Attacks on a room, as programs with what must come of each. The same ones run in the tests and in `onrecord doctor`,
 * on the machine that is asked about. Those in `quickjs` run at every level; those in `node` have a whole Node to
 * attack with, so that they meet gVisor itself.
 */
import { isJsonObject, type Json } from '../event/json.ts';
import type { RoomEnd, Why } from './job.ts';
import type { Engine } from './level.ts';

/** What is planted on the host for an attack to find, and told to it. */
export type Canary = {
  /** Stands in the environment, in a store and in a file beside it, and nowhere else. */
  readonly secret: string;
  /** The store. */
  readonly path: string;
  readonly folder: string;
  /** A service on 127.0.0.1. */
  readonly port: number;
  readonly pid: number;
};

export type Attack = {
  readonly name: string;
  readonly engine: Engine;
  readonly code: string;
  /** What comes of it where the room holds, in a few words. */
  readonly held: string;
  /** Why the outcome is wrong; undefined where the room held. */
  readonly wrong: (end: RoomEnd) => string | undefined;
  /** It is told the secret that it searches for. */
  readonly searches?: true;
  /** The room's clock may be what ends it. All others end by themselves, however slow the machine is. */
  readonly byClock?: true;
};

type Expected = Pick<Attack, 'held' | 'wrong' | 'byClock'>;

const saidOf = (end: RoomEnd): string => {
  if (end.kind === 'failed') return `${end.why}: ${end.message.slice(0, 200)}`;
  return end.kind === 'done' ? `the value ${(end.value ?? 'nothing').slice(0, 200)}` : 'a pause';
};

/** The run ends in one of these ways. */
const fails = (...whys: readonly Why[]): Expected => ({
  held: `ends: ${whys.map((why) => `\`${why}\``).join(' or ')}`,
  wrong: (end) =>
    end.kind === 'failed' && whys.includes(end.why)
      ? undefined
      : `expected ${whys.join(' or ')}, got ${saidOf(end)}`,
  ...(whys.includes('wall-time') && { byClock: true }),
});

/** The program says this, which is that it got nothing. */
const gives = (...values: readonly Json[]): Expected => ({
  held: 'gets nothing',
  wrong: (end) =>
    end.kind === 'done' && values.some((value) => end.value === JSON.stringify(value))
      ? undefined
      : `expected ${values.map((value) => JSON.stringify(value)).join(' or ')}, got ${saidOf(end)}`,
});

/** Each member names one try; its value is how it ended, and must match. */
const tries = (expected: RegExp): Expected => ({
  held: 'gets nothing',
  wrong: (end) => {
    if (end.kind !== 'done') return `expected a list of tries, got ${saidOf(end)}`;
    const list = JSON.parse(end.value ?? 'null') as Json;
    if (!isJsonObject(list)) return `expected a list of tries, got ${saidOf(end)}`;
    const through = Object.entries(list).filter(([, how]) => typeof how !== 'string' || !expected.test(how));
    return through.length === 0
      ? undefined
      : through.map(([what, how]) => `${what}: ${JSON.stringify(how)}`).join('; ');
  },
});

const either = (held: string, wrong: Attack['wrong']): Expected => ({ held, wrong });

const quickjs = (name: string, code: string, expected: Expected): Attack => ({
  name,
  engine: 'quickjs',
  code,
  ...expected,
});
const node = (name: string, code: string, expected: Expected): Attack => ({
  name,
  engine: 'node',
  code: `${TRY}\n${code}`,
  ...expected,
});

/** How each of several tries ended: "value ..." where it came through, else the error's code. */
const TRY = `const tried = {};
const attempt = async (what, run) => {
  try { tried[what] = 'value ' + String(await run()).slice(0, 80); } catch (e) { tried[what] = String(e?.code ?? e?.message ?? e); }
};`;

/** Attacks on the interpreter and on the way back out of it. */
export const LANGUAGE_ATTACKS: readonly Attack[] = [
  quickjs(
    'names of the host',
    'return [typeof process, typeof require, typeof fetch, typeof module, typeof WebAssembly, typeof std, typeof os, typeof setTimeout].join()',
    gives(Array(8).fill('undefined').join()),
  ),
  quickjs('import', 'return await import("node:fs")', fails('threw')),
  quickjs(
    'escape by constructors of errors',
    `const seen = [];
const look = (e) => seen.push(e.constructor.constructor('return typeof process')());
try { null.x } catch (e) { look(e) }
try { files.read("none") } catch (e) { look(e) }
try { files.write("a", 1) } catch (e) { look(e) }
try { files.list.call(null).x.y } catch (e) { look(e) }
look(files.read); look(console.log); look(tools.constructor ?? {});
return [...new Set(seen)];`,
    gives(['undefined']),
  ),
  quickjs(
    'host files by name',
    `const said = {};
for (const name of ['/etc/passwd', '../../etc/passwd', input.path, 'file:///etc/passwd', '\\0'])
  try { said[name] = 'value ' + files.read(name) } catch (e) { said[name] = e.message.startsWith('There is no file') ? 'none' : e.message }
return said;`,
    tries(/^none$/),
  ),
  quickjs(
    'written names that lead out',
    `const said = {};
for (const name of ['../evil', '/tmp/evil', 'a/b', '.hidden', '', 'x'.repeat(65), 'a\\u001b[2J', '..'])
  try { files.write(name, 'x'); said[name] = 'written' } catch (e) { said[name] = e.message.startsWith('The file name') ? 'refused' : e.message }
return said;`,
    tries(/^refused$/),
  ),
  {
    ...quickjs(
      'search of all that can be reached for a credential',
      `const seen = new Set(), found = [];
const look = (value, at) => {
  if (typeof value === 'string' && value.includes(input.secret)) found.push(at);
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || value === input || seen.has(value)) return;
  seen.add(value);
  look(Object.getPrototypeOf(value), at + '.[[Prototype]]');
  for (const key of Reflect.ownKeys(value)) {
    const { value: held, get, set } = Object.getOwnPropertyDescriptor(value, key);
    for (const one of [held, get, set]) look(one, at + '.' + String(key));
  }
};
for (const [at, value] of Object.entries({ globalThis, files, tools, console })) look(value, at);
try { null.x } catch (e) { look(e.stack, 'stack'); look(e, 'error') }
for (const name of files.list()) look(files.read(name), name);
return [found, seen.size > 300];`,
      gives([[], true]),
    ),
    searches: true,
  },
  quickjs('endless loop', 'for (;;);', fails('ticks')),
  quickjs('endless loop that catches', 'for (;;) try { for (;;); } catch {}', fails('ticks')),
  quickjs(
    'endless microtasks',
    'const f = () => Promise.resolve().then(f); await f()',
    fails('ticks', 'memory'),
  ),
  quickjs(
    'regular expression that never ends',
    'return /^(a+)+$/.test("a".repeat(60) + "b")',
    fails('ticks'),
  ),
  quickjs('endless getter of an error', 'throw { get message() { for (;;); } }', fails('ticks')),
  quickjs('endless toJSON', 'return { toJSON() { for (;;); } }', fails('ticks')),
  quickjs('endless thenable', 'return { then() { for (;;); } }', fails('ticks')),
  quickjs(
    'blocking wait',
    'return Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)',
    fails('threw'),
  ),
  quickjs('promise that never settles', 'await new Promise(() => {})', fails('deadlock')),
  quickjs(
    'memory in arrays',
    'const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))',
    fails('memory'),
  ),
  quickjs(
    'memory that catches',
    'const a = []; for (;;) try { for (;;) a.push(new Uint8Array(1 << 20)) } catch {}',
    fails('memory'),
  ),
  quickjs('memory in text', 'let s = "x"; for (;;) s += s', fails('memory', 'threw')),
  quickjs('memory in numbers', 'let n = 3n; for (;;) n *= n', fails('memory', 'threw', 'ticks')),
  quickjs('recursion', 'const f = () => f() + 1; return f()', fails('threw')),
  quickjs(
    'recursion in a result',
    'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a',
    fails('threw', 'output'),
  ),
  quickjs('huge result', 'return "x".repeat(4 << 20)', fails('output')),
  quickjs(
    'huge error',
    'throw new Error("x".repeat(4 << 20))',
    either('is cut', (end) =>
      end.kind === 'failed' && end.why === 'threw' && end.message.length <= 4000 ? undefined : saidOf(end),
    ),
  ),
  quickjs(
    'console flood',
    'for (let i = 0; i < 5e4; i++) console.log("x".repeat(100)); return 1',
    either('is cut, and counted', (end) =>
      end.kind === 'done' && end.console.droppedLines > 40_000 && end.console.text.length <= 65_536
        ? undefined
        : saidOf(end),
    ),
  ),
  quickjs(
    'disk of files',
    'for (let i = 0; i < 1e4; i++) files.write("f" + i, "x".repeat(1 << 16))',
    fails('threw'),
  ),
  quickjs(
    'prototypes in a result',
    'return JSON.parse(\'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}\')',
    either('is data', (end) =>
      end.kind === 'done' && ({} as { polluted?: 1 }).polluted === undefined ? undefined : saidOf(end),
    ),
  ),
  quickjs(
    'language changed under the room',
    `JSON.stringify = () => '"forged"'; Promise.prototype.then = () => 1; Reflect.apply = () => 1; String = () => 'forged';
Array.prototype.push = () => 1; Object.prototype.toString = () => 'forged';
return { real: 1 }`,
    { ...gives({ real: 1 }), held: 'changes nothing outside the program' },
  ),
  quickjs('code that closes the wrapper', '}); for (;;); (async () => {', fails('ticks')),
];

const FAILED_FILE = /^(?:ENOENT|EACCES|EPERM|EROFS|EXDEV|ERR_SQLITE_ERROR|EINVAL)$/;
const FAILED_NET =
  /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOTFOUND|ETIMEDOUT|EADDRNOTAVAIL|EPERM|EACCES|timeout)$/;

/** Attacks on gVisor itself, by programs that have all of Node. */
export const SYSTEM_ATTACKS: readonly Attack[] = [
  node(
    'host files',
    `const fs = require('fs');
for (const path of ['/etc/shadow', '/root/.ssh', '/home', input.path, input.folder, '/proc/1/root/etc/shadow', '/proc/self/root/etc/shadow', '/proc/self/cwd/../etc/shadow'])
  await attempt(path, () => fs.statSync(path).isDirectory() ? fs.readdirSync(path) : fs.readFileSync(path, 'utf8'));
return tried;`,
    tries(FAILED_FILE),
  ),
  {
    ...node(
      'search of every file for a credential',
      `const fs = require('fs'); let files = 0; const found = [], secret = Buffer.from(input.secret);
const holds = (path) => {
  const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK), block = Buffer.alloc(4 << 20);
  try {
    for (let at = 0, read; (read = fs.readSync(fd, block, 0, block.length, path.startsWith('/proc/') ? null : at)) > 0; at += Math.max(1, read - secret.length))
      if (block.subarray(0, read).includes(secret)) return true;
    return false;
  } finally { fs.closeSync(fd); }
};
// Its own memory has the secret, because it was told; a kernel's log and memory have no end.
const leave = /^\\/proc\\/(?:.*\\/)?(?:mem|kcore|kmsg|pagemap|task)$|^\\/dev\\/(?:zero|full|u?random|null|tty)/;
const walk = (path) => {
  if (leave.test(path)) return;
  let stat; try { stat = fs.lstatSync(path); } catch { return; }
  if (stat.isDirectory()) { let names = []; try { names = fs.readdirSync(path); } catch {} for (const name of names) walk(path === '/' ? '/' + name : path + '/' + name); return; }
  if (!stat.isFile()) return;
  try { if (holds(path)) found.push(path); files++; } catch {}
};
walk('/');
for (const path of [input.folder, input.path, input.folder + '/key.txt']) walk(path);
return [found, files > 20];`,
      gives([[], true]),
    ),
    searches: true,
  },
  {
    ...node(
      'environment and /proc',
      `const fs = require('fs');
const text = [JSON.stringify(process.env), ...fs.readdirSync('/proc').filter((n) => /^[0-9]+$/.test(n)).map((n) => fs.readFileSync('/proc/' + n + '/environ', 'utf8'))].join();
return [text.includes(input.secret), Object.keys(process.env).sort().join()];`,
      gives([false, 'HOME,LANG,PATH,TZ']),
    ),
    searches: true,
  },
  node(
    'store of the runtime',
    `const { DatabaseSync } = require('node:sqlite');
await attempt('open', () => new DatabaseSync(input.path));
await attempt('attach', () => new DatabaseSync(':memory:').exec("ATTACH '" + input.path + "' AS other; SELECT * FROM other.sqlite_master"));
return tried;`,
    tries(FAILED_FILE),
  ),
  node(
    'network',
    `const net = require('net'), dns = require('dns').promises;
const dial = (host, port) => new Promise((ok, no) => { const s = net.connect({ host, port, timeout: 1500 }, () => { s.destroy(); ok('connected'); }); s.on('error', no); s.on('timeout', () => { s.destroy(); no(new Error('timeout')); }); });
await Promise.all([['127.0.0.1', input.port], ['::1', input.port], ['169.254.169.254', 80], ['1.1.1.1', 443], ['10.0.0.1', 80]].map(([host, port]) => attempt(host, () => dial(host, port))));
await attempt('dns', () => dns.resolve4('example.com'));
return tried;`,
    tries(FAILED_NET),
  ),
  node(
    'rights',
    `const fs = require('fs');
await attempt('setuid', () => { process.setuid(0); if (process.getuid() !== 0) throw new Error('EPERM'); fs.writeFileSync('/etc/passwd', 'x'); });
for (const path of ['/evil', '/bin/evil', '/room/evil', '/proc/sys/kernel/hostname', '/sys/evil']) await attempt(path, () => fs.writeFileSync(path, 'x'));
await attempt('mount', () => { const r = require('child_process').spawnSync('/bin/mount'); if (r.error) throw r.error; });
return tried;`,
    tries(FAILED_FILE),
  ),
  node(
    'fork bomb',
    `const { spawn } = require('child_process');
let refused = 0; const alive = new Set();
for (let i = 0; i < 100; i++) await new Promise((ok) => { let c; try { c = spawn('/bin/node', ['-e', 'setTimeout(() => {}, 2e9)']); } catch { refused++; return ok(); } c.on('error', () => { refused++; ok(); }); c.on('exit', () => { refused++; alive.delete(c); }); c.on('spawn', () => { alive.add(c); ok(); }); });
for (let i = 0; i < 50 && alive.size > 1; i++) await new Promise((ok) => setTimeout(ok, 100));
return alive.size <= 1 && refused > 0;`,
    {
      ...either('one more process at most', (end) =>
        end.kind === 'failed' && ['died', 'wall-time'].includes(end.why) ? undefined : gives(true).wrong(end),
      ),
      byClock: true,
    },
  ),
  node(
    'memory bomb in buffers',
    'const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))',
    fails('died', 'threw', 'memory'),
  ),
  node(
    'memory bomb in objects',
    'const a = []; for (;;) a.push({ a: [a.length] })',
    fails('died', 'wall-time'),
  ),
  node('endless loop', 'for (;;);', fails('wall-time')),
  node(
    'disk filler',
    `const fs = require('fs'); let bytes = 0;
try { const f = fs.openSync('/tmp/fill', 'w'); const block = Buffer.alloc(1 << 20, 1); for (;;) bytes += fs.writeSync(f, block); } catch (e) { return [e.code, bytes <= 33 << 20]; }`,
    { ...gives(['ENOSPC', true], ['EFBIG', true]), held: 'stops at the size of /tmp' },
  ),
  node(
    'links out',
    `const fs = require('fs');
for (const target of ['/etc/shadow', input.path, input.folder]) await attempt('symbolic ' + target, () => { fs.symlinkSync(target, '/tmp/l' + target.replaceAll('/', '_')); return fs.readFileSync('/tmp/l' + target.replaceAll('/', '_')); });
await attempt('hard', () => fs.linkSync('/room/package.json', '/tmp/hard'));
await attempt('file out by link', () => files.write('../l', 'x'));
return Object.fromEntries(Object.entries(tried).map(([k, v]) => [k, v.startsWith('The file name') ? 'EPERM' : v]));`,
    tries(FAILED_FILE),
  ),
  node(
    'flood of standard output',
    `const b = Buffer.alloc(1 << 20, 120); for (;;) try { require('fs').writeSync(1, b) } catch (e) { if (e.code !== 'EAGAIN') throw e }`,
    fails('output'),
  ),
  node(
    'flood of standard error',
    `const b = Buffer.alloc(1 << 20, 120); for (;;) try { require('fs').writeSync(2, b) } catch (e) { if (e.code !== 'EAGAIN') throw e }`,
    fails('output'),
  ),
  node(
    'signals to the host',
    `for (const pid of [input.pid, process.ppid, 2]) if (pid > 1) await attempt('pid ' + pid, () => process.kill(pid, 'SIGKILL'));
return Object.keys(tried).length === 0 ? { none: 'ESRCH' } : tried;`,
    either('reaches itself at most', (end) =>
      end.kind === 'failed' && end.why === 'died' ? undefined : tries(/^(?:ESRCH|EPERM)$/).wrong(end),
    ),
  ),
  node('killing itself', `process.kill(process.pid, 'SIGKILL')`, fails('died', 'wall-time')),
  node('end without an answer', 'process.exit(0)', fails('died')),
  node('half an answer', `require('fs').writeSync(1, '{"t":"do'); process.exit(0)`, fails('died')),
  node(
    'garbage as an answer',
    `require('fs').writeSync(1, 'garbage\\n'); await new Promise(() => {})`,
    fails('protocol'),
  ),
  node(
    'two answers',
    `const a = JSON.stringify({ t: 'done', value: '1', files: {}, console: { text: '', droppedLines: 0, droppedBytes: 0 }, usage: { ticks: 0, memoryBytes: 0 } }) + '\\n';
require('fs').writeSync(1, a + a); await new Promise(() => {})`,
    fails('protocol'),
  ),
];
