/**
 * A result made of several parts, for tools that return bytes beside text. Anything else a tool returns
 * (a string, JSON, bytes) is encoded as it is.
 */
export type ContentPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly value: unknown }
  /** JSON that is text already and is kept as it is, digit for digit. */
  | { readonly kind: 'json-text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly type: string; readonly name?: string };

export class ToolContent {
  readonly parts: readonly ContentPart[];
  constructor(parts: readonly ContentPart[]) {
    this.parts = parts;
  }
}

export const content = (...parts: ContentPart[]): ToolContent => new ToolContent(parts);
