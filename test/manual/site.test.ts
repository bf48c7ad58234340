/** The documentation as served: every page is made, every link leads somewhere, nothing runs and nothing is fetched. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hrefsOf } from '../../src/manual/links.ts';
import { addressOf, readManual } from '../../src/manual/manual.ts';
import { siteOf } from '../../src/manual/site.ts';
import { project } from '../cli/project.ts';
import { tempFolder } from '../kit/folder.ts';

const manual = readManual();
const site = siteOf(manual);
const ask = (path: string, init?: RequestInit): Response =>
  site.fetch(new Request(`http://127.0.0.1${path}`, init));
const page = async (path: string): Promise<string> => {
  const response = ask(path);
  expect(response.status, `status of ${path}`).toBe(200);
  return response.text();
};

const ADDRESSES = [...manual.pages.keys()].map(addressOf);

/** What a reader can press on a page. */
const linksIn = (html: string): readonly string[] =>
  [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'));
const idsIn = (html: string): ReadonlySet<string> =>
  new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id));

describe('every page', () => {
  it('is made, and each of its links leads to a page, a file or a heading that is there', async () => {
    const made = new Map<string, string>();
    for (const address of ADDRESSES) made.set(address, await page(address));
    const broken: string[] = [];
    let looked = 0;
    for (const [address, html] of made)
      for (const link of linksIn(html)) {
        if (/^https?:/.test(link)) continue;
        looked++;
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? address : path;
        const there = made.has(target) || ask(target).status === 200;
        if (!there) broken.push(`${address}: ${link}`);
        else if (anchor !== undefined && !idsIn(made.get(target) ?? '').has(anchor))
          broken.push(`${address}: ${link} has no such heading`);
      }
    expect(broken).toEqual([]);
    expect(made.size).toBeGreaterThan(40);
    expect(looked).toBeGreaterThan(1000);
  });

  it('keeps every link of its file that leads to something in this checkout', async () => {
    const lost: string[] = [];
    for (const { path, tokens } of manual.pages.values()) {
      const shown = new Set(linksIn(await page(addressOf(path))));
      const written = hrefsOf(tokens).filter((href) => !href.startsWith('mailto:'));
      const wanted = written.filter((href) => /^https?:/.test(href));
      lost.push(...wanted.filter((href) => !shown.has(href)).map((href) => `${path}: ${href}`));
      const inside = written.length - wanted.length;
      const words = await page(addressOf(path));
      const main = /<main[^]*<\/main>/.exec(words)?.[0] ?? '';
      const pressed = linksIn(main).filter((link) => !/^https?:/.test(link)).length;
      if (pressed < inside) lost.push(`${path}: ${inside} links in the file, ${pressed} on the page`);
    }
    expect(lost).toEqual([]);
  });

  it('holds no script, no style of its own, and nothing from elsewhere, under a policy that says so', async () => {
    for (const address of [...ADDRESSES, '/search?q=effect']) {
      const response = ask(address);
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      const html = await response.text();
      expect(html, `page ${address}`).not.toMatch(
        /<script|<iframe|<object|<style|<form(?! role="search" action="\/search")/i,
      );
      expect(html, `page ${address}`).not.toMatch(/<[a-z][^>]* (?:on\w+|style|srcdoc)=/i);
      expect(linksIn(html).filter((link) => /^(?:javascript|data|vbscript):/i.test(link))).toEqual([]);
      expect(html, `page ${address}`).not.toMatch(/<(?:img|link)[^>]* (?:src|href)="https?:/);
    }
  });
});

/** Pages that somebody wrote to do harm. */
const hostilePages = (): ((path: string) => Response) => {
  const folder = tempFolder();
  mkdirSync(join(folder, 'docs'));
  writeFileSync(join(folder, 'secret.txt'), 'not linked');
  writeFileSync(
    join(folder, 'docs/README.md'),
    [
      '# <img src=x onerror=alert(1)> `<b>`',
      '<script>alert(1)</script>',
      '',
      'a <i onclick="x">b</i> [x](javascript:alert(1)) [y](data:text/html,x) [z](../../../etc/passwd)',
      '![p](https://elsewhere.example/p.png) ![q](" onerror="x)',
      '',
      '| a | b |',
      '| --- | --- |',
      '| <u>c</u> | `</code><script>` |',
      '',
      '```html',
      '</code></pre><script>alert(1)</script>',
      '```',
    ].join('\n'),
  );
  const hostile = siteOf(readManual(folder));
  return (path) => hostile.fetch(new Request(`http://127.0.0.1${path}`));
};

describe('what a page cannot do', () => {
  it('make elements out of HTML or of a link that runs', async () => {
    const html = await hostilePages()('/').text();
    expect(html).not.toMatch(/<script|<i |<u>|<b>|<img src=x/);
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(linksIn(html).filter((link) => /^(?:javascript|data):/.test(link))).toEqual([]);
  });

  it('lie in a hidden folder, as what an example writes while it runs', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'docs'));
    writeFileSync(join(folder, 'docs/README.md'), '# Contents\n');
    mkdirSync(join(folder, 'examples/01-hello/.onrecord'), { recursive: true });
    writeFileSync(join(folder, 'examples/01-hello/README.md'), '# Hello\n');
    writeFileSync(join(folder, 'examples/01-hello/.onrecord/note.md'), '# Mine\n');
    expect([...readManual(folder).pages.keys()]).toEqual(['docs/README.md', 'examples/01-hello/README.md']);
  });

  it('lead to files that no page names, or out of the folder', () => {
    const get = hostilePages();
    for (const path of ['/secret.txt', '/package.json', '/../../etc/passwd', '/%2e%2e/secret.txt', '/docs/'])
      expect(get(path).status, `status of ${path}`).toBe(404);
    expect(ask('/package.json').status).toBe(404);
    expect(ask('/src/index.ts').status).toBe(404);
  });

  it('be written to', () => {
    expect(ask('/', { method: 'POST' }).status).toBe(405);
  });
});

describe('finding', () => {
  it('marks the words in the sections that hold all of them', async () => {
    const html = await page('/search?q=effect+kind');
    expect(html).toContain('<a href="/docs/concepts#effect-kinds">Effect kinds</a>');
    expect(html).toMatch(/<mark>effect<\/mark>/i);
    const none = await page('/search?q=zzzz%3Cscript%3E');
    expect(none).toContain('No section holds all of these words.');
    expect(none).toContain('value="zzzz&lt;script&gt;"');
  });

  it('gives programs the files and their index', async () => {
    const index = await page('/llms.txt');
    for (const [, path = ''] of index.matchAll(/\]\(([^)]+)\)/g))
      expect(await page(`/${path}`), `file ${path}`).toMatch(/^# /);
    expect(ask('/docs/tools.md').headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  });

  it('names the page that was meant', async () => {
    const response = ask('/docs/tols');
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('Did you mean <a href="/docs/tools">');
  });
});

describe('onrecord docs', () => {
  it('serves until it is told to end', { timeout: 120_000 }, async () => {
    const running = project({}).start('docs', '--port', '0');
    const url = await running.said(/http:\S+(?=\s)/);
    const response = await fetch(url);
    expect(await response.text()).toContain('<h1 id="documentation">Documentation</h1>');
    running.kill('SIGTERM');
    expect(await running.done).toMatchObject({ code: 0, stderr: '' });
  });

  it('prints a page, a part of one, and what an error means', async () => {
    const place = project({});
    const whole = await place.onrecord('docs', 'tools');
    expect(whole.stdout).toBe(manual.pages.get('docs/tools.md')?.text);
    const part = await place.onrecord('docs', 'tools#labels');
    expect(part.stdout).toMatch(/^## Labels\n/);
    expect(part.stdout).not.toContain('## The ones');
    const error = await place.onrecord('docs', 'port-taken');
    expect(error.stdout).toMatch(/^## port-taken\n/);
    const terminal = await place.on({ columns: 70, env: { NO_COLOR: '1' } }, 'docs', 'concepts');
    const prose = terminal.stdout.split('\n').filter((line) => !line.startsWith(' '));
    expect(prose.filter((line) => line.length > 70)).toEqual([]);
    expect(terminal.stdout).toContain('started ──▶ (killed) ──▶ in doubt ──▶ happened, with this result');
  });

  it('says which pages there are', async () => {
    const place = project({});
    const missed = await place.onrecord('docs', 'concept');
    expect(missed.code).toBe(2);
    expect(missed.stderr).toContain('Did you mean concepts?');
    const anchor = await place.onrecord('docs', 'tools#nothing');
    expect(anchor.stderr).toContain('The page docs/tools.md has no heading "nothing".');
  });
});
