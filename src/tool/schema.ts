/**
 * What may describe a tool's input: JSON Schema as it is, or any Standard Schema library (Zod, Valibot,
 * ArkType ...) that can also say its JSON Schema. Shapes as published at standardschema.dev.
 */
import { newAjv } from '../event/ajv.ts';
import { badInput, isOnrecordError } from '../errors.ts';
import type { JsonObject } from '../event/json.ts';

export type StandardIssue = {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
};

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** Standard Schema v1, with the optional JSON Schema half (Standard JSON Schema v1). */
export type StandardSchema<Input = unknown, Output = Input> = {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { target: 'draft-2020-12' }) => Record<string, unknown>;
      readonly output?: (options: { target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
};

export type InputSchema<Input> = StandardSchema<unknown, Input> | JsonObject;

export const isStandardSchema = (schema: object): schema is StandardSchema => '~standard' in schema;

/** The JSON Schema (draft 2020-12) that the model is shown and that every proposed call is held against. */
export const toJsonSchema = (tool: string, schema: InputSchema<never> | StandardSchema): JsonObject => {
  if (!isStandardSchema(schema)) return ofObject(tool, schema);
  const standard = schema['~standard'];
  if (!standard.jsonSchema)
    throw badInput(
      'tool-schema-unsupported',
      `The inputSchema of tool "${tool}" (${standard.vendor}) cannot say its JSON Schema. ` +
        'Use a library version with Standard JSON Schema (Zod 4.2 or later), or pass JSON Schema itself.',
      { tool, vendor: standard.vendor },
    );
  try {
    const { $schema: _, ...json } = standard.jsonSchema.input({ target: 'draft-2020-12' });
    return ofObject(tool, json as JsonObject);
  } catch (cause) {
    if (isOnrecordError(cause)) throw cause;
    throw badInput(
      'tool-schema-unsupported',
      `The inputSchema of tool "${tool}" has a part that JSON Schema cannot express: ${String(cause)}.`,
      { tool },
    );
  }
};

/** Keywords by which a schema can mean an object without saying so. */
const MEANT = ['properties', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', '$ref', 'if', 'not'];

/** Arguments of a call are an object, for every provider. */
const ofObject = (tool: string, schema: JsonObject): JsonObject => {
  const { type } = schema;
  const isMeant = type === undefined && MEANT.some((keyword) => Object.hasOwn(schema, keyword));
  if (type === 'object' || isMeant || Object.keys(schema).length === 0) return schema;
  const found =
    type === undefined
      ? `has the members ${Object.keys(schema).join(', ')}`
      : `has the type ${JSON.stringify(type)}`;
  throw badInput(
    'tool-schema-unsupported',
    `The inputSchema of tool "${tool}" describes no object: it ${found}. Arguments are an object: z.strictObject({ ... }), or JSON Schema with type "object".`,
    { tool },
    'onrecord docs tools',
  );
};

const plain = (said: Record<string, unknown>): string =>
  JSON.stringify(said, (key, value: unknown) =>
    key === 'additionalProperties' && value === false ? undefined : value,
  );

/**
 * Whether a schema hands the tool something else than it was given: defaults that it fills in, transforms. Told from
 * what it says of its input and of its output; that it leaves out unknown members is no change of those it knows.
 */
export const changesInput = (schema: JsonObject | StandardSchema): boolean => {
  const json = isStandardSchema(schema) ? schema['~standard'].jsonSchema : undefined;
  if (!json?.output) return false;
  const target = { target: 'draft-2020-12' } as const;
  try {
    return plain(json.input(target)) !== plain(json.output(target));
  } catch {
    // What a transform gives has no JSON Schema.
    return true;
  }
};

/** Why calls could not be held against a JSON Schema; undefined where they can. */
export const schemaProblem = (schema: JsonObject): string | undefined => {
  try {
    newAjv().compile(schema);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
