import { describe, expect, test } from 'vitest';
import { httpTools } from '../../src/tool/http/get.ts';
import { failure, get, local, previewOf, type Site, Sites, watched, world } from './http-world.ts';

const TOKEN = 's-0f1e2d3c4b5a6978';
const FEED_KEY = 'f-88aa11bb/22cc+33dd';

/** Everything that could be recorded about a call, as one text. */
const everything = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) =>
    item instanceof Uint8Array
      ? Buffer.from(item).toString('latin1')
      : item instanceof Error
        ? [...Object.entries(item), item.message, item.stack, item.cause]
        : item,
  );

const expectNoSecret = (text: string, secret: string): void => {
  const bytes = Buffer.from(secret);
  for (const form of [secret, encodeURIComponent(secret), bytes.toString('base64'), bytes.toString('hex')])
    expect(text).not.toContain(form);
};

const redirecting = async (sites: Sites, location: (site: string) => string): Promise<Site> =>
  sites.open((request, response) => {
    response.writeHead(302, { location: location(`http://${request.headers.host ?? ''}`) }).end('moved');
  });

describe('each-hop-is-checked', () => {
  test.each([
    'http://169.254.169.254/latest/meta-data/iam/',
    'http://0xa9fea9fe/latest/',
    'http://[::ffff:169.254.169.254]/',
    'http://127.0.0.1:1/',
    'http://2130706433/',
    'http://[::1]/',
    '//10.0.0.1/',
  ])('a redirect to %s is blocked at hop 2 without a connection (FC-143)', async (location) => {
    await using sites = new Sites();
    const site = await redirecting(sites, () => location);
    const { dial, dialled } = watched();
    // The name of the first hop, so that a listed literal does not decide.
    const origin = `http://intranet.example:${site.port}`;
    const options = { allow: [{ origin, allowPrivate: true }], resolve: async () => ['127.0.0.1'], dial };
    const error = await failure(get(options, { url: `${origin}/r` }));
    expect(error.code).toBe('address-blocked');
    expect(error.details['hop']).toBe(2);
    const host = new URL(location, origin).hostname.replace(/^\[|\]$/g, '');
    expect(error.details['address']).toBe(host);
    expect(dialled).toEqual(['127.0.0.1']);
  });

  test('a chain ends at loopback although it began at a listed host', async () => {
    await using sites = new Sites();
    const inside = await sites.open((_, response) => response.end('admin'));
    const second = await redirecting(sites, () => inside.origin);
    const first = await redirecting(sites, () => second.origin);
    const error = await failure(get({ allow: [local(first), local(second)] }, { url: first.origin }));
    // Same host, another port: the entry of one port does not open the next.
    expect(error.code).toBe('port-not-allowed');
    expect(error.details['hop']).toBe(3);
    expect(inside.seen).toEqual([]);
  });

  test.each([
    ['https://evil.example/', 'host-not-allowed'],
    ['file:///etc/passwd', 'scheme-not-allowed'],
    ['http://user:pass@127.0.0.1/', 'url-has-user'],
    ['http://', 'url-invalid'],
  ])('a redirect to %s: %s at hop 2', async (location, code) => {
    await using sites = new Sites();
    const site = await redirecting(sites, () => location);
    const error = await failure(get({ allow: [local(site)] }, { url: site.origin }));
    expect(error).toMatchObject({ code, details: { hop: 2 } });
  });

  test('a name that answers public, then loopback: the second hop is resolved and checked again', async () => {
    await using sites = new Sites();
    const inside = await sites.open((_, response) => response.end('admin'));
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']];
    const site = await redirecting(sites, (self) => `${self}/again`);
    let asked = 0;
    const { dial, dialled } = watched();
    const origin = `http://rebinding.example:${site.port}`;
    const error = await failure(
      get(
        { allow: [{ origin, allowPrivate: true }], resolve: async () => answers[asked++] ?? [], dial },
        { url: origin },
      ),
    );
    expect(error).toMatchObject({ code: 'address-blocked', details: { hop: 2, address: '169.254.169.254' } });
    expect(dialled).toEqual(['127.0.0.1']);
    expect(inside.seen).toEqual([]);
  });

  test('five redirects are followed, a sixth is not', async () => {
    await using sites = new Sites();
    const site = await sites.open((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(307, { location: `/${left - 1}` });
      response.end('end');
    });
    const { result } = await get({ allow: [local(site)] }, { url: `${site.origin}/5` });
    expect(result).toMatchObject({ text: 'end', url: `${site.origin}/0` });
    expect(result.hops.map((hop) => hop.status)).toEqual([307, 307, 307, 307, 307, 200]);
    const error = await failure(get({ allow: [local(site)] }, { url: `${site.origin}/6` }));
    expect(error).toMatchObject({ code: 'too-many-redirects', details: { limit: 5 } });
    expect(site.seen.every((request) => request.method === 'GET')).toBe(true);
  });

  test('two targets in one redirect are a disagreement', async () => {
    await using sites = new Sites();
    const site = await sites.open((_, response) => {
      response
        .writeHead(
          302,
          [
            ['Location', '/a'],
            ['Location', '/b'],
          ].flat(),
        )
        .end();
    });
    expect((await failure(get({ allow: [local(site)] }, { url: site.origin }))).code).toBe(
      'redirect-invalid',
    );
  });
});

describe('a-credential-stays-with-its-origin', () => {
  const credential = { header: 'Authorization', name: 'TOKEN', value: async () => `Bearer ${TOKEN}` };

  test('another origin is not sent it, keeps accept, and the hop says so (FC-145)', async () => {
    await using sites = new Sites();
    const end = await sites.open((request, response) => response.end(JSON.stringify(request.headers)));
    const start = await redirecting(sites, () => `${end.origin}/end`);
    const given = { url: `${start.origin}/start`, headers: { accept: 'text/plain' } };
    const got = await get({ allow: [{ ...local(start), credential }, local(end)] }, given);
    expect(start.seen[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(end.seen[0]?.headers.authorization).toBeUndefined();
    expect(end.seen[0]?.headers.accept).toBe('text/plain');
    expect(got.result.hops).toMatchObject([
      { status: 302, credential: 'TOKEN' },
      { status: 200, dropped: ['authorization'] },
    ]);
    expect(got.result.hops[1]).not.toHaveProperty('credential');
    expect(got.lines).toEqual(['Redirect hop 2: other origin, headers dropped: authorization']);
    expectNoSecret(everything(got), TOKEN);
  });

  test('the origin itself is sent it on each hop, and nothing is dropped', async () => {
    await using sites = new Sites();
    const site = await sites.open((request, response) => {
      if (request.url === '/start') response.writeHead(302, { location: '/end' });
      response.end();
    });
    const { result } = await get(
      { allow: [{ ...local(site), credential }] },
      { url: `${site.origin}/start` },
    );
    expect(site.seen.map((request) => request.headers.authorization)).toEqual([
      `Bearer ${TOKEN}`,
      `Bearer ${TOKEN}`,
    ]);
    expect(result.hops.map((hop) => hop.dropped)).toEqual([undefined, undefined]);
  });

  test('an answer that repeats it is masked in every form and its bytes are not kept', async () => {
    await using sites = new Sites();
    const basic = Buffer.from(`user:${TOKEN}`).toString('base64');
    const site = await sites.open((request, response) => {
      response.end(`${request.headers.authorization ?? ''} ${basic} ${Buffer.from(TOKEN).toString('hex')}`);
    });
    const got = await get({ allow: [{ ...local(site), credential }] }, { url: site.origin });
    expect(got.result.text).toContain('[secret TOKEN]');
    expect(got.result.note).toContain('masked');
    expect(got.bytes).toBeUndefined();
    expectNoSecret(everything(got), TOKEN);
    expect(everything(got)).not.toContain(Buffer.from(TOKEN).toString('base64').slice(0, 12));
  });

  test('a redirect that carries it in the URL to another origin is not followed', async () => {
    await using sites = new Sites();
    const end = await sites.open((_, response) => response.end());
    const start = await redirecting(sites, () => `${end.origin}/?t=${TOKEN}`);
    const options = { allow: [{ ...local(start), credential }, local(end)] };
    const error = await failure(get(options, { url: start.origin }));
    expect(error.code).toBe('secret-not-for-origin');
    expect(end.seen).toEqual([]);
    expectNoSecret(everything(error), TOKEN);
  });

  test.each([
    ['throws', () => Promise.reject(new Error(`no ${TOKEN}`))],
    ['is empty', () => ''],
    ['holds a line break', () => `Bearer ${TOKEN}\r\nx: y`],
  ])('a credential that %s ends the call before a connection', async (_, value) => {
    await using sites = new Sites();
    const site = await sites.open((__, response) => response.end());
    const error = await failure(
      get({ allow: [{ ...local(site), credential: { ...credential, value } }] }, { url: site.origin }),
    );
    expect(error.code).toBe('credential-missing');
    expect(site.seen).toEqual([]);
    expectNoSecret(everything(error), TOKEN);
  });
});

describe('a-secret-in-a-query-is-on-the-wire-only', () => {
  test('the server gets the value, results and errors the name (FC-159)', async () => {
    await using sites = new Sites();
    const site = await sites.open((request, response) => {
      if (request.url?.startsWith('/go') === true)
        response.writeHead(302, { location: request.url.slice(3) });
      response.end(request.url);
    });
    const options = { allow: [local(site)], secrets: { FEED_KEY } };
    const got = await get(options, { url: `${site.origin}/go/v1?apikey={FEED_KEY}&x=1` });
    expect(new URL(site.seen[0]?.url ?? '', site.origin).searchParams.get('apikey')).toBe(FEED_KEY);
    expect(got.result.url).toBe(`${site.origin}/v1?apikey=[secret FEED_KEY]&x=1`);
    expect(got.result.hops[0]?.url).toBe(`${site.origin}/go/v1?apikey=[secret FEED_KEY]&x=1`);
    expect(got.result.text).toBe('/v1?apikey=[secret FEED_KEY]&x=1');
    expectNoSecret(everything(got), FEED_KEY);
  });

  test('an error about a URL that holds the value itself names it only', async () => {
    const options = { allow: [{ origin: 'https://feed.example' }], secrets: { FEED_KEY } };
    for (const url of [`::${FEED_KEY}`, `${FEED_KEY}://x`]) {
      const said = everything(await failure(get(options, { url })));
      expectNoSecret(said, FEED_KEY);
      expect(said).toContain('[secret FEED_KEY]');
    }
  });

  test('the preview shows the name and the header of the credential', async () => {
    const credential = { header: 'authorization', name: 'TOKEN', value: () => `Bearer ${TOKEN}` };
    const options = { allow: [{ origin: 'https://feed.example', credential }], secrets: { FEED_KEY } };
    const preview = await previewOf(options, { url: 'https://feed.example/v1?k={FEED_KEY}&x=1' });
    expect(preview.blocks).toEqual([
      {
        kind: 'http',
        method: 'GET',
        url: 'https://feed.example/v1?k=[secret FEED_KEY]&x=1',
        headers: [['authorization', '[secret TOKEN]']],
      },
    ]);
  });

  test('a secret of one origin is not sent to another, nor put in by a redirect, nor in a path', async () => {
    await using sites = new Sites();
    const other = await sites.open((_, response) => response.end());
    const home = await redirecting(sites, () => `/landed?k={FEED_KEY}`);
    const options = {
      allow: [local(home), local(other)],
      secrets: { FEED_KEY: { value: FEED_KEY, origins: [home.origin] } },
    };
    const wrong = await failure(get(options, { url: `${other.origin}/?k={FEED_KEY}` }));
    expect(wrong.code).toBe('secret-not-for-origin');
    expect(other.seen).toEqual([]);
    expect((await failure(get(options, { url: `${home.origin}/{FEED_KEY}` }))).code).toBe('secret-misplaced');
    await failure(get(options, { url: home.origin }));
    expect(home.seen.at(-1)?.url).toContain('{FEED_KEY}');
    expect(home.seen.some((request) => request.url?.includes(encodeURIComponent(FEED_KEY)))).toBe(false);
  });

  test('with several origins a plain value is refused in the configuration', () => {
    const allow = [{ origin: 'https://a.example' }, { origin: 'https://b.example' }];
    expect(() => httpTools({ allow, secrets: { FEED_KEY } })).toThrow(
      expect.objectContaining({ code: 'tool-invalid' }),
    );
  });
});

test('the-tool-declares-what-it-is', () => {
  const [tool] = httpTools({ allow: [{ origin: 'https://feed.example' }], secrets: { FEED_KEY } });
  expect(tool).toMatchObject({
    name: 'http.get',
    effect: 'none',
    labels: { untrusted: true, private: true },
  });
  expect(tool?.description).toContain('https://feed.example');
  expectNoSecret(everything(tool), FEED_KEY);
  expect(world().lines).toEqual([]);
});
