/**
 * The airline's 14 tools. Reads have no effect; the six writes are idempotent, because the database keeps the
 * call's key in the same transaction as its own records.
 */
import { z } from 'zod';
import { tool, type Tool, type ToolOptions } from '../../src/index.ts';
import { book } from './booking.ts';
import { calculate } from './calculator.ts';
import {
  cancel,
  changeBags,
  changeFlights,
  changePassengers,
  reservationOf,
  sendCertificate,
} from './change.ts';
import type { AirlineDatabase } from './database.ts';
import { attempt, Changes } from './database.ts';
import { Refusal, type Draft, type Records } from './records.ts';
import { pythonJson } from './text.ts';
import { AIRPORTS, directFlights, oneStopFlights } from './timetable.ts';

/** How tools are described to the model, by name, where somebody else's words are to be used: JSON Schema. */
export type Offered = Readonly<
  Record<string, { readonly description: string; readonly parameters: Record<string, unknown> }>
>;

export type AirlineToolOptions = {
  readonly database: AirlineDatabase;
  readonly offered?: Offered;
  /** `never` carries writes out as proposed; `policy` (the default) asks a person before each. */
  readonly approval?: 'policy' | 'never';
};

const id = z.string().min(1);
const cabin = z.enum(['basic_economy', 'economy', 'business']);
const day = z.string().describe('A date as YYYY-MM-DD.');
const flight = z.object({ flight_number: id, date: day });
const passenger = z.object({ first_name: z.string(), last_name: z.string(), dob: day });
const search = z.object({
  origin: id.describe('Airport code of the departure, such as SFO.'),
  destination: id.describe('Airport code of the arrival, such as JFK.'),
  date: day,
});
const booking = z.object({
  user_id: id,
  origin: id,
  destination: id,
  flight_type: z.enum(['one_way', 'round_trip']),
  cabin,
  flights: z.array(flight).describe('Every leg, in order.'),
  passengers: z.array(passenger),
  payment_methods: z
    .array(z.object({ payment_id: id, amount: z.number() }))
    .describe('Methods of the profile; the amounts add up to the price.'),
  total_baggages: z.int(),
  nonfree_baggages: z.int(),
  insurance: z.enum(['yes', 'no']),
});

/** What every tool here has: a name, its words, its input, and an answer as text. */
type Hand<Input> = {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
};

export const airlineTools = (options: AirlineToolOptions): readonly Tool[] => [
  ...readTools(options),
  ...writeTools(options),
];

const readTools = (options: AirlineToolOptions): readonly Tool[] => {
  const read = <Input>(hand: Hand<Input>, answer: (records: Records, input: Input) => string): Tool =>
    tool({
      ...described(hand, options),
      effect: 'none',
      execute: (input) =>
        attempt(new Changes(options.database.records), (records) => answer(records, input)).answer,
    });
  const reservation = z.object({ reservation_id: id });
  return [
    read(
      {
        name: 'get_user_details',
        description: 'Shows a customer profile.',
        input: z.object({ user_id: id }),
      },
      (records, { user_id }) => {
        const user = records.get('users', user_id);
        if (!user) throw new Refusal('user not found');
        return pythonJson(user);
      },
    ),
    read(
      { name: 'get_reservation_details', description: 'Shows a reservation.', input: reservation },
      (records, { reservation_id }) => pythonJson(reservationOf(records, reservation_id)),
    ),
    read(
      { name: 'list_all_airports', description: 'Lists airports and their cities.', input: z.object({}) },
      () => pythonJson(AIRPORTS),
    ),
    read(
      { name: 'search_direct_flight', description: 'Finds direct flights on a date.', input: search },
      (records, input) => pythonJson(directFlights(records, input)),
    ),
    read(
      { name: 'search_onestop_flight', description: 'Finds connections with one change.', input: search },
      (records, input) => pythonJson(oneStopFlights(records, input)),
    ),
    read(
      {
        name: 'calculate',
        description: 'Works out an expression of numbers, + - * / and brackets.',
        input: z.object({ expression: z.string() }),
      },
      (_, { expression }) => calculate(expression),
    ),
    read(
      {
        name: 'think',
        description: 'Notes a thought. Changes nothing.',
        input: z.object({ thought: z.string() }),
      },
      () => '',
    ),
    read(
      {
        name: 'transfer_to_human_agents',
        description: 'Hands the customer over to a person, with a summary.',
        input: z.object({ summary: z.string() }),
      },
      () => 'Transfer successful',
    ),
  ];
};

const writeTools = (options: AirlineToolOptions): readonly Tool[] => {
  const write = <Input>(hand: Hand<Input>, work: (draft: Draft, input: Input) => string): Tool =>
    tool({
      ...described(hand, options),
      effect: 'idempotent',
      approval: options.approval ?? 'policy',
      execute: (input, { idempotencyKey }) =>
        options.database.write({ key: idempotencyKey, tool: hand.name }, (draft) => work(draft, input)),
    });
  const reservation_id = id;
  return [
    write(
      { name: 'book_reservation', description: 'Books flights and takes the payment.', input: booking },
      (draft, input) => pythonJson(book(draft, input)),
    ),
    write(
      {
        name: 'cancel_reservation',
        description: 'Cancels a whole reservation and refunds it.',
        input: z.object({ reservation_id }),
      },
      (draft, input) => pythonJson(cancel(draft, input)),
    ),
    write(
      {
        name: 'update_reservation_flights',
        description: 'Replaces the flights of a reservation. Every leg is given, also those that stay.',
        input: z.object({ reservation_id, cabin, flights: z.array(flight), payment_id: id }),
      },
      (draft, input) => pythonJson(changeFlights(draft, input)),
    ),
    write(
      {
        name: 'update_reservation_baggages',
        description: 'Sets the bags of a reservation.',
        input: z.object({
          reservation_id,
          total_baggages: z.int(),
          nonfree_baggages: z.int(),
          payment_id: id,
        }),
      },
      (draft, input) => pythonJson(changeBags(draft, input)),
    ),
    write(
      {
        name: 'update_reservation_passengers',
        description: 'Replaces the passengers of a reservation; their number stays.',
        input: z.object({ reservation_id, passengers: z.array(passenger) }),
      },
      (draft, input) => pythonJson(changePassengers(draft, input)),
    ),
    write(
      {
        name: 'send_certificate',
        description: 'Gives a customer a travel certificate.',
        input: z.object({ user_id: id, amount: z.number() }),
      },
      sendCertificate,
    ),
  ];
};

/** Our words and schema, or those of `offered`; the input is held against our schema in both cases. */
const described = <Input>(
  { name, description, input }: Hand<Input>,
  { offered }: AirlineToolOptions,
): Pick<ToolOptions<Input>, 'name' | 'description' | 'inputSchema'> => {
  const words = offered && Object.hasOwn(offered, name) ? offered[name] : undefined;
  if (!words) return { name, description, inputSchema: input };
  const standard = { ...input['~standard'], jsonSchema: { input: () => words.parameters } };
  return { name, description: words.description, inputSchema: { '~standard': standard } };
};
