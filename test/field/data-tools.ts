/** Field cases about files, tables, mail, calendars and servers: the built-in tools on real folders and sockets. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished } from 'vitest';
import type { Policy } from '../../src/event/definition.ts';
import type { LogEvent } from '../../src/event/events.ts';
import type { Tool } from '../../src/tool/tool.ts';
import { calendarTools } from '../../src/tool/calendar/tools.ts';
import { csvTools } from '../../src/tool/csv/tools.ts';
import { fileTools } from '../../src/tool/files/tools.ts';
import { httpTools, type HttpToolOptions } from '../../src/tool/http/get.ts';
import { mailTools } from '../../src/tool/mail/tools.ts';
import { tempFolder } from '../kit/folder.ts';
import { Bench } from './bench.ts';
import { expectLog } from './expected.ts';
import type { GivenCall, GivenCase } from './given.ts';
import type { Plan } from './plan.ts';

const ALL: Policy = { rules: [{ id: 'all', do: 'allow' }] };

/** The files of a case below a new folder. */
const folderOf = ({ input }: GivenCase): string => {
  const root = tempFolder();
  for (const [path, { text = '', newline }] of Object.entries(input.files ?? {})) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), newline === 'crlf' ? text.replaceAll('\n', '\r\n') : text);
  }
  return root;
};

/** Runs these calls, one step for all of them, with these tools. */
export const runCalls = async (
  given: GivenCase,
  tools: readonly Tool[],
  calls: readonly GivenCall[],
  policy: Policy = ALL,
): Promise<Bench> => {
  const bench = new Bench(
    { ...given, input: { ...given.input, model: [{ calls }, { text: 'ok' }] } },
    { tools, policy },
  );
  await bench.play();
  return bench;
};

const firstCalls = ({ input }: GivenCase, names: Readonly<Record<string, string>>): readonly GivenCall[] =>
  (input.model?.[0]?.calls ?? []).map((call) => ({ ...call, tool: names[call.tool] ?? call.tool }));

/** The JSON that a call brought. */
const resultOf = async (bench: Bench, label = 'c1'): Promise<unknown> => {
  const id = await bench.idOf(label);
  const event = (await bench.events()).find(
    (one): one is Extract<LogEvent, { type: 'call.result' }> =>
      one.type === 'call.result' && one.data.call === id,
  );
  const outcome = event?.data.outcome;
  if (outcome?.kind !== 'ok')
    throw new Error(`${label} brought nothing: ${JSON.stringify(await bench.events())}`);
  const [part] = outcome.content.filter(({ type }) => type !== 'blob');
  if (!part || part.type === 'blob') throw new Error('no text');
  return part.type === 'json' ? JSON.parse(part.text) : part.text;
};

export const server = async (listener: RequestListener): Promise<string> => {
  const made = createServer(listener);
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    made.closeAllConnections();
    made.close();
  });
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
};

const get = (options: HttpToolOptions): readonly Tool[] => httpTools(options);
export const local = (origin: string): { origin: string; allowPrivate: true } => ({
  origin,
  allowPrivate: true,
});

export const DATA_TOOLS: Readonly<Record<string, Plan>> = {
  'FC-39': async (given) => {
    const body = gzipSync(Buffer.alloc(100 * 1024 * 1024), { level: 9 });
    const origin = await server((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
    );
    const bench = await runCalls(given, get({ allow: [local(origin)], limits: { bodyBytes: 1_048_576 } }), [
      { id: 'c1', tool: 'http.get', args: { url: `${origin}/big` } },
    ]);
    await expectLog(bench, ['tool.failed c1 reason=body_too_large']);
    expect(JSON.stringify(await bench.events())).toMatch(/1048576|1,048,576/);
  },
  'FC-130': async (given) => {
    const root = folderOf(given);
    const bench = await runCalls(given, csvTools({ root }), firstCalls(given, { csv_read: 'csv.read' }));
    const result = (await resultOf(bench)) as { rows?: unknown };
    const rows = given.expect['rows'] as readonly Readonly<Record<string, string>>[];
    const text = JSON.stringify(result);
    for (const row of rows)
      for (const value of Object.values(row)) expect(text).toContain(JSON.stringify(value).slice(1, -1));
    expect(text).not.toContain('\ufeff');
    expect(text).toMatch(/"delimiter":";"/);
  },
  'FC-132': async (given) => {
    const root = folderOf(given);
    const bench = await runCalls(given, csvTools({ root }), firstCalls(given, { csv_write: 'csv.write' }));
    await expectLog(bench, ['tool.finished c1']);
    const text = readFileSync(join(root, 'out.csv'), 'utf8');
    expect(text).toContain('\r\n');
    for (const cell of [`'=HYPERLINK(`, `'@SUM(1)`, `'\tcmd`, `'+1+1`]) expect(text).toContain(cell);
  },
  'FC-134': async (given) => {
    const root = tempFolder();
    const folders = { drafts: join(root, 'drafts'), inbox: join(root, 'inbox') };
    for (const folder of Object.values(folders)) mkdirSync(folder);
    const tools = mailTools({ ...folders, from: { address: 'desk@corp.example' } });
    const bench = await runCalls(given, tools, firstCalls(given, { mail_draft: 'mail.draft' }), {
      rules: [],
    });
    const [event] = (await bench.events()).filter(
      ({ type }) => type === 'call.refused' || type === 'call.rejected',
    );
    expect(JSON.stringify(event)).toMatch(/subject/i);
    expect(JSON.stringify(event)).toMatch(/line break|header/i);
    expect(readdirSync(folders.drafts)).toEqual([]);
    expect(await bench.count('approval.requested')).toBe(0);
  },
  'FC-136': async (given) => {
    const root = folderOf(given);
    mkdirSync(join(root, 'drafts'));
    const tools = mailTools({
      inbox: root,
      drafts: join(root, 'drafts'),
      from: { address: 'desk@corp.example' },
    });
    const bench = await runCalls(given, tools, firstCalls(given, { mail_read: 'mail.read' }));
    const text = JSON.stringify(await resultOf(bench));
    for (const wanted of ['Grüße aus Köln', 'Grüße', 'Preis: 5 €', '2026-03-29T01:15:00', '"x.pdf"'])
      expect(text).toContain(wanted);
    expect(existsSync(join(root, '../etc/x.pdf'))).toBe(false);
  },
  'FC-138': async (given) => {
    const root = folderOf(given);
    const tools = calendarTools({ path: join(root, 'cal.db'), zone: 'America/New_York' });
    const text = readFileSync(join(root, 'cal.ics'), 'utf8');
    const list = {
      id: 'c2',
      tool: 'calendar.list',
      args: { from: '2026-04-01', to: '2026-12-01', zone: 'America/New_York' },
    };
    const bench = new Bench(
      {
        ...given,
        input: {
          ...given.input,
          model: [
            { calls: [{ id: 'c1', tool: 'calendar.import_ics', args: { ics: text } }] },
            { calls: [list] },
            { text: 'ok' },
          ],
        },
      },
      { tools, policy: ALL },
    );
    await bench.play();
    const shown = JSON.stringify(await resultOf(bench, 'c2'));
    const wanted = given.expect['occurrences_utc'] as Readonly<Record<string, readonly string[]>>;
    for (const time of Object.values(wanted).flat()) expect(shown).toContain(time.slice(0, 16));
    expect(shown).toMatch(/America\/New_York/);
  },
  'FC-141': async (given) => {
    const origin = await server((_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
        .end(Buffer.from('TfxsbGVyIIA1', 'base64')),
    );
    const bench = await runCalls(given, get({ allow: [local(origin)] }), [
      { id: 'c1', tool: 'http.get', args: { url: `${origin}/p` } },
    ]);
    const text = JSON.stringify(await bench.events());
    expect(text).toContain('Müller €5');
    expect(text).toContain('charset utf-8 declared but invalid; read as windows-1252');
    expect(text).toMatch(/"bytes":9/);
  },
  'FC-143': async (given) => {
    const origin = await server((_, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/iam/' }).end(),
    );
    const dialled: string[] = [];
    const { systemDial } = await import('../../src/tool/http/connect.ts');
    const dial: typeof systemDial = (target) => {
      dialled.push(target.address);
      return systemDial(target);
    };
    const bench = await runCalls(given, get({ allow: [local(origin)], dial }), [
      { id: 'c1', tool: 'http.get', args: { url: `${origin}/r` } },
    ]);
    const failed = (await bench.events()).find(
      (event) => event.type === 'call.result' || event.type === 'call.refused',
    );
    expect(JSON.stringify(failed)).toMatch(/not-allowed|address-blocked/);
    expect(JSON.stringify(failed)).toContain('169.254.169.254');
    expect(dialled).not.toContain('169.254.169.254');
  },
  'FC-145': async (given) => {
    const seen: (string | undefined)[][] = [];
    const other = await server((request, response) => {
      seen.push([request.headers.authorization, request.headers.accept]);
      response.end('end');
    });
    const origin = await server((_, response) => response.writeHead(302, { location: `${other}/end` }).end());
    const token = 's-0f1e2d3c4b5a6978';
    const credential = { header: 'authorization', name: 'TOKEN', value: (): string => `Bearer ${token}` };
    const bench = await runCalls(given, get({ allow: [{ ...local(origin), credential }, local(other)] }), [
      { id: 'c1', tool: 'http.get', args: { url: `${origin}/start`, headers: { accept: 'text/plain' } } },
    ]);
    expect(seen).toEqual([[undefined, 'text/plain']]);
    const log = JSON.stringify(await bench.events());
    expect(log).toMatch(/authorization/);
    await bench.close();
    for (const bytes of [log, readFileSync(bench.path, 'latin1')]) expect(bytes).not.toContain(token);
  },
  'FC-147': async (given) => {
    const root = tempFolder();
    mkdirSync(join(root, 'desk'));
    symlinkSync('/etc/passwd', join(root, 'desk/leak'));
    symlinkSync('..', join(root, 'desk/up'));
    writeFileSync(join(root, 'desk/ok.txt'), 'x');
    const more: GivenCall[] = [
      { id: 'c4', tool: 'files.read', args: { path: 'up/../../etc/passwd' } },
      { id: 'c5', tool: 'files.list', args: { path: 'up' } },
      { id: 'c6', tool: 'files.write', args: { path: 'up/planted.txt', text: 'x', new: true } },
      { id: 'c7', tool: 'files.search', args: { text: 'root:' } },
    ];
    const bench = await runCalls(given, fileTools({ root: join(root, 'desk') }), [
      ...firstCalls(given, { file_read: 'files.read' }),
      ...more,
    ]);
    await expectLog(bench, [
      'tool.failed c1 reason=outside_root',
      'tool.failed c3 reason=outside_root',
      'tool.failed c4',
      'tool.failed c5',
      'tool.failed c6',
    ]);
    expect(JSON.stringify(await bench.events())).not.toMatch(/root:x/);
    expect(existsSync(join(root, 'planted.txt'))).toBe(false);
  },
  'FC-149': async (given) => {
    const root = folderOf(given);
    const bench = await runCalls(
      given,
      fileTools({ root }),
      firstCalls(given, { file_write: 'files.write' }),
    );
    const prepared = (await bench.events()).find((event) => event.type === 'call.prepared');
    expect(JSON.stringify(prepared)).toMatch(/"newFile":true/);
    expect(JSON.stringify(prepared)).toMatch(/README\.md/);
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toBe('old');
  },
  'FC-151': async (given) => {
    const root = folderOf(given);
    const bench = await runCalls(given, fileTools({ root }), firstCalls(given, { file_edit: 'files.edit' }));
    await expectLog(bench, ['tool.finished c1']);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a = 1\r\nb = 22\r\nc = 3\r\n');
    const preview = JSON.stringify((await bench.events()).find((event) => event.type === 'call.prepared'));
    expect(preview).toContain('b = 22');
    expect(preview).not.toMatch(/[-+]a = 1/);
  },
};
