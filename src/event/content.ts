/** What a person, a model or a tool said, as the record keeps it. */
import type { CallId } from './call-id.ts';
import type { Digest } from './canonical.ts';

/** Bytes that live in the content-addressed store beside the log. */
export type BlobRef = {
  readonly digest: Digest;
  readonly bytes: number;
  /** Media type, as found or declared. */
  readonly media: string;
  readonly name?: string;
};

export type Content =
  | { readonly type: 'text'; readonly text: string }
  /** JSON text, digits and key order as they came. */
  | { readonly type: 'json'; readonly text: string }
  | { readonly type: 'blob'; readonly blob: BlobRef };

/** What was shortened before the model saw it; the whole is in the store unless it was over the blob limit. */
export type Cut = { readonly bytes: number; readonly kept: number; readonly whole?: BlobRef };

/**
 * One block of a model's response, in the provider's order. `opaque` is what else the provider has to be given back
 * with the block (a signature, citations, an id); only the adapter that wrote it reads it.
 */
export type ResponseBlock =
  | { readonly type: 'text'; readonly text: string; readonly opaque?: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly opaque?: string }
  /** A tool call: the provider's id as a label, the raw argument text as it was sent. */
  | {
      readonly type: 'call';
      readonly label: string;
      readonly name: string;
      readonly args: string;
      readonly opaque?: string;
    }
  /** Anything only the provider understands, as raw JSON text; goes back byte for byte. */
  | { readonly type: 'opaque'; readonly json: string };

/** Why a model stopped. The first five are answers; the others are failures of the turn. */
export type StopReason =
  | 'end'
  | 'calls'
  | 'length'
  | 'stop-sequence'
  | 'paused'
  | 'refusal'
  | 'context-overflow'
  | 'unknown';

/** Four disjoint classes of tokens; their sum is the total. */
export type Usage = {
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly input: number;
  readonly output: number;
  /** The part of `cacheWrite` that is kept for longer than the provider's shortest lifetime, at its own price. */
  readonly cacheWriteLong?: number;
};

/** Where a price came from: a catalogue or file with its day, and the model whose price it is. */
export type PriceMark = { readonly source: string; readonly date: string; readonly model: string };

/**
 * What a provider says about its work on a request beside the counts. Words are the provider's own, for example
 * "tools_changed": they may be such as nobody here knows.
 */
export type Remarks = {
  /** What became of the cache in comparison with an earlier response, where the request asked for that. */
  readonly cache?: { readonly said: string; readonly missedTokens?: number };
  /** What it changed in the input before the model saw it, or would have. */
  readonly changes?: readonly InputChange[];
  /** The service tier that served the request. */
  readonly tier?: string;
};

export type InputChange = {
  /** "thinking_dropped", "clear_tool_uses_20250919", "removed". */
  readonly what: string;
  readonly why?: string;
  /** A place in the request's body, or the id of an item in it. */
  readonly where?: string;
  /** Input tokens that this took away. */
  readonly tokens?: number;
};

/** Who did something: taken from the credential, never from the body of a request. */
export type Actor = {
  readonly kind: 'person' | 'program' | 'runtime';
  readonly name: string;
  /** What the credential says this actor may act as. */
  readonly roles?: readonly string[];
};

/** How one attempt of a call ended. A closed set: whatever a tool does becomes one of these. */
export type Outcome =
  | { readonly kind: 'ok'; readonly content: readonly Content[]; readonly cut?: Cut; readonly nothing?: true }
  /** Known to have had no effect. */
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly retryable?: true;
      readonly detail?: string;
    }
  /** Started, and no proof of either end. */
  | { readonly kind: 'unknown'; readonly code: string; readonly message: string; readonly detail?: string };

/** What one request and its reply looked like on the wire beside their bodies. Headers by an allow list, names in lower case. */
export type Wire = {
  readonly url: string;
  /** Absent: no reply began. */
  readonly status?: number;
  readonly sent: Readonly<Record<string, string>>;
  readonly received: Readonly<Record<string, string>>;
};

/** What a cancel left behind. */
export type Receipt = {
  readonly landed: readonly CallId[];
  readonly stopped: readonly CallId[];
  readonly inDoubt: readonly CallId[];
};
