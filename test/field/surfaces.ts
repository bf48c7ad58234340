/** Field cases about what people see: terminals, pages, times, and the secrets that must be in none of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { digestOf } from '../../src/event/canonical.ts';
import type { Json } from '../../src/event/json.ts';
import { formatDeadline } from '../../src/view/format.ts';
import { readYaml } from '../../src/cli/yaml-file.ts';
import { httpTools } from '../../src/tool/http/get.ts';
import { clerk, sessionIn } from '../cli/project.ts';
import { forbiddenIn } from '../cli/terminal-stage.ts';
import { local, runCalls, server } from './data-tools.ts';
import { valueOf } from './given.ts';
import type { Plan } from './plan.ts';

const read = (text: string): Readonly<Record<string, unknown>> =>
  readYaml(Buffer.from(text), { where: 'case.yaml', code: 'agent-file-invalid' }).value as Readonly<
    Record<string, unknown>
  >;

export const SURFACES: Readonly<Record<string, Plan>> = {
  'FC-125': async (given) => {
    const values = given.expect['values'] as Readonly<Record<string, unknown>>;
    const file = String(given.input['file']);
    // Line 10 holds a number that no double holds: exact, or refused with its line.
    const whole = ((): unknown => {
      try {
        return read(file)['id'];
      } catch (error) {
        return String(error);
      }
    })();
    expect(String(whole)).toMatch(/9007199254740993|10:/);
    const found = read(
      file
        .split('\n')
        .filter((line) => !line.startsWith('id:'))
        .join('\n'),
    );
    for (const [key, value] of Object.entries(values)) expect([key, found[key]]).toEqual([key, value]);
    expect(found['version']).not.toBe('1.1');
  },
  'FC-126': async (given) => {
    const bytes = Buffer.from(String(valueOf(String(given.input['file_js']))));
    const unix = Buffer.from(bytes.toString('utf8').replaceAll('\r\n', '\n').slice(1));
    const file = { where: 'case.yaml', code: 'agent-file-invalid' };
    expect(readYaml(bytes, file).value).toEqual({ name: given.expect['name'], user: given.expect['user'] });
    expect(digestOf(readYaml(bytes, file).value as Json)).toBe(digestOf(readYaml(unix, file).value as Json));
    // Lines are counted as an editor shows them.
    const broken = Buffer.concat([bytes, Buffer.from('\r\nbad: &a x\r\n')]);
    expect(() => readYaml(broken, file)).toThrow(/case\.yaml:6:/);
  },
  'FC-153': async (given) => {
    const evil = valueOf(
      given.input.tools?.['t'] === 'builtin' ? '""' : (given.input.tools?.['t']?.returns_js ?? '""'),
    );
    const place = clerk(`
  - text: ${JSON.stringify(evil)}
    calls: [{ tool: files.read, args: { path: evil.txt } }]
  - { text: ok }
`);
    place.write('books/evil.txt', String(evil));
    const run = await place.on({ columns: 90 }, 'run', 'clerk', 'go', '--key', 'k');
    const session = sessionIn(run.stdout + run.stderr);
    for (const args of [
      ['show', session],
      ['show', session, '--timeline', '--events', '--full'],
      ['approvals'],
      ['sessions'],
    ]) {
      const { stdout } = await place.onrecord(...args);
      expect([args, forbiddenIn(stdout, false)]).toEqual([args, undefined]);
    }
    const { stdout } = await place.onrecord('show', session, '--json');
    expect(stdout).not.toMatch(/[\u0007\u001b\u009b]/);
  },
  'FC-155': async (given) => {
    const text = String(given.input.model?.[0]?.text);
    const place = clerk(`\n  - ${JSON.stringify({ text })}\n`);
    const run = await place.onrecord('run', 'clerk', text, '--key', 'k');
    const session = sessionIn(run.stdout + run.stderr);
    expect((await place.onrecord('export', session, '--html', '-o', 'page.html')).code).toBe(0);
    const page = readFileSync(join(place.folder, 'page.html'), 'utf8');
    expect(page).not.toMatch(/<img|<script>document/);
    expect(page).toContain('&lt;scratchpad&gt;');
    expect(page).toMatch(/http-equiv="Content-Security-Policy"/i);
    expect(page).not.toMatch(/script-src[^;"]*unsafe-inline/);
    expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  },
  'FC-157': async (given) => {
    const { expires_at } = given.input['approval'] as { readonly expires_at: string };
    const { fake } = given.input['clock'] as { readonly fake: string };
    const [at, now] = [Date.parse(expires_at), Date.parse(fake)];
    const berlin = formatDeadline(at, { now, zone: 'Europe/Berlin' });
    expect(berlin).toMatch(/03:30/);
    expect(berlin).toMatch(/\+02:00|CEST|GMT\+2/);
    const york = formatDeadline(at, { now, zone: 'America/New_York' });
    expect(york).toMatch(/21:30/);
    expect(york).toMatch(/-04:00|−04:00|EDT|GMT-4/);
    for (const [text, day] of [
      [berlin, '29 Mar'],
      [york, '28 Mar'],
    ] as const) {
      expect(text).toContain(day);
      expect(text).toMatch(/in 2 h/);
      expect(text).not.toContain('02:30');
    }
    expect(formatDeadline(at, { now, zone: 'UTC' })).toMatch(/01:30.*UTC/);
  },
  'FC-159': async (given) => {
    const secrets = given.input['secrets'] as Readonly<Record<string, string>>;
    const key = String(secrets['FEED_KEY']);
    // The server says back what it was asked, as servers do in errors and pages.
    const origin = await server((request, response) => response.end(`asked for ${request.url ?? ''}`));
    const tools = httpTools({ allow: [local(origin)], secrets: { FEED_KEY: key } });
    const url = `${origin}/v1?apikey={FEED_KEY}&x=1`;
    const bench = await runCalls(given, tools, [{ id: 'c1', tool: 'http.get', args: { url } }]);
    const log = JSON.stringify([await bench.events(), bench.heard, bench.warnings]);
    await bench.close();
    const forms = [key, encodeURIComponent(key), Buffer.from(key).toString('base64')];
    for (const text of [log, readFileSync(bench.path, 'latin1')])
      for (const form of forms) expect(text).not.toContain(form);
    expect(log).toContain('[secret FEED_KEY]&x=1');
  },
};
