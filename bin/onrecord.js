#!/usr/bin/env node
// The package runs its build; a checkout runs the source as it lies. An old Node can read this file, and no other.
import { existsSync } from 'node:fs';

const NODE_MAJOR_MIN = 24;
if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN) {
  process.stderr.write(
    `✗ Onrecord needs Node ${NODE_MAJOR_MIN} or later; this is Node ${process.versions.node}. Nothing was done.  node-too-old\n` +
      '  In a project: npm install --save-dev node@26, then npx onrecord ...\n',
  );
  process.exit(2);
}

const source = new URL('../src/cli/main.ts', import.meta.url);
const { main } = await import(
  existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href
);
process.exitCode = await main(process);
