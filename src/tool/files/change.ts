/**
 * A tool that replaces one file. The plan says from what to what; everything else is the same for all such
 * tools: the preview is bound to digests, the act refuses any other file than the one that was shown, and a
 * call without a recorded result is settled by asking which of the two digests the file has.
 */
import { isJsonObject, type Json, type JsonObject } from '../../event/json.ts';
import type { Preview, PreviewBlock } from '../preview.ts';
import type { InputSchema } from '../schema.ts';
import { tool, ToolError, type Reconciled, type Tool, type ToolContext } from '../tool.ts';
import { changed, quoted } from './fault.ts';
import { sha256Of, type Folder, type Place } from './folder.ts';

/** What a call would do, found out without doing it. */
export type Plan = {
  readonly place: Place;
  readonly after: Uint8Array;
  /** The act as a heading for people. */
  readonly title: string;
  readonly blocks: readonly PreviewBlock[];
  readonly warnings: readonly string[];
  /** Joins the result: counts, never content. */
  readonly facts: JsonObject;
};

export type ChangeTool<Input> = {
  readonly folder: Folder;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema<Input>;
  readonly plan: (input: Input, context: ToolContext) => Promise<Plan>;
};

/** What a preview was made from, as recorded. */
type Base = {
  readonly path: string;
  /** SHA-256 of the file that was shown; null where there was none. */
  readonly before: string | null;
  readonly after: string;
  /** Size of the file afterwards. */
  readonly bytes: number;
  readonly facts: JsonObject;
};

const baseOf = ({ place, after, facts }: Plan): Base => ({
  path: place.path,
  before: place.file?.sha256 ?? null,
  after: sha256Of(after),
  bytes: after.length,
  facts,
});

const readBase = (base: Json | undefined): Base | undefined => {
  if (base === undefined) return undefined;
  if (
    isJsonObject(base) &&
    typeof base['path'] === 'string' &&
    (base['before'] === null || typeof base['before'] === 'string') &&
    typeof base['after'] === 'string' &&
    typeof base['bytes'] === 'number' &&
    isJsonObject(base['facts'])
  )
    return base as Base;
  throw new ToolError(
    'The recorded preview of this call is not one that this tool makes. Propose it again.',
    {
      code: 'preview-unreadable',
    },
  );
};

const resultOf = (base: Base): JsonObject => ({
  path: base.path,
  sha256: base.after,
  bytes: base.bytes,
  created: base.before === null,
  ...base.facts,
});

const placeWarnings = (place: Place): readonly string[] => {
  const warnings: string[] = [];
  const [twin] = place.twins;
  if (twin !== undefined && !place.file)
    warnings.push(
      `${quoted(twin)} exists beside it: the names differ only in case or Unicode form, and on other disks they are one file.`,
    );
  if (place.missingFolders.length > 0)
    warnings.push(`Creates the folder ${place.missingFolders.map(quoted).join(' and ')}.`);
  return warnings;
};

const spelled = (place: Place, asked: string): readonly string[] =>
  place.file && place.path.normalize('NFC') !== asked.replace(/^(\.?\/)+/u, '').normalize('NFC')
    ? [`The call names ${quoted(asked)}; on this disk that is the file ${quoted(place.path)}.`]
    : [];

const previewOf = (plan: Plan, asked: string): Preview => ({
  title: plan.title,
  target: plan.place.path,
  blocks: plan.blocks,
  warnings: [...plan.warnings, ...spelled(plan.place, asked), ...placeWarnings(plan.place)],
  base: baseOf(plan),
});

const isSame = (a: Base, b: Base): boolean =>
  a.path === b.path && a.before === b.before && a.after === b.after;

const unknown = (note: string): Reconciled => ({ happened: 'unknown', note });

const reconcile = async (folder: Folder, path: string, context: ToolContext): Promise<Reconciled> => {
  const base = readBase(context.base);
  if (!base) return unknown(`No preview of the change of ${quoted(path)} is on record to compare it with.`);
  try {
    await folder.clear(base.path, context.idempotencyKey);
    const place = await folder.look(base.path);
    const now = place.file?.sha256 ?? null;
    if (now === base.after) return { happened: true, result: resultOf(base) };
    if (now === base.before) return { happened: false };
    return unknown(
      `${quoted(base.path)} holds neither the text before the call nor the one after it: somebody changed it since.`,
    );
  } catch (error) {
    if (error instanceof ToolError) return unknown(error.message);
    throw error;
  }
};

/** Defines a tool whose effect is the replacement of one file. */
export const changeTool = <Input extends { readonly path: string }>(options: ChangeTool<Input>): Tool => {
  const { folder, plan } = options;
  return tool<Input>({
    name: options.name,
    description: options.description,
    inputSchema: options.inputSchema,
    effect: 'reconcilable',
    egress: false,
    preview: async (input, context) => previewOf(await plan(input, context), input.path),
    reconcile: (input, context) => reconcile(folder, input.path, context),
    execute: async (input, context) => {
      const shown = readBase(context.base);
      if (shown) {
        const { path, file } = await folder.look(input.path);
        const now = file?.sha256 ?? null;
        if (path !== shown.path) throw changed(path);
        // An earlier attempt of this call did it, or there was nothing to do.
        if (now === shown.after) return resultOf(shown);
        if (now !== shown.before) throw changed(path);
      }
      const planned = await plan(input, context);
      const base = baseOf(planned);
      if (shown && !isSame(shown, base)) throw changed(base.path);
      await folder.replace(base.path, {
        bytes: planned.after,
        before: base.before,
        key: context.idempotencyKey,
        signal: context.signal,
      });
      return resultOf(base);
    },
  });
};
