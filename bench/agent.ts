/** The agent of the work, made with the source as it lies. */
import { defineAgent, tool, type Agent } from '../src/index.ts';
import { neutralEncoder } from '../src/model/neutral.ts';
import { madeAgent, type WorkOptions } from './made-agent.ts';

export const workAgent = (options: WorkOptions): Agent =>
  madeAgent({ defineAgent, tool, encoder: neutralEncoder }, options);
