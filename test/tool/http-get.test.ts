import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { systemDial } from '../../src/tool/http/connect.ts';
import { httpTools } from '../../src/tool/http/get.ts';
import { failure, get, local, previewOf, Sites, watched } from './http-world.ts';

afterEach(() => vi.unstubAllEnvs());

const MIB = 1_048_576;

describe('what-a-result-says', () => {
  test('a page as text with title, links, bytes and hop', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        '<title>Prices</title><script>x()</script><p>Glass <b>5 &euro;</b></p><a href="/more">More</a>',
      );
    });
    const { result, bytes } = await get({ allow: [local(site)] }, { url: `${site.origin}/p#part` });
    expect(result).toEqual({
      url: `${site.origin}/p`,
      status: 200,
      type: 'text/html',
      title: 'Prices',
      text: 'Glass 5 €\n\nMore',
      links: [{ text: 'More', href: `${site.origin}/more` }],
      bytes: bytes?.length,
      hops: [{ url: `${site.origin}/p`, status: 200, address: '127.0.0.1' }],
    });
  });

  test('a page labelled utf-8 that is not (FC-141): read as windows-1252, said so, original bytes kept', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(Buffer.from('TfxsbGVyIIA1', 'base64'));
    });
    const { result, bytes } = await get({ allow: [local(site)] }, { url: site.origin });
    expect(result.text).toBe('Müller €5');
    expect(result.note).toBe('charset utf-8 declared but invalid; read as windows-1252');
    expect(Buffer.from(bytes ?? []).toString('base64')).toBe('TfxsbGVyIIA1');
  });

  test('a status of failure is an answer, not an error', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => response.writeHead(404).end('no such page'));
    const { result } = await get({ allow: [local(site)] }, { url: site.origin });
    expect(result).toMatchObject({ status: 404, text: 'no such page' });
  });

  test('a document that is not text keeps its bytes and has no text', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => {
      response.setHeader('content-type', 'application/pdf');
      response.end(Buffer.from([0x25, 0x50, 0x44, 0x46, 0]));
    });
    const { result, bytes } = await get({ allow: [local(site)] }, { url: site.origin });
    expect(result).toMatchObject({ text: '', type: 'application/pdf', bytes: 5 });
    expect([...(bytes ?? [])]).toEqual([0x25, 0x50, 0x44, 0x46, 0]);
  });
});

describe('decoded-bytes-are-bounded', () => {
  test('100 MiB of zeros in a small gzip body (FC-39) stop at the limit, in little memory', async () => {
    const packed = await new Promise<Buffer>((resolve) => {
      const gzip = createGzip({ level: 9 });
      const parts: Buffer[] = [];
      gzip.on('data', (part: Buffer) => parts.push(part));
      gzip.on('end', () => resolve(Buffer.concat(parts)));
      const block = Buffer.alloc(MIB);
      for (let mib = 0; mib < 100; mib++) gzip.write(block);
      gzip.end();
    });
    expect(packed.length).toBeLessThan(200_000);
    await using sites = new Sites();
    const site = await sites.open((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(packed);
    });
    const before = process.memoryUsage.rss();
    const error = await failure(
      get({ allow: [local(site)], limits: { bodyBytes: MIB } }, { url: site.origin }),
    );
    expect(error).toMatchObject({ code: 'body-too-large', details: { limit: MIB, counted: 'decoded' } });
    expect(process.memoryUsage.rss() - before).toBeLessThan(32 * MIB);
  });

  test('a body that says it is short and is not', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => {
      for (let at = 0; at < 64; at++) response.write(Buffer.alloc(4096, 'x'));
      response.end();
    });
    const error = await failure(
      get({ allow: [local(site)], limits: { bodyBytes: 65_536 } }, { url: site.origin }),
    );
    expect(error).toMatchObject({ code: 'body-too-large', details: { limit: 65_536, counted: 'decoded' } });
  });

  test('a body of exactly the limit is read, one byte more is not', async () => {
    await using sites = new Sites();
    const site = await sites.open((request, response) =>
      response.end('x'.repeat(Number(request.url?.slice(1)))),
    );
    const options = { allow: [local(site)], limits: { bodyBytes: 1000 } };
    expect((await get(options, { url: `${site.origin}/1000` })).result.bytes).toBe(1000);
    expect((await failure(get(options, { url: `${site.origin}/1001` }))).code).toBe('body-too-large');
  });

  test('members that unfold to nothing are counted as they come', async () => {
    await using sites = new Sites();
    const empty = gzipSync('');
    const site = await sites.open((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(Buffer.concat(Array.from({ length: 1000 }, () => empty)));
    });
    const error = await failure(
      get({ allow: [local(site)], limits: { bodyBytes: 4096 } }, { url: site.origin }),
    );
    expect(error).toMatchObject({ code: 'body-too-large', details: { limit: 4096, counted: 'wire' } });
  });

  test.each([
    ['gzip', gzipSync('grüße')],
    ['x-gzip', gzipSync('grüße')],
    ['deflate', deflateSync('grüße')],
    ['br', brotliCompressSync('grüße')],
    ['identity', Buffer.from('grüße')],
  ])('%s is read', async (encoding, body) => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': encoding }).end(body);
    });
    expect((await get({ allow: [local(site)] }, { url: site.origin })).result.text).toBe('grüße');
  });

  test.each(['gzip, gzip', 'gzip,br', 'zstd', 'compress', 'constructor'])(
    '"%s" is refused',
    async (encoding) => {
      await using sites = new Sites();
      const site = await sites.open((_, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync(gzipSync('x')));
      });
      expect((await failure(get({ allow: [local(site)] }, { url: site.origin }))).code).toBe(
        'encoding-refused',
      );
    },
  );

  test('a packed body that breaks off is an error, not half a text', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(9999)).subarray(0, 20));
    });
    expect(await failure(get({ allow: [local(site)] }, { url: site.origin }))).toMatchObject({
      code: 'body-broken',
      retryable: true,
    });
  });
});

describe('time-is-bounded', () => {
  test('a body that never ends', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => response.write('first words'));
    const error = await failure(get({ allow: [local(site)], limits: { timeMs: 100 } }, { url: site.origin }));
    expect(error).toMatchObject({ code: 'timeout', retryable: true, details: { limitMs: 100, hop: 1 } });
  });

  test('a server that accepts and says nothing', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).resume()).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const error = await failure(
      get({ allow: [{ origin, allowPrivate: true }], limits: { timeMs: 100 } }, { url: origin }),
    );
    expect(error.code).toBe('timeout');
    // The server's side is closed too: nothing was left open.
    server.close();
    await once(server, 'close');
  });

  test('a name that is never resolved', async () => {
    const error = await failure(
      get(
        {
          allow: [{ origin: 'https://api.example.com' }],
          limits: { timeMs: 50 },
          resolve: () => new Promise(() => undefined),
        },
        { url: 'https://api.example.com' },
      ),
    );
    expect(error.code).toBe('timeout');
  });

  test('a cancelled call ends with the reason of its signal', async () => {
    await using sites = new Sites();
    const controller = new AbortController();
    const site = await sites.open(() => controller.abort(new Error('stopped by a person')));
    await expect(get({ allow: [local(site)] }, { url: site.origin }, controller.signal)).rejects.toThrow(
      'stopped by a person',
    );
  });
});

describe('only-listed-origins-are-asked', () => {
  const allow = [{ origin: 'https://api.example.com' }];
  test.each([
    ['https://evil.example/', 'host-not-allowed'],
    ['https://api.example.com.evil.example/', 'host-not-allowed'],
    ['https://xapi.example.com/', 'host-not-allowed'],
    ['https://api.example.com../', 'host-not-allowed'],
    ['https://аpi.example.com/', 'host-not-allowed'],
    ['https://localhost/', 'host-not-allowed'],
    ['https://8.8.8.8/', 'host-not-allowed'],
    ['http://api.example.com/', 'scheme-not-allowed'],
    ['https://api.example.com:8443/', 'port-not-allowed'],
    ['https://user@api.example.com/', 'url-has-user'],
    ['https://api.example.com@evil.example/', 'url-has-user'],
    ['https://api.example.com\\@evil.example/', 'name-not-found'],
    ['file:///etc/passwd', 'scheme-not-allowed'],
    ['data:text/plain,x', 'scheme-not-allowed'],
    ['//api.example.com/', 'url-invalid'],
    [`https://api.example.com/${'x'.repeat(9000)}`, 'url-too-long'],
  ])('%s: %s', async (url, code) => {
    const { dial, dialled } = watched();
    const error = await failure(get({ allow, dial, resolve: async () => [] }, { url }));
    expect(error.code).toBe(code);
    expect(dialled).toEqual([]);
  });

  test('capital letters, a trailing dot and the default port are the same host', async () => {
    const asked: string[] = [];
    for (const url of [
      'HTTPS://API.Example.COM/',
      'https://api.example.com./',
      'https://api.example.com:443/',
    ])
      await failure(get({ allow, resolve: async (host) => (asked.push(host), []) }, { url }));
    expect(asked).toEqual(['api.example.com', 'api.example.com', 'api.example.com']);
  });

  test('a further port is allowed where it is listed, without the credential', async () => {
    await using sites = new Sites();
    const [one, two] = [await sites.open((_, r) => r.end('1')), await sites.open((_, r) => r.end('2'))];
    const credential = { header: 'authorization', name: 'KEY', value: () => 'Bearer s-0f1e2d3c4b5a' };
    const options = { allow: [{ ...local(one), ports: [two.port], credential }] };
    await get(options, { url: one.origin });
    await get(options, { url: two.origin });
    expect(one.seen[0]?.headers.authorization).toBe('Bearer s-0f1e2d3c4b5a');
    expect(two.seen[0]?.headers.authorization).toBeUndefined();
  });

  test.each([
    'authorization',
    'Cookie',
    'Host',
    'X-Forwarded-For',
    'accept-encoding',
    'range',
    'proxy-authorization',
  ])('the header %s cannot be set, nor previewed', async (header) => {
    const given = { url: 'https://api.example.com/', headers: { [header]: 'Bearer {TOKEN}' } };
    expect((await failure(get({ allow, resolve: async () => [] }, given))).code).toBe('header-not-allowed');
    expect((await failure(previewOf({ allow }, given))).code).toBe('header-not-allowed');
  });

  test('accept and accept-language are passed on; a line break in them is not', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => response.end('ok'));
    await get(
      { allow: [local(site)] },
      { url: site.origin, headers: { Accept: 'text/plain', 'accept-language': 'de' } },
    );
    expect(site.seen[0]?.headers).toMatchObject({ accept: 'text/plain', 'accept-language': 'de' });
    const broken = { url: site.origin, headers: { accept: 'text/plain\r\nx-evil: 1' } };
    expect((await failure(get({ allow: [local(site)] }, broken))).code).toBe('header-invalid');
    expect(site.seen.length).toBe(1);
  });

  test('proxy variables are ignored', async () => {
    await using sites = new Sites();
    const proxy = await sites.open((_, response) => response.end('from the proxy'));
    const site = await sites.open((_, response) => response.end('from the site'));
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'HTTPS_PROXY'])
      vi.stubEnv(name, proxy.origin);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    expect((await get({ allow: [local(site)] }, { url: site.origin })).result.text).toBe('from the site');
    expect(proxy.seen).toEqual([]);
  });

  test.each([
    'https://*.example.com',
    'https://api.example.com/path',
    'ftp://api.example.com',
    'api.example.com',
    'https://u@api.example.com',
  ])('the configuration "%s" is refused', (origin) =>
    expect(() => httpTools({ allow: [{ origin }] })).toThrow(
      expect.objectContaining({ code: 'tool-invalid' }),
    ),
  );
});

describe('the-checked-address-is-the-connected-address', () => {
  test('a name is resolved once, whatever the next answer would be', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => response.end('inside'));
    const answers = [['8.8.8.8'], ['127.0.0.1']];
    let asked = 0;
    const { dial, dialled } = watched(() => systemDial({ address: '127.0.0.1', port: site.port }));
    const error = await failure(
      get(
        {
          allow: [{ origin: `http://api.example.com:${site.port}` }],
          resolve: async () => answers[asked++] ?? [],
          dial,
        },
        { url: `http://api.example.com:${site.port}/` },
      ),
    );
    // The dial of this test goes to loopback although it was told 8.8.8.8, as a hijacked stack would.
    expect(error.code).toBe('address-changed');
    expect(asked).toBe(1);
    expect(dialled).toEqual(['8.8.8.8']);
    expect(site.seen).toEqual([]);
  });

  test('the next address of a name is tried where the first does not answer', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => response.end('second'), '127.0.0.2');
    const { dial, dialled } = watched();
    const { result } = await get(
      {
        allow: [{ origin: `http://intranet.example:${site.port}`, allowPrivate: true }],
        resolve: async () => ['127.0.0.3', '127.0.0.2'],
        dial,
      },
      { url: `http://intranet.example:${site.port}/` },
    );
    expect(dialled).toEqual(['127.0.0.3', '127.0.0.2']);
    expect(result).toMatchObject({ text: 'second', hops: [{ address: '127.0.0.2' }] });
    expect(site.seen[0]?.headers.host).toBe(`intranet.example:${site.port}`);
  });

  test('allowPrivate of one host does not open another', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => response.end('x'));
    const options = {
      allow: [local(site), { origin: `http://api.example.com:${site.port}` }],
      resolve: async () => ['127.0.0.1'],
    };
    const error = await failure(get(options, { url: `http://api.example.com:${site.port}/` }));
    expect(error.code).toBe('address-blocked');
    expect(site.seen).toEqual([]);
  });
});
