/** A model whose answers are a function of seed, turn and step: asked again, it says the same. */
import type { ResponseBlock } from '../../event/content.ts';
import { neutralEncoder } from '../../model/neutral.ts';
import type { Model, ModelReply, ModelRequest } from '../../model/model.ts';
import { Dice } from './dice.ts';
import type { Life } from './faulty-store.ts';
import { ERRAND, RECIPIENTS, TOOL_KINDS } from './regime.ts';

export type ModelFaults = { readonly fails: number };

const STEPS_MAX = 4;
const MODEL_MS_MAX = 300;
/** Mixes turn and step into the seed; primes, so that neighbours do not meet. */
const TURN_PRIME = 7919;
const STEP_PRIME = 104_729;

export const oracleModel = (
  seed: number,
  {
    life,
    chance,
    faults,
    onBody,
  }: {
    readonly life: Life;
    readonly chance: Dice;
    readonly faults: () => ModelFaults;
    /** The exact bytes of every request, with its position. */
    readonly onBody: (position: string, body: string) => void;
  },
): Model => ({
  definition: { provider: 'scripted', name: 'oracle', params: {} },
  encoder: neutralEncoder,
  async send(request): Promise<ModelReply> {
    if (life.dead) return new Promise(() => undefined);
    onBody(`${request.turn}.${request.step}`, request.body());
    await request.sleep(chance.whole(0, MODEL_MS_MAX), request.signal);
    if (request.signal.aborted) return failed('cancelled', true);
    if (chance.happens(faults().fails))
      return failed(chance.pick(['overloaded', 'interrupted', 'unavailable']), true);
    return answer(new Dice(seed + request.turn * TURN_PRIME + request.step * STEP_PRIME), request);
  },
});

const failed = (
  kind: 'cancelled' | 'overloaded' | 'interrupted' | 'unavailable',
  maybeBilled: boolean,
): ModelReply => ({ kind: 'failed', maybeBilled, problem: { kind, message: `Simulated: ${kind}.` } });

const answer = (dice: Dice, { turn, step }: ModelRequest): ModelReply => {
  if (step > dice.whole(1, STEPS_MAX))
    return { kind: 'response', stop: 'end', content: [{ type: 'text', text: 'Done.' }] };
  const content: ResponseBlock[] = Array.from({ length: dice.whole(1, 3) }, (_, i) =>
    call(dice, `${turn}-${step}-${i}`),
  );
  return { kind: 'response', stop: 'calls', content };
};

/** Mostly sound calls; now and then one that must be rejected. Labels repeat on purpose. */
const call = (dice: Dice, label: string): ResponseBlock => {
  const known = dice.happens(0.2) ? ERRAND : dice.pick(TOOL_KINDS)[0];
  const name = dice.happens(0.05) ? 'nowhere' : known;
  const args = dice.happens(0.06)
    ? dice.pick(['{"n":1,"n":2}', '{"n":', '[]', '{"n":99}', ''])
    : JSON.stringify({ n: dice.whole(0, 3), ...(dice.happens(0.7) && { to: dice.pick(RECIPIENTS) }) });
  return { type: 'call', label: dice.happens(0.3) ? 'same' : label, name, args };
};
