/** Every command by name; its code is loaded when it is called. In the order of `onrecord help`. */
import type { Command } from './command.ts';

export const COMMANDS: Readonly<Record<string, (() => Promise<Command>) | undefined>> = {
  run: async () => (await import('./commands/run.ts')).run,
  send: async () => (await import('./commands/send.ts')).send,
  resume: async () => (await import('./commands/resume.ts')).resume,
  cancel: async () => (await import('./commands/cancel.ts')).cancel,
  approvals: async () => (await import('./commands/approvals.ts')).approvals,
  approve: async () => (await import('./commands/approve.ts')).approve,
  edit: async () => (await import('./commands/edit.ts')).edit,
  reject: async () => (await import('./commands/reject.ts')).reject,
  respond: async () => (await import('./commands/respond.ts')).respond,
  settle: async () => (await import('./commands/settle.ts')).settle,
  mode: async () => (await import('./commands/mode.ts')).mode,
  sessions: async () => (await import('./commands/sessions.ts')).sessions,
  show: async () => (await import('./commands/show.ts')).show,
  replay: async () => (await import('./commands/replay.ts')).replay,
  verify: async () => (await import('./commands/verify.ts')).verify,
  rehearse: async () => (await import('./commands/rehearse.ts')).rehearse,
  fork: async () => (await import('./commands/fork.ts')).fork,
  'crash-test': async () => (await import('./commands/crash-test.ts')).crashTest,
  agents: async () => (await import('./commands/agents.ts')).agents,
  tools: async () => (await import('./commands/tools.ts')).tools,
  serve: async () => (await import('./commands/serve.ts')).serve,
  tokens: async () => (await import('./commands/tokens.ts')).tokens,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  help: async () => (await import('./commands/help.ts')).help,
};
