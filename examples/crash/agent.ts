/**
 * A stockroom: the smallest agent that has a tool of each effect kind, calls at the same time, and a question to
 * a person. For the crash matrix, which kills it at every boundary; see docs/crash.md.
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defineAgent, scriptedModel, tool, type Agent, type Model, type Tool } from '../../src/index.ts';
import { scriptOf } from '../script.ts';

export type StockroomOptions = {
  /** The folder that holds stock.json, orders/ and deliveries.log; made where it does not exist. */
  readonly desk: string;
  /** Default: the scripted model of `script.yaml`. */
  readonly model?: Model;
};

type Stock = Record<string, number>;

const ITEM = z.enum(['hinges', 'handles']);

export const stockroom = ({ desk, model }: StockroomOptions): Agent => {
  setUp(desk);
  return defineAgent({
    name: 'stockroom',
    description: 'Counts the stock, corrects it, files orders and calls for the delivery.',
    instructions: 'You look after a small stockroom. A delivery is called for once, and a person decides.',
    model: model ?? scriptedModel(scriptOf(import.meta.dirname)),
    tools: [count(desk), correct(desk), order(desk), deliver(desk)],
  });
};

const setUp = (desk: string): void => {
  if (existsSync(desk)) return;
  const unfinished = `${desk}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(join(unfinished, 'orders'), { recursive: true });
  writeFileSync(join(unfinished, 'stock.json'), JSON.stringify({ hinges: 40, handles: 3 } satisfies Stock));
  renameSync(unfinished, desk);
};

const read = (desk: string): Stock => JSON.parse(readFileSync(join(desk, 'stock.json'), 'utf8')) as Stock;

/** Reads only: run again whenever nothing is known of it. */
const count = (desk: string): Tool =>
  tool({
    name: 'stock.count',
    description: 'Says how many there are of an item.',
    inputSchema: z.strictObject({ item: ITEM }),
    effect: 'none',
    execute: ({ item }) => ({ item, count: read(desk)[item] ?? 0 }),
  });

/** Setting twice is setting once: run again with the same key. */
const correct = (desk: string): Tool =>
  tool({
    name: 'stock.correct',
    description: 'Sets the number of an item to what was counted by hand.',
    inputSchema: z.strictObject({ item: ITEM, count: z.int().min(0) }),
    effect: 'idempotent',
    approval: 'never',
    execute: (entry) => {
      const path = join(desk, 'stock.json');
      writeFileSync(`${path}.new`, JSON.stringify({ ...read(desk), [entry.item]: entry.count }));
      renameSync(`${path}.new`, path);
      return entry;
    },
  });

/** Leaves a file behind: whoever comes later can see whether it was done. */
const order = (desk: string): Tool => {
  const fileOf = (number: string): string => join(desk, 'orders', `${number}.json`);
  return tool({
    name: 'order.file',
    description: 'Files an order.',
    inputSchema: z.strictObject({
      number: z.string().regex(/^\d{4}$/),
      item: ITEM,
      count: z.int().min(1),
    }),
    effect: 'reconcilable',
    approval: 'never',
    reconcile: (entry) =>
      existsSync(fileOf(entry.number))
        ? { happened: true, result: { filed: entry.number } }
        : { happened: false },
    execute: (entry) => {
      // "wx": an order that is there is never written over.
      writeFileSync(fileOf(entry.number), JSON.stringify(entry), { flag: 'wx' });
      return { filed: entry.number };
    },
  });
};

/** A call goes out and leaves nothing that could be asked: after a crash nobody knows, and a person says. */
const deliver = (desk: string): Tool =>
  tool({
    name: 'delivery.call',
    description: 'Calls the driver for a delivery.',
    inputSchema: z.strictObject({ order: z.string().regex(/^\d{4}$/) }),
    effect: 'once',
    approval: 'always',
    preview: (entry) => ({ title: `Call the driver for order ${entry.order}.`, blocks: [] }),
    execute: (entry) => {
      appendFileSync(join(desk, 'deliveries.log'), `${entry.order}\n`);
      return { called: entry.order };
    },
  });
