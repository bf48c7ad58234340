/** A door on a real socket over a stage: what other ecosystems' own clients talk to. */
import { onTestFinished } from 'vitest';
import type { DoorLimits } from '../../src/server/limits.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import type { NewToken } from '../../src/server/tokens.ts';
import { seededRandom } from '../kit/clock.ts';
import { Stage, type StageOptions } from '../kit/stage.ts';

const OPERATOR = { kind: 'person', name: 'setup' } as const;
const ALL = ['submit', 'read', 'approve', 'operate'];

export type StreetOptions = StageOptions & { readonly door?: Partial<DoorLimits> };

export class Street {
  readonly stage: Stage;
  readonly listening: Listening;
  /** May do all. */
  readonly token: string;

  private constructor(stage: Stage, listening: Listening, token: string) {
    this.stage = stage;
    this.listening = listening;
    this.token = token;
  }

  static async open(options: StreetOptions = {}): Promise<Street> {
    const stage = new Stage(options);
    const runtime = await stage.open();
    const listening = await listen({
      runtime,
      port: 0,
      clock: stage.clock,
      random: seededRandom(3),
      log: { info: () => undefined, warn: (message) => void stage.warnings.push(message) },
      ...(options.door && { limits: options.door }),
    });
    onTestFinished(() => listening.close(0));
    const { token } = await listening.app.tokens.add({ name: 'anna', roles: ALL }, OPERATOR);
    return new Street(stage, listening, token);
  }

  get url(): string {
    return this.listening.url;
  }

  async tokenFor(token: NewToken): Promise<string> {
    return (await this.listening.app.tokens.add(token, OPERATOR)).token;
  }

  headers(token: string = this.token): Record<string, string> {
    return { authorization: `Bearer ${token}` };
  }

  /** The one session that there is. */
  async session(): Promise<string> {
    const sessions = await this.stage.runtime.sessions();
    if (sessions.length !== 1 || !sessions[0]) throw new Error(`there are ${sessions.length} sessions`);
    return sessions[0].session;
  }

  async count(type: string): Promise<number> {
    return (await this.stage.types(await this.session())).filter((one) => one === type).length;
  }
}

/** One tool, then the answer. */
export const WORKS: StageOptions = {
  says: (_, step) =>
    step === 1
      ? { reasoning: 'Let me see.', text: 'Looking.', calls: [{ tool: 'none', args: { n: 7 } }] }
      : { text: 'All done.' },
};

/** Two tools with an effect, both asked about, then the answer. */
export const ASKS: StageOptions = {
  policy: { rules: [] },
  says: (_, step) =>
    step === 1
      ? {
          text: 'May I?',
          calls: [
            { tool: 'once', args: { n: 1 } },
            { tool: 'once', args: { n: 2 } },
          ],
        }
      : { text: 'Settled.' },
};

/** A tool that takes its time on the stage's clock. */
export const SLOW: StageOptions = {
  says: (_, step) =>
    step === 1
      ? { text: 'Wait.', calls: [{ tool: 'once', args: { do: 'late', n: 1 } }] }
      : { text: 'There.' },
  tools: (world) => [world.tool('once', 'once', { timeoutMs: 10_000 })],
};

/** Its process loses sight of a tool with an effect. */
export const DOUBTS: StageOptions = {
  says: (_, step) =>
    step === 1 ? { calls: [{ tool: 'once', args: { do: 'throw' } }] } : { text: 'Good to know.' },
};
