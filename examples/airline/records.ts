/** The airline's records, as its database holds them. Field names and order are the database's own. */

export type Cabin = 'basic_economy' | 'economy' | 'business';

export type FlightDay =
  | {
      readonly status: 'available';
      readonly available_seats: Readonly<Record<Cabin, number>>;
      /** US dollars a passenger. */
      readonly prices: Readonly<Record<Cabin, number>>;
    }
  | { readonly status: 'landed' | 'cancelled' | 'delayed' | 'flying' | 'on time' };

export type Flight = {
  readonly flight_number: string;
  readonly origin: string;
  readonly destination: string;
  readonly scheduled_departure_time_est: string;
  /** "03:00:00+1" lands on the next day. */
  readonly scheduled_arrival_time_est: string;
  readonly dates: Readonly<Record<string, FlightDay>>;
};

export type Leg = {
  readonly flight_number: string;
  readonly date: string;
  readonly price: number;
  readonly origin: string;
  readonly destination: string;
};

export type Passenger = { readonly first_name: string; readonly last_name: string; readonly dob: string };

export type Payment = { readonly payment_id: string; readonly amount: number };

export type Reservation = {
  readonly reservation_id: string;
  readonly user_id: string;
  readonly origin: string;
  readonly destination: string;
  readonly flight_type: string;
  readonly cabin: Cabin;
  readonly flights: readonly Leg[];
  readonly passengers: readonly Passenger[];
  readonly payment_history: readonly Payment[];
  readonly created_at: string;
  readonly total_baggages: number;
  readonly nonfree_baggages: number;
  readonly insurance: string;
  readonly status?: string;
};

export type PaymentMethod =
  | {
      readonly source: 'credit_card';
      readonly brand: string;
      readonly last_four: string;
      readonly id: string;
    }
  | { readonly source: 'gift_card' | 'certificate'; readonly amount: number; readonly id: string };

export type User = {
  readonly payment_methods: Readonly<Record<string, PaymentMethod>>;
  readonly reservations: readonly string[];
  readonly [field: string]: unknown;
};

export type Tables = { readonly flights: Flight; readonly reservations: Reservation; readonly users: User };
export type Table = keyof Tables;
export const TABLES: readonly Table[] = ['flights', 'reservations', 'users'];

/** Reading: one record by its key, or all flights in the order of the timetable. */
export type Records = {
  get<T extends Table>(table: T, key: string): Tables[T] | undefined;
  flights(): readonly Flight[];
};

/** Records inside a write: what is put is visible to the same write, and kept only if the write succeeds. */
export type Draft = Records & {
  put<T extends Table>(table: T, key: string, record: Tables[T]): void;
};

/** The airline says no. Nothing was changed; the message is the airline's answer. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
