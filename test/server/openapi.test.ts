/** The description is complete and true: every route stands in it, and what routes answer fits it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { OnrecordError } from '../../src/errors.ts';
import { blobsNamed } from '../../src/replay/named-blobs.ts';
import { problemOf, PROBLEMS } from '../../src/server/problem.ts';
import { House } from './house.ts';

type Operation = {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>
  >;
};
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

const documentOf = async (house: House): Promise<Document> =>
  (await house.json<Document>('/openapi.json', { token: null })).body;

const described = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

/** A house where there is something at every address. */
const lived = async (): Promise<{ house: House; params: Readonly<Record<string, string>> }> => {
  const house = await House.open({
    policy: { rules: [] },
    says: (turn, step) =>
      turn === 1 && step === 1
        ? {
            calls: [{ tool: 'once', args: { n: 1 } }],
            usage: { input: 5, output: 2, cacheRead: 0, cacheWrite: 0 },
          }
        : { text: 'Done.' },
  });
  const session = await house.begin();
  await house.stage.asking(session, '1.1.1');
  await house.json(`/sessions/${session}/turns`, { body: { message: 'And this.' }, key: 'k2' });
  const built = await house.stage.event(session, 'request.built');
  const [digest = ''] = blobsNamed(built.data);
  const chat = 'chat-1';
  const message = { id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Do it.' }] };
  await (await house.ask('/ai-sdk/clerk', { body: { id: chat, messages: [message] } })).body?.cancel();
  const said = await house.json<{ id: string }>('/v1/responses', {
    body: { model: 'clerk', input: 'Do it.' },
  });
  const response = said.body.id;
  return {
    house,
    params: {
      session,
      call: '1.1.1',
      turn: '1',
      request: '1',
      digest,
      code: 'internal',
      agent: 'clerk',
      chat,
      response,
    },
  };
};

describe('/openapi.json', () => {
  test('names every route, and every route that it names is there', async () => {
    const house = await House.open();
    const { paths } = await documentOf(house);
    const named = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(named.toSorted()).toEqual(house.app.routes.map(described).toSorted());
    expect(named.length).toBeGreaterThan(30);
  });

  test('describes what every GET route answers', async () => {
    const { house, params } = await lived();
    const document = await documentOf(house);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'door');
    const seen: string[] = [];
    for (const [path, item] of Object.entries(document.paths)) {
      if (!item['get']) continue;
      const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
      const query = path.endsWith('/stream') ? '?after=1' : '';
      const response = await house.ask(`${address}${query}`);
      expect([path, response.status]).toEqual([path, 200]);
      const type = (response.headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
      const content = item['get'].responses['200']?.content ?? {};
      expect([path, Object.keys(content)]).toEqual([path, [type]]);
      seen.push(path);
      if (type !== 'application/json') {
        await response.body?.cancel();
        continue;
      }
      const pointer = ['paths', path, 'get', 'responses', '200', 'content', type, 'schema']
        .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
        .join('/');
      const validate = ajv.compile({ $ref: `door#/${encodeURI(pointer)}` });
      const answer: unknown = await response.json();
      expect([path, validate(answer), validate.errors]).toEqual([path, true, null]);
    }
    expect(seen.length).toBeGreaterThan(15);
  });

  test('every refusal of the runtime is a problem of its own, and none is a 500', () => {
    const source = readFileSync(join(import.meta.dirname, '../../src/session/decide.ts'), 'utf8');
    const union = /export type RefusalCode =([^;]+);/.exec(source)?.[1] ?? '';
    const codes = [...union.matchAll(/\| '([a-z-]+)'/g)].map(([, code = '']) => code);
    expect(codes.length).toBeGreaterThan(15);
    for (const code of [
      ...codes,
      'model-unknown',
      'four-eyes',
      'grant-invalid',
      'not-an-approver',
      'approval-expired',
      'session-is-rehearsal',
      'fork-place-missing',
      'fork-too-deep',
    ]) {
      const known = problemOf(new OnrecordError('No.', { code, next: 'look-again' }));
      expect([code, known && known.problem.status < 500]).toEqual([code, true]);
    }
  });

  test('every problem that it names has a page of its own', async () => {
    const house = await House.open();
    for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
      const { body } = await house.json(`/problems/${code}`, { token: null });
      expect(body).toEqual({ code, status, title });
    }
    expect((await house.ask('/problems/toString', { token: null })).status).toBe(404);
  });
});
