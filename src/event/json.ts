/** JSON as values. `Json` is what an event may hold: no undefined, no BigInt, no non-finite number. */

export type JsonPrimitive = string | number | boolean | null;
export type Json = JsonPrimitive | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json | undefined };

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
