/**
 * onrecord/testing: what a test of an agent needs, under any runner: a script for a model, a runtime in memory, time
 * that waits, planned faults, and scenarios.
 */
import { MemoryLog } from './log/memory.ts';
import { openRuntime, type Runtime } from './worker/runtime.ts';
import type { RuntimeOptions } from './worker/runtime-options.ts';

export { MemoryLog } from './log/memory.ts';
export { readScript } from './model/script-file.ts';
export { scriptedModel, type ScriptedModel } from './model/scripted.ts';
export { VirtualClock } from './suite/simulation/virtual-clock.ts';
export type { Check, CodedExam, CodedSuite } from './suite/exam/coded.ts';
export { FaultPlan, type Fault } from './suite/fault-plan.ts';
export type { ExamReport, ExamRun } from './suite/exam/exam.ts';
export { assertPassed, examine, type ExamineOptions } from './cli/examine.ts';

/** A runtime on a store in memory. Close it at the end of the test, or let `await using` do it. */
export const memoryRuntime = (options: Omit<RuntimeOptions, 'store'>): Promise<Runtime> =>
  openRuntime({ ...options, store: new MemoryLog() });
