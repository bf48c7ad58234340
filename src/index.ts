/** The public API of Onrecord. */
export { systemClock, systemRandom, type Clock, type Random, type Timer } from './clock.ts';
export { isOnrecordError, OnrecordError, type Next } from './errors.ts';
export { defineConfig, type Config } from './cli/config.ts';
export { priceList, type PriceRow, type Prices } from './cost/prices.ts';
export type { Digest } from './event/canonical.ts';
export type { CallId } from './event/call-id.ts';
export type * from './event/choice.ts';
export type * from './event/content.ts';
export type * from './event/definition.ts';
export type * from './event/events.ts';
export type { EffectKind } from './event/effect-kind.ts';
export type { SessionStatus, SessionSummary } from './event/summary.ts';
export { MemoryLog } from './log/memory.ts';
export { SqliteLog, type SqliteOptions } from './log/sqlite.ts';
export {
  ConflictError,
  FencedError,
  StorageError,
  type ForkPlace,
  type LogStore,
  type SessionQuery,
  type SessionRow,
} from './log/store.ts';
export { aiSdkModel, type AiSdkModel, type AiSdkOptions } from './model/ai-sdk.ts';
export { anthropic, type AnthropicOptions } from './model/anthropic.ts';
export { chatServer, type ChatOptions } from './model/chat.ts';
export type { Delta, Model, ModelReply, ModelRequest } from './model/model.ts';
export { resolveModel, type ModelChoice, type ResolveOptions } from './model/models.ts';
export { openai, type OpenaiOptions } from './model/openai.ts';
export type { Provider, ProviderOptions } from './model/provider/provider.ts';
export type { Script, ScriptCall, ScriptReply, ScriptStep } from './model/script.ts';
export { scriptedModel, type ScriptedModel } from './model/scripted.ts';
export { needCalls, NeededCalls, type CallRequest, type MadeCall } from './tool/calls.ts';
export { content, ToolContent } from './tool/content.ts';
export type { Preview, PreviewBlock } from './tool/preview.ts';
export { tool, ToolError, type Tool, type ToolContext, type ToolOptions } from './tool/tool.ts';
export { hookChannel, webhookChannel, type HookOptions, type WebhookOptions } from './worker/channels.ts';
export { GRANT_MS, sameValues } from './effect/grant.ts';
export { defineAgent, type Agent, type AgentOptions } from './worker/agent.ts';
export type { Gate } from './worker/gate.ts';
export type { Channel, Notice } from './worker/notifier.ts';
export type { Rest } from './worker/rest.ts';
export {
  rehearse,
  type Missing,
  type Rehearsal,
  type RehearsalAgent,
  type RehearseOptions,
} from './rehearse/rehearse.ts';
export type { Forked, ForkOptions } from './worker/fork.ts';
export type { Dispatcher, Taken, Taker, Wake } from './worker/dispatcher.ts';
export type { WorkLimits } from './worker/work-limits.ts';
export type { RuntimeOptions, SendOptions } from './worker/runtime-options.ts';
export { openRuntime, type Runtime, type Sent } from './worker/runtime.ts';
