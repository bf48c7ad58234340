/**
 * Results of a real session for a scenario that has no desk: each call gets what it got then, and no tool runs. The
 * recording answers the requests that it was made of and no others: where the agent or a message is another one,
 * that is a miss, not a pass.
 */
import { z } from 'zod';
import { badInput } from '../../errors.ts';
import type { Digest } from '../../event/canonical.ts';
import type { AgentDefinition } from '../../event/definition.ts';
import type { LogEvent } from '../../event/events.ts';
import type { JsonObject } from '../../event/json.ts';
import { contentText } from '../../context/result-text.ts';
import { Repertoire } from '../../rehearse/repertoire.ts';
import { hasResult, servedResult } from '../../rehearse/served-tool.ts';
import { traceOf } from '../../rehearse/trace.ts';
import { evolve, initial } from '../../session/evolve.ts';
import type { Closing } from '../../session/state.ts';
import type { Preview } from '../../tool/preview.ts';
import { ToolError, type Tool, type ToolContext } from '../../tool/tool.ts';
import { callsOf } from './judge.ts';

export const RECORDING_VERSION = 1;
/** Bytes of results that are no text. */
export const RECORDED_BYTES_MAX: number = 16 * 1024 * 1024;
const SHOWN_MAX = 40;

type RecordedCall = {
  readonly tool: string;
  readonly args: string;
  readonly preview?: JsonObject | undefined;
  readonly closing: Closing;
};

export type Recording = {
  readonly version: typeof RECORDING_VERSION;
  readonly session: string;
  readonly instructions: string;
  /** Digests of the tools that were offered, by name. */
  readonly tools: Readonly<Record<string, string>>;
  readonly messages: readonly string[];
  readonly calls: readonly RecordedCall[];
  /** Base64, by digest. */
  readonly blobs: Readonly<Record<string, string>>;
};

export const recordingSchema: z.ZodType<Recording> = z.strictObject({
  version: z.literal(RECORDING_VERSION),
  session: z.string(),
  instructions: z.string(),
  tools: z.record(z.string(), z.string()),
  messages: z.array(z.string()),
  calls: z.array(
    z.strictObject({
      tool: z.string(),
      args: z.string(),
      preview: z.record(z.string(), z.json()).optional(),
      closing: z.looseObject({ kind: z.string() }),
    }),
  ),
  blobs: z.record(z.string(), z.string()),
}) as unknown as z.ZodType<Recording>;

type Blob = (digest: Digest) => Promise<Uint8Array | undefined>;

/** Throws `recording-too-large`. */
export const recordingOf = async (
  session: string,
  events: readonly LogEvent[],
  blob: Blob,
): Promise<Recording> => {
  const { agent } = events.reduce(evolve, initial(session));
  const calls = callsOf(traceOf(session, events)).flatMap(
    ({ tool, args, preview, closing }): readonly RecordedCall[] =>
      closing ? [{ tool, args, ...(preview && { preview }), closing }] : [],
  );
  const blobs: Record<string, string> = {};
  let bytes = 0;
  for (const digest of calls.flatMap(({ closing }) => digestsIn(closing))) {
    const found = await blob(digest);
    bytes += found?.length ?? 0;
    if (bytes > RECORDED_BYTES_MAX)
      throw badInput(
        'recording-too-large',
        `The results of ${session} have more than ${RECORDED_BYTES_MAX} bytes that are no text. Give the scenario a desk instead: --desk.`,
      );
    if (found) blobs[digest] = Buffer.from(found).toString('base64');
  }
  return {
    version: RECORDING_VERSION,
    session,
    instructions: agent.instructions,
    tools: toolsOf(agent),
    messages: events.flatMap((event) =>
      event.type === 'turn.accepted' || event.type === 'turn.steered' ? [contentText(event.data.input)] : [],
    ),
    calls,
    blobs,
  };
};

const digestsIn = (closing: Closing): readonly Digest[] =>
  'content' in closing
    ? closing.content.flatMap((part) => (part.type === 'blob' ? [part.blob.digest] : []))
    : [];

const toolsOf = ({ tools }: AgentDefinition): Recording['tools'] =>
  Object.fromEntries(tools.map(({ name, digest }) => [name, digest]));

/** Throws `recording-miss` where the agent would ask something else than what was recorded. */
export const checkRecording = (
  recording: Recording,
  agent: AgentDefinition,
  messages: readonly string[],
): void => {
  const where =
    apart('system', recording.instructions, agent.instructions) ??
    toolsApart(recording.tools, toolsOf(agent)) ??
    messages
      .map((message, i) => apart(`message ${i + 1}`, recording.messages[i] ?? '', message))
      .find((one) => one !== undefined);
  if (where === undefined) return;
  throw badInput(
    'recording-miss',
    `The recording of ${recording.session} answers another request: the nearest one differs at ${where}. Nothing was asked. If the change is meant, run the session again and record it anew: onrecord suite record SESSION --force.`,
    { session: recording.session },
    'onrecord help suite',
  );
};

/** Where two texts part, in UTF-16 units from 0, with what stands there. */
const apart = (name: string, recorded: string, now: string): string | undefined => {
  if (recorded === now) return undefined;
  let at = 0;
  while (at < recorded.length && recorded[at] === now[at]) at++;
  const shown = (text: string): string => JSON.stringify(text.slice(at, at + SHOWN_MAX));
  return `${name}, offset ${at}: recorded ${shown(recorded)}, now ${shown(now)}`;
};

const toolsApart = (recorded: Recording['tools'], now: Recording['tools']): string | undefined => {
  const name = [...Object.keys(recorded), ...Object.keys(now)].find((one) => recorded[one] !== now[one]);
  if (name === undefined) return undefined;
  const how =
    now[name] === undefined ? 'is not there any more' : recorded[name] ? 'is defined otherwise' : 'is new';
  return `tools: ${name} ${how}`;
};

/** The results of one run, over all its processes: the same call gets the same result each time. */
export class ServedResults {
  /** Calls that the recording does not have. */
  readonly missed: string[] = [];
  readonly #blobs: Recording['blobs'];
  readonly #repertoire: Repertoire<RecordedCall>;
  readonly #given = new Map<string, RecordedCall | undefined>();

  constructor({ calls, blobs }: Recording) {
    this.#blobs = blobs;
    this.#repertoire = new Repertoire(calls);
  }

  /** The tool as the model knows it; `argsOf` says with what arguments a call was proposed. */
  tool(tool: Tool, argsOf: (call: string) => Promise<string>): Tool {
    const call = async (context: ToolContext): Promise<RecordedCall | undefined> => {
      const id = context.call.split(' ')[1] ?? '';
      if (!this.#given.has(id))
        this.#given.set(id, this.#repertoire.take({ tool: tool.name, args: await argsOf(id) }, tool.effect));
      return this.#given.get(id);
    };
    // What makes calls itself only reads: it runs again, and its calls get their recorded results.
    if (tool.calls !== undefined) return tool;
    return {
      ...tool,
      preview:
        tool.preview &&
        (async (_, context): Promise<Preview> =>
          ((await call(context))?.preview as Preview | undefined) ?? { title: tool.name, blocks: [] }),
      reconcile: tool.reconcile && ((): { readonly happened: false } => ({ happened: false })),
      execute: async (_, context) => {
        const found = await call(context);
        if (found && hasResult(found.closing))
          return servedResult(found.closing, async (digest) => {
            const text = this.#blobs[digest];
            return text === undefined ? undefined : Buffer.from(text, 'base64');
          });
        this.missed.push(`${tool.name} ${context.call}`);
        throw new ToolError('The recording of this scenario does not have this call.', {
          code: 'not-in-record',
        });
      },
    };
  }
}
