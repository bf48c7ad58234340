/** Every adapter over a socket, by name; for test processes, too. */
import { aiSdkSocketDialect } from './scenario-ai-sdk-socket.ts';
import { anthropicDialect } from './scenario-anthropic.ts';
import { chatDialect, openaiDialect } from './scenario-openai.ts';
import type { Dialect } from './scenario.ts';

export const DIALECTS: readonly Dialect[] = [
  anthropicDialect,
  openaiDialect,
  chatDialect,
  aiSdkSocketDialect,
];
