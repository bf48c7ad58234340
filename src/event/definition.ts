/**
 * What an agent was when a session ran: plain data, recorded in the session's first event, so that the
 * session can be read, replayed and explained by another build on another machine.
 */
import type { EffectKind } from './effect-kind.ts';
import type { Digest } from './canonical.ts';
import type { JsonObject } from './json.ts';

/** Whose tool it is, where a tool server offers it. */
export type ServerOrigin = {
  /** The server's name in the configuration. */
  readonly name: string;
  /** The server's own name for the tool. */
  readonly tool: string;
  /** SHA-256 over all that the server said of it, as it was approved. */
  readonly pin: Digest;
};

/** A tool that a tool server lists and that the agent does not have, with the reason. */
export type SetAsideTool = {
  /** `server.tool`, in the server's own words. */
  readonly name: string;
  readonly code: string;
  readonly message: string;
};

export type ToolDefinition = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, draft 2020-12. */
  readonly inputSchema: JsonObject;
  readonly effect: EffectKind;
  readonly approval: 'policy' | 'always' | 'never';
  readonly timeoutMs: number;
  readonly retry: { readonly attempts: number; readonly baseMs: number; readonly maxMs: number };
  readonly labels: { readonly untrusted: boolean; readonly private: boolean };
  /** Whether something can leave through its arguments: a mail, a request to a server. */
  readonly egress: boolean;
  /** Whether the tool has a preview, and so is asked for one before it starts. */
  readonly previews: boolean;
  /** Tools that a call of this one may make calls of. Absent: none. */
  readonly calls?: readonly string[];
  /** What bounds the programs that it runs: the name of a level. A session keeps the one that it began with. */
  readonly level?: string;
  readonly server?: ServerOrigin;
  /** Digest over everything above, in canonical form. */
  readonly digest: Digest;
};

export type ModelDefinition = {
  /** "scripted", "anthropic", "openai", ... */
  readonly provider: string;
  readonly name: string;
  /** Passed on to the provider as they are. */
  readonly params: JsonObject;
};

/** One condition on the parsed arguments of a call; `at` is a JSON Pointer (RFC 6901), `*` stands for each item. */
export type Condition = { readonly at: string } & (
  | { readonly equals: string | number | boolean | null }
  | { readonly oneOf: readonly (string | number)[] }
  | { readonly atMost: number }
  | { readonly atLeast: number }
  /** The domain of a mail address, or one of its parents. */
  | { readonly domainIn: readonly string[] }
  /** The host of a URL. */
  | { readonly hostIn: readonly string[] }
  /** A relative path below one of these folders; never with ".." or a leading "/". */
  | { readonly below: readonly string[] }
  /** An object with no other members than these; of a list the indices "0", "1", ...: nothing was added. */
  | { readonly only: readonly string[] }
);

export type PolicyRule = {
  /** Names the rule in every decision that it led to. */
  readonly id: string;
  /** Tool names; a trailing ".*" stands for all with that prefix. Absent: every tool. */
  readonly tools?: readonly string[];
  readonly effects?: readonly EffectKind[];
  /** Only tools through which something can leave, or only those through which nothing can. */
  readonly egress?: boolean;
  /** Only where text with all of these labels stood in the request that proposed the call. */
  readonly seen?: readonly SeenLabel[];
  /** All must hold. A condition whose value is missing does not hold. */
  readonly when?: readonly Condition[];
  readonly do: 'allow' | 'ask' | 'deny';
  /** Shown to the person who is asked, or told to the model where it is denied. */
  readonly reason?: string;
  /** How this rule asks; what it does not say, the policy's `ask` says. */
  readonly ask?: AskTerms;
};

/** Rules in order, the first that matches decides; without a match reads are allowed and the rest is asked. */
export type Policy = {
  readonly rules: readonly PolicyRule[];
  /** How people are asked, whichever rule asks. */
  readonly ask?: AskTerms;
};

/** What a text of the conversation is: written by strangers, or nobody else's business. */
export type SeenLabel = 'untrusted' | 'private';

/** Who may decide about a call, and until when. */
export type AskTerms = {
  /** Names of people, or `role:NAME` for all with that role. Absent: whoever may decide at all. */
  readonly by?: readonly string[];
  /** Whoever asked for the turn cannot be the only one to approve. */
  readonly fourEyes?: boolean;
  /** Milliseconds after which the question lapses and nothing is run. Absent: it stands until somebody decides. */
  readonly expiresMs?: number;
  /** After `afterMs` milliseconds further people may decide and are told. */
  readonly escalate?: { readonly afterMs: number; readonly to: readonly string[] };
};

/**
 * What may start. `dry-run`: effects are previewed and not done. `read-only`: only tools without an effect.
 * `frozen`: nothing, no model request either; what waits goes on when the mode is lifted.
 */
export type Mode = 'normal' | 'dry-run' | 'read-only' | 'frozen';

/** From the loosest to the strictest. */
export const MODES: readonly Mode[] = ['normal', 'dry-run', 'read-only', 'frozen'];

export type Limits = {
  readonly stepsPerTurn: number;
  readonly callsPerStep: number;
  /** Calls that one call may make. */
  readonly innerCalls: number;
  readonly invalidCallsInARow: number;
  /** The same calls with the same arguments, step after step. */
  readonly repeatedCalls: number;
  readonly requestAttempts: number;
  /** UTF-8 bytes of one tool result as the model sees it. */
  readonly resultBytes: number;
  /** Bytes of one stored result, whole. */
  readonly blobBytes: number;
  /** Milliseconds a turn may work; waiting for people is not counted. */
  readonly turnMs: number;
  /** Milliseconds one model request may take. */
  readonly requestMs: number;
  /**
   * US dollars a turn, and a whole session, may cost; looked at before each request, so that the one that reaches
   * it is the last. Only known costs count: what may have been billed unseen is reported, not added.
   */
  readonly turnCostUsd: number;
  readonly sessionCostUsd: number;
};

export const LIMITS_DEFAULT: Limits = {
  stepsPerTurn: 50,
  callsPerStep: 32,
  innerCalls: 100,
  invalidCallsInARow: 3,
  repeatedCalls: 3,
  requestAttempts: 4,
  resultBytes: 128 * 1024,
  blobBytes: 8 * 1024 * 1024,
  turnMs: 30 * 60 * 1000,
  requestMs: 10 * 60 * 1000,
  turnCostUsd: 10,
  sessionCostUsd: 100,
};

/** Which turns a request holds. Calls and their results stay together, so it is always whole turns. */
export type SelectionPolicy =
  /** All of them: requests only ever grow, which caches and signed reasoning need. */
  | { readonly kind: 'all' }
  /** The last so many, the running one included. */
  | { readonly kind: 'last-turns'; readonly turns: number }
  /** Oldest turns are left out once a request would have more tokens, by the estimate that its record shows. */
  | { readonly kind: 'budget'; readonly tokens: number };

export type ContextPlan = {
  /** Default all. A session can be given another. */
  readonly select?: SelectionPolicy;
  /** History is summarised by the model before the next request, once the last had so many tokens in and out. */
  readonly compactAtTokens?: number;
};

export type AgentDefinition = {
  readonly name: string;
  readonly instructions: string;
  readonly model: ModelDefinition;
  readonly tools: readonly ToolDefinition[];
  readonly policy: Policy;
  readonly limits: Limits;
  /** Absent: requests only grow. */
  readonly context?: ContextPlan;
  /** Absent: none. */
  readonly setAside?: readonly SetAsideTool[];
};
