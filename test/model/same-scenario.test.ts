/** One story on every adapter, with a real runtime on SQLite: equal logs but for what is a provider's own. */
import { describe, expect, test } from 'vitest';
import { scriptedModel } from '../../src/model/scripted.ts';
import { ANTHROPIC_KEY, anthropicDialect } from './scenario-anthropic.ts';
import { aiSdkDialect } from './scenario-ai-sdk.ts';
import { LARGE, play, STEPS, type Dialect } from './scenario.ts';

/** Each with the credential that it is given, which must turn up nowhere. */
const DIALECTS: readonly (readonly [Dialect, string | undefined])[] = [
  [anthropicDialect, ANTHROPIC_KEY],
  [aiSdkDialect, undefined],
];

const scripted: Dialect = {
  name: 'scripted',
  model: () => scriptedModel({ name: 'story', steps: STEPS }),
  serve: (_, response) => void response.end(),
};

const scriptedStory = (): ReturnType<typeof play> => {
  // The script counts its own calls.
  const { model, serve, name } = scripted;
  return play({ name, serve, model: (served) => counted(model(served), served.next) });
};

const counted = (model: ReturnType<Dialect['model']>, next: () => unknown): ReturnType<Dialect['model']> => ({
  ...model,
  send: (request) => {
    next();
    return model.send(request);
  },
});

describe('one story on every adapter', () => {
  for (const [dialect, key] of DIALECTS)
    test(dialect.name, async () => {
      const [expected, told] = [await scriptedStory(), await play(dialect)];
      expect(told.done).toEqual(expected.done);
      expect(told.done.at(-1)).toContain(`${LARGE}n`);
      expect(told.log).toEqual(expected.log);
      expect(told.difference).toBeUndefined();
      expect(told.replayed).toBe(4);
      if (key !== undefined) {
        expect(told.requests.map(({ headers }) => JSON.stringify(headers))).toSatisfy((all: string[]) =>
          all.every((one) => one.includes(key)),
        );
        expect(told.everything).not.toContain(key);
        expect(told.everything).not.toContain(key.slice(8));
      }
      // The number came back to the model with all its digits.
      if (told.requests.length > 0) expect(told.requests.at(-1)?.body).toContain(LARGE);
    });
});
