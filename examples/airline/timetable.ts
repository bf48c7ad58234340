/** Finding flights: direct ones, and pairs with one change of planes. */
import type { Flight, FlightDay, Records } from './records.ts';

/** The cities that the airline flies to, by airport. */
export const AIRPORTS: Readonly<Record<string, string>> = {
  SFO: 'San Francisco',
  JFK: 'New York',
  LAX: 'Los Angeles',
  ORD: 'Chicago',
  DFW: 'Dallas',
  DEN: 'Denver',
  SEA: 'Seattle',
  ATL: 'Atlanta',
  MIA: 'Miami',
  BOS: 'Boston',
  PHX: 'Phoenix',
  IAH: 'Houston',
  LAS: 'Las Vegas',
  MCO: 'Orlando',
  EWR: 'Newark',
  CLT: 'Charlotte',
  MSP: 'Minneapolis',
  DTW: 'Detroit',
  PHL: 'Philadelphia',
  LGA: 'LaGuardia',
};

export type OpenDay = Extract<FlightDay, { status: 'available' }>;

/** The day of a flight if it can be booked. */
export const openDay = (flight: Flight, date: string): OpenDay | undefined => {
  const day = Object.hasOwn(flight.dates, date) ? flight.dates[date] : undefined;
  return day?.status === 'available' ? day : undefined;
};

/** A flight on one day, without its other days. */
export type Offer = Omit<Flight, 'dates'> & OpenDay & { readonly date?: string };

const offer = (flight: Flight, date: string): Offer | undefined => {
  const day = openDay(flight, date);
  if (!day) return undefined;
  const { dates: _, ...fixed } = flight;
  return { ...fixed, ...day };
};

export type Search = { readonly origin: string; readonly destination: string; readonly date: string };

export const directFlights = (records: Records, { origin, destination, date }: Search): readonly Offer[] =>
  records
    .flights()
    .filter((flight) => flight.origin === origin && flight.destination === destination)
    .flatMap((flight) => offer(flight, date) ?? []);

/** Both legs can be booked, and the second leaves when the first has landed. */
export const oneStopFlights = (
  records: Records,
  { origin, destination, date }: Search,
): readonly (readonly [Offer, Offer])[] =>
  records
    .flights()
    .filter((first) => first.origin === origin)
    .flatMap((first) => onwards(records, first, { destination, date }));

const onwards = (
  records: Records,
  first: Flight,
  { destination, date }: Omit<Search, 'origin'>,
): readonly (readonly [Offer, Offer])[] => {
  const one = offer(first, date);
  if (!one) return [];
  const landed = first.scheduled_arrival_time_est;
  const day = landed.endsWith('+1') ? dayAfter(date) : date;
  return records
    .flights()
    .filter((second) => second.origin === first.destination && second.destination === destination)
    .filter((second) => second.scheduled_departure_time_est >= landed)
    .flatMap((second) => {
      // The recorded airline shows a second leg of the next day with the seats and prices of the day asked for.
      const two = openDay(second, day) && offer(second, date);
      return two
        ? [
            [
              { ...one, date },
              { ...two, date: day },
            ] as const,
          ]
        : [];
    });
};

const DAY_MS = 86_400_000;

const dayAfter = (date: string): string => {
  const at = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(at) ? '' : new Date(at + DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
};
