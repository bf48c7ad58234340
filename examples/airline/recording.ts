/** The recorded conversations of an airline's help desk (tau-bench, MIT), and the model that says them again. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineAgent, scriptedModel, type Agent, type Model, type ScriptStep } from '../../src/index.ts';
import { Base, type AirlineDatabase } from './database.ts';
import { airlineTools, type AirlineToolOptions, type Offered } from './tools.ts';

type RecordedCall = {
  /** The provider's id. It repeats within a conversation. */
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
};

export type RecordedMessage =
  | { readonly role: 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly tool_calls?: readonly RecordedCall[];
    }
  | {
      readonly role: 'tool';
      readonly tool_call_id: string;
      readonly name: string;
      readonly content: string;
    };

export type Recording = {
  /** "airline-t13-r0": task and trial. */
  readonly id: string;
  readonly messages: readonly RecordedMessage[];
  readonly write_calls: readonly { readonly tool: string; readonly ok: boolean }[];
  /** Records that are not as before, whole, by table and key. */
  readonly final_changed: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Of the whole database at the end. */
  readonly final_sha256: string;
};

/** Beside the checkout. */
export const DATA_FOLDER: string = resolve(import.meta.dirname, '../../../shared/data/tau-airline');

export const DATA_HELP = `The recorded conversations are not part of this package. Expected in the data folder:
  trajectories.jsonl  one conversation a line
  db.json             the database before every conversation
  tools.json          the tools as the model was given them
  policy.md           the system prompt
They are made from github.com/sierra-research/tau-bench (MIT), commit 59a200c6d575d595120f1cb70fea53cef0632f6b:
historical_trajectories/gpt-4o-airline.json and tau_bench/envs/airline. See README.md here for the form.
Name another folder with --data.`;

export type Airline = {
  readonly recordings: readonly Recording[];
  /** Read when it is first asked for. */
  readonly base: () => Base;
  readonly offered: Offered;
  readonly policy: string;
};

const FILES = ['trajectories.jsonl', 'db.json', 'tools.json', 'policy.md'] as const;

/** The names of the files that are not there. */
export const missingFiles = (folder: string): readonly string[] =>
  FILES.filter((file) => !existsSync(join(folder, file)));

export const loadAirline = (folder: string): Airline => {
  const read = (file: (typeof FILES)[number]): string => readFileSync(join(folder, file), 'utf8');
  const lines = read('trajectories.jsonl').split('\n').filter(Boolean);
  let base: Base | undefined;
  const tools = JSON.parse(read('tools.json')) as { function: { name: string } & Offered[string] }[];
  return {
    recordings: lines.map((line) => JSON.parse(line) as Recording),
    base: () => (base ??= new Base(read('db.json'))),
    offered: Object.fromEntries(tools.map((entry) => [entry.function.name, entry.function])),
    policy: read('policy.md'),
  };
};

/** What the model says where the recording has no further answer. */
export const RECORDING_ENDS = 'The recording ends here.';

/**
 * The assistant of a recording. Its place in the script is turn and step, not the number of the request: a request
 * that was lost with its process is asked again, and then gets the same answer.
 */
const recordedModel = ({ id, messages }: Recording): Model => {
  const steps: ScriptStep[] = [];
  /** For every turn the script position of its first step. */
  const turns: number[] = [];
  for (const message of messages) {
    if (message.role === 'user') turns.push(steps.length);
    if (message.role === 'assistant') steps.push(answerOf(message));
  }
  steps.push({ stop: 'refusal', stopDetail: RECORDING_ENDS });
  const scripted = scriptedModel({ name: id, steps });
  return {
    ...scripted,
    send: (request) =>
      scripted.send({ ...request, modelCall: (turns[request.turn - 1] ?? steps.length) + request.step }),
  };
};

const answerOf = ({
  content,
  tool_calls = [],
}: Extract<RecordedMessage, { role: 'assistant' }>): ScriptStep => ({
  ...(content !== null && { text: content }),
  ...(tool_calls.length > 0 && {
    calls: tool_calls.map((call) => ({
      id: call.id,
      tool: call.function.name,
      argsRaw: call.function.arguments,
    })),
  }),
});

/** More than any recorded turn needs: the recorded model calls a failing tool again with the same arguments. */
const ENOUGH = 200;

/** The airline's agent with a recording's assistant as its model, under the recording's name. */
export const recordedAgent = (
  { policy, offered }: Airline,
  recording: Recording,
  options: {
    readonly database: AirlineDatabase;
    readonly approval?: AirlineToolOptions['approval'];
    /** Default: the recorded assistant. */
    readonly model?: Model;
  },
): Agent => {
  const { database, approval = 'never', model = recordedModel(recording) } = options;
  return defineAgent({
    name: recording.id,
    description: 'Help desk of an airline, as recorded.',
    instructions: policy,
    model,
    tools: airlineTools({ database, offered, approval }),
    limits: { stepsPerTurn: ENOUGH, repeatedCalls: ENOUGH, invalidCallsInARow: ENOUGH },
  });
};
