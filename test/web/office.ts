/**
 * An agent for tests of the inbox: it makes the calls that a test wants, and its tools show every kind of preview. What
 * really ran is counted. A message "job NAME" is answered by the calls that were put down under that name.
 */
import { scriptedModel } from '../../src/model/scripted.ts';
import type { ScriptCall } from '../../src/model/script.ts';
import type { Model } from '../../src/model/model.ts';
import type { Policy } from '../../src/event/definition.ts';
import type { JsonObject } from '../../src/event/json.ts';
import type { Preview } from '../../src/tool/preview.ts';
import { tool, type Tool } from '../../src/tool/tool.ts';
import { defineAgent, type Agent } from '../../src/worker/agent.ts';

export type OfficeOptions = {
  readonly policy?: Policy;
  readonly tools?: readonly Tool[];
};

type Note = { readonly file: string; readonly text: string };

const NOTE_SCHEMA = {
  type: 'object',
  properties: { file: { type: 'string', pattern: '^[A-Z]+-\\d+$' }, text: { type: 'string', minLength: 1 } },
  required: ['file', 'text'],
  additionalProperties: false,
} as const satisfies JsonObject;

const notePreview = ({ file, text }: Note): Preview => ({
  title: `Write a note on file ${file}. Nothing is sent.`,
  target: `the notes of ${file}`,
  blocks: [{ kind: 'text', text }],
});

export class Office {
  readonly agent: Agent;
  /** What was executed: tool and arguments. */
  readonly ran: { readonly tool: string; readonly args: unknown }[] = [];
  readonly #jobs = new Map<string, readonly ScriptCall[]>();

  constructor({ policy = { rules: [] }, tools = [] }: OfficeOptions = {}) {
    const ran = (name: string, args: unknown) => {
      this.ran.push({ tool: name, args });
      return { ok: true };
    };
    this.agent = defineAgent({
      name: 'office',
      instructions: 'Do the job. Our address is office@haldenjoinery.example.',
      model: this.#model(),
      policy,
      tools: [
        tool<Note>({
          name: 'note.write',
          description: 'Writes a note.',
          effect: 'once',
          inputSchema: NOTE_SCHEMA,
          preview: notePreview,
          execute: (note) => ran('note.write', note),
        }),
        tool<Note>({
          name: 'note.lost',
          description: 'Writes a note, and its answer is lost.',
          effect: 'once',
          approval: 'never',
          inputSchema: NOTE_SCHEMA,
          preview: notePreview,
          execute: (note) => {
            ran('note.lost', note);
            throw new Error('the connection was lost');
          },
        }),
        tool<{ readonly text: string }>({
          name: 'mail.read',
          description: 'Reads a mail.',
          effect: 'none',
          labels: { untrusted: true, private: true },
          inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          execute: ({ text }) => ({ from: 'someone@elsewhere.example', text }),
        }),
        ...tools,
      ],
    });
  }

  /** What the first answer of a turn with the message "job NAME" asks for, one step after the other. */
  job(name: string, ...steps: readonly (readonly ScriptCall[])[]): string {
    for (const [i, calls] of steps.entries()) this.#jobs.set(`${name} ${i + 1}`, calls);
    return `job ${name}`;
  }

  #model(): Model {
    const { definition, encoder } = scriptedModel({ name: 'office-1', steps: [] });
    return {
      definition,
      encoder,
      send: async (request) => {
        const name = [...request.body().matchAll(/job ([\w-]+)/g)].at(-1)?.[1] ?? '';
        const calls = this.#jobs.get(`${name} ${request.step}`);
        const usage = { cacheRead: 700, cacheWrite: 90, input: 12, output: 40 };
        const said = calls ? { text: 'I do that.', calls } : { text: 'Done.' };
        return scriptedModel({ name: 'one', steps: [{ ...said, usage, cost: 0.001 }] }).send({
          ...request,
          modelCall: 1,
        });
      },
    };
  }
}
