#!/usr/bin/env node
// The package runs its build; a checkout runs the source as it lies.
import { existsSync } from 'node:fs';

const source = new URL('../src/cli/main.ts', import.meta.url);
const { main } = await import(
  existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href
);
process.exitCode = await main(process);
