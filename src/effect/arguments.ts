/** From the raw text that a model sent to arguments that may lead to an effect, or the reason why not. */
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Digest } from '../event/canonical.ts';
import type { ToolDefinition } from '../event/definition.ts';
import { inOrder, parseStrict, type StrictValue } from '../event/strict.ts';
import { newAjv } from '../event/ajv.ts';
import { fitsOrdinary } from './ordinary-schema.ts';

export type Decoded =
  /** `value` is what `canonical` says, the order of its members included. */
  | { readonly ok: true; readonly value: StrictValue; readonly canonical: string }
  | { readonly ok: false; readonly reason: ArgumentReason; readonly message: string };

export type ArgumentReason =
  | 'arguments-invalid-json'
  | 'arguments-not-object'
  | 'arguments-truncated'
  | 'arguments-too-deep'
  | 'arguments-too-large'
  | 'arguments-duplicate-key'
  | 'arguments-number-not-exact'
  | 'arguments-not-well-formed'
  | 'arguments-schema';

/** How many schema errors are named in one message. */
const ERRORS_SHOWN = 5;

const REASONS = {
  'invalid-json': 'arguments-invalid-json',
  'duplicate-key': 'arguments-duplicate-key',
  'too-deep': 'arguments-too-deep',
  'too-large': 'arguments-too-large',
  'number-not-exact': 'arguments-number-not-exact',
  'not-well-formed': 'arguments-not-well-formed',
} as const satisfies Record<string, ArgumentReason>;

/**
 * The last few texts and what they mean: one text is looked at by evolve, the decider and the driver in turn. They are
 * compared from the newest on, because it is nearly always that one, and a map would read all of a long text first.
 */
const recentTexts: string[] = [];
const recentMeanings: Decoded[] = [];
const RECENT_MAX = 64;
/** Where the next one is put. */
let recentEnd = 0;

const recall = (text: string): Decoded | undefined => {
  for (let back = 1; back <= recentTexts.length; back++) {
    const at = (recentEnd - back + RECENT_MAX) % RECENT_MAX;
    if (recentTexts[at] === text) return recentMeanings[at];
  }
  return undefined;
};

const remember = (text: string, decoded: Decoded): void => {
  recentTexts[recentEnd] = text;
  recentMeanings[recentEnd] = decoded;
  recentEnd = (recentEnd + 1) % RECENT_MAX;
};

/** Text without any argument means an empty object: providers send "" for tools without parameters. */
export const decodeArguments = (raw: string): Decoded => {
  const known = recall(raw);
  if (known) return known;
  const decoded = decode(raw);
  remember(raw, decoded);
  // What is recorded and run is the canonical text, which says the same.
  if (decoded.ok && decoded.canonical !== raw) remember(decoded.canonical, decoded);
  return decoded;
};

const decode = (raw: string): Decoded => {
  const parsed = parseStrict(/^[ \t\n\r]*$/.test(raw) ? '{}' : raw);
  if (!parsed.ok)
    return {
      ok: false,
      reason: REASONS[parsed.reason],
      message: `The arguments were not used: ${parsed.message}. Nothing was run.`,
    };
  const { value } = parsed;
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return {
      ok: false,
      reason: 'arguments-not-object',
      message: `The arguments must be one JSON object, not ${kindOf(value)}. Nothing was run.`,
    };
  const { canonical } = parsed;
  return { ok: true, value: canonical === raw ? value : inOrder(value), canonical };
};

const kindOf = (value: StrictValue): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;

/** What is wrong with which of the arguments: `at` is a JSON Pointer, empty for the whole object. */
export type ArgumentProblem = { readonly at: string; readonly message: string };

/** Holds decoded arguments against the tool's recorded JSON Schema. The message is for the model. */
export const checkSchema = (tool: ToolDefinition, value: StrictValue): string | undefined => {
  const problems = schemaProblems(tool, value);
  if (typeof problems === 'string') return problems;
  if (problems.length === 0) return undefined;
  const named = problems.slice(0, ERRORS_SHOWN).map(sentence).join('; ');
  const more = problems.length > ERRORS_SHOWN ? `; and ${problems.length - ERRORS_SHOWN} more` : '';
  return `The arguments do not fit the schema of ${tool.name}: ${named}${more}. Nothing was run.`;
};

const sentence = ({ at, message }: ArgumentProblem): string => `${at === '' ? 'the object' : at} ${message}`;

/** Every place where decoded arguments do not fit the schema; a sentence where the schema itself cannot be used. */
export const schemaProblems = (
  tool: ToolDefinition,
  value: StrictValue,
): readonly ArgumentProblem[] | string => {
  if (fitsOrdinary(tool.inputSchema, value)) return [];
  const validate = validatorOf(tool);
  if (typeof validate === 'string') return validate;
  return validate(forAjv(value)) ? [] : (validate.errors ?? []).map(problemOf);
};

const problemOf = ({ instancePath, message, keyword, params }: ErrorObject): ArgumentProblem => {
  const extra =
    keyword === 'additionalProperties' ? ` (${JSON.stringify(params['additionalProperty'])})` : '';
  return { at: instancePath, message: `${message ?? 'is not valid'}${extra}` };
};

/** Ajv knows no BigInt; a whole number stands in for it, which is all that a schema can ask about. */
const forAjv = (value: StrictValue): unknown => {
  if (typeof value === 'bigint') return Number(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(forAjv);
  const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) copy[key] = forAjv(value[key] as StrictValue);
  return copy;
};

/** Compiled once per schema: sessions that are read from a log bring equal definitions as new objects. */
const compiled = new WeakMap<ToolDefinition, ValidateFunction | string>();
const byDigest = new Map<Digest, ValidateFunction | string>();
const COMPILED_MAX = 512;

const validatorOf = (tool: ToolDefinition): ValidateFunction | string => {
  const known = compiled.get(tool) ?? byDigest.get(tool.digest);
  const validate = known ?? compile(tool);
  if (byDigest.size >= COMPILED_MAX) byDigest.clear();
  byDigest.set(tool.digest, validate);
  compiled.set(tool, validate);
  return validate;
};

let validators: Ajv2020 | undefined;

const compile = (tool: ToolDefinition): ValidateFunction | string => {
  validators ??= newAjv({ allErrors: true });
  const ajv = validators;
  try {
    return ajv.compile(tool.inputSchema);
  } catch (error) {
    return `The schema of ${tool.name} cannot be used: ${String(error)}. Nothing was run.`;
  } finally {
    // Ajv would keep every schema, and refuse a second one with the same $id.
    ajv.removeSchema(tool.inputSchema);
  }
};
