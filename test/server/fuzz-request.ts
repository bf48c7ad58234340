/** Requests that nobody would send: methods, paths, headers and bodies, well-formed in part, so that they get far. */
import * as fc from 'fast-check';

/** What stands at the addresses of a house. */
export type Known = {
  readonly session: string;
  readonly waiting: string;
  readonly digest: string;
  readonly blob: string;
  readonly tokens: readonly string[];
  readonly routes: readonly string[];
  readonly host: string;
};

export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | undefined;
};

const ODD_TEXT = [
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  '999999999999999999999',
  'null',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%00',
  '%',
  '%E0%A4%A',
  '%2e%2e%2f',
  'a'.repeat(5000),
  '\u202e\ufeff',
  "'; DROP TABLE session; --",
  '${7*7}',
  'tokens',
  'control',
];

const text = fc.oneof(
  fc.constantFrom(...ODD_TEXT),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ maxLength: 30 }),
);

/** A part of a path: mostly what is there. */
const part = (name: string, known: Known): fc.Arbitrary<string> => {
  const right: Readonly<Record<string, readonly string[]>> = {
    session: [known.session, known.waiting],
    turn: ['1', '2', '3'],
    request: ['1', '2'],
    call: ['1.1.1', '1.1.2', '2.1.1'],
    digest: [known.blob, known.digest],
    code: ['internal', 'toString'],
  };
  return fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...(right[name] ?? ['x'])) },
    { weight: 1, arbitrary: text.map(encoded) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_TEXT) },
  );
};

/** A lone surrogate has no encoding. */
const encoded = (raw: string): string => encodeURIComponent(raw.toWellFormed());

const pathOf = (route: string, known: Known): fc.Arbitrary<string> => {
  const parts = route.split('/').map((piece) => {
    const { name } = /^[:{](?<name>\w+)/.exec(piece)?.groups ?? {};
    return name === undefined ? fc.constant(piece) : part(name, known);
  });
  return fc.tuple(...parts).map((all) => all.join('/'));
};

const QUERIES = [
  'after',
  'agent',
  'by',
  'deltas',
  'from',
  'limit',
  'request',
  'session',
  'since',
  'state',
  'status',
  'to',
  'turn',
  'types',
];
const QUERY_VALUES = [
  '0',
  '1',
  '2',
  'true',
  'false',
  'day',
  'queued',
  'waiting',
  'call.*',
  'turn.ended',
  '1,s_X',
];

const query = fc
  .array(
    fc
      .tuple(fc.constantFrom(...QUERIES), fc.oneof(fc.constantFrom(...QUERY_VALUES), text))
      .map(([name, value]) => `${name}=${encoded(value)}`),
    { maxLength: 3 },
  )
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));

const headerText = fc.oneof(
  fc.constantFrom(
    '',
    '"k"',
    'k',
    '"',
    '""',
    'a b',
    'wait=0',
    'wait=soon',
    'wait=999999',
    'respond-async',
    '*/*',
  ),
  fc.string({ maxLength: 40 }),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

const header = (known: Known): fc.Arbitrary<readonly [string, string]> =>
  fc.oneof(
    fc.tuple(
      fc.constantFrom(
        'prefer',
        'last-event-id',
        'accept',
        'cookie',
        'origin',
        'content-length',
        'range',
        'expect',
        'x-onrecord-csrf',
        'x-http-method-override',
        'transfer-encoding',
        'te',
        'if-none-match',
      ),
      headerText,
    ),
    fc.tuple(fc.constant('host'), fc.constantFrom(known.host, known.host, 'evil.example', '')),
    fc.tuple(
      fc.constant('cookie'),
      fc.constantFrom(...known.tokens).map((token) => `onrecord_token=${token}`),
    ),
  );

const key = fc.oneof(
  { weight: 6, arbitrary: fc.uuid().map((id): readonly [string, string][] => [['idempotency-key', id]]) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('k-1', '"k-2"')
      .map((id): readonly [string, string][] => [['idempotency-key', id]]),
  },
  {
    weight: 1,
    arbitrary: headerText.map((value): readonly [string, string][] => [['idempotency-key', value]]),
  },
  { weight: 1, arbitrary: fc.constant<readonly [string, string][]>([]) },
);

const prefer = fc.oneof(
  { weight: 4, arbitrary: fc.constant<readonly [string, string][]>([]) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('wait=0', 'wait=1', 'wait=soon', 'wait=-1', 'wait', 'respond-async, wait="0"')
      .map((value): readonly [string, string][] => [['prefer', value]]),
  },
);

const authorization = (known: Known): fc.Arbitrary<readonly (readonly [string, string])[]> =>
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc
        .constantFrom(...known.tokens)
        .map((token): readonly [string, string][] => [['authorization', `Bearer ${token}`]]),
    },
    {
      weight: 1,
      arbitrary: headerText.map((value): readonly [string, string][] => [['authorization', value]]),
    },
    { weight: 1, arbitrary: fc.constant<readonly [string, string][]>([]) },
  );

const contentType = fc.oneof(
  { weight: 10, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/json;',
      'application/json; charset=utf-16',
      'APPLICATION/JSON',
      'text/plain',
      'application/vnd.x+json',
      'multipart/form-data',
      'application/x-www-form-urlencoded',
    ),
  },
  { weight: 1, arbitrary: headerText },
);

/** Bodies that routes take, by the last word of their address. */
const bodies = (known: Known): Readonly<Record<string, readonly object[]>> => ({
  sessions: [
    { agent: 'clerk', message: 'Do it.' },
    { agent: 'clerk', message: 'Do it.', labels: ['untrusted'], mode: 'frozen' },
  ],
  turns: [
    { message: 'Go on.', when: 'queue', labels: [] },
    { message: 'Go on.', when: 'interrupt' },
  ],
  decision: [
    { digest: known.digest, decision: { do: 'approve' } },
    {
      digest: known.digest,
      decision: { do: 'approve', grant: { when: [{ at: '/n', equals: 1 }], forMs: 60_000 } },
    },
    { digest: known.digest, decision: { do: 'edit', args: '{"n":2}' } },
    { digest: known.digest, decision: { do: 'respond', content: [{ type: 'text', text: 'no' }] } },
  ],
  settlement: [
    { settlement: { answer: 'happened', content: [{ type: 'text', text: 'yes' }] }, note: 'seen' },
    { settlement: { answer: 'give-up' } },
  ],
  mode: [{ mode: 'read-only', reason: 'Look first.' }],
  cancel: [{ reason: 'Enough.' }, {}],
  forks: [{ at: 2, title: 'Again' }],
  selection: [
    { change: { do: 'leave-out', turns: [1] } },
    { change: { do: 'policy', policy: { kind: 'budget', tokens: 100 } }, dropsReasoning: true },
  ],
  compaction: [{ dropsReasoning: true }],
  login: [{ token: known.tokens[0] }],
});

/** Those of the address, and now and then those of another one. */
const bodyFor = (known: Known, path: string): fc.Arbitrary<object> => {
  const all = bodies(known);
  const word = path.split('/').at(-1) ?? '';
  const own = Object.hasOwn(all, word) ? (all[word] ?? []) : [{}];
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...own) },
    { weight: 1, arbitrary: fc.constantFrom(...Object.values(all).flat()) },
  );
};

const jsonText = (valid: fc.Arbitrary<object>): fc.Arbitrary<string> => {
  const mutated = fc
    .tuple(valid, fc.nat(), fc.oneof(fc.jsonValue({ maxDepth: 3 }), text))
    .map(([whole, at, other]) => JSON.stringify(changed(whole, at, other)));
  return fc.oneof(
    { weight: 6, arbitrary: valid.map((whole) => JSON.stringify(whole)) },
    { weight: 6, arbitrary: mutated },
    { weight: 1, arbitrary: fc.json() },
    {
      weight: 1,
      arbitrary: fc.tuple(mutated, fc.nat()).map(([whole, at]) => whole.slice(0, at % (whole.length + 1))),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(valid, text)
        .map(([whole, name]) => `{${JSON.stringify(name)}:1,${JSON.stringify(whole).slice(1)}`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '['.repeat(10_000),
        '{"a":'.repeat(5000),
        '{"agent":"clerk","agent":"clerk","message":"x"}',
        '{"agent":"clerk","message":"\\ud800"}',
        '{"agent":"clerk","message":"x","__proto__":{}}',
        '\ufeff{"agent":"clerk","message":"x"}',
        '{"at":1e400}',
        '{"at":-0}',
        '{"at":9007199254740993}',
        ' ',
      ),
    },
  );
};

/** The member at that place, counted over the whole value, is another. */
const changed = (value: unknown, at: number, other: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return other;
  const entries = Object.entries(value);
  if (entries.length === 0) return other;
  const index = at % entries.length;
  const deeper = Math.floor(at / entries.length);
  const next = entries.map(([name, member], i): [string, unknown] =>
    i === index
      ? [name, deeper % 2 === 0 ? other : changed(member, Math.floor(deeper / 2), other)]
      : [name, member],
  );
  return Array.isArray(value) ? next.map(([, member]) => member) : Object.fromEntries(next);
};

const body = (valid: fc.Arbitrary<object>): fc.Arbitrary<Uint8Array | undefined> =>
  fc.oneof(
    { weight: 12, arbitrary: jsonText(valid).map((json) => new TextEncoder().encode(json)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );

/** Mostly a route that there is, with its own method or another one. */
const target = (known: Known): fc.Arbitrary<{ readonly method: string; readonly path: string }> => {
  const routes = known.routes.map((route) => {
    const [method = 'GET', pattern = '/'] = route.split(' ');
    return fc.record({
      method: fc.oneof(
        { weight: 8, arbitrary: fc.constant(method) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'),
        },
      ),
      path: pathOf(pattern, known),
    });
  });
  return fc.oneof(
    { weight: 12, arbitrary: fc.oneof(...routes) },
    {
      weight: 1,
      arbitrary: fc.record({
        method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
        path: fc
          .array(fc.oneof(text.map(encoded), fc.constantFrom(...ODD_TEXT)), { maxLength: 4 })
          .map((parts) => `/${parts.join('/')}`),
      }),
    },
  );
};

export const sent = (known: Known): fc.Arbitrary<Sent> =>
  fc
    .tuple(target(known), fc.oneof({ weight: 3, arbitrary: fc.constant('') }, query))
    .chain(([{ method, path }, search]) =>
      fc
        .record({
          authorization: authorization(known),
          key,
          prefer,
          type: contentType,
          more: fc.oneof(
            { weight: 3, arbitrary: fc.constant([]) },
            { weight: 1, arbitrary: fc.array(header(known), { maxLength: 3 }) },
          ),
          body: body(bodyFor(known, path)),
        })
        .map((rest) => ({
          method,
          path: `${path}${search}`,
          headers: [
            ...rest.authorization,
            ...rest.key,
            ...rest.prefer,
            ['content-type', rest.type] as const,
            ...rest.more,
          ],
          body: method === 'GET' || method === 'HEAD' ? undefined : rest.body,
        })),
    );
