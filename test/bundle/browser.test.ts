/**
 * Shown when done, issue 5, point 4, second half: the page opens with no network in a real browser. Whatever it asked
 * for would have to pass a proxy, and nothing does.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { clerk, sessionIn } from '../cli/project.ts';
import { chromium, opened } from '../kit/chromium.ts';
import { tempFolder } from '../kit/folder.ts';

if (chromium === undefined)
  console.warn(
    'SKIPPED: no chromium in PATH, so no page was opened in a real browser (apt-get install chromium).',
  );

const TRAPS = [
  '<img src=http://canary.example/a.png>',
  '<script>fetch("http://canary.example/b")</script>',
  '<link rel=stylesheet href=http://canary.example/c.css>',
  '<iframe src=http://canary.example/d></iframe>',
  '<style>@import "http://canary.example/e.css"; body{background:url(http://canary.example/f.png)}</style>',
  '<svg onload=fetch("http://canary.example/g")>',
  'http://canary.example/h',
];

describe.skipIf(chromium === undefined)('the page in a real browser', () => {
  it('is shown whole, and asks nobody for anything', async () => {
    const place = clerk(`
  - text: ${JSON.stringify(TRAPS.join('\n'))}
    calls: [{ tool: files.write, args: { path: n.txt, text: ${JSON.stringify(TRAPS.join('\n'))}, new: true } }]
  - text: Done.
`);
    const session = sessionIn((await place.onrecord('run', 'clerk', TRAPS.join(' '))).stdout);
    const made = await place.onrecord('export', session, '--html', '-o', 'page.html');
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('page.html')]);
    const { dom, log, requests, ms } = await opened(pathToFileURL(join(place.folder, 'page.html')).href);
    console.log(`opened in ${Math.round(ms)} ms, ${requests.length} requests left the browser`);
    expect(dom).toContain('id="conversation"');
    expect(dom).toContain('&lt;img src=http://canary.example/a.png&gt;');
    expect(dom.trimEnd().endsWith('</html>')).toBe(true);
    // Nothing of the page was refused by its own policy: the style came through.
    expect(log).not.toMatch(/Content Security Policy/);
    expect(requests).toEqual([]);
  }, 120_000);

  it('this check can fail: a page that asks is caught by the proxy, one with a script by its policy', async () => {
    const file = join(tempFolder(), 'asks.html');
    writeFileSync(file, '<!doctype html><html><body><img src="http://canary.example/a.png"></body></html>');
    const { requests } = await opened(pathToFileURL(file).href);
    expect(requests.join()).toContain('canary.example');
    const forbidden = join(tempFolder(), 'script.html');
    writeFileSync(
      forbidden,
      `<!doctype html><html><head><meta http-equiv="Content-Security-Policy" content="default-src 'none'"></head><body><script>document.title = 'ran'</script></body></html>`,
    );
    expect((await opened(pathToFileURL(forbidden).href)).log).toMatch(/Content Security Policy/);
  }, 120_000);
});
