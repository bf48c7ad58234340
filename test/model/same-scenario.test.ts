/** One story on every adapter, with a real runtime on SQLite: equal logs but for what is a provider's own. */
import { expect, test } from 'vitest';
import { scriptedModel } from '../../src/model/scripted.ts';
import { aiSdkDialect } from './scenario-ai-sdk.ts';
import { anthropicDialect } from './scenario-anthropic.ts';
import { chatDialect, openaiDialect } from './scenario-openai.ts';
import { LARGE, play, STEPS, type Dialect, type Story } from './scenario.ts';

const DIALECTS: readonly Dialect[] = [anthropicDialect, openaiDialect, chatDialect, aiSdkDialect];

const scripted: Dialect = {
  name: 'scripted',
  wire: false,
  serve: (_, response) => void response.end(),
  model: ({ next }) => {
    const model = scriptedModel({ name: 'story', steps: STEPS });
    return {
      ...model,
      send: (request) => {
        // The script counts its own calls; the story is told that a step is done.
        next();
        return model.send(request);
      },
    };
  },
};

let reference: Promise<Story> | undefined;

test.each(DIALECTS)(
  'one story on $name: the scripted log, byte-equal requests, no credential',
  async (dialect) => {
    const expected = await (reference ??= play(scripted));
    const told = await play(dialect);
    expect(told.done).toEqual(expected.done);
    expect(told.done.at(-1)).toContain(`${LARGE}n`);
    expect(told.log).toEqual(expected.log);
    expect(told.difference).toBeUndefined();
    expect(told.replayed).toBe(4);
    // Where there is a wire, each attempt was one request, with the credential in its headers and nowhere else.
    expect(told.requests).toHaveLength(dialect.wire ? STEPS.length : 0);
    const key = dialect.key ?? 'no key is used';
    expect(told.requests.filter(({ headers }) => !JSON.stringify(headers).includes(key))).toEqual([]);
    expect(told.everything).not.toContain(key);
    expect(told.everything).not.toContain(key.slice(8));
    // The number came back to the model with all its digits.
    expect(told.requests.slice(-1).filter(({ body }) => !body.includes(LARGE))).toEqual([]);
  },
);
