/**
 * Most tools describe their input with a handful of keywords. Arguments that fit such a schema are let through here:
 * Ajv, which has to be loaded and to compile each schema first, is asked about all the rest. So this says "fits" only
 * where Ajv would say so, and says nothing about why something does not.
 */
import type { JsonObject } from '../event/json.ts';
import type { StrictValue } from '../event/strict.ts';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

const TYPES: Readonly<Record<string, (value: StrictValue) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

type Members = { readonly [key: string]: StrictValue };

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTruth = (value: unknown): boolean => typeof value === 'boolean';
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isUnique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText) && isUnique(value);
const isScalar = (value: unknown): boolean => value === null || typeof value !== 'object';

const isTypeName = (value: unknown): boolean => isText(value) && Object.hasOwn(TYPES, value);

/** What the meta-schema allows for each keyword that is known here. A schema with any other is not ordinary. */
const KEYWORDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  $schema: (value) => value === DRAFT,
  $comment: isText,
  title: isText,
  description: isText,
  format: isText,
  default: () => true,
  examples: Array.isArray,
  deprecated: isTruth,
  type: (value) => isTypeName(value) || (isTextList(value) && value.length > 0 && value.every(isTypeName)),
  enum: (value) => Array.isArray(value) && value.length > 0 && value.every(isScalar) && isUnique(value),
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  minItems: isCount,
  maxItems: isCount,
  required: isTextList,
  properties: (value) =>
    isObject(value) && !Object.hasOwn(value, '__proto__') && Object.values(value).every(isOrdinary),
  additionalProperties: isTruth,
  items: isOrdinary,
};

function isOrdinary(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    const allows = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    return allows?.(value) === true;
  });
}

type Ordinary = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: { readonly [key: string]: Ordinary };
  readonly additionalProperties?: boolean;
  readonly items?: Ordinary;
};

const known = new WeakMap<JsonObject, Ordinary | 'other'>();

/** Whether a value fits an ordinary schema. False says nothing. */
export const fitsOrdinary = (schema: JsonObject, value: StrictValue): boolean => {
  let ordinary = known.get(schema);
  if (ordinary === undefined) {
    ordinary = isOrdinary(schema) ? schema : 'other';
    known.set(schema, ordinary);
  }
  return ordinary !== 'other' && fits(ordinary, value);
};

const fits = (schema: Ordinary, value: StrictValue): boolean => {
  const { type } = schema;
  if (type !== undefined && !isOfType(type, value)) return false;
  if (schema.enum && !schema.enum.includes(value)) return false;
  switch (typeof value) {
    case 'number':
      return inRange(schema, value);
    case 'bigint':
      return false;
    case 'object':
      if (value === null) return true;
      return Array.isArray(value) ? fitsItems(schema, value) : fitsMembers(schema, value);
    default:
      return true;
  }
};

const isOfType = (type: string | readonly string[], value: StrictValue): boolean =>
  typeof type === 'string'
    ? TYPES[type]?.(value) === true
    : type.some((name) => TYPES[name]?.(value) === true);

const inRange = (schema: Ordinary, value: number): boolean =>
  value >= (schema.minimum ?? -Infinity) &&
  value <= (schema.maximum ?? Infinity) &&
  value > (schema.exclusiveMinimum ?? -Infinity) &&
  value < (schema.exclusiveMaximum ?? Infinity);

const fitsItems = ({ minItems = 0, maxItems = Infinity, items }: Ordinary, value: StrictValue[]): boolean =>
  value.length >= minItems &&
  value.length <= maxItems &&
  (!items || value.every((item) => fits(items, item)));

const fitsMembers = (schema: Ordinary, value: Members): boolean => {
  const { required, properties, additionalProperties = true } = schema;
  if (required?.some((key) => !Object.hasOwn(value, key)) === true) return false;
  for (const key of Object.keys(value)) {
    const member = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (member ? !fits(member, value[key] as StrictValue) : !additionalProperties) return false;
  }
  return true;
};
