/**
 * An order desk: the smallest agent that has a tool of each effect kind. The kind says what may happen after a crash
 * between what a tool did and its record. Put your own tools in their place.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineAgent, tool, type Agent, type Model, type Tool } from 'onrecord';
import { z } from 'zod';

export type ClerkOptions = {
  /** The folder that the tools work on; made with one order in it where it does not exist. */
  readonly desk: string;
  readonly model?: Model | string;
};

export const clerk = ({ desk, model = '{{model}}' }: ClerkOptions): Agent => {
  layDesk(desk);
  return defineAgent({
    name: 'clerk',
    description: 'Looks after the orders of a small shop.',
    instructions:
      'You look after the orders of a small shop. Read an order before you act on it. Do what is asked, no more.',
    model,
    tools: [readOrder(desk), noteOnOrder(desk), bookParcel(desk), payBack(desk)],
  });
};

const layDesk = (desk: string): void => {
  if (existsSync(desk)) return;
  for (const folder of ['orders', 'notes', 'parcels']) mkdirSync(join(desk, folder), { recursive: true });
  const order = { order: 'A-7', item: 'Lamp', cents: 4900, customer: 'R. Okafor' };
  writeFileSync(join(desk, 'orders', 'A-7.json'), JSON.stringify(order));
};

const ORDER = z.string().regex(/^[A-Z]-\d+$/, 'an order is a letter, a dash and a number: A-7');

/** `none`: it reads, so it is simply run again. */
const readOrder = (desk: string): Tool =>
  tool({
    name: 'order.read',
    description: 'Reads an order.',
    inputSchema: z.strictObject({ order: ORDER }),
    effect: 'none',
    execute: ({ order }) => {
      const file = join(desk, 'orders', `${order}.json`);
      return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : { found: false };
    },
  });

/** `idempotent`: run again with the same key, and twice is once. */
const noteOnOrder = (desk: string): Tool =>
  tool({
    name: 'order.note',
    description: 'Puts a note on an order.',
    inputSchema: z.strictObject({ order: ORDER, text: z.string().min(1).max(500) }),
    effect: 'idempotent',
    approval: 'never',
    execute: (note, { idempotencyKey }) => {
      const file = join(desk, 'notes', `${idempotencyKey.replaceAll(/\W/g, '-')}.json`);
      writeFileSync(`${file}.new`, JSON.stringify(note));
      renameSync(`${file}.new`, file);
      return { noted: note.order };
    },
  });

/** `reconcilable`: after a crash `reconcile` looks whether it happened. */
const bookParcel = (desk: string): Tool => {
  const fileOf = (order: string): string => join(desk, 'parcels', `${order}.json`);
  return tool({
    name: 'parcel.book',
    description: 'Books a parcel for an order.',
    inputSchema: z.strictObject({ order: ORDER }),
    effect: 'reconcilable',
    approval: 'never',
    reconcile: ({ order }) =>
      existsSync(fileOf(order)) ? { happened: true, result: { booked: order } } : { happened: false },
    execute: ({ order }) => {
      // "wx": a parcel that is booked is never booked over.
      writeFileSync(fileOf(order), JSON.stringify({ order }), { flag: 'wx' });
      return { booked: order };
    },
  });
};

/** `once`: nobody can be asked whether it happened. A person says yes before, and settles it where it is in doubt. */
const payBack = (desk: string): Tool =>
  tool({
    name: 'refund.pay',
    description: 'Pays an order back.',
    inputSchema: z.strictObject({ order: ORDER, cents: z.int().positive() }),
    effect: 'once',
    approval: 'always',
    preview: ({ order, cents }) => ({
      title: `Pay ${(cents / 100).toFixed(2)} back for order ${order}.`,
      blocks: [],
    }),
    execute: ({ order, cents }) => {
      appendFileSync(join(desk, 'refunds.log'), `${order} ${cents}\n`);
      return { paid: cents };
    },
  });
